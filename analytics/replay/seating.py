"""Where everybody sits: positions counted backwards from the button, and blinds from who posted.

Of many hands at once, those with the same seats, button and blinds are named once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analytics.replay.columns import BLINDS as BLINDS_POSTED
from analytics.replay.columns import ReplayColumns
from events.state import Hand
from events.types import BlindPosted, Event
from store.columns.cells import Column

BLINDS = ("SB", "BB")
BACKWARDS = ("BTN", "CO", "HJ", "MP")
STEALING = frozenset({"CO", "BTN", "SB"})
POSITIONS = ("UTG", *(f"MP{number}" for number in range(17, 1, -1)), *reversed(BACKWARDS), *BLINDS)
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
    blind = np.array([1 + BLINDS.index(it) if it in BLINDS else 0 for it in numbers])
    steals = np.array([it in STEALING for it in numbers])
    return Named(list(numbers), which, blind.take(which), steals.take(which))


def _posted(hands: ReplayColumns, kind: str) -> Column:
    """Who posted the last blind of this kind."""
    _, hand, seat, _, blind = hands.blinds
    these = np.flatnonzero(blind == BLINDS_POSTED[kind])
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


def dealt_in(hand: Hand) -> tuple[int, ...]:
    """Seats with hole cards; all of them, where a hand ended before any were dealt."""
    held = tuple(seat for seat, cards in enumerate(hand.hole) if cards)
    return held or tuple(range(len(hand.hole)))


def positions(hand: Hand, events: Sequence[Event]) -> dict[int, str]:
    """Every seat that was dealt in, and the name of its place."""
    posted = {event.kind: event.seat for event in events if isinstance(event, BlindPosted)}
    last = posted.get("straddle", posted.get("big"))
    chairs, button = len(hand.hole), hand.start.button
    return names(chairs, button, dealt_in(hand), posted.get("small"), last)


def names(
    chairs: int, button: int, seats: Sequence[int], small: int | None, last: int | None
) -> dict[int, str]:
    """The names of these seats' places, by who posted the small and who the last blind.

    The last blind, a straddle included, is BB. The URCS button posts a blind and stays the BTN;
    heads-up the button is the SB, unless the blinds were posted the other way round.
    """
    named = {} if small is None else {small: "SB"}
    if len(seats) > 2 and button in named:
        named.pop(button)
    if last is not None:
        named[last] = "BB"
    if len(seats) == 2 and not named:
        named = {seat: "SB" if seat == button else "BB" for seat in seats}
    if len(seats) == 2 and len(named) == 1:
        ((seat, place),) = named.items()
        named[sum(seats) - seat] = "SB" if place == "BB" else "BB"
    # BTN, CO, HJ, MP and further MPs backwards from the button; the first to act is UTG.
    others = (seat for seat in seats if seat not in named)
    backwards = sorted(others, key=lambda seat: (button - seat) % chairs)
    for at, seat in enumerate(backwards):
        named[seat] = BACKWARDS[at] if at < len(BACKWARDS) else f"MP{at - 2}"
    if len(backwards) > 2:
        named[backwards[-1]] = "UTG"
    return named
