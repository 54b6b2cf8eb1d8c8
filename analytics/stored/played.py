"""`played`: one row a player and hand, what it came to and what it could be expected to.

`net_ev` is the net where luck could not be taken out; then `adjusted` is false and `why` says what
stood in the way, or nothing where betting never closed before the river.

What needs no equity is also kept beside a ledger's events, with `spot`: all that an equity needs,
where `why` says nothing against it. `may_close` leaves out hands that closed for nobody, whatever
he may see: it counts no bid as a choice, for that one was forced may be a secret.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from analytics.replay.rulebook import Rulebook
from analytics.stored.closed_betting import Closed, closed
from analytics.stored.row_head import Row, head, tabled
from engine.units import per_chip
from events.types import AuctionSettled, CardSwapped, PotSplit
from store.log.leaf import Leaf

if TYPE_CHECKING:
    from analytics.stored.equity import Count, Expected

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


STORED = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "game": pa.string(),
        "ruleset": pa.string(),
        "seat": pa.int32(),
        "player": pa.string(),
        "role": pa.string(),
        "net": pa.float64(),
        "unit": pa.int32(),
        "took": pa.float64(),
        "showdown": pa.bool_(),
        "price": pa.float64(),
        "swapped": pa.int32(),
        "at_risk": pa.int32(),
        "may_close": pa.bool_(),
        "spot": pa.string(),
        "why": pa.string(),
    }
)


def told_spot(leaf: Leaf, rules: Rulebook) -> tuple[str | None, str | None]:
    """What luck has to be counted of as it is kept, or why it cannot be; or neither."""
    spot = spot_of(leaf, rules)
    if isinstance(spot, Closed):
        return msgspec.json.encode(spot).decode(), None
    return None, spot


def rows_of(
    leaf: Leaf, rules: Rulebook, deals: Mapping[str, int], count: "Count | None" = None
) -> Iterator[Row]:
    """The rows of one hand in seat order, in chips; none for what is void or does not add up."""
    events = [one.event for one in leaf.recorded]
    luck: Expected | str | None = None
    for place, row in enumerate(_rows(leaf, rules)):
        if place == 0:
            luck = _expected(leaf, rules, count)
        times, unit, seat = deals.get(row["match"], 1), row["unit"], row["seat"]
        row |= {"deal": (row["number"] - 1) // times, "deals": times, "net_ev": row["net"]}
        row |= {"adjusted": False, "error": 0.0, "equity": None, "took": None, "why": None}
        if isinstance(luck, str):
            row["why"] = luck
        elif luck is not None:
            row |= {"net_ev": luck.nets[seat] / unit, "error": luck.error / unit}
            row |= {"equity": luck.equity[seat], "took": _took(events, seat), "adjusted": True}
        yield row


def _rows(leaf: Leaf, rules: Rulebook) -> Iterator[Row]:
    """What a hand came to, without a word about luck."""
    end = leaf.hand
    if end is None or end.voided:
        return
    events = [one.event for one in leaf.recorded]
    game = rules.of(end.start.ruleset)
    unit = per_chip(game.unit) if game else 1
    prices = _prices(events, len(end.stacks))
    contenders = [seat for seat, how in enumerate(end.standing) if how != "folded"]
    for seat, player in enumerate(end.start.players):
        net = (end.stacks[seat] - end.start.stacks[seat]) / unit
        row: Row = {**head(leaf, end.start), "seat": seat, "player": player}
        row |= {"unit": unit, "net": net}
        row |= {"role": _role(seat, end.start.button, len(end.stacks))}
        row |= {"showdown": len(contenders) > 1 and seat in contenders}
        row |= {"price": prices[seat] / unit, "swapped": _swapped(events, seat)}
        yield row


def spot_of(leaf: Leaf, rules: Rulebook) -> Closed | str | None:
    """What luck has to be counted of, as whoever is given this leaf knows it."""
    end = leaf.hand
    assert end is not None
    game = rules.of(end.start.ruleset)
    if game is None:
        return "ruleset not known"
    spot = closed([one.event for one in leaf.recorded], end, game)
    if not isinstance(spot, Closed):
        return spot
    how = rules.showdown(end.start.ruleset)
    if how is None or (how.hole_min and (any(spot.third) or spot.chances)):
        return "ranking not in columns"
    return spot


def table(rows: Sequence[Row]) -> pa.Table:
    """Rows as Arrow."""
    return tabled(rows, SCHEMA)


def _took(events: Sequence[Any], seat: int) -> float:
    """His part of the first pot, as it was paid."""
    first = next((event for event in events if isinstance(event, PotSplit)), None)
    if first is None:
        return 0.0
    shares = dict(zip(first.seats, first.shares, strict=True))
    return float(shares.get(seat, 0) / (sum(first.shares) or 1))


def _expected(leaf: Leaf, rules: Rulebook, count: "Count | None") -> "Expected | str | None":
    from analytics.stored.equity import expected

    spot = spot_of(leaf, rules)
    if not isinstance(spot, Closed):
        return spot
    assert leaf.hand is not None
    game, how = rules.of(leaf.hand.start.ruleset), rules.showdown(leaf.hand.start.ruleset)
    assert game is not None
    assert how is not None
    return expected(spot, game, how, leaf.stream, count)


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
