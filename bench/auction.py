"""Heads-up auction hands for the benches of the ledger: seeded random play, numbered anew.

A sample is played once; whoever wants more hands than that gets them again under other numbers.
The sample is larger than a row group, so no column is small because it repeats itself.
"""

from collections.abc import Iterator
from functools import cache
from itertools import count, cycle
from random import Random

from msgspec.structs import replace

from bench.runner import SEED
from dealer.play import play
from engine.games import named
from events.ledger import Append
from events.types import Bet, BidPlaced, Called, Checked, Events, Folded, HandStarted, Raised

SAMPLE = 20_000
MATCH = "bench"
_BEGAN = 1_760_000_000_000
_CHOICES = (BidPlaced, Folded, Checked, Called, Bet, Raised)


@cache
def sample(hands: int) -> tuple[Events, ...]:
    """So many hands, no two alike."""
    return tuple(play(named("auction-2024"), MATCH, hands, str(SEED), seats=2))


def simulated(distinct: int = SAMPLE, first: int = 1) -> Iterator[Append]:
    """Hands without end, each in one append, a few milliseconds after the one before."""
    chance, at = Random(SEED), _BEGAN
    for number, record in zip(count(first), cycle(sample(distinct)), strict=False):
        at += chance.randrange(20)
        yield Append(f"{MATCH}/{number}", 0, _numbered(record, number), at)


def live(distinct: int = SAMPLE) -> Iterator[Append]:
    """The same hands as people play them: every choice is an append with a time of its own."""
    chance, at = Random(SEED), _BEGAN
    for number, record in zip(count(1), cycle(sample(distinct)), strict=False):
        record = _numbered(record, number)
        cuts = [place for place, event in enumerate(record) if isinstance(event, _CHOICES)]
        for start, end in zip([0, *cuts], [*cuts, len(record)], strict=True):
            at += chance.randrange(200, 4_000)
            yield Append(f"{MATCH}/{number}", start, record[start:end], at)


def _numbered(record: Events, number: int) -> Events:
    start = record[0]
    assert isinstance(start, HandStarted)
    return (replace(start, hand=f"{MATCH}/{number}"), *record[1:])
