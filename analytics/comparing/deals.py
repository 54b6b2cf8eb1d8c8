"""What two sides did, deal by deal: a number of each, what they share, and both drawn again.

The questions are those of the statistics, asked with a side for each player and a deal for each
part, so that nothing is defined a second time. What differs, and how sure that is: `compared.py`.
"""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analytics.confidence.bootstrap import Numbers, redrawn
from analytics.confidence.intervals import Interval
from analytics.sql.chosen import Chosen, quoted, table
from analytics.sql.files import text_of
from analytics.statistics.catalogue import Statistic

Cell = tuple[int, int, int]
Places = NDArray[np.intp]
_APART = 2**40  # more decks than any match has


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


def asked(file: str, sides: tuple[Chosen, Chosen], decks: Mapping[str, Deck]) -> str:
    """A question about both sides, with the number of the deal for a part."""
    cases = "".join(
        f" WHEN {quoted(match)} THEN -({(one.group + 1) * _APART}"
        f" + CAST(floor((c.number - 1) / {one.deals}.0) AS BIGINT))"
        for match, one in decks.items()
    )
    deal = f"CASE c.match{cases} ELSE c.hand_seq END" if cases else "c.hand_seq"
    rows = " UNION ALL ".join(
        f"SELECT c.* REPLACE ('{at}' AS player, {deal} AS part) FROM ({table(side, 'NULL')}) AS c"
        for at, side in enumerate(sides)
    )
    return f"WITH chosen AS ({rows}) SELECT * FROM (\n{text_of(file)})"


def sides(answer: pa.Table) -> tuple[Side, Side]:
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


def together(one: Number, other: Number, here: Places, there: Places) -> float:
    """The correlation of the two numbers: what deals of both did to one and to the other."""
    scale = sqrt(float((one.moved**2).sum() * (other.moved**2).sum()))
    return float(one.moved[here] @ other.moved[there]) / scale if scale else 0.0


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
    told = rows[name].cast(pa.float64()).combine_chunks().fill_null(0.0)
    numbers: Numbers = told.to_numpy(zero_copy_only=False)
    return numbers
