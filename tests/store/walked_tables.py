"""The five standard tables the slow and obvious way: one hand after the other, event by event.

This is the oracle of `store/tables/projection.py`, which makes the same rows of many hands at once.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec
import pyarrow as pa

from events import types as t
from events.state import Hand
from store.log.streams import Leaf, split_stream
from store.tables.projection import Projection

Row = tuple[object, ...]
PUT_IN = (t.AntePosted, t.BlindPosted, t.Called, t.Bet, t.Raised)


def walked(one: Projection, leaves: Sequence[Leaf]) -> pa.Table:
    """The table of these leaves, in the types that `one` has of none."""
    schema = one.build([]).schema
    rows = [row for leaf in leaves for row in WALKS[one.name](leaf)]
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def hands(leaf: Leaf) -> Iterator[Row]:
    first, last = leaf.recorded[0], leaf.recorded[-1]
    size = len(leaf.recorded)
    yield (*which(leaf), size, first.pos, last.pos, first.at, last.at, *_hand(leaf))


def _hand(leaf: Leaf) -> Row:
    hand = leaf.hand
    if hand is None:
        return (None,) * 12
    start, pot = hand.start, 0
    for one in leaf.recorded:
        if isinstance(one.event, t.PotSplit):
            pot += sum(one.event.shares)
        elif isinstance(one.event, t.RakeTaken):
            pot += one.event.amount
    nets = (left - had for left, had in zip(hand.stacks, start.stacks, strict=True))
    names = msgspec.json.encode(start.players).decode()
    about = (start.game, start.ruleset, start.button, names, hand.street, " ".join(hand.board))
    shown, line = bool(hand.showing.shown), " ".join(map(str, nets))
    ends = (0 if hand.voided else pot, hand.rake, shown, hand.voided, line)
    return (*about, *ends, start.played or None)


def players(leaf: Leaf) -> Iterator[Row]:
    hand = told(leaf)
    if hand is None:
        return
    start = hand.start
    collected = [0] * len(start.players)
    for one in leaf.recorded:
        if isinstance(one.event, t.PotSplit):
            for seat, share in zip(one.event.seats, one.event.shares, strict=True):
                collected[seat] += share
    for seat, player in enumerate(start.players):
        yield (
            *which(leaf),
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


def bids(leaf: Leaf) -> Iterator[Row]:
    hand = told(leaf)
    for place, one in enumerate(leaf.recorded):
        bid = one.event
        if hand is not None and isinstance(bid, t.BidPlaced) and bid.seat < len(hand.stacks):
            name = hand.start.players[bid.seat]
            came = _came(leaf, place, bid.seat)
            about = (one.index, bid.seat, name, bid.amount)
            yield (*which(leaf), *about, *came, bid.sealed, bid.origin)


def _came(leaf: Leaf, place: int, seat: int) -> tuple[bool, int | None, int | None]:
    """Whether the next settlement was for this seat, its price, and the pot before it."""
    for later in range(place + 1, len(leaf.recorded)):
        event = leaf.recorded[later].event
        if isinstance(event, t.AuctionSettled):
            return seat in event.seats, event.price, _pot(leaf, later)
    return False, None, None


def _pot(leaf: Leaf, until: int) -> int:
    """What has been put in and not gone back."""
    pot = 0
    for one in leaf.recorded[:until]:
        event = one.event
        if isinstance(event, PUT_IN):
            pot += event.amount
        elif isinstance(event, t.UncalledReturned):
            pot -= event.amount
        elif isinstance(event, t.AuctionSettled):
            pot += event.price * len(event.seats)
    return pot


def swaps(leaf: Leaf) -> Iterator[Row]:
    hand = told(leaf)
    street = ""
    for one in leaf.recorded:
        it = one.event
        if isinstance(it, t.StepEntered):
            street = it.name
        elif isinstance(it, t.BettingOpened):
            street = it.street
        elif isinstance(it, t.CardSwapped) and hand is not None and it.seat < len(hand.stacks):
            who = (it.seat, hand.start.players[it.seat], it.slot)
            changed = it.new != it.old
            yield (*which(leaf), one.index, street, *who, it.old, it.new, changed, it.told)


def pots(leaf: Leaf) -> Iterator[Row]:
    hand = told(leaf)
    rakes: dict[int, int] = {}
    for one in leaf.recorded:
        event = one.event
        if isinstance(event, t.RakeTaken):
            rakes[event.pot] = rakes.get(event.pot, 0) + event.amount
        if isinstance(event, t.PotSplit) and hand is not None:
            for seat, share in zip(event.seats, event.shares, strict=True):
                name = hand.start.players[seat]
                yield (*which(leaf), event.pot, seat, name, share, rakes.pop(event.pot, 0))


WALKS: dict[str, Callable[[Leaf], Iterator[Row]]] = {
    "hands": hands,
    "players": players,
    "bids": bids,
    "swaps": swaps,
    "pots": pots,
}


def told(leaf: Leaf) -> Hand | None:
    """The hand, if it adds up and counts."""
    hand = leaf.hand
    return None if hand is None or hand.voided else hand


def which(leaf: Leaf) -> Row:
    return (leaf.hand_seq, *split_stream(leaf.stream))
