"""How pages write numbers, money and moments."""

import pytest

from api.pages.site import (
    chips_text,
    count_text,
    date_markup,
    net_text,
    rate_text,
    tick_text,
    total_text,
)
from api.questions.player_measures import p_text

THIN = "\N{NARROW NO-BREAK SPACE}"


def test_numbers_are_written_with_signs_and_room() -> None:
    assert [f"+1{THIN}234", "−19", "0", "?"] == [net_text(n) for n in (1234, -19, 0, None)]
    assert [f"+1{THIN}046.21", "−0.50", "0.00"] == [rate_text(n) for n in (1046.21, -0.5, 0.001)]
    assert f"12{THIN}345" == chips_text(12345)
    assert ["1 hand", "2 hands", "3 matches"] == [
        count_text(1, "hand"),
        count_text(2, "hand"),
        count_text(3, "match", "matches"),
    ]


@pytest.mark.parametrize(
    ("net", "of", "text"),
    [
        (5.32, "dollar", "+$5.32"),
        (-1234.5, "euro", f"\N{MINUS SIGN}\N{EURO SIGN}1{THIN}234.50"),
        (0.0, "pound", "\N{POUND SIGN}0.00"),
        (1234.4, "chip", f"+1{THIN}234"),
        (-3.0, None, "\N{MINUS SIGN}3"),
    ],
)
def test_a_sum_of_money_has_its_cents_and_one_of_chips_is_whole(
    net: float, of: str | None, text: str
) -> None:
    assert text == total_text(net, of)


def test_an_axis_has_no_number_that_does_not_stand_there() -> None:
    assert ["2.5", "10", f"\N{MINUS SIGN}1{THIN}000", "0.25"] == list(
        map(tick_text, (2.5, 10, -1000, 0.25))
    )


def test_a_moment_is_said_shortly_and_kept_exactly() -> None:
    said = date_markup("2026-11-22T03:14:28.568Z")
    assert '<time datetime="2026-11-22T03:14:28.568Z"' in said
    assert f">22{THIN}Nov 2026, 03:14</time>" in said
    assert said == date_markup(1795317268568)
    assert f">6{THIN}Jan 2014, 15:07</time>" in date_markup("2014-01-06T10:07:05-05:00")


@pytest.mark.parametrize("written", ["2014-01-06T10:07:05", "0001-01-01T00:00:00+14:00", "noon"])
def test_a_moment_that_is_none_in_utc_stays_as_it_was_written(written: str) -> None:
    assert f"<time>{written}</time>" == date_markup(written)


def test_no_chance_is_nothing_at_all() -> None:
    assert ["", "0.75", "4.9e-05", "0.0312", "<1e-15"] == [
        p_text(None),
        p_text(0.75),
        p_text(0.0000487),
        p_text(0.03123, 3),
        p_text(0.0),
    ]
