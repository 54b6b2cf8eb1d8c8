"""Compare two players: differences of their statistics, and a sequential test.

Deals are the units: a hand, or all hands of a mirrored deck, or all hands for which matches of one
seed dealt the same cards. A deal in which both sides were is what pairs them. The questions are
those of the statistics, asked with a side for each player and a deal for each part, so that nothing
is defined a second time.

Whether one is better than the other may be asked after every deal (`sequential_test`). Somebody
bets on each deal that the first player comes out ahead. He begins with 1, and before a deal he
stakes a share of what he has; the deal moves him by that share of how far the first came out ahead,
as a part of the most that it could move. If the first is no better, no deal is worth more than
nothing to him however he bets, so in at most `error` of all cases he ever has 1 / `error` (Ville's
inequality, 1939). Nobody needs to say beforehand how many deals there will be, and looking often
costs nothing. A second one bets the other way. The money is divided among eight shares, from 0.95
down to 1/128, for large differences and small ones.

That takes nothing else for granted: no normal distribution, no deals that are alike, and bots may
change while they play. The price is that it reckons with losses that never came: where pots are
small beside the stacks, it takes some ten times the deals of a test that does not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil, log, sqrt
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from msgspec import Meta, Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from analytics.intervals import (
    FEW,
    Floats,
    Interval,
    Mean,
    Share,
    Z,
    bootstrap_interval,
    bootstrap_ratio,
    difference_interval,
    newcombe,
    rounded,
    welch,
)
from analytics.p_values import holm, interval_p_value
from analytics.sql import FactSource, HandFilters, facts_sql, file_sql, quoted
from analytics.statistics.catalogue import STATISTICS, Statistic

Cell = tuple[int, int, int]
Places = NDArray[np.intp]
_GAP = 2**40  # more decks than any match has


class DealGroup(NamedTuple):
    """The deals of a match: `group` is one number for all matches of the same cards."""

    group: int
    deals: int


class SideRows(NamedTuple):
    """The rows of one side, one a deal, and the deals."""

    deals: NDArray[np.int64]
    rows: pa.Table


class DealStatistic(NamedTuple):
    """A statistic of a side: numerators and denominators by deal, their ratio, deals' influence."""

    above: Floats
    below: Floats
    value: float
    influence: Floats

    @property
    def n(self) -> int:
        """The number of deals that count for it."""
        return int(np.count_nonzero(self.below))

    @property
    def error(self) -> float:
        """The standard error, out of the influence of each deal."""
        return sqrt(self.n / (self.n - 1) * float((self.influence**2).sum()))

    def cells(self) -> Iterator[Cell]:
        """Numerators and denominators that occur, with the number of their deals."""
        above, below = (it.astype(np.int64) for it in (self.above, self.below))
        size = int(below.max()) + 1
        values, times = np.unique(above * size + below, return_counts=True)
        for value, count in zip(values.tolist(), times.tolist(), strict=True):
            yield (*divmod(value, size), count)


def correlation_of(one: DealStatistic, other: DealStatistic, here: Places, there: Places) -> float:
    """The correlation of two statistics: the influence of shared deals on one and on the other."""
    scale = sqrt(float((one.influence**2).sum() * (other.influence**2).sum()))
    return float(one.influence[here] @ other.influence[there]) / scale if scale else 0.0


Method = Literal["newcombe", "welch", "paired", "bootstrap"]
METHODS: dict[Method, str] = {
    "newcombe": "of shares that no deal pairs: Newcombe's interval, out of Wilson's for each",
    "welch": "of means that no deal pairs: Welch's",
    "paired": "of numbers that deals pair: the same, less what both owe to the same chance",
    "bootstrap": "of ratios: the distances to the ends of both intervals, which are drawn again",
}
# Means first: most people ask who wins more. Sums and deviations are no shares and no means.
COMPARABLE = tuple(
    sorted(
        (one for one in STATISTICS.values() if one.kind in ("mean", "share", "ratio")),
        key=lambda one: one.kind != "mean",
    )
)


class Compared(Struct, frozen=True, rename={"p_adjusted": "counted"}):
    """A statistic of two sides: `difference` is the first less the second. Where there are too few
    chances there is no p, and of means no interval."""

    statistic: str
    one: Annotated[float | None, Meta(description="that of A")]
    one_k: Annotated[int | None, Meta(description="how often A did it, of a share")]
    one_n: Annotated[int, Meta(description="A's opportunities, or deals")]
    other: Annotated[float | None, Meta(description="that of B")]
    other_k: Annotated[int | None, Meta(description="how often B did it, of a share")]
    other_n: Annotated[int, Meta(description="B's opportunities, or deals")]
    difference: Annotated[float | None, Meta(description="A less B")] = None
    low: Annotated[float | None, Meta(description="where its 95 % interval begins")] = None
    high: Annotated[float | None, Meta(description="where that ends")] = None
    method: Annotated[Method | None, Meta(description="how the interval is made")] = None
    shared: Annotated[int, Meta(description="how many deals pair them")] = 0
    together: Annotated[float, Meta(description="the correlation that comes of it")] = 0.0
    p: Annotated[float | None, Meta(description="how sure this difference alone is")] = None
    p_adjusted: Annotated[
        float | None, Meta(title="p of all", description="p among all that were compared")
    ] = None
    drawn_low: Annotated[
        float | None, Meta(description="where a mean's interval begins, deals drawn again")
    ] = None
    drawn_high: Annotated[float | None, Meta(description="where that ends")] = None
    unit: Annotated[str | None, Meta(description="what an amount counts")] = None

    @property
    def few(self) -> bool:
        """Whether there is too little behind it."""
        return self.low is None or min(self.one_n, self.other_n) < FEW


def comparisons(
    facts: FactSource,
    sides: tuple[HandFilters, HandFilters],
    decks: Mapping[str, DealGroup],
    statistics: Sequence[Statistic],
    files: Iterable[str],
) -> list[Compared]:
    """Compare each statistic of two sides, in order, with Holm's p among all of them.

    `files` are those of the statistics, so that somebody may watch them being asked.
    """
    by_name: dict[str, Compared] = {}
    for file in files:
        answers = rows_by_side(facts.ask(comparison_sql(file, sides, decks)))
        for statistic in statistics:
            if statistic.file == file:
                by_name[statistic.name] = _comparison(statistic, *answers)
    rows = [by_name[statistic.name] for statistic in statistics]
    each = iter(holm([row.p for row in rows if row.p is not None]))
    return [row if row.p is None else replace(row, p_adjusted=rounded(next(each))) for row in rows]


def _comparison(statistic: Statistic, first: SideRows, second: SideRows) -> Compared:
    """Compare a statistic of both sides, unless one side had no chance of it."""
    one, other = deal_statistic(statistic, first), deal_statistic(statistic, second)
    row = Compared(statistic.name, *_value_k_n(statistic, one), *_value_k_n(statistic, other))
    values = row.one, row.other
    if values[0] is None or values[1] is None:
        return row
    _, here, there = np.intersect1d(first.deals, second.deals, True, return_indices=True)
    shared = int(np.count_nonzero((one.below[here] > 0) & (other.below[there] > 0)))
    correlation = correlation_of(one, other, here, there) if shared else 0.0
    row = replace(
        row,
        difference=rounded(statistic.scale * (one.value - other.value)),
        shared=shared,
        together=rounded(correlation) or 0.0,
    )
    if statistic.kind == "ratio":
        # Ratios have no formula: each is drawn again, and the two intervals are put together.
        ratios = [bootstrap_ratio(list(at.cells())) for at in (one, other)]
        if ratios[0] is None or ratios[1] is None:
            return row
        ends = difference_interval((values[0], ratios[0]), (values[1], ratios[1]), row.together)
        return _with_interval(row, ends, "bootstrap")
    interval: Callable[[float], Interval]  # of the difference, so many deviations wide
    if statistic.kind == "mean":
        if min(one.n, other.n) < FEW:
            return row
        means = tuple(
            Mean(statistic.scale * at.value, statistic.scale * at.error, at.n)
            for at in (one, other)
        )
        interval = partial(welch, means[0], means[1], correlation)
    else:
        shares = Share(row.one_k or 0, row.one_n), Share(row.other_k or 0, row.other_n)
        interval = partial(newcombe, *shares, correlation)
    method: Method = "welch" if statistic.kind == "mean" else "newcombe"
    row = _with_interval(row, interval(Z), "paired" if shared else method)
    if not row.few:
        row = replace(row, p=rounded(interval_p_value(interval)))
    redrawn_ends = bootstrap_of_means(one, other, here, there) if statistic.kind == "mean" else None
    if redrawn_ends is not None:
        low, high = (rounded(statistic.scale * end) for end in redrawn_ends)
        row = replace(row, drawn_low=low, drawn_high=high)
    return row


def _value_k_n(statistic: Statistic, side: DealStatistic) -> tuple[float | None, int | None, int]:
    """The value, k and n of one side."""
    n = int(side.below.sum())
    value = rounded(statistic.scale * side.value) if n else None
    return value, None if statistic.kind == "mean" else int(side.above.sum()), n


def _with_interval(row: Compared, ends: Interval, method: Method) -> Compared:
    return replace(row, low=rounded(ends[0]), high=rounded(ends[1]), method=method)


def comparison_sql(
    file: str, sides: tuple[HandFilters, HandFilters], decks: Mapping[str, DealGroup]
) -> str:
    """SQL of a statistics file over both sides, with the number of the deal for a part."""
    cases = "".join(
        f" WHEN {quoted(match)} THEN -({(deck.group + 1) * _GAP}"
        f" + CAST(floor((c.number - 1) / {deck.deals}.0) AS BIGINT))"
        for match, deck in decks.items()
    )
    deal = f"CASE c.match{cases} ELSE c.hand_seq END" if cases else "c.hand_seq"
    rows = " UNION ALL ".join(
        f"SELECT * REPLACE ('{at}' AS player, {deal} AS part) FROM ({facts_sql(side, 'NULL')}) AS c"
        for at, side in enumerate(sides)
    )
    return file_sql(file, rows)


def rows_by_side(answer: pa.Table) -> tuple[SideRows, SideRows]:
    """Split an answer into the rows of each side, deals in order."""
    of = answer["player"].to_numpy()
    deals = answer["part"].to_numpy()
    order = np.argsort(deals, kind="stable")
    first, second = (order[of[order] == side] for side in ("0", "1"))
    return (
        SideRows(deals[first], answer.take(pa.array(first))),
        SideRows(deals[second], answer.take(pa.array(second))),
    )


def deal_statistic(statistic: Statistic, side: SideRows) -> DealStatistic:
    """A statistic of a side by deal."""
    name, rows = statistic.prefix, side.rows
    below = _column(rows, f"{name}_n")
    if statistic.kind == "mean":
        above = _column(rows, f"{name}_mean") * below
    else:
        above = _column(rows, f"{name}_k")
    total = float(below.sum())
    value = float(above.sum()) / total if total else 0.0
    return DealStatistic(above, below, value, (above - value * below) / (total or 1.0))


def bootstrap_of_means(
    one: DealStatistic, other: DealStatistic, here: Places, there: Places
) -> Interval | None:
    """The bootstrap interval of a difference of means, shared deals drawn together."""
    zeros = np.zeros_like
    strata = [
        np.column_stack((one.above[here], one.below[here], other.above[there], other.below[there]))
    ]
    above, below = (np.delete(column, here) for column in (one.above, one.below))
    strata.append(np.column_stack((above, below, zeros(above), zeros(above))))
    above, below = (np.delete(column, there) for column in (other.above, other.below))
    strata.append(np.column_stack((zeros(above), zeros(above), above, below)))
    return bootstrap_interval(
        strata, lambda sums: sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
    )


def _column(rows: pa.Table, name: str) -> Floats:
    """A column as numbers; null counts as 0."""
    values = rows[name].cast(pa.float64()).combine_chunks().fill_null(0.0)
    numbers: Floats = values.to_numpy(zero_copy_only=False)
    return numbers


Outcome = Literal["better", "worse", "not yet"]
SHARES = np.array([0.95, *0.5 ** np.arange(1, 8)])


class SequentialTest(NamedTuple):
    """The result of a sequential test: after how many deals, and what both bets have."""

    outcome: Outcome
    decided: int | None
    better: float
    worse: float
    more: int | None


def sequential_test(ahead: Floats, error: float) -> SequentialTest:
    """Test which side first reaches 1 / `error`; deals are parts of the most that could move.

    While nobody has, `more` guesses how many deals are lacking if it goes on so.
    """
    ends: list[Floats] = []
    for side in (ahead, -ahead):  # the logarithm of what who bets on it has after each deal
        each = np.cumsum(np.log1p(np.outer(side, SHARES)), axis=0)
        highest = each.max(axis=1, keepdims=True)
        ends.append(highest[:, 0] + np.log(np.exp(each - highest).mean(axis=1)))
    reached = [np.flatnonzero(end >= -log(error)) for end in ends]
    first = [int(at[0]) + 1 if len(at) else None for at in reached]
    last = [float(end[-1]) if len(end) else 0.0 for end in ends]
    names: tuple[Outcome, Outcome] = ("better", "worse")
    sides = [(deal, name) for deal, name in zip(first, names, strict=True) if deal is not None]
    have = [float(np.exp(min(end, 700.0))) for end in last]  # what a float can hold
    if sides:
        decided, outcome = min(sides)
        return SequentialTest(outcome, decided, have[0], have[1], None)
    lead = max(last)
    more = ceil(len(ahead) * (-log(error) / lead - 1)) if lead > log(2) else None
    return SequentialTest("not yet", None, have[0], have[1], more)
