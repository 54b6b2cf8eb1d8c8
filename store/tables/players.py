"""`players`: what each player put in, took out and held, one row a player and hand.

`put_in` is what stayed in (an uncalled bet is not), an auction's price included; `position`
counts seats from the button. Voided hands are left out: they are in no statistic.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from events.types import PotSplit
from store.log.leaf import Leaf, split
from store.tables.projection import Projection, made

SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "seat": pa.int32(),
        "player": pa.string(),
        "position": pa.int32(),
        "stack": pa.int64(),
        "put_in": pa.int64(),
        "collected": pa.int64(),
        "net": pa.int64(),
        "showed": pa.bool_(),
        "folded": pa.bool_(),
        "all_in": pa.bool_(),
        "hole": pa.string(),
    }
)


def _build(leaves: Sequence[Leaf]) -> pa.Table:
    return made(SCHEMA, [row for leaf in leaves for row in _rows(leaf)])


def _rows(leaf: Leaf) -> Iterator[tuple[object, ...]]:
    hand = leaf.hand
    if hand is None or hand.voided:
        return
    match, number = split(leaf.stream)
    start = hand.start
    collected = [0] * len(start.players)
    for one in leaf.by_kind.get(PotSplit, ()):
        if isinstance(one.event, PotSplit):
            for seat, share in zip(one.event.seats, one.event.shares, strict=True):
                collected[seat] += share
    for seat, player in enumerate(start.players):
        yield (
            leaf.hand_seq,
            match,
            number,
            seat,
            player,
            (seat - start.button) % len(start.players),
            start.stacks[seat],
            hand.paid[seat] + hand.dead[seat],
            collected[seat],
            hand.stacks[seat] - start.stacks[seat],
            seat in hand.showing.shown,
            hand.standing[seat] == "folded",
            hand.standing[seat] == "all_in",
            " ".join(hand.hole[seat]),
        )


PLAYERS = Projection("players", 1, _build)
