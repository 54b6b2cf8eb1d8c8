"""Where everybody sits in many hands: hands with the same seats, button and blinds are alike."""

from typing import NamedTuple

import numpy as np

from analytics.replay.columns import BLINDS, ReplayColumns
from analytics.replay.positions import BLINDS as NAMES
from analytics.replay.positions import STEALING, names
from store.columns.cells import Column

_BITS = 5  # a seat, or a number of seats
_NOBODY = 31


class Named(NamedTuple):
    """Of every place: its name, as a number of `words`; which blind, SB one; if it steals."""

    words: list[str]
    position: Column
    blind: Column
    steals: Column


def named(hands: ReplayColumns, dealt: Column) -> Named:
    """The names of places; `dealt` tells which were dealt in."""
    seated = np.left_shift(np.int64(1), hands.place_seat) * dealt
    alike = np.bincount(hands.place_hand, seated, hands.count).astype(np.int64)
    small, straddle = _posted(hands, "small"), _posted(hands, "straddle")
    last: Column = np.where(straddle == _NOBODY, _posted(hands, "big"), straddle)
    for one in (hands.button, small, last, hands.seats):
        alike = alike << _BITS | one & (1 << _BITS) - 1
    each: Column = np.unique(alike, return_inverse=True)
    some, where = each
    numbers: dict[str, int] = {}
    known = [numbers.setdefault(it, len(numbers)) for one in some.tolist() for it in _names(one)]
    chairs = some & (1 << _BITS) - 1
    begins = (np.cumsum(chairs) - chairs).take(where)
    which = np.array(known, dtype=np.int64).take(begins.take(hands.place_hand) + hands.place_seat)
    blind = np.array([1 + NAMES.index(it) if it in NAMES else 0 for it in numbers])
    steals = np.array([it in STEALING for it in numbers])
    return Named(list(numbers), which, blind.take(which), steals.take(which))


def _posted(hands: ReplayColumns, kind: str) -> Column:
    """Who posted the last blind of this kind."""
    _, hand, seat, _, blind = hands.blinds
    these = np.flatnonzero(blind == BLINDS[kind])
    found = np.full(hands.count, _NOBODY, dtype=np.int64)
    found[hand[these]] = seat[these]
    return found


def _names(alike: int) -> list[str]:
    """The name of each seat of hands that are alike so."""
    parts = []
    for _ in range(4):
        parts.append(alike & (1 << _BITS) - 1)
        alike >>= _BITS
    chairs, last, small, button = parts
    seats = [seat for seat in range(chairs) if alike >> seat & 1]
    blinds = (None if seat == _NOBODY else seat for seat in (small, last))
    known = names(chairs, button, seats, *blinds)
    return [known.get(seat, "") for seat in range(chairs)]
