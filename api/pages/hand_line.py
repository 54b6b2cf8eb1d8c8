"""The one line of a hand, parsed for pages: streets, and in each the cards among words.

`s1 b2 R6 R20 C` becomes `open 6 · 3-bet 20 · call`; docs/one-line.md has both.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from msgspec.structs import asdict

from api.pages.site import money_text
from api.questions.declared.hands import HandRow
from events.cards import UNKNOWN

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_CARD = r"(?:[2-9TJQKA][cdhs]|\?\?|\*)"
_NAME = rf"(?:{_QUOTED}|[\w./:+-]+)"
_CARDS = re.compile(rf"(?P<before>[+\[]?)(?P<cards>{_CARD}+)(?P<after>[,\]]*)")
_EACH = re.compile(_CARD)
_SECTION = re.compile(rf"((?:{_QUOTED}|(?! \| ).)*)(?: \| |$)", re.DOTALL)
_WORD = re.compile(rf"\[(?:{_QUOTED}|[^\]\"])*\]|(?:{_QUOTED}|[^\s\"])+|\"")
_NAMES = re.compile(_NAME)
_AUCTION = re.compile(
    rf"\[(?P<names>{_NAME}(?:={_NAME})*) (?P<bids>\d+(?:[>=]\d+)*)?"
    rf"(?: @(?P<price>\d+))?(?P<cards>(?: \+{_CARD})*)\]"
)
_BIDS = re.compile(r"\[bid ([\d* ]+)\]")
_LATER = re.compile(rf"({_NAME})((?: [+-]{_CARD})+)|({_NAME}) ({_CARD})>({_CARD})")
_ACTION = re.compile(r"(s|b|st|p|d|a|F|X|C|B|R|T)(\d*)(?:x(\d+))?(~?)(!?)")
_BLIND = re.compile(r"[sb]\d+!?")
_FORCED = {
    "s": "small blind",
    "b": "big blind",
    "st": "straddle",
    "p": "post",
    "d": "dead post",
    "a": "ante",
}
_NET = re.compile(rf"({_NAME}) ([+-]\d+)")
_BEFORE_A_SHOWDOWN = 5  # sections: who sat there, and four streets


class Piece(NamedTuple):
    """A word; or cards, with the signs that stand around them."""

    before: str
    cards: tuple[str, ...] = ()
    after: str = ""


Pieces = tuple[Piece, ...]
SEPARATOR = Piece("·")


class HandLine(NamedTuple):
    """A line's streets; who won what, and what was paid out, if it has come to that."""

    streets: tuple[Pieces, ...]
    outcome: tuple[str, ...] = ("",)
    paid: int | None = None
    unit: str | None = None

    @property
    def seats(self) -> tuple[Pieces, ...]:
        """The players with their cards, seat by seat; cards that nobody knows are not drawn."""
        seats: list[list[Piece]] = [[]]
        for piece in self.streets[0]:
            last = (piece.after or piece.before).endswith(",")
            if last:
                where = "after" if piece.after else "before"
                piece = piece._replace(**{where: getattr(piece, where)[:-1]})
            if len(seats[-1]) == 1 and piece.before.isdecimal():  # behind the name
                piece = Piece(money_text(int(piece.before), self.unit))
            if not piece.cards or {*piece.cards} != {UNKNOWN}:
                seats[-1].append(piece)
            if last:
                seats.append([])
        return tuple(map(tuple, seats))

    @property
    def shown_streets(self) -> tuple[Pieces, ...]:
        """The streets after the seats, without a showdown of cards that were seen before."""
        *before, last = self.streets
        if len(before) == _BEFORE_A_SHOWDOWN and _shown_cards(last) <= _shown_cards(*before):
            return tuple(before[1:])
        return self.streets[1:]


def _shown_cards(*streets: Pieces) -> set[str]:
    return {card for street in streets for piece in street for card in piece.cards}


def parse_line(line: str, unit: str | None = None) -> HandLine:
    """Parse `s1 b2 R6 C | Jd7c6c 12 X | 4: lynx +2` as streets in words, and an outcome; amounts
    count in `unit`."""
    *streets, last = [section[1] for section in _SECTION.finditer(line) if section[0]] or [""]
    paid, _, outcome = last.partition(": ")
    pot = paid.partition(" rake ")[0]
    if not (outcome and pot.isdecimal()):
        streets, outcome, pot = [*streets, last], "", ""
    table, *rest = streets or [""]
    nets = tuple(
        f"{_unquoted_name(one[1])} {money_text(int(one[2]), unit, signed=True)}"
        for one in _NET.finditer(outcome)
    )
    drawn = (parse_pieces(table), *_parse_streets(rest, unit))
    return HandLine(drawn, nets or (outcome,), int(pot) if pot else None, unit)


def with_parsed_line(row: HandRow) -> dict[str, Any]:
    """A row of a list of hands with its line parsed, and its amounts as the money that they are."""
    return asdict(row) | {"line": parse_line(row.line or "", row.unit)}


def parse_pieces(text: str) -> Pieces:
    """Parse `ursa 400 BTN 5d6h` word by word."""
    return tuple(map(_parse_piece, _WORD.findall(text)))


def _parse_piece(word: str) -> Piece:
    match = _CARDS.fullmatch(word)
    if match:
        return Piece(match["before"], _parse_cards(word), match["after"])
    named = re.fullmatch(rf"({_QUOTED})(,?)", word)
    return Piece(f"{_unquoted_name(named[1])}{named[2]}" if named else word)


def _parse_cards(text: str) -> tuple[str, ...]:
    return tuple("hidden" if one == "*" else one for one in _EACH.findall(text))


def _parse_streets(sections: Sequence[str], unit: str | None) -> Iterator[Pieces]:
    """Parse the sections after the table; one without a choice, once somebody is all-in, is run
    out."""
    all_in = False
    for place, section in enumerate(sections):
        words = _WORD.findall(section)
        cards = _CARDS.fullmatch(words[0]) if words else None
        if place and (cards is None or cards["after"]):  # no street: who shows, mucks, announces
            yield tuple(
                Piece("announces") if word == "says" else _parse_piece(word) for word in words
            )
            continue
        chosen = any(one.fullmatch(word) for one in (_ACTION, _AUCTION, _BIDS) for word in words)
        ran = [] if chosen or not all_in else [(Piece("run-out"),)]
        blinds = any(_BLIND.fullmatch(word) for word in words)
        street: list[Piece] = []
        for number, act in enumerate(acts := [*_street_pieces(words, unit, blinds=blinds), *ran]):
            if number > 1 or (number and not acts[0][0].cards):
                street.append(SEPARATOR)
            street += act
        yield tuple(street)
        all_in = (all_in and not ran) or any(word.endswith("!") for word in words)


def _street_pieces(words: Sequence[str], unit: str | None, *, blinds: bool) -> Iterator[Pieces]:
    """The actions of a street; several folds in a row, or checks, are counted."""
    raises, limped = int(blinds), False
    for word, row in groupby(words):
        count = sum(1 for _ in row)
        match = _ACTION.fullmatch(word)
        if match is None:
            for _ in range(count):
                yield from _bracket_pieces(word, unit)
        elif match[5] or not _BLIND.fullmatch(word):
            for _ in range(1 if match[1] in "FX" else count):
                text = _action_text(match, count, raises, unit, limped=limped, blinds=blinds)
                yield (Piece(f"{text}{' all-in' * bool(match[5])}{' (default)' * bool(match[4])}"),)
                raises += match[1] in ("B", "R")
                limped = limped or match[1] == "C"


def _action_text(
    match: re.Match[str], count: int, raises: int, unit: str | None, *, limped: bool, blinds: bool
) -> str:
    """An action as text: `open 6`, `3-bet 20`, `2 folds`: a raise by how many there were before
    it."""
    kind, chips = match[1], money_text(int(match[2]), unit) if match[2] else ""
    match kind:
        case "F":
            return "fold" if count == 1 else f"{count} folds"
        case "X":
            return "check" if count == 1 else f"{count} checks"
        case "C":
            return "limp" if blinds and raises == 1 else "call"
        case "B":
            return f"bet {chips}"
        case "R":
            opened = "open" if blinds and not limped else "raise"
            return f"{opened if raises <= 1 else f'{raises + 1}-bet'} {chips}"
        case "T":
            return "out of time"
    times = f" \N{MULTIPLICATION SIGN}{match[3]}" if match[3] else ""
    return f"{_FORCED[kind]} {chips}{times}"


def _bracket_pieces(word: str, unit: str | None) -> Iterator[Pieces]:
    """The pieces of cards, the pot, and brackets: an auction, a swap, a later card."""
    if word.isdecimal():
        yield (Piece(f"pot {money_text(int(word), unit)}"),)
    elif match := _AUCTION.fullmatch(word):
        yield tuple(_auction_pieces(match, unit))
    elif match := _BIDS.fullmatch(word):
        sealed = match[1].count("*")
        bids = [f"bid {money_text(int(bid), unit)}" for bid in match[1].split() if bid != "*"]
        yield (Piece(", ".join([*bids, *["sealed bid"] * sealed])),)
    elif word.startswith("[") and (later := list(_LATER.finditer(word))):
        for name, dealt, swapper, old, new in (change.groups() for change in later):
            if name:
                verb = "gets" if "+" in dealt else "tosses"
                yield (Piece(f"{_unquoted_name(name)} {verb}"), Piece("", _parse_cards(dealt)))
            else:
                cards = (Piece("", _parse_cards(old)), Piece("for"), Piece("", _parse_cards(new)))
                yield (Piece(f"{_unquoted_name(swapper)} swaps"), *cards)
    else:
        yield (_parse_piece(word),)


def _auction_pieces(match: re.Match[str], unit: str | None) -> Iterator[Piece]:
    """The pieces of an auction: `ursa pays 37 for Th (bids 52, 37)`"""
    names = [_unquoted_name(one) for one in _NAMES.findall(match["names"])]
    bids = [money_text(int(bid), unit) for bid in re.findall(r"\d+", match["bids"] or "")]
    price = (
        money_text(int(match["price"]), unit) if match["price"] else bids[1] if bids[1:] else "0"
    )
    if names == ["nobody"] and not match["cards"]:
        yield Piece("nobody buys a card")
    else:
        verb = "pays" if len(names) == 1 else "each pay"
        yield Piece(f"{' and '.join(names)} {verb} {price}")
    if match["cards"]:
        yield Piece("for")
        yield Piece("", _parse_cards(match["cards"]))
    if bids:
        yield Piece(f"(bids {', '.join(bids)})" if bids[1:] else f"(bid {bids[0]})")


def _unquoted_name(word: str) -> str:
    return str(json.loads(word)) if word.startswith('"') else word
