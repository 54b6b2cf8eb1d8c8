"""What every seat held and what lay on the board at any moment of many hands, as far as it is seen.

Cards are those that were shown later, unless one of them was swapped in between; else those that
were dealt. So what was shown does not depend on what only its holder saw. Cards change a few times
in a hand, and acts are many: so each change is read once, and an act finds its own.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from analytics.replay.layout import Laid
from events.cards import known
from events.types import Cards
from store.columns.cells import Column


class Held:
    """Cards of places, and of boards, by the row of an event."""

    def __init__(self, laid: Laid) -> None:
        self._laid = laid
        self.seen = np.zeros(laid.places + 1, dtype=bool)  # at the end, or shown
        self._place: list[int] = []
        self._row: list[int] = []
        self._size: list[int] = []
        self._text: list[str | None] = []
        self._shown: list[bool] = []
        self._follow()
        self._order = np.lexsort((self._row, self._place))
        self._key = self._keyed(np.array(self._place, dtype=np.int64), np.array(self._row))
        self._key = self._key[self._order]
        self._boards = [*_boards(laid), None]

    def hole(self, place: Column, row: Column) -> pa.Array:
        """The cards of these places before these rows."""
        which, there = self._which(place, row)
        return pa.array([*self._text, None], pa.string()).take(pa.array(which, mask=~there))

    def shown(self, place: Column, row: Column) -> Column:
        """Whether these very cards were turned up for all, then or later in the hand."""
        which, there = self._which(place, row)
        return there & np.array([*self._shown, False]).take(which)

    def size(self, place: Column, row: Column) -> Column:
        """How many they were, seen or not."""
        which, there = self._which(place, row)
        return np.where(there, np.array([*self._size, 0]).take(which), 0)

    def board(self, row: Column) -> pa.Array:
        """The board before these rows."""
        laid = self._laid
        boards = laid.boards_upto.take(row)
        first = laid.boards_upto.take(laid.heads).take(laid.hand_of.take(row))
        none = boards == first
        return pa.array(self._boards, pa.string()).take(pa.array(boards - 1, mask=none))

    def _keyed(self, place: Column, row: Column) -> Column:
        return place * (self._laid.cells.size + 1) + row

    def _which(self, place: Column, row: Column) -> tuple[Column, Column]:
        """The change that these rows come after, and whether there was one."""
        at = np.searchsorted(self._key, self._keyed(place, row)) - 1
        which = np.append(self._order, 0).take(np.maximum(at, 0))
        there = (at >= 0) & (np.array([*self._place, -1], dtype=np.int64).take(which) == place)
        return which, there

    def _follow(self) -> None:
        """Every change in the order of the record."""
        held: dict[int, Cards] = {}
        unshown: dict[int, list[int]] = {}  # changes that cards shown later may tell
        for row, place, kind, cards, slot in _changes(self._laid):
            if kind == "shown":
                for one in unshown.pop(place, ()):
                    said = _said(cards[: self._size[one]])
                    self._text[one] = said or self._text[one]
                    self._shown[one] = said is not None
                self.seen[place] |= known(cards) is not None
                continue
            mine = held.get(place, ())
            if kind == "swapped":
                unshown.pop(place, None)
                mine = (*mine[:slot], *cards, *mine[slot + 1 :])
            else:
                mine = (*mine, *cards)
            held[place] = mine
            unshown.setdefault(place, []).append(len(self._row))
            self._place.append(place)
            self._row.append(row)
            self._size.append(len(mine))
            self._text.append(_said(mine))
            self._shown.append(False)
        for place, cards in held.items():
            self.seen[place] |= known(cards) is not None


def _changes(laid: Laid) -> list[tuple[int, int, str, Cards, int]]:
    """Cards that were dealt, swapped and shown, in the order of the record."""
    found: list[tuple[int, int, str, Cards, int]] = []
    for event, kind in (("HoleDealt", "dealt"), ("Shown", "shown")):
        row, _, _, place = laid.at(event)
        those = zip(row.tolist(), place.tolist(), cards_of(laid, row), strict=True)
        found += [(at, where, kind, cards, 0) for at, where, cards in those]
    row, _, _, place = laid.at("CardSwapped")
    slot = laid.cells.numbers("slot", row)
    new, words = laid.cells.words("new", row)
    swaps = zip(row.tolist(), place.tolist(), new.tolist(), slot.tolist(), strict=True)
    found += [(at, where, "swapped", (str(words[it]),), to) for at, where, it, to in swaps]
    return sorted(found)


def cards_of(laid: Laid, row: Column) -> Iterator[Cards]:
    """The cards of some events."""
    columns = []
    for name in (*(f"card{number}" for number in range(1, 6)), "more_cards"):
        which, words = laid.cells.words(name, row)
        if len(words):
            told: Sequence[Cards] = [*(tuple(str(it).split()) for it in words), ()]
            columns.append([told[it] for it in which.tolist()])
    for parts in zip(*columns, strict=True):
        yield tuple(card for part in parts for card in part)


def _boards(laid: Laid) -> Iterator[str | None]:
    """What lay on the board after each time it was dealt."""
    lies: Cards = ()
    hand = -1
    hands = laid.hand_of.take(laid.board).tolist()
    for of, cards in zip(hands, cards_of(laid, laid.board), strict=True):
        lies = cards if of != hand else (*lies, *cards)
        hand = of
        yield _said(lies)


@lru_cache(maxsize=1 << 16)
def _said(cards: Cards) -> str | None:
    """Cards in words, if all are known."""
    return " ".join(cards) if cards and known(cards) is not None else None
