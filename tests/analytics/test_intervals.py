"""Intervals: the expected values of Wilson's formula, Student's table, and a bootstrap by seed."""

import pytest

from analytics import intervals
from analytics.intervals import bootstrap_ratio, student, t_quantile, wilson

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize(
    ("done", "chances", "low", "high"),
    [
        (613, 1000, 58.24, 64.27),
        (71, 164, 35.95, 50.94),
        (5, 13, 17.71, 64.48),
        (96, 780, 10.19, 14.80),
        (298, 4105, 6.51, 8.09),
        (0, 20, 0, 16.11),
        (20, 20, 83.89, 100),
    ],
)
def test_a_share_has_the_interval_of_wilson(
    done: int, chances: int, low: float, high: float
) -> None:
    held = wilson(done, chances)
    assert held is not None
    assert (low, high) == tuple(round(100 * end, 2) for end in held)


def test_no_opportunity_has_no_interval() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("freedom", "point"), [(29, 2.04523), (60, 2.00030), (1000, 1.96234)])
def test_students_points_are_those_of_the_table(freedom: int, point: float) -> None:
    assert pytest.approx(point, abs=2e-5) == t_quantile(freedom)


def test_a_mean_of_few_hands_has_no_interval() -> None:
    """Below 30 hands no interval."""
    assert student(1.0, 2.0, 29) is None
    assert (-2.0, 2.0) == tuple(round(end, 1) for end in student(0.0, 10.0, 98) or ())


def test_a_ratio_is_drawn_again_hand_by_hand() -> None:
    """A thousand draws with a recorded seed: the same ends each time, around the ratio."""
    cells = [(0, 0, 500), (1, 0, 300), (0, 1, 150), (1, 1, 50)]
    held = bootstrap_ratio(cells)
    assert held == bootstrap_ratio(cells)
    assert held is not None
    assert held[0] < 350 / 200 < held[1]
    assert 0.4 < held[1] - held[0] < 0.8


def test_a_ratio_with_next_to_nothing_below_has_no_interval() -> None:
    assert bootstrap_ratio([(1, 0, 10)]) is None
    assert bootstrap_ratio([(1, 0, 10), (0, 1, 1)]) is None


def test_sums_of_many_hands_are_drawn_as_the_hands_would_be(monkeypatch: Patch) -> None:
    """Straight from the normal distribution, or hand by hand: but for chance the ends are one."""
    cells = [(0, 0, 4000), (1, 0, 900), (0, 1, 1500), (2, 1, 300), (1, 2, 250), (5, 1, 20)]
    monkeypatch.setattr(intervals, "DRAWS", 40_000)
    straight = bootstrap_ratio(cells)
    monkeypatch.setattr(intervals, "SKEW", -1.0)
    by_hand = bootstrap_ratio(cells)
    assert straight is not None
    assert by_hand is not None
    assert straight != by_hand
    width = by_hand[1] - by_hand[0]
    for one, other in zip(straight, by_hand, strict=True):
        assert abs(one - other) < 0.03 * width


def test_sums_of_few_hands_are_drawn_hand_by_hand() -> None:
    """Of so few calls the ratio is lopsided, and both ends stay above nothing."""
    held = bootstrap_ratio([(0, 0, 200), (1, 0, 20), (3, 0, 1), (0, 1, 30)])
    assert held is not None
    assert 0 < held[0] < 23 / 30 < held[1]
    assert held[1] - 23 / 30 > 23 / 30 - held[0]
