"""Every statistic of every player from the facts of a ledger, and what facts cost to make.

Heads-up auction hands of 200 players. The larger ledgers repeat a sample of hands under other names
(`bench/large.py`). Facts are made by one core in one process, from leaves whose final state is
known, as sealing has it. An answer is timed in a new Python, which has nothing warm but the files
and its imports; the first one opens the ledger and checks its files, too.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analytics.ask import answers, named, views
from analytics.facts import facts
from analytics.statistics import STATISTICS
from analytics.statistics_chosen import Chosen
from bench.apart import apart
from bench.large import build
from bench.ledger import disk
from store.leaf import Leaf
from store.projections import STANDARD
from store.reader import Reader

HANDS = 300_000
DISTINCT = 2_000
GROWTH = (10_000, 100_000)
GOAL_S, GOAL_HANDS = 2.0, 10_000_000
FIRST_S = 0.1
MADE = 200_000  # hands a second, the aim for making facts


class Answered(NamedTuple):
    """Seconds for one player's first answer, for another's, and for every player's."""

    first: float
    second: float
    everybody: float
    players: int


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """Ledgers of growing size, each asked the same."""
    one = facts(lambda mark: None)
    sizes = [*(size for size in GROWTH if size < hands), hands]
    rows = []
    for size in sizes:
        small, large = scratch / f"small-{size}", scratch / f"large-{size}"
        build(small, large, size, min(DISTINCT, size), projections=(*STANDARD, one))
        spent = apart(_asked, large)
        rows.append((size, spent.answer, spent.peak))
    return [disk(scratch), "", *_told(rows), "", *_made(scratch / f"small-{sizes[0]}", rounds)]


def _asked(folder: Path) -> Answered:
    """In a Python of its own."""
    start = time.perf_counter()
    query = views(Reader(folder).snapshot())
    every = named("all")
    asked = []
    for player in ("p000", "p001"):
        assert len(list(answers(query, Chosen(player=player), every))) == len(every)
        asked.append(time.perf_counter() - start)
        start = time.perf_counter()
    everybody = len(list(answers(query, Chosen(), every))) // len(every)
    first, second = asked
    return Answered(first, second, time.perf_counter() - start, everybody)


def _told(rows: Sequence[tuple[int, Answered, int]]) -> list[str]:
    lines = [
        f"## {len(STATISTICS)} statistics with intervals",
        "",
        "| hands | players | one player, first answer | another | every player | memory |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for size, it, peak in rows:
        seconds = " | ".join(f"{one:.3f} s" for one in (it.first, it.second, it.everybody))
        lines.append(f"| {size:,} | {it.players} | {seconds} | {peak / 2**20:,.0f} MB |")
    size, last, _ = rows[-1]
    verdict = "met" if last.everybody < GOAL_S else "**missed**"
    if size < GOAL_HANDS:
        verdict = "not measured at that size"
    soon = "met" if last.first < FIRST_S else "**missed**"
    everybody = f"every player over {GOAL_HANDS:,} hands under {GOAL_S:g} s"
    first = f"one player's first answer under {FIRST_S:g} s"
    return [
        *lines,
        "",
        f"- goal: {everybody}: {verdict}, {last.everybody:.2f} s at {size:,} hands",
        f"- goal: {first}: {soon}, {last.first:.3f} s at {size:,} hands",
    ]


def _made(folder: Path, rounds: int) -> list[str]:
    """Facts of a sample, made again and again."""
    snapshot = Reader(folder).snapshot()
    leaves = [leaf for leaf in snapshot.leaves() if leaf.hand is not None]
    one = facts(snapshot.ruleset)
    rates = []
    for _ in range(rounds):
        fresh = [Leaf(leaf.hand_seq, leaf.recorded, leaf.hand) for leaf in leaves]
        start = time.process_time()
        one.build(fresh)
        rates.append(len(leaves) / (time.process_time() - start))
    rate = sorted(rates)[len(rates) // 2]
    verdict = "met" if rate >= MADE else "**missed**"
    return [
        "## Making facts",
        "",
        f"{rate:,.0f} hands/s of one core ({min(rates):,.0f}..{max(rates):,.0f}).",
        "",
        f"- goal: at least {MADE:,} hands/s: {verdict}, {rate:,.0f}",
    ]
