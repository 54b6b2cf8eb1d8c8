"""A file of Open Hand History as a source: its hands one by one, or why one is left out."""

from collections.abc import Iterator

import msgspec

from formats.ohh.hand import played
from formats.ohh.objects import objects
from formats.ohh.schema import document
from formats.pokerstars.grammar import Unread
from formats.pokerstars.hand import told_hand
from formats.text import Text
from formats.told import Refused, Skipped, Source, ToldHand


def read(text: Text) -> Source:
    """The file taken apart; refused if its JSON is damaged."""
    hands = _hands(text)
    return Source(format="ohh", dialect="", players=(), note=None, inferred=(), hands=hands)


def _hands(text: Text) -> Iterator[ToldHand | Skipped]:
    for number, (line, one) in enumerate(objects(text), 1):
        try:
            hand = played(document(one).ohh)
            yield told_hand(hand, number, line)
        except msgspec.DecodeError as wrong:
            raise Refused(line, f"this is not JSON: {_lower(wrong)}") from None
        except (Unread, ValueError) as reason:
            yield Skipped(line, str(reason))


def _lower(wrong: Exception) -> str:
    said = str(wrong)
    return said[:1].lower() + said[1:]
