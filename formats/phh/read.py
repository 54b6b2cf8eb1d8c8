"""A PHH file as a source: one hand of a `.phh`, or the tables of a `.phhs` one by one."""

import re
from collections.abc import Iterator

from engine.game import Game
from engine.policies import per_chip
from events.match import SourceNoted
from formats.phh.documents import documents, is_header, is_many, pieces
from formats.phh.fields import MalformedField, Money, money
from formats.phh.hand import FIELDS_OF_EVENTS, PhhHand, hand_of
from formats.rakes import RakeFrom
from formats.source import Refused, Skipped, Source
from formats.text import Text, at_hand, lines


def read(
    text: Text,
    game: Game | None = None,
    unit: Money | None = None,
    rakes: RakeFrom = "fitted",
) -> Source:
    """The file taken apart; under the rules of `game`, if one is named, else those of PHH.

    A part of a file counts in the `unit` of the whole.
    """
    text = at_hand(text)
    many = is_many(lines(text))
    if unit is None:
        unit = unit_of(text) if game is None else Money(game.unit, per_chip(game.unit))
    hands = _hands(text, many, unit, game, rakes)
    if many:
        return Source(
            format="phh",
            dialect="phhs",
            players=(),
            note=None,
            inferred=(),
            hands=hands,
        )
    hand = next(hands, None)
    if not isinstance(hand, PhhHand):
        raise Refused(*(hand.line, hand.reason) if hand else (1, "there is no hand in the file"))
    return Source(
        format="phh",
        dialect="phh",
        players=hand.players,
        note=SourceNoted("phh", "phh", hand.note.header, hand.note.footer),
        inferred=hand.inferred,
        hands=(hand,),
    )


def unit_of(text: Text) -> Money:
    """The unit in which every amount of the file is a whole number."""
    return money(pieces(lines(text)))


def _hands(
    text: Text, many: bool, unit: Money, game: Game | None, rakes: RakeFrom
) -> Iterator[PhhHand | Skipped]:
    for number, (line, fields) in enumerate(documents(lines(text), many), 1):
        if not fields:
            continue
        try:
            yield hand_of(fields, number, line, unit, game, rakes)
        except MalformedField as wrong:
            raise Refused(_line_of(wrong, text, line), str(wrong)) from None


def _line_of(wrong: MalformedField, text: Text, begun: int) -> int:
    """Where the action stands, or the field that the sentence names; else where its hand begins."""
    field = next((word for word in str(wrong).split() if word in FIELDS_OF_EVENTS), "")
    pattern = re.escape(wrong.near) if wrong.near else rf"\s*[\"']?{field}[\"']?\s*="
    find = re.compile(pattern).search if wrong.near else re.compile(pattern).match
    for number, line in enumerate(lines(text), 1):
        if number > begun and is_header(line):
            break
        if number >= begun and find(line):
            return number
    return begun
