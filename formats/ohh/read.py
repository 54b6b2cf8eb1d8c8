"""A file of Open Hand History as a source: its hands one by one, or why one is left out.

Its JSON objects stand one after the other, on a line each or on many, with nothing or blank lines
between them; some programs put them into an array. Only one is kept, so a file may have any length.
"""

import re
from collections.abc import Iterator

import msgspec

from formats.ohh.hand import played
from formats.ohh.schema import document
from formats.pokerstars.grammar import Unread
from formats.rules import AS_READ, Rules
from formats.sites.hands import Reading, source_hands
from formats.source import Refused, Source
from formats.text import Text, lines

_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}]')
_BETWEEN = " \t\r\n,[]"
LENGTH_MAX = 1 << 22


def read(text: Text, rules: Rules = AS_READ) -> Source:
    """The file taken apart; refused if its JSON is damaged."""
    hands = source_hands(lambda: _readings(text), rules, "ohh")
    return Source(format="ohh", dialect="", players=(), note=None, inferred=(), hands=hands)


def _readings(text: Text) -> Iterator[Reading]:
    for line, one in _objects(text):
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


def _objects(text: Text) -> Iterator[tuple[int, str]]:
    """Every object as text; anything else between them is refused."""
    begun, depth, kept, length = 0, 0, list[str](), 0
    for number, line in enumerate(lines(text), 1):
        cut = 0
        for sign in _SIGNS.finditer(line):
            if sign[0] == "{":
                if not depth:
                    _nothing(number, line[cut : sign.start()])
                    begun, cut = number, sign.start()
                depth += 1
            elif sign[0] == "}" and depth:
                depth -= 1
                if not depth:
                    kept.append(line[cut : sign.end()])
                    yield begun, "".join(kept)
                    kept, length, cut = [], 0, sign.end()
        if depth:
            kept.append(line[cut:])
            length += len(line)
            if length > LENGTH_MAX:
                raise Refused(begun, f"an object of more than {LENGTH_MAX} characters")
        else:
            _nothing(number, line[cut:])
    if depth:
        raise Refused(begun, "the file ends in the middle of this object")


def _nothing(number: int, between: str) -> None:
    """Only blanks, and the commas and brackets of an array, may stand between two objects."""
    if rest := between.strip(_BETWEEN):
        raise Refused(number, f"this is no JSON object: {rest[:60]!r}")
