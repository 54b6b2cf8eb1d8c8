"""The hands of a PokerStars text one by one; one that cannot be told is left out."""

from collections.abc import Iterator

from formats.pokerstars.grammar import Unread
from formats.pokerstars.hand import told_hand
from formats.pokerstars.played import played
from formats.pokerstars.text import Block, blocks
from formats.text import Text
from formats.told import Refused, Skipped, Source, ToldHand

_NOTHING = "no PokerStars hand begins in this text"


def read(text: Text) -> Source:
    """The text looked through once, then given out hand by hand; refused if it is damaged, or if
    no hand of this site begins in it."""
    elsewhere, ours = None, 0
    for block in blocks(text):
        ours += isinstance(block, Block)
        elsewhere = elsewhere or (block if isinstance(block, Skipped) else None)
    if not ours:
        line, reason = (elsewhere.line, elsewhere.reason) if elsewhere else (1, _NOTHING)
        raise Refused(line, reason)
    return Source(
        format="pokerstars", dialect="", players=(), note=None, inferred=(), hands=_hands(text)
    )


def _hands(text: Text) -> Iterator[ToldHand | Skipped]:
    for number, block in enumerate(blocks(text), 1):
        if isinstance(block, Skipped):
            yield block
            continue
        try:
            yield told_hand(played(block.lines), number, block.line)
        except Unread as reason:
            yield Skipped(block.line, str(reason))
