"""How sure a number is: intervals, numbers drawn again, differences, and p-values.

Shares have Wilson's interval, means Student's. Ratios, which have no formula, and means whose tails
are too heavy for Student's are drawn again: a bootstrap over deals. A deal is a row of sums; a
number is made of what these come to. The seed is recorded, so the ends are the same each time.

By how much two numbers differ, and how sure that is, say Newcombe for shares and Welch for means.
Both take `together`, the correlation of the two numbers. It is 0 for players who never met. Who sat
in the same hands, or was dealt the same cards, was hit by the same chance: there it is what pairing
hand by hand, or deck by deck, would have made of it.

How surprising a count is say p-values from textbook formulas, no more of them than the questions
here need; each is tested against published values. Nothing here knows poker or the ledger.
"""

from collections.abc import Callable, Sequence
from math import erfc, exp, lgamma, log, sqrt
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


def steady(number: float | None) -> float | None:
    """In twelve digits: what follows them in a sum of fractions is the order of threads, and two
    answers to one question are to be alike to the byte."""
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


FURTHEST = 38.0  # deviations: beyond them a p is 0 in 64 bits


class Share(NamedTuple):
    """Done, out of chances."""

    k: int
    n: int


class Mean(NamedTuple):
    """A mean over so many deals, and its standard error."""

    mean: float
    error: float
    n: int


def newcombe(one: Share, other: Share, together: float = 0.0, z: float = Z) -> Interval:
    """The difference of two shares, out of Wilson's interval for each."""
    ends = [wilson(k, n, z) for k, n in (one, other)]
    assert ends[0] is not None
    assert ends[1] is not None
    return moved((one.k / one.n, ends[0]), (other.k / other.n, ends[1]), together)


def moved(
    one: tuple[float, Interval], other: tuple[float, Interval], together: float = 0.0
) -> Interval:
    """Of two numbers, each with its own interval: their distances to its ends, as errors add up."""
    (p, (p_low, p_high)), (q, (q_low, q_high)) = one, other
    return (
        p - q - _added(p - p_low, q_high - q, together),
        p - q + _added(p_high - p, q - q_low, together),
    )


def welch(first: Mean, second: Mean, together: float = 0.0, z: float = Z) -> Interval:
    """The difference of two means, over 30 deals or more each."""
    difference = first.mean - second.mean
    freedom: float = min(first.n, second.n) - 1  # of pairs; else Welch's
    if not together:
        each = first.error**4 / (first.n - 1) + second.error**4 / (second.n - 1)
        if each:
            freedom = (first.error**2 + second.error**2) ** 2 / each
    half = t_quantile(freedom, z) * _added(first.error, second.error, together)
    return difference - half, difference + half


def chance(interval: Callable[[float], Interval]) -> float:
    """p, two-sided: how far an interval must reach, in deviations, for its end to be at nothing."""
    near, far = 0.0, FURTHEST
    if _excludes_zero(interval(far)):
        return 0.0
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if _excludes_zero(interval(middle)) else (near, middle)
    return erfc(near / sqrt(2))


def _excludes_zero(ends: Interval) -> bool:
    """Whether a difference of nothing lies outside of the interval."""
    return ends[0] > 0 or ends[1] < 0


def _added(one: float, other: float, together: float) -> float:
    """The error of a difference."""
    return sqrt(max(0.0, one * one + other * other - 2 * together * one * other))


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
    skew = 0.0  # how lopsided the most lopsided of the sums is; one that never changes is not
    if size <= MANY:
        squares, cubes = times @ away**2, np.abs(times @ away**3)
        some = squares > 1e-9
        skew = (cubes[some] / squares[some] ** 1.5).max(initial=0.0)
    if skew <= SKEW:
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


def _numbers(number: Callable[[Numbers], Numbers], sums: Numbers) -> Interval | None:
    """The middle of these numbers; none where a draw has nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = number(sums)
    return _middle(found) if np.isfinite(found).all() else None


def _middle(found: Numbers) -> Interval:
    """Between which 95 of 100 are."""
    low, high = np.quantile(found, (0.025, 0.975), method="inverted_cdf")
    return float(low), float(high)


def chi_square(statistic: float, freedom: int) -> float:
    """The chance of at least this statistic: the upper incomplete gamma function."""
    return 1.0 if statistic <= 0 else _upper_gamma(freedom / 2, statistic / 2)


def normal(z: float) -> float:
    """Two-sided."""
    return erfc(abs(z) / sqrt(2))


def at_least(count: int, mean: float, variance: float) -> float:
    """Of a count of matches with this mean and variance: by Poisson's, moved so that it has both.

    That is what rare matches have. Where they are not rare the true tail is thinner, so p is too
    large, at one in a thousand by two or three times and by ten where hardly anything can match.
    It is too small, down to a quarter, where a count goes up by twos: two bidders of two sizes, for
    whom `auctions.sniffing` counts exactly.
    """
    least = count - mean + variance
    if variance <= 0 or least <= 0:
        return 1.0 if count <= mean + 1e-9 else 0.0
    return 1 - _upper_gamma(least, variance)


def binomial(k: int, n: int, chance: float) -> float:
    """Exact and two-sided: all outcomes that are no likelier than this one."""
    if n == 0:
        return 1.0
    limit = _log_binomial(k, n, chance) + 1e-9
    top = min(n, int((n + 1) * chance))
    if _log_binomial(top, n, chance) <= limit:
        return 1.0
    low = _last(top, lambda at: _log_binomial(top - at, n, chance) > limit)
    high = _last(n - top, lambda at: _log_binomial(top + at, n, chance) > limit)
    return min(1.0, _tail(top - low - 1, -1, n, chance) + _tail(top + high + 1, 1, n, chance))


def _last(most: int, likelier: Callable[[int], bool]) -> int:
    """How far from the top outcomes stay likelier: they only ever fall."""
    near, far = 0, most
    while near < far:
        middle = (near + far + 1) // 2
        near, far = (middle, far) if likelier(middle) else (near, middle - 1)
    return near


def _tail(start: int, step: int, n: int, chance: float) -> float:
    """The outcomes from there on, as far as they add anything."""
    total = 0.0
    at = start
    while 0 <= at <= n:
        one = exp(_log_binomial(at, n, chance))
        total += one
        if one < total * 1e-18 or total == 0.0:
            break
        at += step
    return total


def fisher(a: int, b: int, c: int, d: int) -> float:
    """The exact test of a 2 × 2 table, two-sided: are its rows and columns independent?"""
    rows, columns, n = a + b, a + c, a + b + c + d
    whole = _log_choose(n, columns)

    def log_of(at: int) -> float:
        return _log_choose(rows, at) + _log_choose(n - rows, columns - at) - whole

    limit = log_of(a) + 1e-9
    every = (log_of(at) for at in range(max(0, columns - (n - rows)), min(rows, columns) + 1))
    return min(1.0, sum(exp(one) for one in every if one <= limit))


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Do two samples come from the same distribution? By ranks, ties corrected; None below 10."""
    if min(len(one), len(other)) < 10:
        return None
    ordered = sorted((*one, *other))
    places: dict[float, tuple[int, int]] = {}
    for place, value in enumerate(ordered):
        first, _ = places.get(value, (place, place))
        places[value] = (first, place)
    m, n = len(one), len(other)
    rank_sum = sum((places[value][0] + places[value][1]) / 2 + 1 for value in one)
    ties = sum((last - first + 1) ** 3 - (last - first + 1) for first, last in places.values())
    variance = m * n / 12 * ((m + n + 1) - ties / ((m + n) * (m + n - 1)))
    if variance <= 0:
        return 1.0
    return normal((rank_sum - m * (m + n + 1) / 2) / sqrt(variance))


def holm(values: Sequence[float]) -> list[float]:
    """Each p as it counts among so many tests: Holm's, in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, least = [0.0] * len(values), 0.0
    for place, at in enumerate(order):
        least = max(least, min(1.0, (len(values) - place) * values[at]))
        found[at] = least
    return found


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _log_binomial(k: int, n: int, chance: float) -> float:
    if chance in (0.0, 1.0):
        return 0.0 if k == n * chance else float("-inf")
    return _log_choose(n, k) + k * log(chance) + (n - k) * log(1 - chance)


def _upper_gamma(a: float, x: float) -> float:
    """Q(a, x): by its series below a + 1, by Lentz's continued fraction above."""
    scale = exp(-x + a * log(x) - lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > abs(total) * 1e-16:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - total * scale)
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for i in range(1, 10_000):
        step = -i * (i - a)
        b += 2
        d = 1 / (step * d + b)
        c = b + step / c
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return scale * h
