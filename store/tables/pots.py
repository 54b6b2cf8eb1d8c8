"""`pots`: who was paid from which pot; the rake of a pot stands with its first award."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from events.types import PotSplit, RakeTaken
from store.log.leaf import Leaf, split
from store.tables.projection import Projection, made

SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "pot": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "share": pa.int64(),
        "rake": pa.int64(),
    }
)


def _build(leaves: Sequence[Leaf]) -> pa.Table:
    return made(SCHEMA, [row for leaf in leaves for row in _rows(leaf)])


def _rows(leaf: Leaf) -> Iterator[tuple[object, ...]]:
    hand = leaf.hand
    if hand is None or hand.voided:
        return
    match, number = split(leaf.stream)
    rakes: dict[int, int] = {}
    paid, raked = leaf.by_kind.get(PotSplit, []), leaf.by_kind.get(RakeTaken, [])
    for one in sorted((*raked, *paid), key=lambda it: it.index) if raked else paid:
        event = one.event
        if isinstance(event, RakeTaken):
            rakes[event.pot] = rakes.get(event.pot, 0) + event.amount
        if isinstance(event, PotSplit):
            for seat, share in zip(event.seats, event.shares, strict=True):
                player = hand.start.players[seat]
                rake = rakes.pop(event.pot, 0)
                yield leaf.hand_seq, match, number, event.pot, seat, player, share, rake


POTS = Projection("pots", 1, _build)
