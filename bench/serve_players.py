"""Pages of a large ledger, seen for the first time: how soon anything, how soon all, who waits.

The ledger is `bench/large.py`'s, with nothing judged, valued or kept before. The server is the one
that `muckrake serve` starts, in a process of its own, asked over loopback by the public, or by an
auditor where it says so, who share the machine with it. Each page is asked for as a browser without
a script does, again and again until it is no progress any more: the first byte is the first
answer's, whatever it is, and a page is drawn when it has come whole. A program that is told to come
again does so. Meanwhile somebody else looks at a hand, again and again, and waits for nobody. Then
the same is asked once more, as it is kept. The processor's time is that of the first visit, with
what somebody else looked at: of the server itself, and of the processes that it had begun. What is
not there after so many seconds is given up, and said to be; after so many in all, nothing is asked
any more.
"""

import http.client
import os
import shutil
import threading
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from bench.large import PLAYERS, build, name_of
from bench.ledger import disk
from bench.serve_hands import Server, server
from store.folder.disk import CACHE

HANDS = 1_000_000
DISTINCT = 8_000  # hands of a match, and so of a player
GIVEN_UP_S = 90.0
IN_ALL_S = 900.0
SOON_S, DRAWN_S = 0.3, 1.0  # progress, or all of it
BESIDE_S = 0.3  # that somebody else waits
AGAIN_S = 0.25
LATER = (202, 503)  # it is being made
TABS = ("", "grid", "winnings", "bids", "swaps", "opponent", "compare", "results", "counters")
PAGES = "Pages"
DATA = "Data"
COLUMNS = (
    *("first byte s", "drawn s", "asked", "somebody else's longest wait s"),
    *("processor of the server s", "of its processes s", "again s"),
)
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Asked(NamedTuple):
    """An address, and whether an auditor asks."""

    path: str
    audits: bool = False

    def __str__(self) -> str:
        return f"{self.path}{' (auditor)' if self.audits else ''}"


class Seen(NamedTuple):
    """A first visit in seconds; how often it was asked for; what somebody else waited meanwhile;
    the processor's time of the server and of its processes; the second visit."""

    first: float
    drawn: float | None
    asked: int
    beside: float
    served: float
    made: float
    again: float


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """One visit of each."""
    from api.playing.recording import ledger_projections

    small, large = scratch / "small", scratch / "large"
    each = build(small, large, hands, min(DISTINCT, hands), projections=ledger_projections(small))
    for kept in (large / "jobs", scratch / "cache"):
        shutil.rmtree(kept, ignore_errors=True)
    os.environ[CACHE] = str(scratch / "cache")
    middle = hands // each // 2
    until = time.monotonic() + IN_ALL_S
    hand = f"/api/v1/hands/{name_of(middle)}/17"
    lines = [disk(scratch), "", f"{hands:,} hands, in matches of {each:,}."]
    with server(large) as it:
        _got(it, Asked(hand))
        for title, every in asked(hands // each).items():
            found = {
                one: _visit(it, one, hand) if time.monotonic() < until else None for one in every
            }
            lines += ["", f"## {title}", "", *_table(found, soon=title == PAGES)]
    return [*lines, ""]


def asked(copies: int) -> dict[str, list[Asked]]:
    """What is looked at: of a match in the middle and its players, and for programs of others, of
    whom nothing was valued before. Hands are judged last: all that shows verdicts is new then."""
    match, seats = name_of(copies // 2), min(PLAYERS, 2 * copies)
    player, other = (f"p{(copies // 2 * 2 + more) % seats:03}" for more in (0, 2))
    won, lost = quote(f"{player}:net>0"), quote("auction-lost")
    return {
        PAGES: [
            *map(Asked, (f"/players/{player}{f'/{tab}' if tab else ''}" for tab in TABS)),
            *map(Asked, ("/players", "/ratings", "/", "/matches", f"/matches/{match}", "/hands")),
            *map(Asked, (f"/hands?q={won}", f"/hands?q={quote('pot>=400')}&order=pot")),
            *map(
                Asked,
                ("/hands?counts=now", f"/hands?q={lost}&counts=now", f"/find?q={player[:-1]}"),
            ),
            *(Asked(path, audits=True) for path in ("/", "/hands", "/fairness")),
            Asked(f"/matches/{match}?judge=yes", audits=True),
            Asked(f"/hands?q={quote('verdict=agree')}", audits=True),
        ],
        DATA: [
            *(Asked(f"/api/v1/players/{other}/{it}") for it in ("bids", "results", "stats")),
            *map(Asked, ("/api/v1/ratings", f"/api/v1/hands?q={quote('pot>=400')}&facets=1")),
        ],
    }


def _got(it: Server, one: Asked) -> int:
    """The status, when all of the answer has come."""
    client = http.client.HTTPConnection("127.0.0.1", it.port, timeout=GIVEN_UP_S)
    try:
        headers = {"Authorization": f"Bearer {it.key}"} if one.audits else {}
        client.request("GET", one.path, headers=headers)
        answer = client.getresponse()
        answer.read()
        return answer.status
    finally:
        client.close()


def _visit(it: Server, one: Asked, other: str) -> Seen:
    """From the first request to the whole answer."""
    start, used = time.perf_counter(), _processor(it.process)
    waits, over = [0.0], threading.Event()

    def look_elsewhere() -> None:
        while not over.wait(0.1):
            begun = time.perf_counter()
            _got(it, Asked(other))
            waits.append(time.perf_counter() - begun)

    beside = threading.Thread(target=look_elsewhere)
    beside.start()
    try:
        status, asked = _got(it, one), 1
        first = time.perf_counter() - start
        while status in LATER and time.perf_counter() < start + GIVEN_UP_S:
            time.sleep(AGAIN_S)
            status, asked = _got(it, one), asked + 1
        drawn = time.perf_counter() - start
        assert status in (200, *LATER), (one, status)
    finally:
        over.set()
        beside.join()
    served, made = (now - then for now, then in zip(_processor(it.process), used, strict=True))
    begun = time.perf_counter()
    _got(it, one)
    again = time.perf_counter() - begun
    return Seen(first, drawn if status == 200 else None, asked, max(waits), served, made, again)


def _processor(server: int) -> tuple[float, float]:
    """Seconds that a server has had, and those that it had begun, over or not."""
    parents: dict[int, int] = {}
    had: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it is over
        pid = int(path.parent.name)
        parents[pid], had[pid] = int(rest[1]), [int(one) for one in rest[11:15]]
    family = {server}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    own = sum(had[server][:2])
    return own * TICK_S, (sum(sum(had[pid]) for pid in family) - own) * TICK_S


def _table(found: dict[Asked, Seen | None], *, soon: bool) -> list[str]:
    lines = [
        f"| {' | '.join(('', *COLUMNS))} |",
        f"|---|{'---:|' * len(COLUMNS)}",
    ]
    for asked, one in found.items():
        if one is None:
            lines.append(f"| {asked} | not asked | | | | | | |")
            continue
        drawn = "given up" if one.drawn is None else f"{one.drawn:.2f}"
        lines.append(
            f"| {asked} | {one.first:.2f} | {drawn} | {one.asked} | {one.beside:.2f}"
            f" | {one.served:.2f} | {one.made:.2f} | {one.again:.3f} |"
        )
    seen = {asked: one for asked, one in found.items() if one is not None}
    late = [
        str(asked)
        for asked, one in seen.items()
        if one.first > SOON_S and (one.drawn is None or one.drawn > DRAWN_S)
    ]
    waiting = [str(asked) for asked, one in seen.items() if one.beside > BESIDE_S]
    goals = [(f"nobody else waits for {BESIDE_S:g} s", waiting)]
    if soon:
        goals.insert(0, (f"every page drawn in {DRAWN_S:g} s, or progress in {SOON_S:g} s", late))
    return [
        *lines,
        "",
        *(
            f"- goal: {it}: {'**missed** by ' * bool(by)}{', '.join(by) or 'met'}"
            for it, by in goals
        ),
    ]
