"""By how much two numbers differ, and how sure that is: Newcombe for shares, Welch for means.

Both take `together`, the correlation of the two numbers. It is 0 for players who never met. Who sat
in the same hands, or was dealt the same cards, was hit by the same chance: there it is what pairing
hand by hand, or deck by deck, would have made of it.
"""

from collections.abc import Callable
from math import erfc, sqrt
from typing import NamedTuple

from analytics.confidence.intervals import Interval, Z, t_quantile, wilson

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
    """Of two shares, out of Wilson's interval for each."""
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


def welch(one: Mean, other: Mean, together: float = 0.0, z: float = Z) -> Interval:
    """Of two means, over 30 deals or more each."""
    difference = one.mean - other.mean
    half = t_quantile(_freedom(one, other, together), z) * _added(one.error, other.error, together)
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


def _freedom(one: Mean, other: Mean, together: float) -> float:
    """Welch's, and of pairs one less than there are."""
    if together:
        return min(one.n, other.n) - 1
    both = one.error**2 + other.error**2
    each = one.error**4 / (one.n - 1) + other.error**4 / (other.n - 1)
    return both**2 / each if each else min(one.n, other.n) - 1


def _added(one: float, other: float, together: float) -> float:
    """The error of a difference."""
    return sqrt(max(0.0, one * one + other * other - 2 * together * one * other))
