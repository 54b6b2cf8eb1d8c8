"""Numbers drawn again: a bootstrap over deals, for means whose tails are too heavy for Student's.

A deal is a row of sums; a number is made of what these come to. The seed is recorded, so the ends
are the same each time.
"""

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from analytics.statistics_intervals import DRAWS, FEW, SEED, SKEW, Interval

Numbers = NDArray[np.float64]
AT_ONCE = 2_000_000  # deals in memory
MANY = 100_000  # deals, of which sums are as good as normal, or nobody would wait for them


def redrawn(strata: Sequence[Numbers], number: Callable[[Numbers], Numbers]) -> Interval | None:
    """The middle 95 % of a number of these deals, a row each; none below 30 of them.

    Deals of one stratum stand in for one another. `number` makes many numbers out of many sums.
    """
    if sum(map(len, strata)) < FEW:
        return None
    chance = np.random.default_rng(SEED)
    sums = sum(_sums(each, chance) for each in strata if len(each))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = number(np.asarray(sums))
    if not np.isfinite(found).all():
        return None
    return _middle(found)


def mean(sums: Numbers) -> Numbers:
    """Of two sums: what was won, and in how many hands."""
    made: Numbers = sums[:, 0] / sums[:, 1]
    return made


def of_values(values: Sequence[float], times: Sequence[int]) -> Interval | None:
    """The same of a mean, out of values and how often there was each."""
    each, often = np.asarray(values, dtype=np.float64), np.asarray(times, dtype=np.int64)
    size = int(often.sum())
    if FEW <= size <= MANY:
        deals = np.repeat(each, often)
        return redrawn([np.column_stack((deals, np.ones(size)))], mean)
    if size < FEW:
        return None
    middle = float(each @ often) / size
    error = sqrt(float((each - middle) ** 2 @ often)) / size
    return _middle(middle + error * np.random.default_rng(SEED).standard_normal(DRAWS))


def _sums(deals: Numbers, chance: np.random.Generator) -> Numbers:
    """A thousand times, so many deals drawn and added up; of sums that are as good as normal
    straight from that distribution, so that hands by the million cost nothing."""
    size = len(deals)
    middle = deals.mean(axis=0)
    away = deals - middle
    if size > MANY or _skew(away) <= SKEW:
        drawn = chance.standard_normal((DRAWS, len(middle)))
        values, vectors = np.linalg.eigh(away.T @ away)
        normal: Numbers = size * middle + drawn * np.sqrt(np.maximum(values, 0)) @ vectors.T
        return normal
    found = np.empty((DRAWS, len(middle)))
    part = max(1, AT_ONCE // size)
    for start in range(0, DRAWS, part):
        count = min(part, DRAWS - start)
        found[start : start + count] = deals[chance.integers(0, size, (count, size))].sum(axis=1)
    return found


def _skew(away: Numbers) -> float:
    """How lopsided the most lopsided of the sums is; one that never changes is not."""
    squares, cubes = (away**2).sum(axis=0), np.abs((away**3).sum(axis=0))
    some = squares > 1e-9
    return float((cubes[some] / squares[some] ** 1.5).max(initial=0.0))


def _middle(found: Numbers) -> Interval:
    """Between which 95 of 100 are."""
    low, high = np.quantile(found, (0.025, 0.975), method="inverted_cdf")
    return float(low), float(high)
