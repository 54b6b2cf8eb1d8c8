"""Two players, or two versions of one, beside each other: what differs, and how sure that is.

Deals are the units: a hand, or all hands of a mirrored deck, or all hands for which matches of one
seed dealt the same cards (`comparing.deals` counts them). A deal in which both sides were is what
pairs them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace

from analytics.comparing import deals as by_deal
from analytics.comparing.deals import Deck, Number, Side
from analytics.confidence.bootstrap import of_ratio
from analytics.confidence.difference import Mean, Share, chance, moved, newcombe, welch
from analytics.confidence.intervals import FEW, Interval, Z, steady
from analytics.confidence.p_values import holm
from analytics.sql.chosen import Chosen
from analytics.statistics.catalogue import STATISTICS, Statistic
from analytics.statistics.hands import Facts

Method = Literal["newcombe", "welch", "paired", "bootstrap"]
METHODS: dict[Method, str] = {
    "newcombe": "of shares that no deal pairs: Newcombe's interval, out of Wilson's for each",
    "welch": "of means that no deal pairs: Welch's",
    "paired": "of numbers that deals pair: the same, less what both owe to the same chance",
    "bootstrap": "of ratios: the distances to the ends of both intervals, which are drawn again",
}
# Means first: most people ask who wins more. Sums and deviations are no shares and no means.
COMPARED = tuple(
    sorted(
        (one for one in STATISTICS.values() if one.kind in ("mean", "share", "ratio")),
        key=lambda one: one.kind != "mean",
    )
)


class Compared(Struct, frozen=True):
    """One statistic of both: `difference` is the first less the second. Where there are too few
    chances there is no p, and of means no interval."""

    statistic: str
    one: Annotated[float | None, Meta(description="that of A")]
    one_k: Annotated[int | None, Meta(description="how often A did it, of a share")]
    one_n: Annotated[int, Meta(description="A's opportunities, or deals")]
    other: Annotated[float | None, Meta(description="that of B")]
    other_k: Annotated[int | None, Meta(description="how often B did it, of a share")]
    other_n: Annotated[int, Meta(description="B's opportunities, or deals")]
    difference: Annotated[float | None, Meta(description="A less B")] = None
    low: Annotated[float | None, Meta(description="where its 95 % interval begins")] = None
    high: Annotated[float | None, Meta(description="where that ends")] = None
    method: Annotated[Method | None, Meta(description="how the interval is made")] = None
    shared: Annotated[int, Meta(description="how many deals pair them")] = 0
    together: Annotated[float, Meta(description="the correlation that comes of it")] = 0.0
    p: Annotated[float | None, Meta(description="how sure this difference alone is")] = None
    counted: Annotated[
        float | None, Meta(title="p of all", description="p among all that were compared")
    ] = None
    drawn_low: Annotated[
        float | None, Meta(description="where a mean's interval begins, deals drawn again")
    ] = None
    drawn_high: Annotated[float | None, Meta(description="where that ends")] = None
    unit: Annotated[str | None, Meta(description="what an amount counts")] = None

    @property
    def few(self) -> bool:
        """Whether there is too little behind it."""
        return self.low is None or min(self.one_n, self.other_n) < FEW


def compared(
    facts: Facts,
    sides: tuple[Chosen, Chosen],
    decks: Mapping[str, Deck],
    wanted: Sequence[Statistic],
    files: Iterable[str],
) -> list[Compared]:
    """Every statistic of two sides, in their order; each p as it counts among all of them.

    `files` are those of the statistics, so that somebody may watch them being asked.
    """
    found: dict[str, Compared] = {}
    for file in files:
        both = by_deal.sides(facts.ask(by_deal.asked(file, sides, decks)))
        for one in wanted:
            if one.file == file:
                found[one.name] = _compared(one, *both)
    every = [found[one.name] for one in wanted]
    counted = iter(holm([it.p for it in every if it.p is not None]))
    return [it if it.p is None else replace(it, counted=steady(next(counted))) for it in every]


def _compared(it: Statistic, first: Side, second: Side) -> Compared:
    """One statistic; what one side had no chance of is not compared."""
    one, other = by_deal.number(it, first), by_deal.number(it, second)
    found = Compared(it.name, *_told(it, one), *_told(it, other))
    if found.one is None or found.other is None:
        return found
    _, here, there = np.intersect1d(first.deals, second.deals, True, return_indices=True)
    shared = int(np.count_nonzero((one.below[here] > 0) & (other.below[there] > 0)))
    together = by_deal.together(one, other, here, there) if shared else 0.0
    found = replace(
        found,
        difference=steady(it.scale * (one.value - other.value)),
        shared=shared,
        together=steady(together) or 0.0,
    )
    if it.kind == "ratio":
        return _ratios(found, one, other)
    interval = _mean(it, one, other, together) if it.kind == "mean" else _share(found, together)
    if interval is None:
        return found
    method: Method = "welch" if it.kind == "mean" else "newcombe"
    found = _ended(found, interval(Z), "paired" if shared else method)
    if not found.few:
        found = replace(found, p=steady(chance(interval)))
    drawn = by_deal.drawn(one, other, here, there) if it.kind == "mean" else None
    if drawn is not None:
        low, high = (steady(it.scale * end) for end in drawn)
        found = replace(found, drawn_low=low, drawn_high=high)
    return found


def _told(it: Statistic, number: Number) -> tuple[float | None, int | None, int]:
    """Value, done and chances of one side."""
    n = int(number.below.sum())
    value = steady(it.scale * number.value) if n else None
    return value, None if it.kind == "mean" else int(number.above.sum()), n


def _share(found: Compared, together: float) -> Callable[[float], Interval]:
    """The interval of a difference of shares, as far as so many deviations reach."""
    one, other = Share(found.one_k or 0, found.one_n), Share(found.other_k or 0, found.other_n)
    return partial(newcombe, one, other, together)


def _mean(
    it: Statistic, one: Number, other: Number, together: float
) -> Callable[[float], Interval] | None:
    """The same of means; none of few deals."""
    if min(one.n, other.n) < FEW:
        return None
    first, second = (Mean(it.scale * at.value, it.scale * at.error, at.n) for at in (one, other))
    return partial(welch, first, second, together)


def _ratios(found: Compared, one: Number, other: Number) -> Compared:
    """Ratios have no formula: each is drawn again, and the two intervals are put together."""
    assert found.one is not None
    assert found.other is not None
    first, second = (of_ratio(list(at.cells())) for at in (one, other))
    if first is None or second is None:
        return found
    ends = moved((found.one, first), (found.other, second), found.together)
    return _ended(found, ends, "bootstrap")


def _ended(found: Compared, ends: Interval, method: Method) -> Compared:
    return replace(found, low=steady(ends[0]), high=steady(ends[1]), method=method)
