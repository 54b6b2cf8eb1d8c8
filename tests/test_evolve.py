"""The fold: every kind of event has its count, and counting needs no rules."""

from typing import get_args

from events.evolve import _COUNTS, replay
from events.notation import read
from events.types import Event


def test_every_kind_of_event_is_counted() -> None:
    assert set(_COUNTS) == set(get_args(Event))


def test_an_event_that_no_rules_would_allow_is_counted_all_the_same() -> None:
    """A replay folds the record; whether seat 1 could bet out of turn is not its business."""
    hand = replay(map(read, ["hand m/1 of poker rules, button 0: a 100, b 100", "1 bets 90"]))
    assert (100, 10) == hand.stacks
    assert 90 == hand.pot
