"""p-values of statistical tests, and their correction for many tests (Holm).

The formulas are textbook ones, no more of them than the questions here need; each is tested against
published values.
"""

from collections.abc import Callable, Sequence
from math import erfc, exp, lgamma, log, sqrt

from analytics.intervals import Interval

MAX_Z = 38.0  # deviations: beyond them a p is 0 in 64 bits


def interval_p_value(interval: Callable[[float], Interval]) -> float:
    """The two-sided p of a difference: that of the deviations at which its interval reaches 0."""
    near, far = 0.0, MAX_Z
    if _excludes_zero(interval(far)):
        return 0.0
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if _excludes_zero(interval(middle)) else (near, middle)
    return erfc(near / sqrt(2))


def _excludes_zero(ends: Interval) -> bool:
    """Whether 0 lies outside of the interval."""
    return ends[0] > 0 or ends[1] < 0


def chi_square(statistic: float, freedom: int) -> float:
    """p of at least this statistic: the upper incomplete gamma function."""
    return 1.0 if statistic <= 0 else _upper_gamma(freedom / 2, statistic / 2)


def normal_p(z: float) -> float:
    """The two-sided p of so many deviations of a normal distribution."""
    return erfc(abs(z) / sqrt(2))


def poisson_p(count: int, mean: float, variance: float) -> float:
    """p of at least this count, whose mean and variance these are: Poisson's, moved to have both.

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
    """The exact two-sided p of k of n: all outcomes that are no likelier than this one."""
    if n == 0:
        return 1.0
    limit = _log_binomial(k, n, chance) + 1e-9
    top = min(n, int((n + 1) * chance))
    if _log_binomial(top, n, chance) <= limit:
        return 1.0
    low = _last_likelier(top, lambda at: _log_binomial(top - at, n, chance) > limit)
    high = _last_likelier(n - top, lambda at: _log_binomial(top + at, n, chance) > limit)
    return min(1.0, _tail(top - low - 1, -1, n, chance) + _tail(top + high + 1, 1, n, chance))


def _last_likelier(most: int, likelier: Callable[[int], bool]) -> int:
    """How far from the likeliest outcome all are likelier: they only ever fall."""
    near, far = 0, most
    while near < far:
        middle = (near + far + 1) // 2
        near, far = (middle, far) if likelier(middle) else (near, middle - 1)
    return near


def _tail(start: int, step: int, n: int, chance: float) -> float:
    """The chance of the outcomes from `start` on, as far as they add anything."""
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
    """The exact two-sided p that rows and columns of a 2 × 2 table are independent."""
    rows, columns, n = a + b, a + c, a + b + c + d
    whole = _log_choose(n, columns)

    def log_of(at: int) -> float:
        return _log_choose(rows, at) + _log_choose(n - rows, columns - at) - whole

    limit = log_of(a) + 1e-9
    every = (log_of(at) for at in range(max(0, columns - (n - rows)), min(rows, columns) + 1))
    return min(1.0, sum(exp(one) for one in every if one <= limit))


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The p that two samples have one distribution, by ranks, ties corrected; None below 10."""
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
    return normal_p((rank_sum - m * (m + n + 1) / 2) / sqrt(variance))


def holm(values: Sequence[float]) -> list[float]:
    """Holm's p for each of several tests, in the order given."""
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
