"""A file of Open Hand History as a source: its hands one by one, or why one is left out."""

from collections.abc import Iterator

import msgspec

from formats.ohh.hand import played
from formats.ohh.objects import objects
from formats.ohh.schema import document
from formats.pokerstars.grammar import Unread
from formats.rules import AS_READ, Rules
from formats.sites.hands import Reading, told_hands
from formats.text import Text
from formats.told import Refused, Source


def read(text: Text, rules: Rules = AS_READ) -> Source:
    """The file taken apart; refused if its JSON is damaged."""
    hands = told_hands(lambda: _readings(text), rules, "ohh")
    return Source(format="ohh", dialect="", players=(), note=None, inferred=(), hands=hands)


def _readings(text: Text) -> Iterator[Reading]:
    for line, one in objects(text):
        try:
            history = document(one).ohh
            yield line, played(history), one, history.site_name
        except msgspec.DecodeError as wrong:
            raise Refused(line, f"this is not JSON: {_lower(wrong)}") from None
        except (Unread, ValueError) as reason:
            yield line, str(reason), "", ""


def _lower(wrong: Exception) -> str:
    said = str(wrong)
    return said[:1].lower() + said[1:]
