"""`played`: one row a player and hand, what it came to and what it could be expected to.

`net_ev` is the net where luck could not be taken out; then `adjusted` is false and `why` says what
stood in the way, or nothing where betting never closed before the river.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from analytics.facts import units
from analytics.luck_closed import Closed, closed
from analytics.luck_equity import Expected, expected
from analytics.luck_rules import Rulebook
from events.types import AuctionSettled, CardSwapped, PotSplit
from store.leaf import Leaf, split

Row = dict[str, Any]
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "hand": pa.string(),
        "match": pa.string(),
        "number": pa.int64(),
        "deal": pa.int64(),
        "deals": pa.int32(),
        "game": pa.string(),
        "seat": pa.int32(),
        "player": pa.string(),
        "role": pa.string(),
        "net": pa.float64(),
        "net_ev": pa.float64(),
        "adjusted": pa.bool_(),
        "why": pa.string(),
        "error": pa.float64(),
        "equity": pa.float64(),
        "took": pa.float64(),
        "showdown": pa.bool_(),
        "price": pa.float64(),
        "swapped": pa.int32(),
    }
)


def rows_of(leaf: Leaf, rules: Rulebook, deals: Mapping[str, int]) -> Iterator[Row]:
    """The rows of one hand in seat order, in chips; none for what is void or does not add up."""
    end = leaf.hand
    if end is None or end.voided:
        return
    events = [one.event for one in leaf.recorded]
    game = rules.of(end.start.ruleset)
    unit = units(game) if game else 1
    luck = _expected(events, leaf, rules)
    match, number = split(leaf.stream)
    assert number is not None
    times = deals.get(match, 1)
    prices = _prices(events, len(end.stacks))
    contenders = [seat for seat, how in enumerate(end.standing) if how != "folded"]
    for seat, player in enumerate(end.start.players):
        net = (end.stacks[seat] - end.start.stacks[seat]) / unit
        row: Row = {"hand_seq": leaf.hand_seq, "hand": leaf.stream, "match": match}
        row |= {"number": number, "deal": (number - 1) // times, "deals": times}
        row |= {"game": end.start.game, "seat": seat, "player": player}
        row |= {"role": _role(seat, end.start.button, len(end.stacks)), "net": net}
        row |= {"showdown": len(contenders) > 1 and seat in contenders}
        row |= {"price": prices[seat] / unit, "swapped": _swapped(events, seat)}
        if isinstance(luck, Expected):
            row |= {"net_ev": luck.nets[seat] / unit, "error": luck.error / unit}
            row |= {"equity": luck.equity[seat], "took": _took(events, seat)}
        yield {**_PLAIN, "net_ev": net, **row, **_whether(luck)}


def table(rows: Sequence[Row]) -> pa.Table:
    """Rows as Arrow."""
    columns = [pa.array([row[one.name] for row in rows], one.type) for one in SCHEMA]
    return pa.table(columns, schema=SCHEMA)


_PLAIN: Row = {"error": 0.0, "equity": None, "took": None}


def _took(events: Sequence[Any], seat: int) -> float:
    """His part of the first pot, as it was paid."""
    first = next(event for event in events if isinstance(event, PotSplit))
    shares = dict(zip(first.seats, first.shares, strict=True))
    return float(shares.get(seat, 0) / (sum(first.shares) or 1))


def _whether(luck: Expected | str | None) -> Row:
    return {
        "adjusted": isinstance(luck, Expected),
        "why": luck if isinstance(luck, str) else None,
    }


def _expected(events: Sequence[Any], leaf: Leaf, rules: Rulebook) -> Expected | str | None:
    end = leaf.hand
    assert end is not None
    game = rules.of(end.start.ruleset)
    if game is None:
        return "ruleset not known"
    spot = closed(events, end, game)
    if not isinstance(spot, Closed):
        return spot
    how = rules.showdown(end.start.ruleset)
    if how is None or (how.hole_min and (any(spot.third) or spot.chances)):
        return "ranking not in columns"
    return expected(spot, game, how, leaf.stream)


def _role(seat: int, button: int, seats: int) -> str:
    if seat == button:
        return "dealer"
    return "big blind" if seats == 2 else "other"


def _prices(events: Sequence[Any], seats: int) -> list[int]:
    """What each seat paid in auctions."""
    paid = [0] * seats
    for event in events:
        if isinstance(event, AuctionSettled):
            for seat in event.seats:
                paid[seat] += event.price
    return paid


def _swapped(events: Sequence[Any], seat: int) -> int | None:
    """How many of his cards were changed; nothing where that is not seen."""
    mine = [one for one in events if isinstance(one, CardSwapped) and one.seat == seat]
    if any("hidden" in (one.old, one.new) for one in mine):
        return None
    return sum(one.old != one.new for one in mine)
