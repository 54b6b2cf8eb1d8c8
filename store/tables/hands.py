"""`hands`: one row for all that closed at once, and so the index by which a stream is found.

An append of match records has no `number`. A hand's `pot` is what was paid out and raked;
`nets` are in seat order, all zero in a voided hand. `played` is when, as the hand's source says it.
"""

from collections.abc import Sequence

import msgspec
import pyarrow as pa

from events.types import PotSplit, RakeTaken
from store.log.leaf import Leaf, split
from store.tables.projection import Projection, made

_TIME = pa.timestamp("ms", tz="UTC")
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "events": pa.int32(),
        "first_pos": pa.int64(),
        "last_pos": pa.int64(),
        "first_at": _TIME,
        "last_at": _TIME,
        "game": pa.string(),
        "ruleset": pa.string(),
        "button": pa.int32(),
        "players": pa.string(),
        "street": pa.string(),
        "board": pa.string(),
        "pot": pa.int64(),
        "rake": pa.int64(),
        "showdown": pa.bool_(),
        "voided": pa.bool_(),
        "nets": pa.string(),
        "played": pa.string(),
    }
)


def _build(leaves: Sequence[Leaf]) -> pa.Table:
    return made(SCHEMA, [_row(leaf) for leaf in leaves])


def _row(leaf: Leaf) -> tuple[object, ...]:
    recorded = leaf.recorded
    match, number = split(leaf.stream)
    return (
        leaf.hand_seq,
        match,
        number,
        len(recorded),
        recorded[0].pos,
        recorded[-1].pos,
        recorded[0].at,
        recorded[-1].at,
        *_hand(leaf),
    )


def _hand(leaf: Leaf) -> tuple[object, ...]:
    hand = leaf.hand
    if hand is None:
        return (None,) * 12
    start = hand.start
    awarded = 0
    for one in (*leaf.by_kind.get(PotSplit, ()), *leaf.by_kind.get(RakeTaken, ())):
        if isinstance(one.event, PotSplit):
            awarded += sum(one.event.shares)
        elif isinstance(one.event, RakeTaken):
            awarded += one.event.amount
    nets = (left - had for left, had in zip(hand.stacks, start.stacks, strict=True))
    return (
        start.game,
        start.ruleset,
        start.button,
        msgspec.json.encode(start.players).decode(),
        hand.street,
        " ".join(hand.board),
        0 if hand.voided else awarded,
        hand.rake,
        bool(hand.showing.shown),
        hand.voided,
        " ".join(map(str, nets)),
        start.played or None,
    )


HANDS = Projection("hands", 2, _build, rows=8_192, added={2: "played"})
