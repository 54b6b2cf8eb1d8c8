"""`auctions` the slow and obvious way: one hand after the other, event by event.

This is the oracle of `analytics/projections/auctions.py`, which makes rows of many hands at once.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from analytics.decisions.decision_table import ORIGINS
from events.cards import Cards, known
from events.evolve import evolve, replay
from events.state import Hand
from events.types import (
    AuctionSettled,
    Bet,
    BettingOpened,
    BidPlaced,
    Checked,
    Event,
    Folded,
    PotSplit,
    Raised,
    Shown,
)
from store.columns.codec import Row, hand_head
from store.log.streams import Leaf


def rows_of(leaf: Leaf) -> Iterator[Row]:
    """The rows of one hand, in order of its auctions and seats; none for a void one."""
    events = [one.event for one in leaf.recorded]
    settled = [at for at, event in enumerate(events) if isinstance(event, AuctionSettled)]
    if not settled:
        return
    end = leaf.hand
    if end is None or end.voided:
        return
    hand = replay(events[:1])  # type: ignore[arg-type]
    placed: dict[int, BidPlaced] = {}
    auction = 0
    for place, event in enumerate(events[1 : settled[-1] + 1], start=1):
        if isinstance(event, BidPlaced):
            if event.seat < len(hand.stacks):  # whose it is not is for the auditor
                placed[event.seat] = event
        elif isinstance(event, AuctionSettled):
            for seat in sorted(placed):
                row: Row = {**hand_head(leaf, end.start), "auction": auction}
                row |= _bidder(hand, seat, events)
                row |= _bids(hand, seat, placed, event)
                row |= _after(events[place:], end, seat)
                row["plain"] = _plain(placed, event)
                yield row
            placed, auction = {}, auction + 1
        hand = evolve(hand, event)  # type: ignore[arg-type]


def texture_of(board: Cards) -> str:
    """What a flop looks like: one suit, a pair, two of a suit, or none of these."""
    suits = len({card[1] for card in board})
    if suits == 1:
        return "monotone"
    if len({card[0] for card in board}) < len(board):
        return "paired"
    return "two-tone" if suits < len(board) else "dry"


def _bidder(hand: Hand, seat: int, events: Sequence[Any]) -> Row:
    """Who bids, with what in front of him and in his hand."""
    start = hand.start
    two = len(start.players) == 2
    role = "dealer" if seat == start.button else "big blind" if two else "other"
    board = known(hand.board)
    dealt, shown = known(hand.hole[seat]), _shown(hand, seat, events)
    hole = dealt or shown
    return {
        "seat": seat,
        "player": start.players[seat],
        "role": role,
        "stack": hand.stacks[seat],
        "pot": hand.pot,
        "board": None if board is None else " ".join(board),
        "texture": None if board is None else texture_of(board),
        "hole": None if hole is None else " ".join(hole),
        "dealt": None if dealt is None else " ".join(dealt),
        "shown": None if shown is None else " ".join(shown),
    }


def _shown(hand: Hand, seat: int, events: Sequence[Any]) -> Cards | None:
    """The cards held at the auction, out of those shown at the end: a third card comes last."""
    for event in events:
        if isinstance(event, Shown) and event.seat == seat:
            return known(event.cards[: len(hand.hole[seat])])
    return None


def _bids(hand: Hand, seat: int, placed: dict[int, BidPlaced], settled: AuctionSettled) -> Row:
    """His bid beside the highest of the others, and who won."""
    mine = placed[seat]
    others = [bid for bid in placed.values() if bid.seat != seat]
    best = max(others, key=_amount, default=None)
    alone = others[0].seat if len(others) == 1 else None
    outcome = "lost" if seat not in settled.seats else "tied" if settled.seats[1:] else "won"
    return {
        "rival": None if alone is None else hand.start.players[alone],
        "bid": mine.amount,
        "rival_bid": None if best is None else best.amount,
        "rival_stack": None if alone is None else hand.stacks[alone],
        "price": settled.price,
        "outcome": outcome,
        "origin": _origin(hand, mine),
        "rival_origin": None if alone is None else _origin(hand, placed[alone]),
        "sealed": settled.sealed,
    }


def _plain(placed: dict[int, BidPlaced], settled: AuctionSettled) -> bool:
    """Whether the settlement told what was placed, in its order, as secretly as it was placed."""
    amounts = tuple(bid.amount for bid in placed.values())
    return amounts == settled.bids and all(it.sealed == settled.sealed for it in placed.values())


def _amount(bid: BidPlaced) -> int:
    """What was bid; a bid that is hidden for good has no size at all."""
    amount: Any = bid.amount
    return -1 if amount is None else int(amount)


def _origin(hand: Hand, bid: BidPlaced) -> str | None:
    """Why it was made: forced where 0 was all there was; nothing where that is hidden."""
    if hand.stacks[bid.seat] == 0:
        return "forced"
    return bid.origin if bid.origin in ORIGINS else None


def _after(later: Sequence[Any], end: Hand, seat: int) -> Row:
    """What followed: a bet on the flop if he could open it, a fold, a showdown, money."""
    collected = sum(
        share
        for event in later
        if isinstance(event, PotSplit)
        for other, share in zip(event.seats, event.shares, strict=True)
        if other == seat
    )
    left = [other for other, standing in enumerate(end.standing) if standing != "folded"]
    rivals = [other for other in range(len(end.standing)) if other != seat]
    return {
        "showdown": len(left) > 1 and seat in left,
        "folded": seat not in left,
        "rival_folded": rivals[0] not in left if len(rivals) == 1 else None,
        "flop_bet": _opens(later, seat),
        "won_money": collected > 0,
        "net": end.stacks[seat] - end.start.stacks[seat],
    }


def _opens(later: Sequence[Event], seat: int) -> bool | None:
    """Whether his first choice after the auction was a bet; null if he could not open the flop.

    In the oldest engine of 2024 nobody could: its auctions were followed by the turn.
    """
    rounds = 0
    for event in later:
        if isinstance(event, BettingOpened):
            rounds += 1
            if rounds > 1 or event.street != "flop":
                return None
        elif isinstance(event, Bet | Checked) and event.seat == seat:
            return isinstance(event, Bet) if event.origin == "chosen" else None
        elif isinstance(event, Bet | Raised | Folded):
            return None
    return None
