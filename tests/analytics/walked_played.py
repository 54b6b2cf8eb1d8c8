"""`played` the slow and obvious way: one hand after the other, event by event.

This is the oracle of `analytics/projections/played.py`, which makes the rows of many hands at once.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from analytics.projections.played import PLAYED_SCHEMA, encoded_run_out
from analytics.replay.rules import Rulebook, RulesetText
from engine.policies import per_chip
from events.state import Hand
from events.types import (
    AuctionSettled,
    Bet,
    BoardDealt,
    Called,
    CardSwapped,
    Checked,
    Folded,
    PotSplit,
    Raised,
    TimedOut,
    Tossed,
)
from odds.batch import BOARD
from store.columns.codec import Row, arrow_table, hand_head
from store.log.streams import Leaf


def build(kept: RulesetText, leaves: Sequence[Leaf]) -> pa.Table:
    """The stored rows, for a ledger that keeps the texts of rulesets which `kept` reads."""
    rules = Rulebook(kept)
    rows = [row for leaf in leaves for row in _stored(leaf, rules)]
    return arrow_table(rows, PLAYED_SCHEMA)


def _stored(leaf: Leaf, rules: Rulebook) -> Iterator[Row]:
    """The rows of one hand, with what luck has to be counted of."""
    events = [one.event for one in leaf.recorded]
    end = leaf.hand
    closes = end is not None and not end.voided and may_close(events, end)
    spot, why = encoded_run_out(leaf, rules) if closes else (None, None)
    for row in _rows(leaf, rules):
        seat = row["seat"]
        row |= {"took": _took(events, seat) if closes else None, "may_close": closes}
        row |= {"at_risk": sum(isinstance(it, CardSwapped) and it.seat == seat for it in events)}
        yield {**row, "spot": spot, "why": why}


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
        row: Row = {**hand_head(leaf, end.start), "seat": seat, "player": player}
        row |= {"unit": unit, "net": net}
        row |= {"role": _role(seat, end.start.button, len(end.stacks))}
        row |= {"showdown": len(contenders) > 1 and seat in contenders}
        row |= {"price": prices[seat] / unit, "swapped": _swapped(events, seat)}
        yield row


def _took(events: Sequence[Any], seat: int) -> float:
    """His part of the first pot, as it was paid."""
    first = next((event for event in events if isinstance(event, PotSplit)), None)
    if first is None:
        return 0.0
    shares = dict(zip(first.seats, first.shares, strict=True))
    return float(shares.get(seat, 0) / (sum(first.shares) or 1))


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


def may_close(events: Sequence[Any], end: Hand) -> bool:
    """Whether it may have closed with cards to come, as far as everybody can tell."""
    if sum(how != "folded" for how in end.standing) < 2 or len(end.board) < BOARD:
        return False
    board = len(end.board)
    for event in reversed(events):
        if isinstance(event, BoardDealt):
            board -= len(event.cards)
        elif isinstance(event, TimedOut) or (
            isinstance(event, ACTIONS) and event.origin != "forced"
        ):
            break
    return board < len(end.board)


ACTIONS = (Folded, Checked, Called, Bet, Raised, Tossed)
