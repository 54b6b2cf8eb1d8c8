"""Who showed and who mucked in a PHH hand: what a hand says of cards, and in which order."""

import pytest

from engine.verdict import judge
from events import types as t
from events.evolve import replay
from events.notation import say_all
from formats.hand_records import hand_record
from tests.formats.test_format_phh import TWO, UNSEEN, changed, record, told


def test_who_shows_cards_that_nobody_saw_has_thrown_them_away() -> None:
    """Archives say a muck as a show of `????`; pokerkit plays it alike, and pays who was seen."""
    hand = told(UNSEEN)
    assert ("players", "mucks") == hand.inferred
    events = hand_record(hand, "m/1")
    assert (t.Shown(0, ("Kc", "Kd")), t.Mucked(1)) == tuple(
        event for event in events if isinstance(event, t.Shown | t.Mucked)
    )
    assert judge(hand.game, events).verdict == "unknown"
    assert (430, 470) == replay(events).stacks


def test_the_last_show_of_a_seat_is_the_one_that_counts() -> None:
    """Of who is all-in the archive says a show before every street, and knows the cards at last."""
    again = '"p1 sm ????", "p2 sm ????", '
    text = changed(
        UNSEEN,
        (
            '"p2 cc", "p1 cc", "d db 2c3d4h", "p1 cc", "p2 cc"',
            f'"p2 cbr 400", "p1 cc", {again}"d db 2c3d4h"',
        ),
        ('"d db 5s", "p1 cc", "p2 cc", ', f'{again}"d db 5s", {again}'),
        ('"p1 cbr 20", "p2 cc", "p1 sm', '"p1 sm'),
        ('p2 sm ????"]', 'p2 sm AsQd"]'),
    )
    hand = told(text)
    assert ("players",) == hand.inferred
    events = hand_record(hand, "m/1")
    assert [(0, ("Kc", "Kd")), (1, ("As", "Qd"))] == [
        (event.seat, event.cards) for event in events if isinstance(event, t.Shown)
    ]
    assert (judge(hand.game, events).verdict, (0, 900)) == ("agree", replay(events).stacks)


def test_who_was_seen_is_not_unseen_again() -> None:
    """All-in hands are turned up before the board; a later `????` of one of them says nothing."""
    again = '"p1 sm KcKd", "p2 sm ????", '
    text = changed(
        UNSEEN,
        (
            '"p2 cc", "p1 cc", "d db 2c3d4h", "p1 cc", "p2 cc"',
            f'"p2 cbr 400", "p1 cc", {again}"d db 2c3d4h"',
        ),
        ('"d db 5s", "p1 cc", "p2 cc", ', '"d db 5s", '),
        ('"p1 cbr 20", "p2 cc", "p1 sm KcKd"', '"p1 sm ????"'),
    )
    hand = told(text)
    assert ("players", "mucks") == hand.inferred
    events = hand_record(hand, "m/1")
    assert (t.Shown(0, ("Kc", "Kd")), t.Mucked(1)) == tuple(
        event for event in events if isinstance(event, t.Shown | t.Mucked)
    )
    assert "unknown" == judge(hand.game, events).verdict


def test_where_no_hand_was_seen_nobody_is_said_to_have_thrown_his_away() -> None:
    hand = told(changed(UNSEEN, ("sm KcKd", "sm Kc??")))
    assert ("players",) == hand.inferred
    with pytest.raises(ValueError, match="the source does not say who was paid"):
        hand_record(hand, "m/1")


def test_hands_shown_before_the_last_card_are_recorded_in_that_order() -> None:
    text = changed(
        TWO,
        ('"p2 cbr 20", "p1 f"]', '"p2 cc", "p1 cc", "d db 2c3d4h", "p1 cc", "p2 cc"]'),
        ('"FT"', '"NT"'),
        ("small_bet = 10\nbig_bet = 20", "min_bet = 10"),
        (
            '"p2 cc", "p1 cc", "d db 2c3d4h", "p1 cc", "p2 cc"',
            '"p2 cbr 400", "p1 cc", "p2 sm -", "p1 sm -", "d db 2c3d4h", "d db 5s", "d db 6s"',
        ),
    )
    said = say_all(record(text))
    assert said.index("shows") < said.index("2c")
