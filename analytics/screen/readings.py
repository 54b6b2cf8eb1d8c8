"""What other readings of the rules would pay: a hand on which one pays otherwise is for the engine.

Most hands are cleared by what cannot matter to them: who wins alone wins under any rule for odd
chips, and a straight around the corner counts only where somebody has one. The rest is paid again.
"""

from functools import cache, cached_property

import numpy as np
from msgspec.structs import replace

from analytics.screen.award import Award
from analytics.screen.plan import comparison
from analytics.screen.rows import Column
from analytics.screen.why import Why
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
        record = self.award.record
        for other in self.plan.others:
            doubt = self._open(other)
            if any(getattr(self.game, one) != getattr(other, one) for one in _PAYING):
                may = self._may_differ(other) & ~doubt & (record.why.take(self.award.down) == 0)
                some = np.flatnonzero(may)
                if len(some):
                    doubt[some] = self._differs(other, some)
            record.doubt(self.award.down.take(np.flatnonzero(doubt)), Why.READING)

    @cached_property
    def around(self) -> Column:
        """Hands with a straight around the corner."""
        there = self.there
        rows = np.flatnonzero(around_the_corner(there.hole | there.board))
        found: Column = there.of.take(rows)
        return found

    def _are_cut_otherwise(self) -> Column:
        """Where a larger bet may have lain in the middle when a seat went all-in (T8).

        Then there are side pots. Who wins all of them alone has put in as much as anybody, so he
        wins all of other pots, too; unless the house takes its cut of each pot by itself.
        """
        game, award = self.game, self.award
        found: Column = self.pay.many > 1
        if game.rake is None or game.rake.scope == "hand":
            found &= (award.wins.take(award.down, axis=1) > 0).sum(0) > 1
        return found

    def _open(self, other: Game) -> Column:
        """Where a reading could pay otherwise, and that is not counted here."""
        game, down = self.game, self.award.down
        doubt = np.zeros(len(down), dtype=bool)
        if other.kickers != game.kickers:  # only a tie of five cards can be broken (T11)
            every = np.arange(len(down))
            values = self.there.by_seat(self.values, np.arange(len(self.values)), every)
            values = np.sort(np.where(values < 0, -1 - np.arange(len(values))[:, None], values), 0)
            doubt |= (np.diff(values, axis=0) == 0).any(0)
        if other.split != game.split:
            doubt |= self._are_cut_otherwise()
        if other.announce != game.announce or other.uncalled != game.uncalled:
            doubt |= True
        return doubt

    def _pays_ties_otherwise(self, other: Game) -> Column:
        """Hands with a tie that other rules pay otherwise, whoever else may win them."""
        game, award = self.game, self.award
        found: Column = award.odd & (other.odd_chips != game.odd_chips)
        if other.showdown_tie != game.showdown_tie or other.split_unit != game.split_unit:
            found = award.tied | (self.pay.many > 1)
        return found

    def _may_differ(self, other: Game) -> Column:
        """Hands in which another seat may win some pot, or where a tie is paid by other rules."""
        game, there = self.game, self.there
        found = self._pays_ties_otherwise(other)
        mine, theirs = comparison(game), comparison(other)
        if mine == theirs:
            return found
        if mine.hole_min or theirs.hole_min or mine.ranking not in ("standard", theirs.ranking):
            return found | True
        if mine.straights != theirs.straights:
            found[self.around] = True
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
        there, theirs, rows = self.there, comparison(other), self.there.every(some)
        values = self.values
        if theirs != comparison(self.game):
            values = values.copy()
            values[rows] = there.worth(theirs, rows)
        found = self._others_win(values.take(rows), rows, some)
        several = self._pays_ties_otherwise(other) | (self.pay.many > 1)
        again = np.flatnonzero(several.take(some))
        if len(again):
            hands = some.take(again)
            rows = there.every(hands)
            values = there.by_seat(values.take(rows), rows, hands)
            won, doubt = self.award.pays(other, values, hands)
            found[again] = doubt | (won != self.award.won(hands)).any(0)
        return found

    def _others_win(self, values: Column, rows: Column, some: Column) -> Column:
        """Whether others have the best hand by these values, those of some rows."""
        count = self.there.count.take(some)
        first = np.cumsum(count) - count
        best = np.maximum.reduceat(values, first).repeat(count) == values
        best ^= self.values.take(rows) == self.award.best.take(some).repeat(count)
        found: Column = np.logical_or.reduceat(best, first)
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
