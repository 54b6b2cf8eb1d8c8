"""The codes of events and of verdicts: what an event says, and why the screen doubts a hand.

The code of an event is its kind, and what it says beside chips and cards, as one number. Two events
say the same if their codes are the same; fields that an event of its kind does not have are nothing
in its code. A value beyond what its field holds is cut to one that no rule expects.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum

import numpy as np

from store.columns.cells import Column
from store.tables.hand_columns import KIND

Values = Mapping[str, Column]
NO_CARD = -1
ACT, SHOW = 100, 101  # any action, of which the replay knows more; shown or mucked
_ALIKE = {"Folded": ACT, "Checked": ACT, "Called": ACT, "Bet": ACT, "Raised": ACT}
_ALIKE |= {"Shown": SHOW, "Mucked": SHOW}
CODE = {name: _ALIKE.get(name, code) for name, code in KIND.items()}
# Where a field begins, and how many bits it has; each is one more than its value. Fields of
# events of different kinds share their places.
_FIELDS = {
    "seat": (8, 6),
    "blind": (14, 4),
    "origin": (18, 3),
    "whole": (21, 2),
    "cards": (14, 3),
    "slot": (14, 3),
    "told": (17, 2),
    "sealed": (14, 2),
    "step": (8, 7),
    "street": (15, 8),
    "next": (23, 6),
    "pot": (8, 7),
}
_BEYOND = 1 << 30  # in no code of a record: what does not fit a field is like nothing
_HAVE = {
    "StepEntered": ("step", "street"),
    "BettingOpened": ("step", "street", "next"),
    "UncalledReturned": ("seat",),
    "AntePosted": ("seat",),
    "BlindPosted": ("seat", "blind", "origin", "whole"),
    "HoleDealt": ("seat", "cards"),
    "BoardDealt": ("cards",),
    "CardSwapped": ("seat", "slot", "told"),
    "BidPlaced": ("seat", "sealed", "origin"),
    "Shown": ("seat", "cards"),
    "Mucked": ("seat",),
    "RakeTaken": ("pot",),
    "PotSplit": ("pot",),
}


def event_code(kind: str | int, **fields: "Column | int | bool") -> "Column | int":
    """The code of an event of this kind that says these things; a column's numbers must fit."""
    found: Column | int = CODE[kind] if isinstance(kind, str) else kind
    for name, value in fields.items():
        begins, bits = _FIELDS[name]
        if isinstance(value, np.ndarray):
            found = found + ((value.astype(np.int32) + np.int32(1)) << begins)
        else:
            most = (1 << bits) - 1
            found = found + (min(int(value) + 1, most) << begins) + (value + 1 >= most) * _BEYOND
    return found


def field(codes: Column, name: str) -> Column:
    """What codes say in one field, and one more than that."""
    begins, bits = _FIELDS[name]
    found: Column = codes >> begins & (1 << bits) - 1
    return found


def event_codes(kinds: Column, rows_of: Callable[[str], Column], values: Values) -> Column:
    """The code of every event; `values` has the columns that the fields are named after."""
    found: Column = np.array([*CODE.values(), 127], dtype=np.int32).take(kinds)
    for kind, names in _HAVE.items():
        rows = rows_of(kind)
        if not len(rows):
            continue
        codes = np.full(len(rows), CODE[kind], dtype=np.int32)
        for name in names:
            begins, bits = _FIELDS[name]
            value = values[name].take(rows).astype(np.int32)
            value += 1
            codes |= np.minimum(np.maximum(value, 0), (1 << bits) - 1) << begins
        found[rows] = codes
    return found


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
    DIFFERS = 9  # an event says something else than the rules decide
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
