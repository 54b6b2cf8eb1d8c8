"""Scales, histograms and cells: what stands where in a picture of numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from api.pages.players import (
    ActionShares,
    action_shares,
    grid_cell,
    shares_by_kind,
)
from api.pages.site import PICTURE_SIZE, Scale, histogram, linear_scale
from api.pages.winnings import jitter
from api.questions.declared.grid import Cell

MINUS = "\N{MINUS SIGN}"
NUMBERS = st.floats(-1e9, 1e9, allow_nan=False).filter(lambda it: it == 0 or abs(it) > 1e-6)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], (0, 1)),
        ([7], (0, 2, 4, 6, 8)),
        ([100], (0, 20, 40, 60, 80, 100)),
        ([0.11, 0.05], (0, 0.025, 0.05, 0.075, 0.1, 0.125)),
        ([-30, 12], (-30, -20, -10, 0, 10, 20)),
    ],
)
def test_a_scale_has_round_ticks(values: list[float], ticks: tuple[float, ...]) -> None:
    assert pytest.approx(ticks) == linear_scale(values).ticks


@given(st.lists(NUMBERS, max_size=20))
def test_a_scale_holds_nothing_and_every_value(values: list[float]) -> None:
    found = linear_scale(values)
    assert 2 <= len(found.ticks) <= 8
    for value in (0.0, *values):
        assert 0 <= found.at(value) <= PICTURE_SIZE


def test_a_value_stands_in_its_place() -> None:
    over = Scale(0, 20, (0, 10, 20))
    assert [0, PICTURE_SIZE / 2, PICTURE_SIZE] == [over.at(value) for value in (0, 10, 20)]


def test_a_histogram_counts_every_value_once_and_the_largest_in_the_last_part() -> None:
    over = Scale(0, 1, (0, 1))
    assert [2, 1, 0, 3] == histogram([0, 0.1, 0.25, 0.99, 1, 7], over, bins=4)


@given(st.lists(NUMBERS, max_size=50))
def test_a_histogram_loses_nothing(values: list[float]) -> None:
    assert len(values) == sum(histogram(values, linear_scale(values)))


def test_points_at_one_place_are_spread_by_less_than_a_point() -> None:
    found = [jitter(place) for place in range(11)]
    assert 11 == len(set(found))
    assert max(map(abs, found)) < 3


def test_a_class_that_never_came_has_an_empty_cell() -> None:
    told = {"name": "AA", "hands": 0, "text": "", "warmth": 0.0, "full": 0.0, "acts": None}
    assert told == grid_cell("AA", None, "vpip")


def test_a_cell_says_how_often_and_is_full_when_it_came_often() -> None:
    row = Cell("AA", 6, 3, 4, 0, 0, -5.0)
    assert {"text": "75 %", "warmth": 0.75, "full": 0.5}.items() <= grid_cell(
        "AA", row, "vpip"
    ).items()
    assert {"text": "", "warmth": 0.0}.items() <= grid_cell("AA", row, "raise").items()
    assert {"text": f"{MINUS}5.0", "warmth": 0.25}.items() <= grid_cell("AA", row, "net").items()
    assert {"text": "6", "warmth": 0.5, "full": 0.5}.items() <= grid_cell("AA", row, "n").items()
    often = replace(row, hands=1_000, net_bb=None)
    assert {"text": "", "warmth": 0.5, "full": 1.0}.items() <= grid_cell("AA", often, "net").items()


def test_a_cell_is_divided_into_what_he_raised_called_and_did_not_play() -> None:
    row = Cell("AA", 6, 3, 4, 1, 4, None)
    assert ActionShares(4, 0.25, 0.5) == grid_cell("AA", row, "acts")["acts"]
    assert "75 %" == grid_cell("AA", row, "acts")["text"]
    assert action_shares([]) is None
    assert action_shares([replace(row, vpip_n=0)]) is None


def test_what_he_did_is_told_of_all_classes_and_of_each_kind() -> None:
    raises = [Cell(name, 1, 1, 1, 1, 1, None) for name in ("AA", "AKs")]
    never = [Cell(name, 1, 0, 1, 0, 1, None) for name in ("72o", "32o")]
    found = dict(shares_by_kind([*raises, *never]))
    assert ActionShares(4, 0.5, 0.0) == found["all"]
    assert ActionShares(2, 0.0, 0.0) == found["offsuit"]
    assert ["all", "pairs", "suited", "offsuit"] == list(found)
    assert [] == shares_by_kind([])
