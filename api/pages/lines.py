"""The one line of a hand, taken apart for drawing: streets, and in each the cards among words."""

import re
from typing import NamedTuple

_CARDS = re.compile(r"(?P<before>[+\[]?)(?P<cards>(?:[2-9TJQKA][cdhs]|\?\?|\*)+)(?P<after>[,\]]*)")
_EACH = re.compile(r"[2-9TJQKA][cdhs]|\?\?|\*")


class Piece(NamedTuple):
    """A word; or cards, with the signs that stand around them."""

    before: str
    cards: tuple[str, ...] = ()
    after: str = ""


class Line(NamedTuple):
    """Its streets, and who won what, if it has come to that."""

    streets: tuple[tuple[Piece, ...], ...]
    outcome: str


def taken_apart(line: str) -> Line:
    """`s1 b2 R6 C | Jd7c6c 12 X | 4: lynx +2` as two rows of pieces and an outcome."""
    *streets, last = line.split(" | ")
    pot, _, outcome = last.partition(": ")
    if not (outcome and pot.isdecimal()):
        streets, outcome = [*streets, last], ""
    return Line(tuple(map(pieces, streets)), outcome)


def pieces(said: str) -> tuple[Piece, ...]:
    """`board [Qc 7s Jd]` word by word."""
    return tuple(map(_piece, said.split(" ")))


def _piece(word: str) -> Piece:
    found = _CARDS.fullmatch(word)
    if found is None:
        return Piece(word)
    cards = tuple("hidden" if one == "*" else one for one in _EACH.findall(found["cards"]))
    return Piece(found["before"], cards, found["after"])
