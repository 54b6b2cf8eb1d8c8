"""The lines of a log as numbers: each different line is looked at once, by the grammar's patterns.

A line has a letter for its kind, so the letters of a hand say in which order things happened.
"""

import re
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from events.cards import DECK
from formats.mit.grammar import BIDS, NO_AUCTION, Names

Column = Any  # an array of numbers

ROUND, POST, DEALT = "#", "p", "d"
FOLD, CHECK, CALL, BET, RAISE, BID = "f", "k", "c", "b", "r", "a"
FLOP, TURN, RIVER, HAND, WON = "F", "T", "V", "h", "w"
SHOWS, AWARD, BIDS_SAID, NO_BIDS_SAID = "s", "m", "n", "o"
STRANGE = "?"  # what is not in every hand: a bad reply, or what no pattern knows
MANY = (1 << 31) - 1  # no number of an undisturbed hand is so large

# In an undisturbed hand lines come in this order; which of them there are depends on the engine.
_ACTS = f"[{FOLD}{CHECK}{CALL}{BET}{RAISE}]*"
_SWAPS = f"(?:{HAND}{HAND})?"
_AUCTION = f"(?:{BID}{BID}{WON}{{0,2}}{FLOP}?)?"
_BOARDS = f"(?:{FLOP}{_SWAPS}{_AUCTION}{_ACTS}(?:{TURN}{_SWAPS}{_ACTS}(?:{RIVER}{_ACTS})?)?)?"
UNDISTURBED = re.compile(
    f"{ROUND}{POST}{POST}{DEALT}{DEALT}{_ACTS}{_BOARDS}"
    f"(?:{SHOWS}{SHOWS})?{AWARD}{AWARD}[{BIDS_SAID}{NO_BIDS_SAID}]?"
)

_VERBS = {  # and whether an amount follows
    "folds": (FOLD, False),
    "checks": (CHECK, False),
    "calls": (CALL, False),
    "bets": (BET, True),
    "raises to": (RAISE, True),
    "bids": (BID, True),
}
_STREETS = {"Flop": (FLOP, 8), "Turn": (TURN, 11), "River": (RIVER, 14)}  # and how long its cards

_PLACES = np.full((128, 128), -1, dtype=np.int8)  # in the deck, by a card's two letters
for _place, _card in enumerate(DECK):
    _PLACES[ord(_card[0]), ord(_card[1])] = _place


class Said(NamedTuple):
    """Lines as columns: a letter's code, whose name comes first, numbers, places of cards in the
    deck (-1: none)."""

    letter: Column
    seat: Column
    first: Column
    second: Column
    third: Column
    cards: Column  # five a line


class Lines:
    """Lines that were met so far; each place in a hand has patterns of its own."""

    def __init__(self, names: Names) -> None:
        self.letters: list[str] = []
        self._numbers = array("q")  # of each line a letter, a seat, and three more
        self._cards: list[str] = []  # of those that are not among the words yet
        self._words = np.zeros(0, dtype="S14")
        self._names = names
        self._line = names.line.fullmatch
        self._seats = {name: seat for seat, name in enumerate(names.both)}
        self._kinds = {
            kind: (read, tuple(range(group + 1, group + 1 + count)))
            for kind, group in names.line.groupindex.items()
            if kind in _KINDS
            for read, count in (_KINDS[kind],)
        }
        self.rounds, self.posts = _Known(self._round), _Known(self._post)
        self.deals, self.others = _Known(self._dealt), _Known(self._other)

    def __len__(self) -> int:
        return len(self.letters)

    def codes(self, held: list[str]) -> list[int]:
        """The numbers of a hand's lines, by which `said` finds what they say."""
        return [
            self.rounds[held[0]],
            self.posts[held[1]],
            self.posts[held[2]],
            self.deals[held[3]],
            self.deals[held[4]],
            *map(self.others.__getitem__, held[5:]),
        ]

    def said(self, codes: list[int]) -> Said:
        """What these lines say; of a number with more digits than there is room for, the most."""
        rows = np.frombuffer(self._numbers, dtype=np.int64).reshape(-1, 5).take(codes, axis=0)
        letter, seat, first, second, third = rows.clip(-MANY, MANY).T.copy()
        self._words = np.concatenate([self._words, np.array(self._cards, dtype="S14")])
        self._cards.clear()
        words = self._words.take(codes).view("u1").reshape(-1, 14)
        cards = _PLACES[words[:, 0::3], words[:, 1::3]]
        return Said(letter.astype(np.int8), seat, first, second, third, cards)

    def _add(
        self, letter: str, seat: int, one: int = 0, two: int = 0, three: int = 0, cards: str = ""
    ) -> int:
        self._numbers.extend((ord(letter), seat, one, two, three))
        self._cards.append(cards)
        self.letters.append(letter)
        return len(self.letters) - 1

    def _strange(self) -> int:
        return self._add(STRANGE, 0)

    def _round(self, line: str) -> int:
        found = self._names.round.fullmatch(line)
        if found is None or found[2] == found[4]:
            return self._strange()
        number, dealer, his, _, others = found.groups()
        return self._add(ROUND, self._seats[dealer], int(number), int(his), int(others))

    def _post(self, line: str) -> int:
        found = self._names.blind.fullmatch(line)
        return self._add(POST, self._seats[found[1]], int(found[2])) if found else self._strange()

    def _dealt(self, line: str) -> int:
        found = self._names.dealt.fullmatch(line)
        return self._held(DEALT, found[1], found[2]) if found else self._strange()

    def _other(self, line: str) -> int:
        found = self._line(line)
        if found is not None:
            read, groups = self._kinds.get(found.lastgroup or "", (None, ()))
            return read(self, *found.group(*groups)) if read else self._strange()
        if bids := BIDS.fullmatch(line):
            return self._add(BIDS_SAID, 0, int(bids[1]), int(bids[2]))
        return self._add(NO_BIDS_SAID if line == NO_AUCTION else STRANGE, 0)

    def act(self, name: str, verb: str, amount: str | None) -> int:
        letter, takes_amount = _VERBS[verb]
        if takes_amount != (amount is not None):
            return self._strange()
        return self._add(letter, self._seats[name], int(amount or 0))

    def street(self, name: str, cards: str, dealer: str, his: str, other: str, others: str) -> int:
        letter, length = _STREETS[name]
        if len(cards) != length or dealer == other:
            return self._strange()
        return self._add(letter, self._seats[dealer], int(his), int(others), 0, cards)

    def hand(self, name: str, cards: str) -> int:
        return self._held(HAND, name, cards)

    def won(self, name: str, cards: str) -> int:
        return self._held(WON, name, cards)

    def shows(self, name: str, cards: str) -> int:
        return self._held(SHOWS, name, cards)

    def award(self, name: str, swapped: str | None, net: str) -> int:
        """The first number tells whether a swap is reported with it, the second what was won."""
        return self._add(AWARD, self._seats[name], swapped is not None, int(net))

    def _held(self, letter: str, name: str, cards: str) -> int:
        return self._add(letter, self._seats[name], 0, 0, 0, cards)


class _Known(dict[str, int]):
    """The numbers of lines in one place of a hand; a line that is new is read."""

    def __init__(self, read: Callable[[str], int]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, line: str) -> int:
        number = self[line] = self._read(line)
        return number


_KINDS: dict[str, tuple[Callable[..., int], int]] = {  # and by how many parts a line says it
    "act": (Lines.act, 3),
    "street": (Lines.street, 6),
    "hand": (Lines.hand, 2),
    "won": (Lines.won, 2),
    "shows": (Lines.shows, 2),
    "award": (Lines.award, 3),
}
