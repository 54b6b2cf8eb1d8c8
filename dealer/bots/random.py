"""Chooses among everything that is offered; folds seldom, bids and bets of every size."""

import random

from dealer.bots.bot import BuiltIn, stay
from dealer.bots.seen import Seen
from engine.turn import Command, Fold, Muck, Raise, Straddle, ToAct, ToBid, ToShow


class RandomBot(BuiltIn):
    """No idea of cards: what it does depends on its seed and the menu."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def act(self, seen: Seen, asked: ToAct) -> Command:
        roll = self._random.random()
        if roll < 0.12 and asked.fold:
            return Fold(asked.seat)
        if roll > 0.7 and asked.raise_min is not None and asked.raise_max is not None:
            return Raise(asked.seat, self._size(asked.raise_min, asked.raise_max))
        return stay(asked)

    def bid(self, seen: Seen, asked: ToBid) -> int:
        return self._size(0, asked.bid_max)

    def show(self, seen: Seen, asked: ToShow) -> Command:
        if asked.may_muck and self._random.random() < 0.4:
            return Muck(asked.seat)
        return super().show(seen, asked)

    def straddle(self, seat: int) -> Command:
        return Fold(seat) if self._random.random() < 0.1 else Straddle(seat)

    def _size(self, low: int, high: int) -> int:
        """Mostly small, sometimes everything: half of the range is halved again and again."""
        if self._random.random() < 0.06:
            return high
        while high > low and self._random.random() < 0.7:
            high = low + (high - low) // 2
        return self._random.randint(low, high)
