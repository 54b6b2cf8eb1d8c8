"""Confidence intervals of numbers and of their differences, by formula or by bootstrap.

Shares have Wilson's interval, means Student's; their differences Newcombe's and Welch's. Ratios,
which have no formula, and means whose tails are too heavy for Student's have a bootstrap over
deals: a deal is a row of sums, and a number is made of what these come to. The seed is recorded, so
the ends are the same each time.

Differences take `together`, the correlation of the two numbers. It is 0 for players who never met.
Who sat in the same hands, or was dealt the same cards, was hit by the same chance: there it is what
pairing hand by hand, or deck by deck, would have made of it.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]

Z = 1.959964  # 95 % of a normal distribution lie within so many standard deviations
FEW = 30  # below so many a number says little: a mean has no interval, and a page greys it
DRAWS = 1_000
SEED = 8
SKEW = 0.05  # a sum that is less lopsided is as good as normal: ends move by 0.024 deviations


def wilson(done: int, chances: int, z: float = Z) -> Interval | None:
    """The interval of a share; none without an opportunity."""
    if chances == 0:
        return None
    p, n = done / chances, chances
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def student(mean: float, deviation: float, n: int) -> Interval | None:
    """The t-interval of a mean over hands; none below 30 of them."""
    if n < FEW:
        return None
    half = t_quantile(n - 1) * deviation / sqrt(n)
    return mean - half, mean + half


def rounded(number: float | None) -> float | None:
    """Round to twelve digits: those after them depend on the order of threads, and two answers to
    one question are to be alike to the byte."""
    if not isinstance(number, float):
        return number
    return round(float(f"{number:.12g}"), 9) + 0.0  # nothing has no sign: -0.0 + 0.0 is 0.0


def t_quantile(freedom: float, z: float = Z) -> float:
    """Student's point where a normal distribution has `z`, so of itself that of 97.5 %: Cornish
    and Fisher's series, exact to five digits from 29 on."""
    v = freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


class Share(NamedTuple):
    """A share: `k` done out of `n` opportunities."""

    k: int
    n: int


class Mean(NamedTuple):
    """A mean over `n` deals, and its standard error."""

    mean: float
    error: float
    n: int


def newcombe(one: Share, other: Share, together: float = 0.0, z: float = Z) -> Interval:
    """The difference of two shares, out of Wilson's interval for each."""
    ends = [wilson(k, n, z) for k, n in (one, other)]
    assert ends[0] is not None
    assert ends[1] is not None
    return difference_interval((one.k / one.n, ends[0]), (other.k / other.n, ends[1]), together)


def difference_interval(
    one: tuple[float, Interval], other: tuple[float, Interval], together: float = 0.0
) -> Interval:
    """The interval of p - q from p and q, each with its own interval (MOVER)."""
    (p, (p_low, p_high)), (q, (q_low, q_high)) = one, other
    return (
        p - q - _difference_error(p - p_low, q_high - q, together),
        p - q + _difference_error(p_high - p, q - q_low, together),
    )


def welch(first: Mean, second: Mean, together: float = 0.0, z: float = Z) -> Interval:
    """The difference of two means, over 30 deals or more each."""
    difference = first.mean - second.mean
    freedom: float = min(first.n, second.n) - 1  # of pairs; else Welch's
    if not together:
        each = first.error**4 / (first.n - 1) + second.error**4 / (second.n - 1)
        if each:
            freedom = (first.error**2 + second.error**2) ** 2 / each
    half = t_quantile(freedom, z) * _difference_error(first.error, second.error, together)
    return difference - half, difference + half


def _difference_error(one: float, other: float, together: float) -> float:
    """The standard error of a difference from those of its two numbers."""
    return sqrt(max(0.0, one * one + other * other - 2 * together * one * other))


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DealSums = Sequence[tuple[float, float, int]]  # above, below a ratio's line, in how many deals
DEALS_IN_MEMORY = 200_000
NORMAL_DEALS = 100_000  # sums of more are as good as normal, or nobody would wait for them


def bootstrap_interval(
    strata: Sequence[Floats], number: Callable[[Floats], Floats]
) -> Interval | None:
    """The bootstrap interval of a number of these deals, a row each; none below 30 of them.

    Deals are redrawn within their stratum. `number` makes many numbers out of many sums.
    """
    if sum(map(len, strata)) < FEW:
        return None
    chance = np.random.default_rng(SEED)
    every = [
        _resampled_sums(rows, np.ones(len(rows), np.int64), chance) for rows in strata if len(rows)
    ]
    return _percentile_interval(number, np.asarray(sum(every)))


def ratio_of_sums(sums: Floats) -> Floats:
    """The first sum divided by the second, row by row."""
    ratios: Floats = sums[:, 0] / sums[:, 1]
    return ratios


def bootstrap_mean(values: Sequence[float], times: Sequence[int]) -> Interval | None:
    """The bootstrap interval of a mean, from values and how often there was each."""
    return bootstrap_deals_mean(
        [(value, 1, often) for value, often in zip(values, times, strict=True)]
    )


def bootstrap_deals_mean(deals: DealSums) -> Interval | None:
    """The bootstrap interval of a mean of what may happen several times in a deal."""
    rows, times = _rows_and_times(deals)
    if int(times.sum()) < FEW:
        return None
    return _percentile_interval(
        ratio_of_sums, _resampled_sums(rows, times, np.random.default_rng(SEED))
    )


def bootstrap_difference(one: DealSums, other: DealSums) -> Interval | None:
    """The bootstrap interval of the first mean less the second, of independent deals."""
    strata = []
    for at, deals in enumerate((one, other)):
        amounts, times = _rows_and_times(deals)
        rows = np.zeros((int(times.sum()), 4))
        rows[:, 2 * at : 2 * at + 2] = np.repeat(amounts, times, axis=0)
        strata.append(rows)
    return bootstrap_interval(strata, lambda sums: ratio_of_sums(sums) - ratio_of_sums(sums[:, 2:]))


def bootstrap_ratio(deals: DealSums) -> Interval | None:
    """The bootstrap interval of a ratio, even of few deals; none where one draw in forty has
    nothing below the line."""
    over, under = _resampled_sums(*_rows_and_times(deals), np.random.default_rng(SEED), few=True).T
    if np.count_nonzero(under > 0) < DRAWS * 39 / 40:
        return None
    found = _middle_95(np.where(under > 0, over / np.where(under > 0, under, 1), np.inf))
    return found if np.isfinite(found[1]) else None


def _rows_and_times(deals: DealSums) -> tuple[Floats, Ints]:
    """Both sums of each row, and in how many deals they were."""
    rows = np.array([row[:2] for row in deals], dtype=np.float64).reshape(-1, 2)
    return rows, np.array([row[2] for row in deals], dtype=np.int64)


def _resampled_sums(
    rows: Floats, times: Ints, chance: np.random.Generator, few: bool = False
) -> Floats:
    """The sums of as many deals drawn with replacement, `DRAWS` times; sums that are as good as
    normal are drawn from that distribution, so that hands by the million cost nothing. `few`
    different rows: how often each comes is drawn."""
    size = int(times.sum())
    middle = times @ rows / size
    away = rows - middle
    skew = 0.0  # how lopsided the most lopsided of the sums is; one that never changes is not
    if size <= NORMAL_DEALS:
        squares, cubes = times @ away**2, np.abs(times @ away**3)
        some = squares > 1e-9
        skew = (cubes[some] / squares[some] ** 1.5).max(initial=0.0)
    if skew <= SKEW:
        drawn = chance.standard_normal((DRAWS, len(middle)))
        values, vectors = np.linalg.eigh(away.T @ (away * times[:, None]))
        normal: Floats = size * middle + drawn * np.sqrt(np.maximum(values, 0)) @ vectors.T
        return normal
    if few:
        often: Floats = chance.multinomial(size, times / size, size=DRAWS) @ rows
        return often
    columns = [np.repeat(column, times) for column in rows.T]
    found = np.empty((DRAWS, len(columns)))
    part = max(1, DEALS_IN_MEMORY // size)
    for start in range(0, DRAWS, part):
        deals = chance.integers(0, size, (min(part, DRAWS - start), size))
        for at, column in enumerate(columns):
            found[start : start + part, at] = column.take(deals).sum(axis=1)
    return found


def _percentile_interval(number: Callable[[Floats], Floats], sums: Floats) -> Interval | None:
    """The middle 95 % of a number of these sums; none where a draw has nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = number(sums)
    return _middle_95(found) if np.isfinite(found).all() else None


def _middle_95(found: Floats) -> Interval:
    """The 2.5 % and 97.5 % quantiles."""
    low, high = np.quantile(found, (0.025, 0.975), method="inverted_cdf")
    return float(low), float(high)
