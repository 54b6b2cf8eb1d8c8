"""What the screen says of a hand: fine, one of several doubts, or why it did not judge."""

from enum import IntEnum


class Why(IntEnum):
    """A reason to ask the engine about a hand; `FINE` is none."""

    FINE = 0
    # What is suspect.
    START = 1
    CARDS = 2
    STOPS = 3
    GOES_ON = 4
    ILLEGAL = 5
    ACTION = 6
    BID = 7
    SHAPE = 8
    TOLD = 9
    SHOWING = 10
    RAKE = 11
    AWARD = 12
    READING = 13
    # What is not screened.
    RULES = 32
    EVENTS = 33
    LARGE = 34
    UNKNOWN = 35


SAID = {
    Why.FINE: "as its rules pay, and no reading pays otherwise",
    Why.START: "the hand begins otherwise than its ruleset allows",
    Why.CARDS: "a card is no card, comes twice, or too many or too few are dealt",
    Why.STOPS: "actions end while somebody owes an answer",
    Why.GOES_ON: "actions go on after the hand was over",
    Why.ILLEGAL: "an action that the rules forbid, or of a size they forbid",
    Why.ACTION: "an action tells another seat, amount, successor or origin than the rules",
    Why.BID: "a bid is more than the stack, or not told as it has to be",
    Why.SHAPE: "events are missing, too many, or in another order",
    Why.TOLD: "an event says something else than the rules decide",
    Why.SHOWING: "somebody shows out of turn, other cards, or mucks where he may not",
    Why.RAKE: "the rake is not what the rules take",
    Why.AWARD: "a pot is not paid as the rules pay it",
    Why.READING: "another reading of the rules could pay differently",
    Why.RULES: "the screen does not follow this ruleset",
    Why.EVENTS: "clocks, newcomers or a void: the screen does not follow these events",
    Why.LARGE: "more chips than fit the screen's columns",
    Why.UNKNOWN: "a card that counts was never recorded",
}


def is_screened(why: int) -> bool:
    """Whether the screen has judged the hand at all."""
    return why < Why.RULES
