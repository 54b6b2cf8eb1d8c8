"""Plain pictures of numbers: scales with round ticks, and points in the place of their values."""

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import NamedTuple

SIZE = 380  # of a picture's square, in its own units
_STEPS = (1, 2, 2.5, 5, 10)


class Scale(NamedTuple):
    """From nothing (or a lowest value) to a highest, with ticks at round values."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Where a value stands, from 0 to the picture's size."""
        return round(SIZE * (value - self.low) / (self.high - self.low), 1)


def scale(values: Iterable[float]) -> Scale:
    """A scale that holds all of these, and nothing."""
    every = [0.0, *values]
    low, high = min(every), max(every)
    rough = (high - low) / 5 or 1
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in _STEPS if power * one >= rough - 1e-9)  # easily read
    first, last = floor(low / step), -floor(-high / step)
    last = max(last, first + 1)
    ticks = tuple(step * number for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def histogram(values: Sequence[float], over: Scale, bins: int = 20) -> list[int]:
    """How many values fall into each of so many equal parts of a scale."""
    counts = [0] * bins
    for value in values:
        place = int(bins * (value - over.low) / (over.high - over.low))
        counts[min(bins - 1, max(0, place))] += 1
    return counts


def spread(place: int) -> float:
    """A little to the side, always the same for the same place: equal points are then all seen."""
    return ((place * 7919) % 11 - 5) * 0.45
