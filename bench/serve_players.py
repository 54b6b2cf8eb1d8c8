"""Pages of a player of a large ledger, seen for the first time: how soon anything, how soon all.

The ledger is `bench/large.py`'s, with nothing valued or kept before. The server is the one that
`muckrake serve` starts, in a process of its own, asked over loopback by the public, who share the
machine with it. Each page is asked for as a browser without a script does, again and again until it
is no progress any more: the first byte is the first answer's, whatever it is, and a page is drawn
when it has come whole. Meanwhile somebody else looks at a hand, again and again, and waits for
nobody. Then the page is asked for once more, as it is kept. A page that is not there after so many
seconds is given up, and said to be.
"""

import http.client
import os
import threading
import time
from pathlib import Path
from typing import NamedTuple

from bench.large import build, name_of
from bench.ledger import disk
from bench.serve_hands import served
from store.folder.cache_folder import VARIABLE

HANDS = 1_000_000
DISTINCT = 8_000  # hands of a match, and so of a player
GIVEN_UP_S = 90.0
SOON_S, DRAWN_S = 0.3, 1.0  # progress, or all of it
AGAIN_S = 0.25
TABS = ("", "grid", "winnings", "bids", "swaps", "opponent", "compare", "results", "counters")


class Seen(NamedTuple):
    """A first visit in seconds; how often it was asked for; what somebody else waited meanwhile;
    the second visit."""

    first: float
    drawn: float | None
    asked: int
    beside: float
    again: float


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """One visit of each page, the public's."""
    from api.playing.recording import projections

    small, large = scratch / "small", scratch / "large"
    each = build(small, large, hands, min(DISTINCT, hands), projections=projections(small))
    middle = hands // each // 2
    player, hand = f"p{2 * middle % 200:03}", f"/api/v1/hands/{name_of(middle)}/17"
    where = [f"/players/{player}{f'/{tab}' if tab else ''}" for tab in TABS]
    os.environ[VARIABLE] = str(scratch / "cache")
    with served(large) as (port, _):
        _got(port, hand)
        found = {path: _visit(port, path, hand) for path in (*where, "/players", "/ratings")}
    return [disk(scratch), "", f"{hands:,} hands, in matches of {each:,}.", "", *_table(found)]


def _got(port: int, path: str) -> int:
    """The status, when all of the answer has come."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=GIVEN_UP_S)
    try:
        client.request("GET", path)
        answer = client.getresponse()
        answer.read()
        return answer.status
    finally:
        client.close()


def _visit(port: int, path: str, other: str) -> Seen:
    """From the first request to the whole page."""
    start = time.perf_counter()
    waits, over = [0.0], threading.Event()

    def look_elsewhere() -> None:
        while not over.wait(0.1):
            begun = time.perf_counter()
            _got(port, other)
            waits.append(time.perf_counter() - begun)

    beside = threading.Thread(target=look_elsewhere)
    beside.start()
    try:
        status, asked = _got(port, path), 1
        first = time.perf_counter() - start
        while status == 202 and time.perf_counter() < start + GIVEN_UP_S:
            time.sleep(AGAIN_S)
            status, asked = _got(port, path), asked + 1
        drawn = time.perf_counter() - start
        assert status in (200, 202), (path, status)
    finally:
        over.set()
        beside.join()
    begun = time.perf_counter()
    _got(port, path)
    again = time.perf_counter() - begun
    return Seen(first, drawn if status == 200 else None, asked, max(waits), again)


def _table(found: dict[str, Seen]) -> list[str]:
    lines = [
        "| | first byte s | drawn s | asked | somebody else's longest wait s | again s |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for path, one in found.items():
        drawn = "given up" if one.drawn is None else f"{one.drawn:.2f}"
        lines.append(
            f"| {path} | {one.first:.2f} | {drawn} | {one.asked} | {one.beside:.2f}"
            f" | {one.again:.3f} |"
        )
    late = [
        path
        for path, one in found.items()
        if one.first > SOON_S and (one.drawn is None or one.drawn > DRAWN_S)
    ]
    held = f"**missed** by {', '.join(late)}" if late else "met"
    goal = f"- goal: every page drawn in {DRAWN_S:g} s, or progress in {SOON_S:g} s"
    return [*lines, "", f"{goal}: {held}", ""]
