"""How far a number can be trusted: Wilson for shares, Student for means, bootstrap for ratios."""

from collections.abc import Sequence
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[Any]

Interval = tuple[float, float]

Z = 1.959964  # 95 % of a normal distribution lie within so many standard deviations
FEW = 30  # below so many a mean has no interval, and a page greys the number
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


def bootstrapped(cells: Sequence[tuple[int, int, int]]) -> Interval | None:
    """The interval of sum(above) / sum(below), hands drawn again with a recorded seed.

    A cell is (above, below, hands that had both): drawing cells draws the hands. None where one
    draw in forty has nothing below.
    """
    import numpy as np

    above, below, hands = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
    over, under = _drawn(above, below, hands)
    if np.count_nonzero(under > 0) < DRAWS * 39 / 40:
        return None
    ratios = np.where(under > 0, over / np.where(under > 0, under, 1), np.inf)
    low, high = np.quantile(ratios, (0.025, 0.975), method="inverted_cdf")
    return (float(low), float(high)) if np.isfinite(high) else None


def _drawn(above: "Column", below: "Column", hands: "Column") -> "tuple[Column, Column]":
    """Both sums, each time over hands drawn again; of many hands straight from the normal
    distribution that their sums then have, which is off by less than a thousand draws are."""
    import numpy as np

    chance, total = np.random.default_rng(SEED), int(hands.sum())
    (mean, over), (least, under) = (_centred(each, hands) for each in (above, below))
    if max(_skew(over, hands), _skew(under, hands)) > SKEW:
        drawn = chance.multinomial(total, hands / total, size=DRAWS)
        return drawn @ above, drawn @ below
    one, other = chance.standard_normal((2, DRAWS))
    spread = sqrt(float(hands @ under**2))
    shared = hands @ (over * under) / spread
    rest = sqrt(max(0.0, float(hands @ over**2 - shared**2)))
    return total * mean + shared * one + rest * other, total * least + spread * one


def _centred(each: "Column", hands: "Column") -> "tuple[float, Column]":
    """The mean over hands, and how far each cell is from it."""
    mean = float(each @ hands / hands.sum())
    return mean, each - mean


def _skew(away: "Column", hands: "Column") -> float:
    """How lopsided a sum over so many hands is; one that is always the same is no sum at all."""
    squares = float(hands @ away**2)
    return abs(float(hands @ away**3)) / squares**1.5 if squares else inf
