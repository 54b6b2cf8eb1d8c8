"""A text cut into hands before the lines that begin one, with the line where each begins."""

import re
from collections.abc import Iterator

from formats.text import Text, lines
from formats.told import Refused

LINE_MAX = 1 << 16
LINES_MAX = 5_000


def blocks(text: Text, begins: re.Pattern[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines of every hand without blank ones; what stands before the first is no hand."""
    begun, held = 0, list[str]()
    for number, line in enumerate(lines(text), 1):
        if len(line) > LINE_MAX:
            raise Refused(number, f"a line of more than {LINE_MAX} characters")
        said = line.replace("\xa0", " ").strip()
        if begins.match(said):
            if held:
                yield begun, held
            begun, held = number, [said]
        elif held and said:
            held.append(said)
            if len(held) > LINES_MAX:
                raise Refused(begun, f"a hand of more than {LINES_MAX} lines")
    if held:
        yield begun, held
