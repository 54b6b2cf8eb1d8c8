"""Differences: published examples of Newcombe and Welch, pairs, p, and sums drawn again."""

from functools import partial
from math import sqrt
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics import intervals
from analytics.intervals import (
    Mean,
    Share,
    bootstrap_interval,
    bootstrap_mean,
    newcombe,
    ratio_of_sums,
    student,
    welch,
)
from analytics.p_values import interval_p_value


def test_the_interval_of_a_difference_is_newcombes() -> None:
    """His own example: 56 of 70 less 48 of 80 is 0.2, from 0.0524 to 0.3339."""
    low, high = newcombe(Share(56, 70), Share(48, 80))
    assert (0.0524, 0.3339) == (round(low, 4), round(high, 4))


def test_pairs_have_the_interval_that_newcombe_gives_pairs() -> None:
    """His method 10: of 50 pairs 36 both, 12 one, 2 the other: 0.2, from 0.0569 to 0.3404."""
    together = (36 * 0 - 12 * 2) / sqrt(48 * 2 * 38 * 12)
    low, high = newcombe(Share(48, 50), Share(38, 50), together)
    assert (0.0569, 0.3404) == (round(low, 4), round(high, 4))


def test_means_of_two_variances_are_told_apart_as_by_welch() -> None:
    """A known example: variances 7.9 and 3.8, 15 each; t is 2.46, so p is 0.021."""
    one = Mean(2.46 * sqrt(11.7 / 15), sqrt(7.9 / 15), 15)
    other = Mean(0.0, sqrt(3.8 / 15), 15)
    assert 0.021 == pytest.approx(interval_p_value(partial(welch, one, other, 0.0)), abs=0.0005)


whole = st.integers(-50, 50)


@given(st.lists(st.tuples(whole, whole), min_size=30, max_size=60))
def test_pairing_is_what_students_interval_of_the_differences_is(
    pairs: list[tuple[int, int]],
) -> None:
    first, second = ([float(one[at]) for one in pairs] for at in (0, 1))
    n = len(pairs)
    one, other = (Mean(fmean(it), stdev(it) / sqrt(n), n) for it in (first, second))
    scale = stdev(first) * stdev(second)
    product = sum((a - one.mean) * (b - other.mean) for a, b in pairs) / (n - 1)
    apart = [a - b for a, b in pairs]
    if scale > 0 and product:
        found = welch(one, other, product / scale)
        assert found == pytest.approx(student(fmean(apart), stdev(apart), n), abs=1e-6)


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([-0.5, 0.0, 0.5]))
def test_p_is_small_where_the_interval_leaves_nothing_out(k: int, other: int, r: float) -> None:
    at = partial(newcombe, Share(k, 60), Share(other, 60), r)
    low, high = at(1.959964)
    assert (low > 0 or high < 0) == (interval_p_value(at) < 0.05)
    assert (k == other) == (interval_p_value(at) == 1)


def test_a_mean_is_drawn_again_with_a_recorded_seed() -> None:
    """The same ends each time; of hands that are no heavier than most, nearly Student's."""
    values, times = [-2.0, -1.0, 1.0, 2.0], [40, 61, 60, 41]
    held = bootstrap_mean(values, times)
    assert held == bootstrap_mean(values, times)
    assert held is not None
    each = np.repeat(values, times)
    assert held == pytest.approx(
        student(float(each.mean()), float(each.std(ddof=1)), 202), abs=0.03
    )


def test_a_heavy_tail_makes_the_interval_lopsided() -> None:
    """Rarely a stack is won: that it might have been won more often reaches further than less."""
    held = bootstrap_mean([-1.0, 400.0], [397, 3])
    assert held is not None
    assert -1 <= held[0]
    assert held[1] - 2.0075 > 1.2 * (2.0075 - held[0])


def test_of_few_deals_nothing_is_drawn() -> None:
    assert bootstrap_mean([1.0, 2.0], [20, 9]) is None


def test_sums_of_many_deals_are_drawn_as_the_deals_would_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Straight from the normal distribution, or deal by deal: but for chance the ends are one."""
    deals = np.column_stack((np.tile([-4.0, 1.0, 2.0, 3.0], 500), np.tile([1.0, 2.0], 1000)))
    straight = bootstrap_interval([deals], ratio_of_sums)
    monkeypatch.setattr(intervals, "SKEW", -1.0)
    by_hand = bootstrap_interval([deals], ratio_of_sums)
    assert straight is not None
    assert by_hand is not None
    assert straight != by_hand
    assert straight == pytest.approx(by_hand, abs=0.05 * (by_hand[1] - by_hand[0]))


def test_of_a_hundred_thousand_deals_and_more_none_is_drawn() -> None:
    """A mean over so many is as good as normal, and nobody would wait."""
    held = bootstrap_mean([-2.0, 1.0], [100_000, 200_000])
    assert held is not None
    assert (-0.005, 0.005) == pytest.approx(held, abs=0.0006)
