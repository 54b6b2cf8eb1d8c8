"""Pages: when the first byte comes, when something is drawn, and what went over the wire for it.

The ledger is `bench/large.py`'s, in matches of many hands, and has no signed tree. The server is
the one that `muckrake serve` starts, in a process of its own. The first byte is asked for over
loopback, of a new server for each viewpoint: the first time, in the order of the table, and the
median of later times. A page is drawn by the Chromium of this machine, which shares it with the
server: from the start of a navigation to the first contentful paint and to the load event, in a
browser that has never been here and in one that comes back. Bytes are those of a first visit with
the heads of its answers: as they were sent, and as they are when unpacked.
"""

import http.client
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from api.cli.upkeep import BROWSERS
from bench.large import build, name_of
from bench.ledger import disk
from bench.serve_hands import served
from store.folder.disk import CACHE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

HANDS = 1_000_000
DISTINCT = 8_000  # hands of a match; the other matches are these under other names
ASKED = 5  # times that each first byte is waited for, after the first
DRAWN_S, SENT_KB = 1.0, 100.0  # of any page; experience: the whole interface is about 100 KB
HAND = 17
FLAGS = ("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
NO_CHROMIUM = "No page was drawn: there is no Chromium here, or no playwright to drive it."
COLUMNS = (
    *("sent KB", "whole KB", "requests", "new: first byte ms", "drawn ms", "loaded ms"),
    *("back: first byte ms", "drawn ms", "loaded ms", "sent KB"),
)
GOALS = (
    f"- goal: every page drawn within {DRAWN_S:g} s, in a new browser",
    f"- goal: at most {SENT_KB:g} KB sent for any page",
)
PAINTED = """() => new Promise((told) => {
    const tell = () => {
        const [visit] = performance.getEntriesByType("navigation");
        const [paint] = performance.getEntriesByName("first-contentful-paint");
        if (!paint || !visit.loadEventEnd) return setTimeout(tell, 10);
        const all = [visit, ...performance.getEntriesByType("resource")];
        const sum = (name) => all.reduce((so_far, one) => so_far + one[name], 0);
        told({ byte: visit.responseStart, paint: paint.startTime, load: visit.loadEventEnd,
               sent: sum("transferSize"), whole: sum("decodedBodySize"),
               requests: all.filter((one) => one.transferSize > 0).length });
    };
    tell();
})"""


class Seen(NamedTuple):
    """A visit, in milliseconds and bytes."""

    byte: float
    paint: float
    load: float
    sent: float
    whole: float
    requests: float


def pages(hands: int, each: int) -> dict[str, str]:
    """What is looked at, by an address of it."""
    match = name_of(hands // each // 2)
    player = f"p{hands // each // 2 * 2 % 200:03}"
    return {
        "home": "/",
        "matches": "/matches",
        f"a match of {each:,} hands": f"/matches/{match}",
        "hands, the newest": "/hands",
        "hands of a player that he won": f"/hands?q={quote(f'{player}:net>0')}",
        "a hand, replayed": f"/hands/{match}/{HAND}",
        "a hand, audited": f"/hands/{match}/{HAND}/audit",
        "a hand, its events": f"/hands/{match}/{HAND}/events",
        "players": "/players",
        "a player, his statistics": f"/players/{player}",
        "a player, his grid": f"/players/{player}/grid",
        "a player, his winnings": f"/players/{player}/winnings",
    }


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """First bytes for the public and an auditor; pictures for the auditor."""
    from api.playing.recording import ledger_projections

    small, large = scratch / "small", scratch / "large"
    each = build(small, large, hands, min(DISTINCT, hands), projections=ledger_projections(small))
    where = pages(hands, each)
    firsts: dict[str, dict[str, tuple[float, float, int]]] = {}
    os.environ[CACHE] = str(scratch / "cache")  # nothing is judged or valued before
    for who in ("public", "auditor"):
        with served(large) as (port, key):
            headers = {"Authorization": f"Bearer {key}"} if who == "auditor" else {}
            firsts[who] = {name: _first(port, path, headers) for name, path in where.items()}
    lines = [disk(scratch), "", f"{hands:,} hands, in matches of {each:,}.", *_bytes(firsts)]
    with served(large) as (port, _), _browser() as browser:
        if browser is None:
            return [*lines, "", NO_CHROMIUM, "", *(f"{goal}: not measured" for goal in GOALS), ""]
        visits = _looked(browser, large, f"http://127.0.0.1:{port}", where, max(1, min(rounds, 3)))
    return [*lines, *_drawn(visits), ""]


def _first(port: int, path: str, headers: dict[str, str]) -> tuple[float, float, int]:
    """Milliseconds to the first byte, the first time and later on; and how long the page is."""
    client = http.client.HTTPConnection("127.0.0.1", port)
    took, size = [], 0
    for _ in range(1 + ASKED):
        start = perf_counter()
        client.request("GET", path, headers=headers)
        answer = client.getresponse()
        took.append(1_000 * (perf_counter() - start))
        size = len(answer.read())
        assert answer.status == 200, (path, answer.status)
    client.close()
    return took[0], median(took[1:]), size


def _looked(
    browser: "Browser", folder: Path, base: str, where: dict[str, str], rounds: int
) -> dict[str, tuple[Seen, Seen]]:
    """Each page seen by a new browser and by one that comes back, as often as there are rounds."""
    state = _cookie(browser, folder, base)
    found: dict[str, tuple[Seen, Seen]] = {}
    for name, path in where.items():
        cold, warm = [], []
        for _ in range(rounds):
            context = browser.new_context(base_url=base, storage_state=state)
            cold.append(_visit(context, path))
            warm.append(_visit(context, path))
            context.close()
        found[name] = _middle(cold), _middle(warm)
    return found


def _cookie(browser: "Browser", folder: Path, base: str) -> Any:
    """That of an auditor who opened his link."""
    from api.http.credentials import login_url

    context = browser.new_context()
    context.new_page().goto(login_url(folder, base, ("hands:read", "audit:read")))
    state = context.storage_state()
    context.close()
    return state


def _visit(context: "BrowserContext", path: str) -> Seen:
    page = context.new_page()
    page.goto(path)
    seen = Seen(**page.evaluate(PAINTED))
    page.close()
    return seen


def _middle(visits: list[Seen]) -> Seen:
    return Seen(*(median(values) for values in zip(*visits, strict=True)))


@contextmanager
def _browser() -> "Iterator[Browser | None]":
    """A Chromium of this machine, driven; None where there is none, or nothing to drive it."""
    named = os.environ.get("MUCKRAKE_CHROMIUM")
    wanted = (named,) if named else BROWSERS
    file = next((found for one in wanted if (found := shutil.which(one))), None)
    if file is None or find_spec("playwright") is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    flags = [*FLAGS, *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=file, args=flags)
        try:
            yield browser
        finally:
            browser.close()


def _bytes(firsts: dict[str, dict[str, tuple[float, float, int]]]) -> list[str]:
    """The first byte, by page, of a new server and of one that is warm."""
    lines = [
        "",
        "## First byte",
        "",
        "| | KB | public, first ms | public, later ms | auditor, first ms | auditor, later ms |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, (_, _, size) in firsts["auditor"].items():
        both = (f"{ms:,.0f}" for who in ("public", "auditor") for ms in firsts[who][name][:2])
        lines.append(f"| {name} | {size / 1_000:,.1f} | {' | '.join(both)} |")
    return lines


def _drawn(visits: dict[str, tuple[Seen, Seen]]) -> list[str]:
    """What a browser saw, an auditor's, and the goals."""
    lines = [
        "",
        "## Drawn, for an auditor",
        "",
        f"| | {' | '.join(COLUMNS)} |",
        "|---|" + "---:|" * len(COLUMNS),
    ]
    for name, (new, back) in visits.items():
        weight = f"{new.sent / 1_000:,.1f} | {new.whole / 1_000:,.1f} | {new.requests:.0f}"
        times = " | ".join(f"{ms:,.0f}" for one in (new, back) for ms in one[:3])
        lines.append(f"| {name} | {weight} | {times} | {back.sent / 1_000:,.1f} |")
    slowest = max(visits, key=lambda name: visits[name][0].paint)
    seconds = visits[slowest][0].paint / 1_000
    heaviest = max(visits, key=lambda name: visits[name][0].sent)
    kilobytes = visits[heaviest][0].sent / 1_000
    return [
        *lines,
        "",
        f"{GOALS[0]}: {_held(seconds < DRAWN_S)}, {slowest} {seconds:.2f} s",
        f"{GOALS[1]}: {_held(kilobytes < SENT_KB)}, {heaviest} {kilobytes:.0f} KB",
    ]


def _held(met: bool) -> str:
    return "met" if met else "**missed**"
