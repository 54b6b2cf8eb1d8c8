"""Numbers drawn again: a bootstrap over deals, for ratios, which have no formula, and for means
whose tails are too heavy for Student's.

A deal is a row of sums; a number is made of what these come to. The seed is recorded, so the ends
are the same each time.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from analytics.confidence.intervals import DRAWS, FEW, SEED, SKEW, Interval

Numbers = NDArray[np.float64]
Times = NDArray[np.int64]
Deals = Sequence[tuple[float, float, int]]  # a sum, of how many or of what, in how many deals
AT_ONCE = 200_000  # deals in memory
MANY = 100_000  # deals, of which sums are as good as normal, or nobody would wait for them


def redrawn(strata: Sequence[Numbers], number: Callable[[Numbers], Numbers]) -> Interval | None:
    """The middle 95 % of a number of these deals, a row each; none below 30 of them.

    Deals of one stratum stand in for one another. `number` makes many numbers out of many sums.
    """
    if sum(map(len, strata)) < FEW:
        return None
    chance = np.random.default_rng(SEED)
    every = [_sums(rows, np.ones(len(rows), np.int64), chance) for rows in strata if len(rows)]
    return _numbers(number, np.asarray(sum(every)))


def mean(sums: Numbers) -> Numbers:
    """Of two sums: what was won, and in how many hands."""
    made: Numbers = sums[:, 0] / sums[:, 1]
    return made


def of_values(values: Sequence[float], times: Sequence[int]) -> Interval | None:
    """The same of a mean, out of values and how often there was each."""
    return of_deals([(value, 1, often) for value, often in zip(values, times, strict=True)])


def of_deals(deals: Deals) -> Interval | None:
    """Of a mean of what may happen several times in a deal, or of one sum of another."""
    rows, times = _columns(deals)
    if int(times.sum()) < FEW:
        return None
    return _numbers(mean, _sums(rows, times, np.random.default_rng(SEED)))


def of_difference(one: Deals, other: Deals) -> Interval | None:
    """Of two means in deals that have nothing to do with each other: the first less the second."""
    strata = []
    for at, deals in enumerate((one, other)):
        amounts, times = _columns(deals)
        rows = np.zeros((int(times.sum()), 4))
        rows[:, 2 * at : 2 * at + 2] = np.repeat(amounts, times, axis=0)
        strata.append(rows)
    return redrawn(strata, lambda sums: mean(sums) - mean(sums[:, 2:]))


def of_ratio(deals: Deals) -> Interval | None:
    """Of a ratio, of few deals, too; none where one draw in forty has nothing below."""
    over, under = _sums(*_columns(deals), np.random.default_rng(SEED), few=True).T
    if np.count_nonzero(under > 0) < DRAWS * 39 / 40:
        return None
    found = _middle(np.where(under > 0, over / np.where(under > 0, under, 1), np.inf))
    return found if np.isfinite(found[1]) else None


def _columns(deals: Deals) -> tuple[Numbers, Times]:
    """Both sums of each cell, and how often there was one."""
    rows = np.array([row[:2] for row in deals], dtype=np.float64).reshape(-1, 2)
    return rows, np.array([row[2] for row in deals], dtype=np.int64)


def _sums(rows: Numbers, times: Times, chance: np.random.Generator, few: bool = False) -> Numbers:
    """A thousand times, so many deals drawn and added up; of sums that are as good as normal
    straight from that distribution, so that hands by the million cost nothing. Of few different
    rows it is drawn how often each comes."""
    size = int(times.sum())
    middle = times @ rows / size
    away = rows - middle
    if size > MANY or _skew(away, times) <= SKEW:
        drawn = chance.standard_normal((DRAWS, len(middle)))
        values, vectors = np.linalg.eigh(away.T @ (away * times[:, None]))
        normal: Numbers = size * middle + drawn * np.sqrt(np.maximum(values, 0)) @ vectors.T
        return normal
    if few:
        often: Numbers = chance.multinomial(size, times / size, size=DRAWS) @ rows
        return often
    columns = [np.repeat(column, times) for column in rows.T]
    found = np.empty((DRAWS, len(columns)))
    part = max(1, AT_ONCE // size)
    for start in range(0, DRAWS, part):
        deals = chance.integers(0, size, (min(part, DRAWS - start), size))
        for at, column in enumerate(columns):
            found[start : start + part, at] = column.take(deals).sum(axis=1)
    return found


def _skew(away: Numbers, times: Times) -> float:
    """How lopsided the most lopsided of the sums is; one that never changes is not."""
    squares, cubes = times @ away**2, np.abs(times @ away**3)
    some = squares > 1e-9
    return float((cubes[some] / squares[some] ** 1.5).max(initial=0.0))


def _numbers(number: Callable[[Numbers], Numbers], sums: Numbers) -> Interval | None:
    """The middle of these numbers; none where a draw has nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = number(sums)
    return _middle(found) if np.isfinite(found).all() else None


def _middle(found: Numbers) -> Interval:
    """Between which 95 of 100 are."""
    low, high = np.quantile(found, (0.025, 0.975), method="inverted_cdf")
    return float(low), float(high)
