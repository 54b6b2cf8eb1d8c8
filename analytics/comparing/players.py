"""Two players, or two versions of one: where their statistics differ, and how sure that is.

Deals are the units: a hand, or all hands of a mirrored deck, or all hands for which matches of one
seed dealt the same cards. A deal in which both sides were is what pairs them. The questions are
those of the statistics, asked with a side for each player and a deal for each part, so that nothing
is defined a second time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from msgspec import Meta, Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from analytics.confidence.bootstrap import Numbers, of_ratio, redrawn
from analytics.confidence.intervals import (
    FEW,
    Interval,
    Mean,
    Share,
    Z,
    chance,
    moved,
    newcombe,
    steady,
    welch,
)
from analytics.confidence.p_values import holm
from analytics.sql.chosen import Chosen, quoted, table
from analytics.sql.tables import text_of
from analytics.statistics.catalogue import STATISTICS, Statistic
from analytics.statistics.hands import Facts

Cell = tuple[int, int, int]
Places = NDArray[np.intp]
_GAP = 2**40  # more decks than any match has


class Deck(NamedTuple):
    """How a match deals: `group` is one number for all matches of the same cards."""

    group: int
    deals: int


class Side(NamedTuple):
    """What one side counted, deal by deal."""

    deals: NDArray[np.int64]
    rows: pa.Table


class Number(NamedTuple):
    """One statistic of a side by deal: sums above and below, their ratio, and how far each deal
    moves it."""

    above: Numbers
    below: Numbers
    value: float
    moved: Numbers

    @property
    def n(self) -> int:
        """How many deals say anything about it."""
        return int(np.count_nonzero(self.below))

    @property
    def error(self) -> float:
        """The standard error, out of how far each deal moves it."""
        return sqrt(self.n / (self.n - 1) * float((self.moved**2).sum()))

    def cells(self) -> Iterator[Cell]:
        """Deals by how much of both sums they had."""
        above, below = (it.astype(np.int64) for it in (self.above, self.below))
        size = int(below.max()) + 1
        values, times = np.unique(above * size + below, return_counts=True)
        for value, count in zip(values.tolist(), times.tolist(), strict=True):
            yield (*divmod(value, size), count)


def correlation_of(one: Number, other: Number, here: Places, there: Places) -> float:
    """The correlation of the two numbers: what deals of both did to one and to the other."""
    scale = sqrt(float((one.moved**2).sum() * (other.moved**2).sum()))
    return float(one.moved[here] @ other.moved[there]) / scale if scale else 0.0


Method = Literal["newcombe", "welch", "paired", "bootstrap"]
METHODS: dict[Method, str] = {
    "newcombe": "of shares that no deal pairs: Newcombe's interval, out of Wilson's for each",
    "welch": "of means that no deal pairs: Welch's",
    "paired": "of numbers that deals pair: the same, less what both owe to the same chance",
    "bootstrap": "of ratios: the distances to the ends of both intervals, which are drawn again",
}
# Means first: most people ask who wins more. Sums and deviations are no shares and no means.
COMPARED = tuple(
    sorted(
        (one for one in STATISTICS.values() if one.kind in ("mean", "share", "ratio")),
        key=lambda one: one.kind != "mean",
    )
)


class Compared(Struct, frozen=True):
    """One statistic of both: `difference` is the first less the second. Where there are too few
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
    counted: Annotated[
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


def compared(
    facts: Facts,
    sides: tuple[Chosen, Chosen],
    decks: Mapping[str, Deck],
    wanted: Sequence[Statistic],
    files: Iterable[str],
) -> list[Compared]:
    """Every statistic of two sides, in their order; each p as it counts among all of them.

    `files` are those of the statistics, so that somebody may watch them being asked.
    """
    found: dict[str, Compared] = {}
    for file in files:
        both = answered(facts.ask(asked(file, sides, decks)))
        for one in wanted:
            if one.file == file:
                found[one.name] = _compared(one, *both)
    every = [found[one.name] for one in wanted]
    counted = iter(holm([it.p for it in every if it.p is not None]))
    return [it if it.p is None else replace(it, counted=steady(next(counted))) for it in every]


def _compared(it: Statistic, first: Side, second: Side) -> Compared:
    """One statistic; what one side had no chance of is not compared."""
    one, other = number(it, first), number(it, second)
    found = Compared(it.name, *_side(it, one), *_side(it, other))
    if found.one is None or found.other is None:
        return found
    _, here, there = np.intersect1d(first.deals, second.deals, True, return_indices=True)
    shared = int(np.count_nonzero((one.below[here] > 0) & (other.below[there] > 0)))
    correlation = correlation_of(one, other, here, there) if shared else 0.0
    found = replace(
        found,
        difference=steady(it.scale * (one.value - other.value)),
        shared=shared,
        together=steady(correlation) or 0.0,
    )
    if it.kind == "ratio":
        return _ratios(found, one, other)
    interval = (
        _mean(it, one, other, correlation) if it.kind == "mean" else _share(found, correlation)
    )
    if interval is None:
        return found
    method: Method = "welch" if it.kind == "mean" else "newcombe"
    found = _ended(found, interval(Z), "paired" if shared else method)
    if not found.few:
        found = replace(found, p=steady(chance(interval)))
    ends = drawn(one, other, here, there) if it.kind == "mean" else None
    if ends is not None:
        low, high = (steady(it.scale * end) for end in ends)
        found = replace(found, drawn_low=low, drawn_high=high)
    return found


def _side(it: Statistic, number: Number) -> tuple[float | None, int | None, int]:
    """Value, done and chances of one side."""
    n = int(number.below.sum())
    value = steady(it.scale * number.value) if n else None
    return value, None if it.kind == "mean" else int(number.above.sum()), n


def _share(found: Compared, correlation: float) -> Callable[[float], Interval]:
    """The interval of a difference of shares, as far as so many deviations reach."""
    one, other = Share(found.one_k or 0, found.one_n), Share(found.other_k or 0, found.other_n)
    return partial(newcombe, one, other, correlation)


def _mean(
    it: Statistic, one: Number, other: Number, correlation: float
) -> Callable[[float], Interval] | None:
    """The same of means; none of few deals."""
    if min(one.n, other.n) < FEW:
        return None
    first, second = (Mean(it.scale * at.value, it.scale * at.error, at.n) for at in (one, other))
    return partial(welch, first, second, correlation)


def _ratios(found: Compared, one: Number, other: Number) -> Compared:
    """Ratios have no formula: each is drawn again, and the two intervals are put together."""
    assert found.one is not None
    assert found.other is not None
    first, second = (of_ratio(list(at.cells())) for at in (one, other))
    if first is None or second is None:
        return found
    ends = moved((found.one, first), (found.other, second), found.together)
    return _ended(found, ends, "bootstrap")


def _ended(found: Compared, ends: Interval, method: Method) -> Compared:
    return replace(found, low=steady(ends[0]), high=steady(ends[1]), method=method)


def asked(file: str, sides: tuple[Chosen, Chosen], decks: Mapping[str, Deck]) -> str:
    """A question about both sides, with the number of the deal for a part."""
    cases = "".join(
        f" WHEN {quoted(match)} THEN -({(one.group + 1) * _GAP}"
        f" + CAST(floor((c.number - 1) / {one.deals}.0) AS BIGINT))"
        for match, one in decks.items()
    )
    deal = f"CASE c.match{cases} ELSE c.hand_seq END" if cases else "c.hand_seq"
    rows = " UNION ALL ".join(
        f"SELECT c.* REPLACE ('{at}' AS player, {deal} AS part) FROM ({table(side, 'NULL')}) AS c"
        for at, side in enumerate(sides)
    )
    return f"WITH chosen AS ({rows}) SELECT * FROM (\n{text_of(file)})"


def answered(answer: pa.Table) -> tuple[Side, Side]:
    """The answer of each side, its deals in order."""
    of = answer["player"].to_numpy()
    deals = answer["part"].to_numpy()
    order = np.argsort(deals, kind="stable")
    first, second = (order[of[order] == side] for side in ("0", "1"))
    return (
        Side(deals[first], answer.take(pa.array(first))),
        Side(deals[second], answer.take(pa.array(second))),
    )


def number(it: Statistic, side: Side) -> Number:
    """One statistic of one side, deal by deal."""
    name, rows = it.counted, side.rows
    below = _column(rows, f"{name}_n")
    if it.kind == "mean":
        above = _column(rows, f"{name}_mean") * below
    else:
        above = _column(rows, f"{name}_k")
    whole = float(below.sum())
    value = float(above.sum()) / whole if whole else 0.0
    return Number(above, below, value, (above - value * below) / (whole or 1.0))


def drawn(one: Number, other: Number, here: Places, there: Places) -> Interval | None:
    """The difference of means, deals drawn again: those of both, and those of either."""
    zeros = np.zeros_like
    strata = [
        np.column_stack((one.above[here], one.below[here], other.above[there], other.below[there]))
    ]
    above, below = (np.delete(column, here) for column in (one.above, one.below))
    strata.append(np.column_stack((above, below, zeros(above), zeros(above))))
    above, below = (np.delete(column, there) for column in (other.above, other.below))
    strata.append(np.column_stack((zeros(above), zeros(above), above, below)))
    return redrawn(strata, lambda sums: sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3])


def _column(rows: pa.Table, name: str) -> Numbers:
    """As numbers; nothing counts as 0."""
    values = rows[name].cast(pa.float64()).combine_chunks().fill_null(0.0)
    numbers: Numbers = values.to_numpy(zero_copy_only=False)
    return numbers
