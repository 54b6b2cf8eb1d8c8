"""Texts of single sites as sources: their hands one by one, or why one is left out."""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from formats.pokerstars.grammar import Unread
from formats.pokerstars.played import Played
from formats.rules import AS_READ, Rules
from formats.sites import pacific, winamax
from formats.sites.blocks import blocks
from formats.sites.hands import Reading, told_hands
from formats.text import Text
from formats.told import Refused, Source


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
        if next(blocks(text, self.begins), None) is None:
            raise Refused(1, f"no hand of {self.called} begins in this text")
        return Source(
            format=self.name,
            dialect="",
            players=(),
            note=None,
            inferred=(),
            hands=told_hands(lambda: self._readings(text), rules, self.name),
        )

    def _readings(self, text: Text) -> Iterator[Reading]:
        for line, lines in blocks(text, self.begins):
            try:
                yield line, self.played(lines), "\n".join(lines).rstrip(), self.name
            except Unread as reason:
                yield line, str(reason), "", ""


SITES = (
    Site("winamax", "Winamax", winamax.BEGINS, winamax.played),
    Site("pacific", "888poker", pacific.BEGINS, pacific.played),
)
