"""A text of Open Hand History cut into its JSON objects, each with the line where it begins.

The objects stand one after the other, on a line each or on many, with nothing or blank lines
between them; some programs put them into an array. Only one is kept, so a file may have any length.
"""

import re
from collections.abc import Iterator

from formats.text import Text, lines
from formats.told import Refused

_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}]')
_BETWEEN = " \t\r\n,[]"
LENGTH_MAX = 1 << 22


def objects(text: Text) -> Iterator[tuple[int, str]]:
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
