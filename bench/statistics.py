"""Every statistic of every player from the facts of a ledger, and what facts cost to make.

Heads-up auction hands of 200 players. The larger ledgers repeat a sample of hands under other names
(`bench/large.py`), and have no other table than facts: so they are soon made. Facts are made by one
core in one process, from columns of events, as sealing has them. Answers are timed in a new Python,
which has nothing warm but the files and its imports; the first one opens the ledger and compares
the digests of what it reads, too, and the one of every player is the first that opens DuckDB.
Seconds on the wall; in brackets of all cores.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from analytics.projections.facts import facts_projection
from analytics.sql import HandFilters
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import find_statistics, snapshot_query, statistic_values
from bench.apart import apart
from bench.large import build
from bench.ledger import disk
from store.reader import Reader, Snapshot
from store.tables.projection import STANDARD, ProjectionBuilder

HANDS = 10_000_000
DISTINCT = 10_000
GROWTH = (10_000, 100_000, 1_000_000)
GOAL_S, GOAL_HANDS = 2.0, 10_000_000
FIRST_S = 0.3
MADE = 200_000  # hands a second, the aim for making facts


class Took(NamedTuple):
    """Seconds on the wall, and of all cores."""

    wall: float
    cores: float


class Answered(NamedTuple):
    """One player's first answer, another's, and every player's."""

    first: Took
    second: Took
    everybody: Took
    players: int


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """Ledgers of growing size, each asked the same."""
    one = facts_projection(lambda mark: None)
    sizes = [*(size for size in GROWTH if size < hands), hands]
    rows = []
    for size in sizes:
        small, large = scratch / f"small-{min(size, DISTINCT)}", scratch / f"large-{size}"
        start = time.perf_counter()
        build(small, large, size, DISTINCT, projections=(*STANDARD, one), only=("facts",))
        made = time.perf_counter() - start
        spent = apart(_asked, large)
        rows.append((size, spent.answer, spent.peak, made))
    return [disk(scratch), "", *_told(rows), "", *_made(scratch / f"small-{sizes[0]}", rounds)]


def _asked(folder: Path) -> Answered:
    """In a Python of its own."""
    moments = [_now()]
    query = snapshot_query(Reader(folder).snapshot())
    every = find_statistics("all")
    for player in ("p000", "p001"):
        assert len(list(statistic_values(query, HandFilters(player=player), every))) == len(every)
        moments.append(_now())
    everybody = len(list(statistic_values(query, HandFilters(), every))) // len(every)
    moments.append(_now())
    first, second, all_of_them = (_between(*both) for both in pairwise(moments))
    return Answered(first, second, all_of_them, everybody)


def _now() -> Took:
    return Took(time.perf_counter(), time.process_time())


def _between(start: Took, end: Took) -> Took:
    return Took(end.wall - start.wall, end.cores - start.cores)


def _told(rows: Sequence[tuple[int, Answered, int, float]]) -> list[str]:
    lines = [
        f"## {len(STATISTICS)} statistics with intervals",
        "",
        "| hands | players | one player, first answer | another | every player | memory | copied |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for size, it, peak, made in rows:
        times = (f"{one.wall:.3f} s ({one.cores:.3f})" for one in it[:3])
        last = f"{peak / 2**20:,.0f} MB | {made:.1f} s"
        lines.append(f"| {size:,} | {it.players} | {' | '.join(times)} | {last} |")
    size, it, *_ = rows[-1]
    verdict = "met" if it.everybody.wall < GOAL_S else "**missed**"
    if size < GOAL_HANDS:
        verdict = "not measured at that size"
    everybody = f"every player over {GOAL_HANDS:,} hands under {GOAL_S:g} s"
    first = f"one player's first answer under {FIRST_S:g} s"
    within = [size for size, it, *_ in rows if it.first.wall < FIRST_S]
    soon = f"met up to {within[-1]:,} hands" if within else "**missed**"
    return [
        *lines,
        "",
        f"- goal: {everybody}: {verdict}, {it.everybody.wall:.2f} s at {size:,} hands",
        f"- goal: {first}: {soon}, {it.first.wall:.3f} s at {size:,} hands",
    ]


def _made(folder: Path, rounds: int) -> list[str]:
    """Facts of a sample, made again and again."""
    snapshot = Reader(folder).snapshot()
    hands = sum(leaf.hand is not None for leaf in snapshot.leaves())
    one = facts_projection(snapshot.ruleset)
    held = list(_groups(snapshot))
    rates: dict[str, list[float]] = {"held": [], "read": []}
    for _ in range(rounds):
        for name, groups in (("held", iter(held)), ("read", _groups(snapshot))):
            start = time.process_time()
            builder = ProjectionBuilder((one,))
            rows = sum(table.num_rows for group in groups for _, table in builder.add(group))
            rows += sum(table.num_rows for _, table in builder.flush())
            rates[name].append(hands / (time.process_time() - start))
            assert rows >= hands
    in_hand, from_files = (sorted(one) for one in rates.values())
    rate, other = in_hand[rounds // 2], from_files[rounds // 2]
    verdict = "met" if rate >= MADE else "**missed**"
    return [
        "## Making facts",
        "",
        f"{rate:,.0f} hands/s of one core ({in_hand[0]:,.0f}..{in_hand[-1]:,.0f}).",
        f"With reading the events' files, as compaction does: {other:,.0f}.",
        "",
        f"- goal: at least {MADE:,} hands/s: {verdict}, {rate:,.0f}",
    ]


def _groups(snapshot: Snapshot) -> Iterator[pa.Table]:
    """The events of all segments, as compaction reads them."""
    live = snapshot.live
    return (rows for segment in live.parts().segments for rows in live.files.all_events(segment))
