"""The hands of a PokerStars text one by one; a hand that cannot be read is left out."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from msgspec.structs import replace

from formats.pokerstars.fitted_rake import Houses, stakes_of, survey
from formats.pokerstars.grammar import Unread
from formats.pokerstars.hand import source_hand
from formats.pokerstars.played import played
from formats.pokerstars.text import Block, blocks
from formats.source import AS_READ, Refused, Rules, Skipped, Source, SourceHand
from formats.text import Text

KEPT = 2_000  # hands: in a text of fewer they are looked for once
_NOTHING = "no PokerStars hand begins in this text"


def read(
    text: Text,
    houses: Houses | None = None,
    site: str = "pokerstars",
    rules: Rules = AS_READ,
) -> Source:
    """The text looked through once, then given out hand by hand; refused if it is damaged, or if
    no hand begins in it.

    A part of a text has the houses of the whole; a rake that was set is that of every stake.
    GGPoker writes as PokerStars does; whatever the format is called, a hand is put to the rules of
    the site that its first line names.
    """
    pieces = blocks(text)
    kept = tuple(islice(pieces, KEPT))
    every = (block for block in chain(kept, pieces) if isinstance(block, Block))
    first = next(every, None)
    if first is None:
        for block in kept:
            if isinstance(block, Skipped):  # a hand of another site
                raise Refused(block.line, block.reason)
        raise Refused(1, _NOTHING)
    surveyed = survey(chain((first,), every), rules, site)  # which also finds all damage
    houses = surveyed if houses is None else houses
    hands = _hands(kept if len(kept) < KEPT else blocks(text), houses)
    return Source(format=site, dialect="", players=(), note=None, inferred=(), hands=hands)


def houses_of(text: Text, rules: Rules) -> Houses:
    """The houses of this text, and how much rake each takes."""
    return survey(
        (block for block in blocks(text) if isinstance(block, Block)), rules, "pokerstars"
    )


def _hands(pieces: Iterable[Block | Skipped], houses: Houses) -> Iterator[SourceHand | Skipped]:
    for number, block in enumerate(pieces, 1):
        if isinstance(block, Skipped):
            yield block
            continue
        try:
            reading = played(block.lines)
            hand = source_hand(reading, number, block.line, houses, stakes_of(block))
            text = "\n".join(block.lines).rstrip()
            yield replace(hand, text=text, site=reading.header.site)
        except Unread as reason:
            yield Skipped(block.line, str(reason))
