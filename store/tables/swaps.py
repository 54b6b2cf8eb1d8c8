"""`swaps`: every card that was at risk, changed or not, and on which street."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from events.types import BettingOpened, CardSwapped, StepEntered
from store.log.leaf import Leaf, split
from store.tables.projection import Projection, made

SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "idx": pa.int32(),
        "street": pa.string(),
        "seat": pa.int32(),
        "player": pa.string(),
        "slot": pa.int32(),
        "old": pa.string(),
        "new": pa.string(),
        "changed": pa.bool_(),
        "told": pa.bool_(),
    }
)


def _build(leaves: Sequence[Leaf]) -> pa.Table:
    return made(SCHEMA, [row for leaf in leaves for row in _rows(leaf)])


def _rows(leaf: Leaf) -> Iterator[tuple[object, ...]]:
    hand = leaf.hand
    if CardSwapped not in leaf.by_kind or hand is None or hand.voided:
        return
    match, number = split(leaf.stream)
    street = ""
    for one in leaf.recorded:
        swap = one.event
        if isinstance(swap, StepEntered):
            street = swap.name
        elif isinstance(swap, BettingOpened):
            street = swap.street
        elif isinstance(swap, CardSwapped) and swap.seat < len(hand.stacks):
            yield (
                leaf.hand_seq,
                match,
                number,
                one.index,
                street,
                swap.seat,
                hand.start.players[swap.seat],
                swap.slot,
                swap.old,
                swap.new,
                swap.new != swap.old,
                swap.told,
            )


SWAPS = Projection("swaps", 1, _build)
