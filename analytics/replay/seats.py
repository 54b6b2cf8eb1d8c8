"""The seats of hands: their positions, who was dealt in, how far each came, and with which cards.

Positions count backwards from the button, and blinds are named by who posted. Of many hands at
once, those with the same seats, button and blinds are named once.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from analytics.replay.columns import BLINDS as BLINDS_POSTED
from analytics.replay.columns import FOLDED, ReplayColumns
from events.cards import DECK, RANKS, Cards
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


class Seen(NamedTuple):
    """Of every place: whether it was dealt in, the streets it saw, its classes of cards.

    A class is a number of `classes`, or less than nothing. `fold` goes on to the place after the
    last, as places of `ReplayColumns` do.
    """

    dealt: Column
    saw: tuple[Column, ...]
    fold: Column  # the row of it; past all rows, if it did not
    stays: Column  # to the end
    showdown: Column
    cards: Column
    shown: Column


def class_of(cards: Cards) -> str | None:
    """AKs, AKo or AA out of the first two cards; nothing where one is unknown."""
    if len(cards) < 2 or any(card[0] not in RANKS for card in cards[:2]):
        return None
    high, low = sorted(cards[:2], key=lambda card: -RANKS.index(card[0]))
    if high[0] == low[0]:
        return high[0] + low[0]
    return high[0] + low[0] + ("s" if high[1] == low[1] else "o")


@cache
def classes() -> tuple[tuple[str, ...], Column]:
    """Every class, and which one two cards are of; the last number is a card that is unknown."""
    words: dict[str, int] = {}
    by_ranks = np.empty((len(RANKS), len(RANKS), 2), dtype=np.int32)
    for one, other, suited in np.ndindex(by_ranks.shape):
        name = class_of((f"{RANKS[one]}s", f"{RANKS[other]}{'hs'[suited]}"))
        assert name is not None, "both cards are known"
        by_ranks[one, other, suited] = words.setdefault(name, len(words))
    ranks = np.array([RANKS.index(card[0]) for card in DECK])
    suits = np.array([card[1] for card in DECK])
    found = np.full((len(DECK) + 1, len(DECK) + 1), -1, dtype=np.int32)
    found[:-1, :-1] = by_ranks[ranks[:, None], ranks, (suits[:, None] == suits).astype(int)]
    return tuple(words), found.ravel()


def seen(hands: ReplayColumns) -> Seen:
    """Streets seen, all-in or not, showdown reached, and the class of hole cards."""
    places, acts = hands.places, hands.acts
    fold = np.full(places + 1, hands.cells.size, dtype=np.int64)
    folds = np.flatnonzero(acts.kind == FOLDED)[::-1]
    fold[acts.place[folds]] = acts.row[folds]
    saw = []
    for size in (3, 4, 5):
        came = np.full(hands.count, hands.cells.size, dtype=np.int64)
        there = np.flatnonzero((hands.board_from < size) & (size <= hands.board_to))
        came[hands.board_hand[there]] = hands.board_row[there]
        saw.append(came.take(hands.place_hand) < fold[:places])
    stays = fold[:places] == hands.cells.size
    left: Column = np.bincount(hands.place_hand, stays, hands.count)
    showdown = stays & (left > 1).take(hands.place_hand)
    dealt, cards = _cards(hands, hands.deals, first=True)
    turned, shown = _cards(hands, hands.shows, first=False)
    held = dealt | turned
    none = np.bincount(hands.place_hand, held, hands.count) == 0
    dealt = held | none.take(hands.place_hand)
    return Seen(dealt, tuple(saw), fold, stays, showdown, cards, shown)


def _cards(
    hands: ReplayColumns, events: tuple[Column, ...], *, first: bool
) -> tuple[Column, Column]:
    """Who got or showed cards, and the class of the first or last of them; three that are dealt at
    once are of none."""
    row, _, _, place = events
    codes = {card: number for number, card in enumerate(DECK)}
    one, other = (hands.cells.codes(name, codes, row, len(DECK)) for name in ("card1", "card2"))
    kinds = classes()[1].take(one * (len(DECK) + 1) + other)
    if first:
        kinds = np.where(hands.cells.there("card3", row), -1, kinds)
        place, kinds = place[::-1], kinds[::-1]
    there = np.zeros(hands.places + 1, dtype=bool)
    there[place] = True
    found = np.full(hands.places + 1, -1, dtype=np.int32)
    found[place] = kinds
    return there[: hands.places], found[: hands.places]
