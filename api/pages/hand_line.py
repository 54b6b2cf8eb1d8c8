"""The one line of a hand, taken apart for drawing: streets, and in each the cards among words."""

import re
from typing import NamedTuple

_CARDS = re.compile(r"(?P<before>[+\[]?)(?P<cards>(?:[2-9TJQKA][cdhs]|\?\?|\*)+)(?P<after>[,\]]*)")
_BEFORE_A_SHOWDOWN = 5  # sections: who sat there, and four streets
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

    @property
    def seats(self) -> tuple[tuple[Piece, ...], ...]:
        """Who sat there with what, seat by seat."""
        seats: list[list[Piece]] = [[]]
        for piece in self.streets[0]:
            last = (piece.after or piece.before).endswith(",")
            if last:
                where = "after" if piece.after else "before"
                piece = piece._replace(**{where: getattr(piece, where)[:-1]})
            seats[-1].append(piece)
            if last:
                seats.append([])
        return tuple(map(tuple, seats))

    @property
    def drawn(self) -> tuple[tuple[Piece, ...], ...]:
        """All after that, without a showdown of cards that were seen before."""
        *before, last = self.streets
        if len(before) == _BEFORE_A_SHOWDOWN and _cards_of(last) <= _cards_of(*before):
            return tuple(before[1:])
        return self.streets[1:]


def _cards_of(*streets: tuple[Piece, ...]) -> set[str]:
    return {card for street in streets for piece in street for card in piece.cards}


def taken_apart(line: str) -> Line:
    """`s1 b2 R6 C | Jd7c6c 12 X | 4: lynx +2` as two rows of pieces and an outcome."""
    *streets, last = line.split(" | ")
    pot, _, outcome = last.partition(": ")
    if not (outcome and pot.isdecimal()):
        streets, outcome = [*streets, last], ""
    return Line(tuple(map(pieces, streets)), outcome)


def pieces(said: str) -> tuple[Piece, ...]:
    """`board [Qc 7s Jd]` word by word."""
    pieces = []
    for word in said.split(" "):
        found = _CARDS.fullmatch(word)
        each = _EACH.findall(found["cards"]) if found else ()
        cards = tuple("hidden" if one == "*" else one for one in each)
        pieces.append(Piece(found["before"], cards, found["after"]) if found else Piece(word))
    return tuple(pieces)
