"""How far a number can be trusted: Wilson for shares, Student for means.

Ratios, and means with heavy tails, are drawn again: `bootstrap.py`. By how much two numbers differ,
and how sure that is, say Newcombe for shares and Welch for means. Both take `together`, the
correlation of the two numbers. It is 0 for players who never met. Who sat in the same hands, or was
dealt the same cards, was hit by the same chance: there it is what pairing hand by hand, or deck by
deck, would have made of it.
"""

from collections.abc import Callable
from math import erfc, sqrt
from typing import NamedTuple

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
