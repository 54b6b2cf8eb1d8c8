"""One hand among very many, and one player's hands among all: readers of a large, warm ledger."""

from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import NamedTuple

from bench.apart import apart
from bench.large import build, name_of
from bench.runner import SEED
from store.reader import Reader
from store.sql.query import Query
from store.sql.untrusted_query import UntrustedQuery
from store.tables.projection import STANDARD

ABOUT = """\
The ledger is `bench/large.py`'s: a few hands again and again under later numbers. Warm means that
every segment has been touched once: its digest compared, its footer read. A look-up goes through
`Reader.read`, as every command does, and ends with the events of a hand drawn evenly from all. Most
of it is decoding: half of a row group, on average, in every column that is not the same throughout,
by as many threads as there are cores. A scan goes through
`store/sql/query.py`: as our own statistics ask, and as a stranger's SQL does behind its walls."""
LOOKUPS = 2_000
SCANS = 7
LOOKUP_MS, SCAN_S = 5.0, 0.5
ONE = "SELECT count(*), sum(net), sum(put_in), avg(showed::INT) FROM players WHERE player = 'p000'"
ALL = "SELECT player, count(*), sum(net), sum(put_in), avg(showed::INT) FROM players GROUP BY 1"


class Lookups(NamedTuple):
    """Milliseconds: the first touch of a segment, and each of many hands afterwards."""

    first: list[float]
    each: list[float]


def sections(scratch: Path, hands: int) -> list[str]:
    """Two tables, and the goals."""
    built = apart(build, scratch / "small", scratch / "large", hands)
    folder = scratch / "large"
    size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    lookups = apart(look_up, folder, built.answer)
    scans = apart(scan, folder)
    events = Reader(folder).snapshot().next_pos
    about = (
        f"{events:,} events, {size / hands:.1f} bytes a hand with all projections,"
        f" built in {built.seconds:,.0f} s."
    )
    return [
        f"## One of {hands:,} hands",
        "",
        about,
        "",
        *_looked(lookups.answer, lookups.peak),
        "",
        f"## By player over {hands:,} hands",
        "",
        *_scanned(scans.answer, scans.peak),
        "",
        ABOUT,
        "",
    ]


def look_up(folder: Path, each: int) -> Lookups:
    """Each segment once, so many hands unmeasured, and then others measured."""
    reader, chance = Reader(folder), Random(SEED)
    segments = reader.snapshot().parts().segments
    first = [_timed(reader, next(iter(one.numbers)) + "/1") for one in segments]
    matches = [match for one in segments for match in one.numbers]
    assert name_of(0) == matches[0]

    def some() -> list[float]:
        asked = [(chance.choice(matches), chance.randint(1, each)) for _ in range(LOOKUPS)]
        return [_timed(reader, f"{match}/{number}") for match, number in asked]

    some()
    return Lookups(first, some())


def scan(folder: Path) -> dict[str, list[float]]:
    """Seconds of the same question again and again; first of all those to open the view."""
    seconds = {}
    snapshot = Reader(folder).snapshot()
    for whose, ours in (("ours", True), ("a stranger's", False)):
        start = perf_counter()
        own = Query(snapshot, STANDARD)
        query: Query | UntrustedQuery = own if ours else UntrustedQuery(own)
        query.ask("SELECT count(*) FROM players")
        seconds[f"opened, digests compared, {whose}"] = [perf_counter() - start]
        for what, sql in (("one player", ONE), ("every player", ALL)):
            assert query.ask(sql).num_rows
            seconds[f"{what}, {whose}"] = [_seconds(query, sql) for _ in range(SCANS)]
    return seconds


def _timed(reader: Reader, hand: str) -> float:
    start = perf_counter()
    found = reader.read(hand)
    took = perf_counter() - start
    assert found[0].stream == hand
    return took * 1_000


def _seconds(query: Query | UntrustedQuery, sql: str) -> float:
    start = perf_counter()
    query.ask(sql)
    return perf_counter() - start


def _looked(found: Lookups, peak: int) -> list[str]:
    parts = quantiles(found.each, n=100)
    middle, slow = parts[49], parts[98]
    verdict = "met" if slow < LOOKUP_MS else "**missed** at the 99th percentile"
    if middle >= LOOKUP_MS:
        verdict = "**missed**"
    first, last = median(found.first), max(found.first)
    return [
        "| | p50 ms | p99 ms | worst ms |",
        "|---|---:|---:|---:|",
        f"| warm, {len(found.each):,} hands | {middle:.2f} | {slow:.2f} | {max(found.each):.2f} |",
        f"| first touch of a segment ({len(found.first)}) | {first:,.1f} | | {last:,.1f} |",
        "",
        f"- goal: a hand under {LOOKUP_MS:g} ms warm: {verdict}, {middle:.2f} (p99 {slow:.2f})",
        f"- memory: {peak / 1e6:,.0f} MB",
    ]


def _scanned(found: dict[str, list[float]], peak: int) -> list[str]:
    goal = median(found["one player, ours"])
    verdict = "met" if goal < SCAN_S else "**missed**"
    return [
        "| | median s | worst s |",
        "|---|---:|---:|",
        *(f"| {what} | {median(it):.3f} | {max(it):.3f} |" for what, it in found.items()),
        "",
        f"- goal: by player from the projection under {SCAN_S:g} s: {verdict}, {goal:.3f}",
        f"- memory: {peak / 1e6:,.0f} MB",
    ]
