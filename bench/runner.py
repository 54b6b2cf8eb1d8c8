"""Measure contenders in turns, and say what divides them: no bench of its own stands here.

A bench is a list of contenders with a `run(n) -> units done`. Every round runs each of them once,
so that whatever else the machine does falls on all. Process CPU time, one thread, unless the bench
brings the clock on the wall because it waits for a disk; a ratio is the median over the rounds of
what one did beside the other in that same round.
"""

import gc
import random
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from statistics import median
from time import process_time
from typing import Literal, NamedTuple, TypeVar

SEED = 2024
T = TypeVar("T")


class Contender(NamedTuple):
    """One way to do the work; `package` is whose version to name."""

    name: str
    run: Callable[[int], int]
    package: str | None = None


class Target(NamedTuple):
    """How many times as fast as a peer the first contender has to be, or aims to be."""

    peer: str
    at_least: float
    kind: Literal["target", "aim"] = "target"


class Bench(NamedTuple):
    """`run(n)` does n items; the units it returns are the fair measure. The first one is ours.

    With a `size`, everybody does so many items a round, and not as many as the time allows. `goal`
    is how many units a second ours has to reach by itself.
    """

    title: str
    item: str
    unit: str
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...] = ()
    clock: Callable[[], float] = process_time
    size: int = 0
    micros: bool = False  # also say what one item costs
    goal: int = 0


class Measured(NamedTuple):
    """One contender's rounds: items and units done in a second by the bench's clock."""

    items: tuple[float, ...]
    units: tuple[float, ...]


Results = dict[str, Measured]


def one_by_one(act: Callable[[T], object], things: Sequence[T]) -> Callable[[int], int]:
    """A run that does this to so many things, beginning again after the last."""

    def run(count: int) -> int:
        for thing in islice(cycle(things), count):
            act(thing)
        return count

    return run


def measure(bench: Bench, rounds: int, seconds: float) -> Results:
    """Every contender in every round, each with about so many seconds of work a round."""
    sizes = [bench.size or _size(bench, contender, seconds) for contender in bench.contenders]
    items: dict[str, list[float]] = {contender.name: [] for contender in bench.contenders}
    units: dict[str, list[float]] = {contender.name: [] for contender in bench.contenders}
    for _ in range(rounds):
        for contender, size in zip(bench.contenders, sizes, strict=True):
            spent, done = _spend(bench, contender, size)
            items[contender.name].append(size / spent)
            units[contender.name].append(done / spent)
    return {name: Measured(tuple(items[name]), tuple(units[name])) for name in items}


def ratios(results: Results, ours: str, theirs: str) -> tuple[float, ...]:
    """How many times as fast, round by round."""
    pairs = zip(results[ours].units, results[theirs].units, strict=True)
    return tuple(mine / other for mine, other in pairs)


def table(bench: Bench, results: Results, names: dict[str, str]) -> str:
    """The results as Markdown: rates, ratios with their spread, and each target, met or missed."""
    return "\n".join(
        [f"## {bench.title}", "", *_rows(bench, results, names), *_held(bench, results)]
    )


def _size(bench: Bench, contender: Contender, seconds: float) -> int:
    """How many items take about so long; the search for it is the warming up, too."""
    size = 1
    while (spent := _spend(bench, contender, size)[0]) < seconds / 8:
        size *= 4
    return max(1, round(size * seconds / spent))


def _spend(bench: Bench, contender: Contender, size: int) -> tuple[float, int]:
    """Seconds and units; nobody pays for another's garbage, and each plays the same hands."""
    gc.collect()
    random.seed(SEED)
    start = bench.clock()
    done = contender.run(size)
    return max(bench.clock() - start, 1e-9), done


def _rows(bench: Bench, results: Results, names: dict[str, str]) -> list[str]:
    first = bench.contenders[0].name
    both = bench.item != bench.unit
    cost = [f"µs a {bench.item}"] * bench.micros
    columns = [f"{bench.item}s/s", *cost] + [
        f"{bench.unit}s/s",
        f"{bench.unit}s a {bench.item}",
    ] * both
    lines = [
        f"| | {' | '.join(columns)} | {first} is (rounds) |",
        "|---|" + "---:|" * (len(columns) + 1),
    ]
    for name, measured in results.items():
        units = median(measured.units)
        items = median(measured.items) if both else units
        cost = [f"{1e6 / items:,.1f}"] * bench.micros
        cells = [f"{items:,.0f}", *cost] + [f"{units:,.0f}", f"{units / items:.1f}"] * both
        beside = ratios(results, first, name)
        cells.append("" if name == first else f"**{median(beside):.2f}** × ({_spread(beside)})")
        lines.append(f"| {names[name]} | {' | '.join(cells)} |")
    return lines


def _held(bench: Bench, results: Results) -> list[str]:
    """A peer that is not installed here can be neither met nor missed."""
    ours = bench.contenders[0].name
    lines = []
    if bench.goal:
        alone = median(results[ours].units)
        verdict = "met" if alone >= bench.goal else "**missed**"
        lines.append(f"- goal: {bench.goal:,} {bench.unit}s/s: {verdict}, {alone:,.0f}")
    for peer, at_least, kind in bench.targets:
        verdict = "not measured, it is not installed"
        if peer in results:
            reached = median(ratios(results, ours, peer))
            verdict = f"{'met' if reached >= at_least else '**missed**'}, {reached:.2f}"
        lines.append(f"- {kind}: at least {at_least:g} × {peer}: {verdict}")
    return ["", *lines] if lines else []


def _spread(found: tuple[float, ...]) -> str:
    return f"{min(found):.2f}..{max(found):.2f}"
