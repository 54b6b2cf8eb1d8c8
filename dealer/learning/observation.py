"""What a seat sees, as numbers: cards, chips by seat from its own on, and what was done so far.

All of it is made from a `Seen`, which holds nothing that the seat may not see. Chips are parts of
the game's stack; seats are counted from the one that is asked.
"""

from functools import cache
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from dealer.bots.seat_view import Seen
from engine.game import Game
from engine.steps import Betting, DrawBounties, Run
from engine.turn import ToAct, ToBid, ToStraddle
from events.cards import DECK, UNKNOWN, Rank
from events.types import (
    AntePosted,
    AuctionSettled,
    Bet,
    BettingOpened,
    BidPlaced,
    BlindPosted,
    BountyDrawn,
    Called,
    CardSwapped,
    HoleDealt,
    Raised,
    Tossed,
)
from events.views import BidPlacedSeen, BountyDrawnSeen, CardSwappedSeen, Hidden, HoleDealtSeen

Numbers = NDArray[np.float32]
CARDS = 2 * len(DECK)
"""The first numbers: each card, whether it is one's own, then whether it is on the board."""

EVENTS = (
    BettingOpened,
    AntePosted,
    BlindPosted,
    Called,
    Bet,
    Raised,
    HoleDealt,
    BidPlaced,
    AuctionSettled,
    CardSwapped,
    Tossed,
    BountyDrawn,
)
"""The events of a record from which numbers are made."""

_PLACE = {card: place for place, card in enumerate(DECK)}
_QUESTIONS = (ToAct, ToBid, ToStraddle)
_ALONE = ("asked to act", "asked to bid", "asked to straddle", "board", "pot", "call")
_BOUNDS = ("least raise", "largest raise", "largest bid", "straddle", "price of the card")
_OF_SEAT = ("there", "button", "stack", "bet", "paid", "cards", "live", "all-in", "won the card")
_LATER = ("bid", "swapped")


@cache
def names(game: Game, seats: int) -> tuple[str, ...]:
    """The name of each number of an observation."""
    rounds = range(1, _rounds(game) + 1)
    of_seat = (*_OF_SEAT, *_LATER, *(f"chips of round {number}" for number in rounds))
    return (
        *(f"own {card}" for card in DECK),
        *(f"board {card}" for card in DECK),
        *_ALONE,
        *_BOUNDS,
        *(f"raises of round {number}" for number in rounds),
        *(f"own bounty {rank}" for rank in _ranks(game)),
        *(f"seat +{seat} {name}" for seat in range(seats) for name in of_seat),
    )


def observation(seen: Seen) -> Numbers:
    """The observation of a seat: its cards, then the table's numbers."""
    cards = np.zeros(CARDS, np.float32)
    cards[[_PLACE[card] for card in seen.hole if card != UNKNOWN]] = 1
    cards[[len(DECK) + _PLACE[card] for card in seen.board if card != UNKNOWN]] = 1
    return np.concatenate((cards, table_numbers(seen)))


def table_numbers(seen: Seen) -> Numbers:
    """The part of an observation that is no cards: question, stacks, bets, history."""
    seats, rounds, scale = len(seen.players), _rounds(seen.game), seen.game.stack
    put = [[0] * rounds for _ in range(seats)]
    raises = [0] * rounds
    held, won, bid, swapped = ([0] * seats for _ in range(4))
    price, now = 0, 0
    bounty: str | Hidden = ""
    opened = False
    for event in seen.history:
        match event:
            case BettingOpened():
                now = min(now + opened, rounds - 1)  # a run is one round, however long
                opened = True
            case AntePosted(seat=seat, amount=amount) | BlindPosted(seat=seat, amount=amount):
                put[seat][min(now + opened, rounds - 1)] += amount
            case Called(seat=seat, amount=amount):
                put[seat][now] += amount
            case Bet(seat=seat, amount=amount) | Raised(seat=seat, amount=amount):
                put[seat][now] += amount
                raises[now] += 1
            case HoleDealtSeen(seat=seat, cards=cards):
                held[seat] += len(cards)
            case Tossed(seat=seat):
                held[seat] -= 1
            case AuctionSettled(seats=winners, bids=bids):
                price = event.price
                for seat in winners:
                    won[seat] = 1
                # In the order of their bids, which everybody sees.
                placed = (past for past in seen.history if isinstance(past, BidPlacedSeen))
                for bidder, amount in zip(placed, bids, strict=False):
                    bid[bidder.seat] = amount
            case BountyDrawnSeen(seat=seat, rank=rank) if seat == seen.seat:
                bounty = rank
            case CardSwappedSeen(seat=seat, changed=changed):
                swapped[seat] += changed is True
    question = seen.asked
    acts = question if isinstance(question, ToAct) else None
    alone = [float(isinstance(question, kind)) for kind in _QUESTIONS]
    alone += [len(seen.board) / 5, seen.pot / scale, (acts.call if acts else 0) / scale]
    alone += [((acts and acts.raise_min) or 0) / scale, ((acts and acts.raise_max) or 0) / scale]
    alone.append((question.bid_max if isinstance(question, ToBid) else 0) / scale)
    alone.append((question.amount if isinstance(question, ToStraddle) else 0) / scale)
    alone.append(price / scale)
    alone += raises
    alone += [rank == bounty for rank in _ranks(seen.game)]
    for place in range(seats):
        seat = (seen.seat + place) % seats
        standing = seen.standing[seat]
        alone += [1, seat == seen.button, seen.stacks[seat] / scale, seen.bets[seat] / scale]
        alone += [seen.paid[seat] / scale, held[seat], standing == "live", standing == "all_in"]
        alone += [won[seat], bid[seat] / scale, swapped[seat]]
        alone += [chips / scale for chips in put[seat]]
    return np.array(alone, np.float32)


def _ranks(game: Game) -> tuple[str, ...]:
    """The ranks that a bounty may have; none in a game without bounties."""
    return get_args(Rank) if any(isinstance(step, DrawBounties) for step in game.script) else ()


def _rounds(game: Game) -> int:
    return sum(isinstance(step, Betting | Run) for step in game.script)
