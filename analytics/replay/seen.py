"""How far each seat came, and which two cards it was dealt or has shown."""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from analytics.replay.layout import FOLDED, Laid
from events.cards import DECK, RANKS
from events.types import Cards
from store.columns.cells import Column


class Seen(NamedTuple):
    """Of every place: whether it was dealt in, the streets it saw, its classes of cards.

    A class is a number of `classes`, or less than nothing. `fold` goes on to the place after the
    last, as places of `Laid` do.
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
    found = np.full((len(DECK) + 1, len(DECK) + 1), -1, dtype=np.int32)
    for (at, one), (by, other) in product(enumerate(DECK), repeat=2):
        if (name := class_of((one, other))) is not None:
            found[at, by] = words.setdefault(name, len(words))
    return tuple(words), found.ravel()


def seen(laid: Laid) -> Seen:
    """Streets seen, all-in or not, showdown reached, and the class of hole cards."""
    places, acts = laid.places, laid.acts
    fold = np.full(places + 1, laid.cells.size, dtype=np.int64)
    folds = np.flatnonzero(acts.kind == FOLDED)[::-1]
    fold[acts.place[folds]] = acts.row[folds]
    saw = []
    for size in (3, 4, 5):
        came = np.full(laid.count, laid.cells.size, dtype=np.int64)
        there = np.flatnonzero((laid.board_from < size) & (size <= laid.board_to))
        came[laid.board_hand[there]] = laid.board[there]
        saw.append(came.take(laid.place_hand) < fold[:places])
    stays = fold[:places] == laid.cells.size
    left: Column = np.bincount(laid.place_hand, stays, laid.count)
    showdown = stays & (left > 1).take(laid.place_hand)
    dealt, cards = _cards(laid, laid.deals, first=True)
    turned, shown = _cards(laid, laid.shows, first=False)
    held = dealt | turned
    none = np.bincount(laid.place_hand, held, laid.count) == 0
    dealt = held | none.take(laid.place_hand)
    return Seen(dealt, tuple(saw), fold, stays, showdown, cards, shown)


def _cards(laid: Laid, events: tuple[Column, ...], *, first: bool) -> tuple[Column, Column]:
    """Who got or showed cards, and the class of the first or last of them."""
    row, _, _, place = events
    codes = {card: number for number, card in enumerate(DECK)}
    one, other = (laid.cells.codes(name, codes, row, len(DECK)) for name in ("card1", "card2"))
    kinds = classes()[1].take(one * (len(DECK) + 1) + other)
    if first:
        place, kinds = place[::-1], kinds[::-1]
    there = np.zeros(laid.places + 1, dtype=bool)
    there[place] = True
    found = np.full(laid.places + 1, -1, dtype=np.int32)
    found[place] = kinds
    return there[: laid.places], found[: laid.places]
