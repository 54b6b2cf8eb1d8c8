"""How often a tell is owed to chance where both bidders bid in two sizes: exactly, by counting.

All that matchings of such a stratum can differ in is how often the first size meets the first, and
that is hypergeometric. A count then goes up by twos, which no smooth distribution is right about.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bids = NDArray[np.float64]
Places = NDArray[np.int64]
_NEVER = 1e-30  # an end of a distribution that weighs less is let go


class Table(NamedTuple):
    """A stratum: the sizes of both, how many bids, and how many of them are the first of each.

    `ones` is 0 where every matching is the same; then the sizes are all the bids.
    """

    mine: Bids
    his: Bids
    size: int
    ones: int
    others: int


def tables(mine: Bids, his: Bids, strata: Places) -> list[Table] | None:
    """Of every stratum; None where there is one of more sizes."""
    sizes = np.bincount(strata)
    kinds = [_kinds(bids, strata, len(sizes)) for bids in (mine, his)]
    if np.any((np.minimum(*kinds) > 1) & (np.maximum(*kinds) > 2)):
        return None
    every = np.split(np.argsort(strata, kind="stable"), np.cumsum(sizes)[:-1])
    return [_table(mine[places], his[places]) for places in every]


def at_least(count: int, strata: Sequence[Table], tell: tuple[int, int]) -> float:
    """The chance of so many, over all matchings within strata."""
    most = max((one.size for one in strata), default=0)
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))
    least, chances = 0, np.ones(1)
    for table in strata:
        first, more = _counts(table, tell, logs)
        chances = np.convolve(chances, more)
        kept = np.flatnonzero(chances > _NEVER)
        least, chances = least + first + int(kept[0]), chances[kept[0] : kept[-1] + 1]
    return min(1.0, float(chances[max(0, count - least) :].sum()))


def between(apart: Bids, tell: tuple[int, int]) -> NDArray[np.bool_]:
    """Where bids are as far apart as a tell has it."""
    return (apart >= tell[0]) & (apart <= tell[1])


def _kinds(bids: Bids, strata: Places, size: int) -> Places:
    """How many different bids there are in each stratum."""
    different = np.unique(np.column_stack((strata, bids)), axis=0)
    counts: Places = np.bincount(different[:, 0].astype(np.int64), minlength=size)
    return counts


def _table(mine: Bids, his: Bids) -> Table:
    (one, ones), (other, others) = (np.unique(it, return_counts=True) for it in (mine, his))
    if min(len(one), len(other)) == 1:
        return Table(mine, his, len(mine), 0, 0)
    return Table(one, other, len(mine), int(ones[0]), int(others[0]))


def _counts(table: Table, tell: tuple[int, int], logs: Bids) -> tuple[int, Bids]:
    """The least count of a stratum, and the chance of it, of one more, and so on."""
    one, other, size, ones, others = table
    if not ones:
        return int(np.count_nonzero(between(one - other, tell))), np.ones(1)
    (a, b), (c, d) = between(one[:, None] - other[None, :], tell).astype(int).tolist()
    low, high = max(0, ones + others - size), min(ones, others)
    meet = np.arange(low, high + 1)
    chances = np.exp(
        logs[ones] - logs[meet] - logs[ones - meet]
        + logs[size - ones] - logs[others - meet] - logs[size - ones - others + meet]
        - logs[size] + logs[others] + logs[size - others]
    )  # fmt: skip
    step = a - b - c + d
    counts = step * meet + b * ones + c * others + d * (size - ones - others)
    found = np.zeros(abs(step) * (high - low) + 1)
    np.add.at(found, counts - counts.min(), chances)
    return int(counts.min()), found
