"""What other readings of the rules would pay: a hand on which one pays otherwise is for the engine.

Most hands are cleared by what cannot matter to them: who wins alone wins under any rule for odd
chips, and a straight around the corner counts only where somebody has one. The rest is paid again.
"""

from functools import cache

import numpy as np
from msgspec.structs import replace

from analytics.batch.award import Award
from analytics.batch.plan import comparison
from analytics.batch.rows import Column
from analytics.batch.why import Why
from engine.game import Game
from odds.batch import columns

_AROUND = (0b1111000000001, 0b1110000000011, 0b1100000000111)  # J-Q-K-A-2, Q-K-A-2-3, K-A-2-3-4
_PAYING = ("ranking", "straights", "hole_min", "odd_chips", "showdown_tie")


class Readings:
    """The other readings of one plan, beside what its hands were paid."""

    def __init__(self, award: Award) -> None:
        self.award, self.there = award, award.there
        self.plan, self.game = award.plan, award.plan.game
        self.values, self.pay = award.values, award.pay

    def check(self) -> None:
        """Hands that some reading, or the partner as a whole, could pay differently."""
        why = self.award.record.why
        for other in self.plan.others:
            doubt = self._open(other)
            if any(getattr(self.game, one) != getattr(other, one) for one in _PAYING):
                may = self._may_differ(other) & ~doubt & (why.take(self.award.down) == 0)
                some = np.flatnonzero(may)
                if len(some):
                    doubt[some] = self._differs(other, some)
            hands = self.award.down.take(np.flatnonzero(doubt))
            why[hands[why.take(hands) == 0]] = Why.READING

    def _open(self, other: Game) -> Column:
        """Where a reading could pay otherwise, and that is not counted here."""
        game, down, played = self.game, self.award.down, self.award.played
        doubt = np.zeros(len(down), dtype=bool)
        if other.kickers != game.kickers:  # only a tie of five cards can be broken (T11)
            every = np.arange(len(down))
            values = self.there.by_seat(self.values, np.arange(len(self.values)), every)
            values = np.sort(np.where(values < 0, -1 - np.arange(len(values))[:, None], values), 0)
            doubt |= (np.diff(values, axis=0) == 0).any(0)
        if other.split != game.split:  # pots are cut otherwise only where a seat was all-in (T8)
            doubt |= (played.stays.take(down) & ~played.able.take(down)) != 0
        if other.announce != game.announce or other.uncalled != game.uncalled:
            doubt |= True
        return doubt

    def _may_differ(self, other: Game) -> Column:
        """Hands in which another seat may win some pot, or where a tie is paid by other rules."""
        game, there = self.game, self.there
        found: Column = np.zeros(len(self.award.down), dtype=bool)
        if other.odd_chips != game.odd_chips or other.showdown_tie != game.showdown_tie:
            found |= self.award.tied | (self.pay.many > 1)
        mine, theirs = comparison(game), comparison(other)
        if mine == theirs:
            return found
        if mine.hole_min or theirs.hole_min or mine.ranking not in ("standard", theirs.ranking):
            return found | True
        if mine.straights != theirs.straights:
            around = np.flatnonzero(around_the_corner(there.hole | there.board))
            found[there.of.take(around)] = True
        if mine.ranking != theirs.ranking:  # a coarser one: whoever won is still among the winners
            coarse = columns(7, replace(theirs, straights=mine.straights)).coarse
            assert coarse is not None
            best: Column = self.award.best.take(there.of)
            more = coarse.take(self.values) == coarse.take(best)
            more &= self.values != best
            found[there.of.take(np.flatnonzero(more))] = True
            found |= self.pay.many > 1
        return found

    def _differs(self, other: Game, some: Column) -> Column:
        """Whether the reading pays these hands otherwise."""
        there = self.there
        rows = there.every(some)
        values = there.by_seat(there.worth(comparison(other), rows), rows, some)
        won, doubt = self.award.pays(other, values, some)
        found: Column = doubt | (won != self.award.won(some)).any(0)
        return found


def around_the_corner(hands: Column) -> Column:
    """Hands of which some five ranks are a straight only where straights are cyclic (P2).

    All others compare alike under both rules: their values have the same order.
    """
    ranks = (hands | hands >> 13 | hands >> 26 | hands >> 39) & 8191
    return _around().take(ranks)


@cache
def _around() -> Column:
    ranks = np.arange(8192)
    return np.any([ranks & straight == straight for straight in _AROUND], axis=0)
