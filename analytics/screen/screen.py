"""The screen itself: hands of a ledger grouped by their plan, replayed, and found fine or doubtful.

`fine` is a promise: the engine's audit agrees with the hand, and no reading pays otherwise. Any
doubt, and whatever the screen does not follow, is for the engine to judge.

Most hands are cleared of other readings of the rules by what cannot matter to them: who wins alone
wins under any rule for odd chips, and a straight around the corner counts only where somebody has
one. The rest is paid again.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from analytics.replay.rules import comparison
from analytics.screen.award import Award, Payment
from analytics.screen.codes import Why
from analytics.screen.columns import ScreenColumns, Words, spans
from analytics.screen.contenders import Cards, Contenders
from analytics.screen.plan import Plan, Stakes, planned
from analytics.screen.record import Record
from analytics.screen.replay import Replay
from analytics.screen.table import PlanHands
from engine.changes import partner_of
from engine.followed import of_other_kinds, unknown
from engine.game import Game
from engine.policies import Policies
from odds.batch import columns
from store.columns.cells import BAD, Column

_AROUND = (0b1111000000001, 0b1110000000011, 0b1100000000111)  # J-Q-K-A-2, Q-K-A-2-3, K-A-2-3-4
# By the mask of a hand's ranks.
_IS_AROUND: Column = np.any([np.arange(1 << 13) & five == five for five in _AROUND], axis=0)
# What another reading may say, for its payment to be counted here; any other policy that may divide
# pots or compare hands leaves the showdown to the engine.
_COUNTED: dict[str, tuple[object, ...]] = {
    "ranking": ("standard", "urcs", "top_card"),
    "straights": ("standard", "cyclic"),
    "hole_min": (0, 1),
    "odd_chips": (
        *("clockwise_each", "dealer", "random", "non_dealer"),
        *("first_left_all", "fractional"),
    ),
    "showdown_tie": ("split",),
    "kickers": ("five_cards", "all_seven"),
    "split": ("side_pots", "snapshot"),
    "muck": ("never", "losers_may"),
}
_HEADS_UP: dict[str, tuple[object, ...]] = {"showdown_tie": ("split", "no_change")}
_NO_PAYMENT = of_other_kinds("pay", "rank") - {"muck"}  # who mucks may forfeit his claim (U20)


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
            if self._is_uncounted(other):
                record.doubt(self.award.down, Why.READING)
                continue
            doubt = self._open(other)
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
        return doubt

    def _is_uncounted(self, other: Game) -> bool:
        """Whether it differs in something that payment may ask, and that is not counted here."""
        counted = _COUNTED | (_HEADS_UP if self.plan.seats == 2 else {})
        own = {name: (getattr(self.game, name),) for name in Policies.__struct_fields__}
        known = {name: (*same, *counted.get(name, ())) for name, same in own.items()}
        return unknown(other, known, _NO_PAYMENT) is not None

    def _pays_ties_otherwise(self, other: Game) -> Column:
        """Hands with a tie that other rules pay otherwise, even if no other seat may win them."""
        game, award = self.game, self.award
        found: Column = award.odd & (other.odd_chips != game.odd_chips)
        if other.showdown_tie != game.showdown_tie:
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
        if mine.ranking != theirs.ranking:  # a coarser one: the winners are still among them
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
    return _IS_AROUND.take(ranks)


Find = Callable[[str], Game | None]
CHUNK = 1 << 14  # hands played at once, more or less: their columns stay in the cache


class Screened(NamedTuple):
    """What became of each hand of some rows: why it is doubtful, and what each seat won."""

    why: Column
    names: list[str | None]  # of rulesets that hands were held against
    ruleset: Column  # by hand: which of the names
    nets: Column  # by hand and seat; only where it is fine


class Screen:
    """Rulesets as plans, remembered from one group of rows to the next."""

    def __init__(self, find: Find, words: Words, other: Game | None = None) -> None:
        self._find, self._other = find, other
        self.words = words
        self._plans: dict[tuple[int, int, int], tuple[Plan, Stakes] | Why] = {}
        self._games: dict[int, Game | None] = {}

    def judge(self, columns: ScreenColumns) -> Screened:
        """Every hand of these columns."""
        kinds, where = columns.kinds, columns.which_kind
        verdicts = np.zeros(len(kinds), dtype=np.uint8)
        stakes: dict[Plan, list[tuple[int, Stakes]]] = {}
        for number, (mark, name, size) in enumerate(kinds):
            found = self._planned(mark, name, size)
            if isinstance(found, Why):
                verdicts[number] = found
            else:
                stakes.setdefault(found[0], []).append((number, found[1]))
        why = verdicts.take(where)
        why += columns.why * (why == 0)
        widest = max((size for _, _, size in kinds), default=0)
        nets = np.zeros((widest, columns.count), dtype=np.int64).T  # what a seat won together
        for plan, members in stakes.items():
            self._group(columns, plan, members, why, nets)
        why[columns.strange] = Why.START
        why[(why == Why.FINE) & columns.assumes] = Why.ASSUMED
        names = [game.name if (game := self._games.get(mark)) else None for mark, _, _ in kinds]
        return Screened(why, names, where, nets)

    def _planned(self, mark: int, name: int, size: int) -> tuple[Plan, Stakes] | Why:
        key = mark, name, size
        if key not in self._plans:
            self._plans[key] = self._plan(*key)
        return self._plans[key]

    def _plan(self, mark: int, name: int, size: int) -> tuple[Plan, Stakes] | Why:
        """The plan of a ruleset, named by its fingerprint, at a table of this size."""
        if mark == BAD or name == BAD or size < 2:
            return Why.START
        game = self._other or self._find(self.words.word(mark))
        self._games[mark] = game
        if game is None:
            return Why.RULES
        if self._other is None and game.name != self.words.word(name):
            return Why.START
        found = planned(game, size, partner_of(game))
        return Why.RULES if isinstance(found, str) else found

    def _group(
        self,
        columns: ScreenColumns,
        plan: Plan,
        members: list[tuple[int, Stakes]],
        why: Column,
        nets: Column,
    ) -> None:
        """Hands of one plan, a chunk at a time."""
        stakes = np.full(len(columns.kinds), -1)  # by kind: which of the members
        stakes[[number for number, _ in members]] = np.arange(len(members))
        which = np.flatnonzero((stakes.take(columns.which_kind) >= 0) & (why == 0))
        for some in np.array_split(which, max(1, round(len(which) / CHUNK))):
            of = stakes.take(columns.which_kind.take(some))
            hands = columns.of_plan(plan, some, [one for _, one in members], of)
            at = spans(some, np.ones_like(some))
            why[at], nets[at, : plan.seats] = screened(columns, some, hands)


def screened(columns: ScreenColumns, which: Column, hands: PlanHands) -> tuple[Column, Column]:
    """Some hands of one plan, replayed and held against their records: why, and nets by seat."""
    played = Replay(hands)
    played.run()
    payment = Payment(played)
    record = Record(columns, which, played, payment.count, payment.rakes)
    record.check()
    cards = Cards(record)
    award = Award(record, Contenders(cards, payment.down, payment.paid), payment)
    award.check()
    if len(payment.down):
        Readings(award).check()
    return record.why, award.nets.T
