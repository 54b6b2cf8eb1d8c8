"""What the screen says of a hand: fine, one of several doubts, or why it did not judge."""

from enum import IntEnum


class Why(IntEnum):
    """A reason to ask the engine about a hand; `FINE` is none."""

    FINE = 0  # as its rules pay, and no reading pays otherwise
    # What is suspect.
    START = 1  # the hand begins otherwise than its ruleset allows
    CARDS = 2  # a card is no card, comes twice, or too many or too few are dealt
    STOPS = 3  # actions end while somebody owes an answer
    TURN = 4  # somebody acts who was not asked
    ILLEGAL = 5  # an action that the rules forbid, or of a size they forbid
    ACTION = 6  # an action tells another amount, successor or origin than the rules
    BID = 7  # a bid is more than the stack, or not told as it has to be
    SHAPE = 8  # events are missing, too many, or in another order
    TOLD = 9  # an event says something else than the rules decide
    SHOWING = 10  # somebody shows out of turn, other cards, or mucks where he may not
    RAKE = 11  # the rake is not what the rules take
    AWARD = 12  # a pot is not paid as the rules pay it
    READING = 13  # another reading of the rules could pay differently
    # What is not screened.
    RULES = 32  # the screen does not follow this ruleset
    EVENTS = 33  # clocks, newcomers or a void: the screen does not follow these events
    LARGE = 34  # more chips than fit the screen's columns
    UNKNOWN = 35  # a card that counts was never recorded
    ASSUMED = 36  # fine, if what the hand assumes is so
