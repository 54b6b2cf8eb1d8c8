"""A place among the lines of one hand of a gamelog: what is read there, refused, or found wrong."""

import re

from formats.mit.grammar import Names, instead
from formats.source import Refused

Found = re.Match[str]


class Cursor:
    """The lines of a hand, whose names they hold, and the next line; `wrong` is the first thing in
    them that contradicts itself."""

    def __init__(self, names: Names, number: int, line: int, lines: list[str]) -> None:
        self.names, self.number, self.line = names, number, line
        self.wrong: str | None = None
        self._lines, self._at = lines, 1

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def _line(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _read(self, pattern: re.Pattern[str]) -> Found:
        """The next line, which must be one of these."""
        found = pattern.fullmatch(self._line())
        if found is None:
            raise self._refused("")
        self._at += 1
        return found

    def _refused(self, why: str) -> Refused:
        """The file is none of ours, or damaged: at this line, for this reason."""
        at = self._at if not why else self._at - 1
        number = self.line + min(at, len(self._lines))
        if at >= len(self._lines):
            return Refused(number, f"round #{self.number} stops in the middle")
        line = self._lines[at]
        otherwise = f"{why or 'no line of a gamelog is like this'}: {line[:60]!r}"
        return Refused(number, instead(line) or otherwise)

    def _differs(self, why: str) -> None:
        self.wrong = self.wrong or f"round #{self.number}: {why}"

    def _seat(self, name: str, else_: int) -> int:
        seat = self.names.seat(name)
        return else_ if seat is None else seat
