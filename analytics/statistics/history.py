"""Every statistic of a player as it stood before each of his hands: running sums, never the future.

The questions of `statistics.catalogue` are asked of each hand by itself; what they count is added
up in the order in which hands closed, without the hand at which it is read.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analytics.sql.chosen import Chosen, table
from analytics.sql.tables import text_of
from analytics.statistics.catalogue import STATISTICS, Statistic
from analytics.statistics.hands import Facts, soonest
from analytics.statistics.tallies import HANDS, Numbers

Counts = NDArray[np.int64]


class History(NamedTuple):
    """The hands in order, and by statistic its value before each, which may be none (NaN), and out
    of how many."""

    hands: list[str]
    values: Mapping[str, Numbers]
    n: Mapping[str, Counts]


def history(facts: Facts, chosen: Chosen) -> History:
    """Of `chosen.player`, over the hands that the filters leave."""
    facts = soonest(facts, chosen)
    source = table(chosen)
    rows = facts.ask(f"SELECT hand_seq, match, number FROM ({source}) ORDER BY hand_seq")
    places = rows["hand_seq"].to_numpy()
    names = zip(rows["match"].to_pylist(), rows["number"].to_pylist(), strict=True)
    values: dict[str, Numbers] = {}
    counts: dict[str, Counts] = {}
    for file in dict.fromkeys(one.file for one in STATISTICS.values()):
        each = facts.ask(
            f"WITH chosen AS ({HANDS} ({source})) "
            f"SELECT * REPLACE (part.hand AS part) FROM (\n{text_of(file)})"
        )
        at = np.searchsorted(places, each["part"].to_numpy())
        for one in STATISTICS.values():
            if one.file == file:
                values[one.name], counts[one.name] = _running(one, each, at, len(places))
    return History([f"{match}/{number}" for match, number in names], values, counts)


def _running(
    one: Statistic, each: pa.Table, at: Counts, size: int
) -> tuple[NDArray[np.float64], Counts]:
    """Its value before each hand, and out of how many."""

    def column(end: str) -> Numbers:
        found = np.zeros(size)
        found[at] = each[f"{one.counted}_{end}"].cast(pa.float64()).fill_null(0).to_numpy()
        return found

    own = column("n")
    n = _before(own)
    with np.errstate(divide="ignore", invalid="ignore"):
        if one.kind == "sum":
            value = np.round(_before(column("sum")), 6)
        elif one.kind in ("mean", "spread"):
            amount = column("mean") * own
            mean = _before(amount) / n
            value = one.scale * mean
            if one.kind == "spread":
                squares = _before(column("mean") * amount)
                value = one.scale * np.sqrt(np.maximum(squares - n * mean * mean, 0) / (n - 1))
                value[n < 2] = np.nan
        else:
            value = _before(column("k")) / n
    if one.kind != "sum":
        value[n == 0] = np.nan
    return value, n.astype(np.int64)


def _before(amounts: Numbers) -> Numbers:
    """The sum of all before each."""
    return np.cumsum(amounts) - amounts
