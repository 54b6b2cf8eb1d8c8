"""The fold: every kind of event has its count, and counting needs no rules."""

from typing import get_args

from engine.game import Game
from events.evolve import _COUNTS, evolve, replay
from events.notation import read
from events.types import Event, HandVoided
from tests.hands import every_ruleset, seeded


def test_every_kind_of_event_is_counted() -> None:
    assert set(_COUNTS) == set(get_args(Event))


def test_an_event_that_no_rules_would_allow_is_counted_all_the_same() -> None:
    """A replay folds the record; whether seat 1 could bet out of turn is not its business."""
    hand = replay(map(read, ["hand m/1 of poker rules, button 0: a 100, b 100", "1 bets 90"]))
    assert (100, 10) == hand.stacks
    assert 90 == hand.pot


@every_ruleset
def test_a_hand_remembers_what_every_seat_had_paid_when_one_went_all_in(game: Game) -> None:
    """T8, U12: also all-in by the clock, by an ante, or by an auction's price."""
    for number in range(12):
        first, *rest = seeded(game, f"all-in {number}").record
        hand, lay = replay([first]), {}
        for event in rest:
            before, hand = hand, evolve(hand, event)
            for seat, standing in enumerate(hand.standing):
                if standing == "all_in" and before.standing[seat] == "live":
                    lay[seat] = hand.paid
            if not isinstance(event, HandVoided):
                assert hand.tapped == tuple(lay.get(seat, ()) for seat in range(len(hand.stacks)))
