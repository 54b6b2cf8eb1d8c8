"""Texts of single sites as sources: their hands one by one, or why one is left out."""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from formats.pokerstars.grammar import Unread
from formats.pokerstars.played import Played
from formats.sites import pacific, winamax
from formats.sites.notes import Reading, source_hands
from formats.source import AS_READ, Refused, Rules, Source
from formats.text import Text, lines

LINE_MAX = 1 << 16
LINES_MAX = 5_000


class Site(Struct, frozen=True):
    """A site: the name of its format, what its hands are called, how one begins, and its reader."""

    name: str
    called: str
    begins: re.Pattern[str]
    played: Callable[[Sequence[str]], Played]

    def is_in(self, head: Sequence[str]) -> bool:
        """Whether a hand of this site begins in these lines."""
        return any(self.begins.match(line.strip()) for line in head)

    def read(self, text: Text, rules: Rules = AS_READ) -> Source:
        """The text taken apart; refused if no hand of this site begins in it."""
        if next(_blocks(text, self.begins), None) is None:
            raise Refused(1, f"no hand of {self.called} begins in this text")
        return Source(
            format=self.name,
            dialect="",
            players=(),
            note=None,
            inferred=(),
            hands=source_hands(lambda: self._readings(text), rules, self.name),
        )

    def _readings(self, text: Text) -> Iterator[Reading]:
        for line, hand in _blocks(text, self.begins):
            try:
                yield line, self.played(hand), "\n".join(hand).rstrip(), self.name
            except Unread as reason:
                yield line, str(reason), "", ""


def _blocks(text: Text, begins: re.Pattern[str]) -> Iterator[tuple[int, list[str]]]:
    """The line where each hand begins, and its lines without blank ones; what stands before the
    first is no hand."""
    begun, held = 0, list[str]()
    for number, line in enumerate(lines(text), 1):
        if len(line) > LINE_MAX:
            raise Refused(number, f"a line of more than {LINE_MAX} characters")
        stripped = line.replace("\xa0", " ").strip()
        if begins.match(stripped):
            if held:
                yield begun, held
            begun, held = number, [stripped]
        elif held and stripped:
            held.append(stripped)
            if len(held) > LINES_MAX:
                raise Refused(begun, f"a hand of more than {LINES_MAX} lines")
    if held:
        yield begun, held


SITES = (
    Site("winamax", "Winamax", winamax.BEGINS, winamax.played),
    Site("pacific", "888poker", pacific.BEGINS, pacific.played),
)
