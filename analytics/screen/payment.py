"""What is in the middle of many hands at their ends: pots, and the house's cut of them."""

import numpy as np

from analytics.screen.pots import Layer, pots, taken
from analytics.screen.replay import Replay
from store.columns.cells import Column


class Payment:
    """What is in the middle of each hand at its end, and how it is cut into pots."""

    def __init__(self, played: Replay) -> None:
        self.played, self.game = played, played.game
        paid = np.maximum(played.paid(), 0)
        dead = played.dead.sum(0, dtype=np.int32)
        self.paid, self.dead = paid, dead
        n = played.n
        alone = played.last >= 0
        self.alone, self.down = np.flatnonzero(alone), np.flatnonzero(~alone)
        self.pots = pots(
            paid.take(self.down, axis=1), dead.take(self.down), played.stays.take(self.down)
        )
        self.whole = paid.sum(0, dtype=np.int32) + dead
        self.many = np.zeros(len(self.down), dtype=np.int8)
        for pot in self.pots:
            self.many += pot.amount > 0
        self.count = np.ones(n, dtype=np.int8)
        self.count[self.down] = self.many
        self.cuts: list[Column] | None = None
        self.alone_cut = np.zeros(n, dtype=np.int64)
        self.rakes = np.zeros(n, dtype=np.int8)
        if self.game.rake is not None:
            self._rake(alone)

    def _rake(self, alone: Column) -> None:
        """The cut of each pot; nothing of a hand without a flop, if so ruled (R3)."""
        rule, played = self.game.rake, self.played
        assert rule is not None
        flop = self._flop_after()
        seen = (played.last < 0) | (played.last > flop) | (not rule.no_flop_no_drop)
        seats = played.seats
        self.cuts = taken(rule, self.pots, seats, seen[self.down])
        one = [Layer(self.whole, played.stays, np.zeros_like(self.whole))]
        self.alone_cut = taken(rule, one, seats, seen & alone)[0]
        self.rakes = (self.alone_cut != 0).astype(np.int8)
        for cut in self.cuts:
            self.rakes[self.down] += cut != 0

    def _flop_after(self) -> int:
        """The number of the last round before three cards are on the board."""
        number = -1
        for line in self.played.plan.lines:
            number += line.does == "bet"
            if line.does == "board" and line.total >= 3:
                return number
        return number
