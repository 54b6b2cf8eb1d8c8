"""What an event says beside chips and cards, as one number: its kind, and who, where, how.

Two events are alike if their marks are; fields that an event of its kind does not have are nothing
in its mark. A value beyond what its place holds is cut to one that no rule ever expects.
"""

import numpy as np

from analytics.replay.layout import KIND
from analytics.screen.rows import NO_CARD, Rows
from store.columns.cells import Column

ACT, SHOW = 100, 101  # any action, of which the replay knows more; shown or mucked
_ALIKE = {"Folded": ACT, "Checked": ACT, "Called": ACT, "Bet": ACT, "Raised": ACT}
_ALIKE |= {"Shown": SHOW, "Mucked": SHOW}
MARK = {name: _ALIKE.get(name, code) for name, code in KIND.items()}
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
_BEYOND = 1 << 30  # in no mark of a record: what does not fit a field is like nothing
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


def mark(kind: str | int, **fields: "Column | int | bool") -> "Column | int":
    """The mark of an event of this kind that says these things; a column's numbers must fit."""
    found: Column | int = MARK[kind] if isinstance(kind, str) else kind
    for name, value in fields.items():
        begins, bits = _FIELDS[name]
        if isinstance(value, np.ndarray):
            found = found + ((value.astype(np.int32) + np.int32(1)) << begins)
        else:
            most = (1 << bits) - 1
            found = found + (min(int(value) + 1, most) << begins) + (value + 1 >= most) * _BEYOND
    return found


def field(said: Column, name: str) -> Column:
    """What a mark says in one field, and one more than that."""
    begins, bits = _FIELDS[name]
    found: Column = said >> begins & (1 << bits) - 1
    return found


def marks(rows: Rows) -> Column:
    """The mark of every event."""
    kinds = rows.cells["kind"]
    found: Column = np.array([*MARK.values(), 127], dtype=np.int32).take(kinds)
    cells = {**rows.cells, "cards": _dealt(rows)}
    cells["whole"] = rows.cells["to"] == rows.cells["amount"]  # a bet of all that is posted
    for kind, names in _HAVE.items():
        at = np.flatnonzero(kinds == KIND[kind])
        if not len(at):
            continue
        said = np.full(len(at), MARK[kind], dtype=np.int32)
        for name in names:
            begins, bits = _FIELDS[name]
            value = cells[name].take(at).astype(np.int32)
            value += 1
            said |= np.minimum(np.maximum(value, 0), (1 << bits) - 1) << begins
        found[at] = said
    return found


def _dealt(rows: Rows) -> Column:
    """How many cards every event has."""
    found = rows.cells["many"].astype(np.int8)
    for place in range(1, 6):
        found += rows.cells[f"card{place}"] != NO_CARD
    return found
