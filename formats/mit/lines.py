"""Encode the lines of a log as numbers; each different line is parsed once.

Many lines are looked at together, those that end alike by the few patterns that end so. A line has
a letter for its kind, so the letters of a hand say in which order things happened.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate, chain, compress, filterfalse, pairwise
from operator import eq
from typing import Any, NamedTuple

import numpy as np

from events.cards import DECK
from formats.mit.grammar import BIDS, NO_AUCTION, Patterns

Column = Any  # an array of numbers

ROUND, POST, DEALT = "#", "p", "d"
FOLD, CHECK, CALL, BET, RAISE, BID = "f", "k", "c", "b", "r", "a"
FLOP, TURN, RIVER, HAND, WON = "F", "T", "V", "h", "w"
SHOWS, AWARD, BIDS_NOTED, NO_BIDS_NOTED = "s", "m", "n", "o"
UNKNOWN_LINE = "?"  # what is not in every hand: a bad reply, or what no pattern knows
NUMBER_MAX = (1 << 31) - 1  # no number of an undisturbed hand is so large

# In an undisturbed hand lines come in this order; which of them there are depends on the engine.
_ACTS = f"[{FOLD}{CHECK}{CALL}{BET}{RAISE}]*"
_SWAPS = f"(?:{HAND}{HAND})?"
_AUCTION = f"(?:{BID}{BID}{WON}{{0,2}}{FLOP}?)?"
_BOARDS = f"(?:{FLOP}{_SWAPS}{_AUCTION}{_ACTS}(?:{TURN}{_SWAPS}{_ACTS}(?:{RIVER}{_ACTS})?)?)?"
UNDISTURBED = re.compile(
    f"{ROUND}{POST}{POST}{DEALT}{DEALT}{_ACTS}{_BOARDS}"
    f"(?:{SHOWS}{SHOWS})?{AWARD}{AWARD}[{BIDS_NOTED}{NO_BIDS_NOTED}]?"
)

_VERBS = {  # by whether an amount follows
    ("folds", False): FOLD,
    ("checks", False): CHECK,
    ("calls", False): CALL,
    ("bets", True): BET,
    ("raises to", True): RAISE,
    ("bids", True): BID,
}
_STREETS = {  # by how long its cards are, and whether both names are one
    ("Flop", 8, False): FLOP,
    ("Turn", 11, False): TURN,
    ("River", 14, False): RIVER,
}
_ENDS = {")": ("round", "street"), "]": ("dealt", "hand", "won", "shows")}
_REST = ("blind", "act", "award", "bids", "without")  # what ends with a number or a word

_TWO = len("As Kd")
_PLACES = np.full((128, 128), -1, dtype=np.int8)  # in the deck, by a card's two letters
for _place, _card in enumerate(DECK):
    _PLACES[ord(_card[0]), ord(_card[1])] = _place


class LineColumns(NamedTuple):
    """Lines as columns: letter, seat, numbers, places of cards in the deck (-1: none)."""

    letter: Column
    seat: Column
    first: Column
    second: Column
    third: Column
    cards: Column  # five a line


Texts = Sequence[str]


class LineTable:
    """Lines that were met so far.

    No line is of two kinds, whatever the names are, but for a bad reply that quotes another line:
    of that only the other kind is seen, which stands in no undisturbed hand where a reply does.
    Nobody's name is empty.
    """

    def __init__(self, names: Patterns) -> None:
        self._known: dict[str, int] = {}
        self._letters = array("b")
        self._numbers = tuple(array("q") for _ in range(4))  # a seat, and three more
        self._words: list[str] = []  # cards that are not among the places yet
        self._cards = np.zeros((0, 5), dtype=np.int8)
        self._seats = {name: seat for seat, name in enumerate(names.both)}
        self._forms = {end: _LinePatterns(names, several) for end, several in _ENDS.items()}
        self._rest = _LinePatterns(names, _REST)

    def __len__(self) -> int:
        return len(self._known)

    def codes(self, lines: Texts) -> Column:
        """The numbers of lines, by which `letters` and `said` find what they say."""
        new = dict.fromkeys(filterfalse(self._known.__contains__, lines))
        by_end: dict[str, list[str]] = defaultdict(list)
        for line in new:
            by_end[line[-1:]].append(line)
        for end, form in self._forms.items():
            self._read(form, by_end.pop(end, []))
        self._read(self._rest, list(chain(*by_end.values())))
        return np.fromiter(map(self._known.__getitem__, lines), np.int64, len(lines))

    def letters(self, codes: Column) -> bytes:
        """The letters of lines, one after the other."""
        letters: bytes = np.frombuffer(self._letters, dtype=np.int8).take(codes).tobytes()
        return letters

    def log(self, codes: Column) -> LineColumns:
        """The columns of these lines; a number with too many digits becomes the largest."""
        if self._words:
            words = np.array(self._words, dtype="S14").view("u1").reshape(-1, 14)
            self._cards = np.concatenate([self._cards, _PLACES[words[:, 0::3], words[:, 1::3]]])
            self._words.clear()
        letter = np.frombuffer(self._letters, dtype=np.int8).take(codes)
        seat, first, second, third = (
            np.frombuffer(numbers, dtype=np.int64).take(codes).clip(-NUMBER_MAX, NUMBER_MAX)
            for numbers in self._numbers
        )
        return LineColumns(letter, seat, first, second, third, self._cards.take(codes, axis=0))

    def _read(self, form: "_LinePatterns", lines: Texts) -> None:
        for kind, some, columns in form.read(lines):
            _READ[kind](self, some, *columns)
        strange = list(filterfalse(self._known.__contains__, lines))
        self._add(strange, UNKNOWN_LINE * len(strange), [0] * len(strange))

    def _add(self, lines: Texts, letters: Iterable[str], seats: list[int], **values: Any) -> None:
        """Lines that are new: `one`, `two` and `three` are numbers, `cards` words."""
        begin, count = len(self._known), len(lines)
        self._known.update(zip(lines, range(begin, begin + count), strict=True))
        self._letters.frombytes("".join(letters).encode())
        nothing = [0] * count
        for held, name in zip(self._numbers[1:], ("one", "two", "three"), strict=True):
            held.extend(array("q", values.get(name, nothing)))
        self._numbers[0].extend(array("q", seats))
        self._words += values.get("cards", [""] * count)

    def _whose(self, names: Texts) -> list[int]:
        return list(map(self._seats.__getitem__, names))

    def _round(self, lines: Texts, numbers: Texts, *both: Texts) -> None:
        dealers, his, others, theirs = both
        letters = [
            UNKNOWN_LINE if dealer == two else ROUND
            for dealer, two in zip(dealers, others, strict=True)
        ]
        values = {"one": _ints(numbers), "two": _ints(his), "three": _ints(theirs)}
        self._add(lines, letters, self._whose(dealers), **values)

    def _blind(self, lines: Texts, names: Texts, amounts: Texts) -> None:
        self._add(lines, POST * len(lines), self._whose(names), one=_ints(amounts))

    def _act(self, lines: Texts, names: Texts, verbs: Texts, amounts: Texts) -> None:
        kinds = zip(verbs, map(bool, amounts), strict=True)
        letters = [_VERBS.get(it, UNKNOWN_LINE) for it in kinds]
        self._add(lines, letters, self._whose(names), one=[int(it or 0) for it in amounts])

    def _street(self, lines: Texts, streets: Texts, cards: Texts, *both: Texts) -> None:
        dealers, his, others, theirs = both
        kinds = zip(streets, map(len, cards), map(eq, dealers, others), strict=True)
        letters = [_STREETS.get(it, UNKNOWN_LINE) for it in kinds]
        seats = self._whose(dealers)
        self._add(lines, letters, seats, one=_ints(his), two=_ints(theirs), cards=cards)

    def _dealt(self, lines: Texts, names: Texts, cards: Texts) -> None:
        letters = [DEALT if len(it) == _TWO else UNKNOWN_LINE for it in cards]
        self._add(lines, letters, self._whose(names), cards=cards)

    def _holds(self, lines: Texts, names: Texts, cards: Texts, *, letter: str) -> None:
        """Held after swaps, won at auction, or shown."""
        self._add(lines, letter * len(lines), self._whose(names), cards=cards)

    def _award(self, lines: Texts, names: Texts, swapped: Texts, nets: Texts) -> None:
        """The first number tells whether a swap is reported with it, the second what was won."""
        reported = [int(it != "") for it in swapped]
        self._add(lines, AWARD * len(lines), self._whose(names), one=reported, two=_ints(nets))

    def _bids(self, lines: Texts, first: Texts, second: Texts) -> None:
        nobody = [0] * len(lines)
        self._add(lines, BIDS_NOTED * len(lines), nobody, one=_ints(first), two=_ints(second))

    def _without(self, lines: Texts, _note: Texts) -> None:
        self._add(lines, NO_BIDS_NOTED * len(lines), [0] * len(lines))


_READ: dict[str, Callable[..., None]] = {
    "round": LineTable._round,
    "blind": LineTable._blind,
    "dealt": LineTable._dealt,
    "act": LineTable._act,
    "street": LineTable._street,
    "hand": partial(LineTable._holds, letter=HAND),
    "won": partial(LineTable._holds, letter=WON),
    "shows": partial(LineTable._holds, letter=SHOWS),
    "award": LineTable._award,
    "bids": LineTable._bids,
    "without": LineTable._without,
}


class _LinePatterns:
    """A few kinds of lines, recognized in one pass through all of them."""

    def __init__(self, names: Patterns, kinds: Sequence[str]) -> None:
        patterns = _patterns(names)
        choice = "|".join(patterns[kind] for kind in kinds)
        self._pattern = re.compile(f"^(?:{choice})$", re.MULTILINE)
        ends = accumulate((_groups()[kind] for kind in kinds), initial=0)
        self._groups = list(zip(kinds, pairwise(ends), strict=True))

    def read(self, lines: Texts) -> Iterator[tuple[str, Texts, list[Texts]]]:
        """Kind by kind the lines of that kind, and in columns what they say."""
        matches = self._pattern.findall("\n".join(lines))
        if len(matches) < len(lines):
            lines = [line for line in lines if self._pattern.fullmatch(line)]
        columns = list(zip(*matches, strict=True))
        for kind, (begin, end) in self._groups if matches else ():
            if any(which := columns[begin]):
                texts: list[Texts] = [list(compress(text, which)) for text in columns[begin:end]]
                yield kind, list(compress(lines, which)), texts


def _patterns(names: Patterns) -> dict[str, str]:
    """The pattern of each kind; what its first group finds is never empty."""
    return {**names.kinds, "bids": BIDS.pattern, "without": f"({re.escape(NO_AUCTION)})"}


@cache
def _groups() -> dict[str, int]:
    """The number of groups of each pattern, whatever the names are."""
    patterns = _patterns(Patterns("a", "b"))
    return {kind: re.compile(pattern).groups for kind, pattern in patterns.items()}


def _ints(texts: Texts) -> list[int]:
    return list(map(int, texts))
