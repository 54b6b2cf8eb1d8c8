"""How far a number can be trusted: Wilson for shares, Student for means.

Ratios, and means with heavy tails, are drawn again: `redrawn.py`.
"""

from math import sqrt

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
