"""`bids`: every bid for a card, and what came of it.

`price` is what the winners of that auction paid each, `pot` the pot before they paid. A bid
whose auction was never settled has neither.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from events.ledger import Recorded
from events.types import (
    AntePosted,
    AuctionSettled,
    Bet,
    BidPlaced,
    BlindPosted,
    Called,
    Raised,
    UncalledReturned,
)
from store.log.leaf import Leaf, split
from store.tables.projection import Projection, made

SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "idx": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "amount": pa.int64(),
        "won": pa.bool_(),
        "price": pa.int64(),
        "pot": pa.int64(),
        "sealed": pa.bool_(),
        "origin": pa.string(),
    }
)


def _build(leaves: Sequence[Leaf]) -> pa.Table:
    return made(SCHEMA, [row for leaf in leaves for row in _rows(leaf)])


def _rows(leaf: Leaf) -> Iterator[tuple[object, ...]]:
    hand = leaf.hand
    if BidPlaced not in leaf.by_kind or hand is None or hand.voided:
        return
    match, number = split(leaf.stream)
    for place, one in enumerate(leaf.recorded):
        bid = one.event
        if isinstance(bid, BidPlaced) and bid.seat < len(hand.stacks):
            won, price, pot = _outcome(leaf, place, bid.seat)
            yield (
                leaf.hand_seq,
                match,
                number,
                one.index,
                bid.seat,
                hand.start.players[bid.seat],
                bid.amount,
                won,
                price,
                pot,
                bid.sealed,
                bid.origin,
            )


def _outcome(leaf: Leaf, place: int, seat: int) -> tuple[bool, int | None, int | None]:
    """Whether the next settlement was for this seat, its price, and the pot before it."""
    for later in range(place + 1, len(leaf.recorded)):
        event = leaf.recorded[later].event
        if isinstance(event, AuctionSettled):
            return seat in event.seats, event.price, _pot(leaf.recorded[:later])
    return False, None, None


def _pot(recorded: Sequence[Recorded]) -> int:
    """What has been put in and not gone back: amounts are what moved."""
    pot = 0
    for one in recorded:
        event = one.event
        if isinstance(event, _PUT_IN):
            pot += event.amount
        elif isinstance(event, UncalledReturned):
            pot -= event.amount
        elif isinstance(event, AuctionSettled):
            pot += event.price * len(event.seats)
    return pot


_PUT_IN = (AntePosted, BlindPosted, Called, Bet, Raised)
BIDS = Projection("bids", 1, _build)
