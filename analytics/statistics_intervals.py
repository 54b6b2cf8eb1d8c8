"""How far a number can be trusted: Wilson for shares, Student for means, bootstrap for ratios."""

from collections.abc import Sequence
from math import sqrt

Interval = tuple[float, float]

Z = 1.959964  # 95 % of a normal distribution lie within so many standard deviations
FEW = 30  # below so many a mean has no interval, and a page greys the number
DRAWS = 1_000
SEED = 8


def wilson(done: int, chances: int) -> Interval | None:
    """The interval of a share; none without an opportunity."""
    if chances == 0:
        return None
    p, n = done / chances, chances
    centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
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
    return round(float(f"{number:.12g}"), 9) if isinstance(number, float) else number


def t_quantile(freedom: int) -> float:
    """Student's 97.5 % point: Cornish and Fisher's series, exact to five digits from 29 on."""
    z, v = Z, freedom
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
    total = int(hands.sum())
    drawn = np.random.default_rng(SEED).multinomial(total, hands / total, size=DRAWS)
    over, under = drawn @ above, drawn @ below
    if np.count_nonzero(under) < DRAWS * 39 / 40:
        return None
    ratios = np.where(under > 0, over / np.maximum(under, 1), np.inf)
    low, high = np.quantile(ratios, (0.025, 0.975), method="inverted_cdf")
    return (float(low), float(high)) if np.isfinite(high) else None
