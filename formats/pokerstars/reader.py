"""The hands of a PokerStars text one by one; one that cannot be told is left out."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from formats.pokerstars.grammar import Unread
from formats.pokerstars.hand import told_hand
from formats.pokerstars.played import played
from formats.pokerstars.text import Block, blocks
from formats.text import Text
from formats.told import Refused, Skipped, Source, ToldHand

KEPT = 2_000  # hands: in a text of fewer they are looked for once
_NOTHING = "no PokerStars hand begins in this text"


def read(text: Text) -> Source:
    """The text looked through once, then given out hand by hand; refused if it is damaged, or if
    no hand of this site begins in it."""
    found = blocks(text)
    kept = tuple(islice(found, KEPT))
    if not sum(isinstance(block, Block) for block in chain(kept, found)):
        line, reason = _elsewhere(kept)
        raise Refused(line, reason)
    hands = _hands(kept if len(kept) < KEPT else blocks(text))
    return Source(format="pokerstars", dialect="", players=(), note=None, inferred=(), hands=hands)


def _elsewhere(kept: tuple[Block | Skipped, ...]) -> tuple[int, str]:
    """What the text is instead: hands of another site, or none."""
    for one in kept:
        if isinstance(one, Skipped):
            return one.line, one.reason
    return 1, _NOTHING


def _hands(found: Iterable[Block | Skipped]) -> Iterator[ToldHand | Skipped]:
    for number, block in enumerate(found, 1):
        if isinstance(block, Skipped):
            yield block
            continue
        try:
            yield told_hand(played(block.lines), number, block.line)
        except Unread as reason:
            yield Skipped(block.line, str(reason))
