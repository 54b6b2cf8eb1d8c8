"""How far each seat came, and which two cards it was dealt or has shown."""

from functools import cache
from typing import NamedTuple

import numpy as np

from analytics.replay.columns import FOLDED, ReplayColumns
from events.cards import DECK, RANKS
from events.values import Cards
from store.columns.cells import Column


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
