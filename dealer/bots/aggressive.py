"""Bets and raises more often than not, whatever it holds, and seldom lets go."""

import random

from dealer.bots.bot import BuiltIn, leave, pot_raise, stay
from dealer.bots.seen import Seen
from engine.turn import Command, ToAct, ToBid


class AggressiveBot(BuiltIn):
    """Half a pot or a whole one; it bids up to the pot."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def act(self, seen: Seen, asked: ToAct) -> Command:
        roll = self._random.random()
        if roll < 0.6:
            return pot_raise(seen, asked, self._random.choice((1, 2)), 2)
        large = asked.call * 2 > seen.pot
        return leave(asked) if roll > 0.85 and large else stay(asked)

    def bid(self, seen: Seen, asked: ToBid) -> int:
        return min(asked.bid_max, self._random.randint(0, seen.pot))
