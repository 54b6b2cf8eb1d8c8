"""Who is paid in a record, compared with whom the rules pay, and other readings of them.

Most pots are won by one seat, and one number says so; pots that are shared, and hands of several
pots, are paid seat by seat.

Most hands are cleared of other readings of the rules by what cannot matter to them: who wins alone
wins under any rule for odd chips, and a straight around the corner counts only where somebody has
one. The rest is paid again.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from analytics.replay.rules import comparison
from analytics.screening.columns import event_code
from analytics.screening.plan import Why
from analytics.screening.record import Record
from analytics.screening.showdown import Contenders, Layer, Paid, Payment, awards
from engine.followed import of_other_kinds, unknown
from engine.game import Game
from engine.policies import Policies
from odds.batch import columns
from store.columns.cells import Column, pair

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


class Award:
    """Who is paid in a record beside whom the rules pay; and what each seat won or lost."""

    def __init__(self, record: Record, contenders: Contenders, payment: Payment) -> None:
        self.record, self.there, self.pay = record, contenders, payment
        self.played, self.plan, self.down = record.played, record.plan, payment.down
        self.wins = np.zeros_like(self.played.stacks)  # by seat and hand

    @property
    def nets(self) -> Column:
        """What each seat won or lost."""
        found: Column = self.played.stacks - self.played.hands.brought + self.wins
        return found

    def check(self) -> None:
        """Every pot, and the house's cut of it."""
        there = self.there
        self._rakes()
        self._alone()
        if len(self.down):
            self.values = there.worth(comparison(self.plan.game))
            there.check(self.values)
            self.best = there.best(self.values)
            rows = np.flatnonzero(self.values == self.best.take(there.of))
            of = there.of.take(rows)
            self.tied = np.zeros(len(self.down), dtype=bool)
            self.tied[of[1:].compress(of[1:] == of[:-1])] = True
            self.odd = np.zeros(len(self.down), dtype=bool)
            plain = (self.pay.many == 1) & ~self.tied
            rows = rows.compress(plain.take(of))
            amount = self.pay.pots[0].amount
            if self.pay.cuts is not None:
                amount = amount - self.pay.cuts[0]
            hands = there.hand.take(rows)
            self._one_winner(hands, there.seat.take(rows), amount.take(there.of.take(rows)))
            self._split(np.flatnonzero(~plain))

    def _alone(self) -> None:
        """The last contender wins unseen (G17), all but the house's cut."""
        hands = self.pay.alone
        seat = np.bitwise_count(self.played.stays.take(hands) - 1)
        share = (self.pay.whole - self.pay.alone_cut).take(hands)
        self._one_winner(hands, np.minimum(seat, self.plan.seats - 1), share)

    def _one_winner(self, hands: Column, seat: Column, share: Column) -> None:
        """One pot, and one seat has all of it."""
        record = self.record
        row = record.splits.row.take(hands)
        seats, shares = (record.columns.lists[name] for name in ("seats", "shares"))
        wrong = record.columns.codes.take(row, mode="clip") != event_code("PotSplit", pot=0)
        wrong |= seats.one_or_two(row) != seat
        wrong |= shares.one_or_two(row) != share
        self._mark(hands, wrong, Why.AWARD)
        self.wins[seat, hands] = share

    def _mark(self, hands: Column, wrong: Column, why: Why) -> None:
        self.record.doubt(hands.take(np.flatnonzero(wrong)), why)

    def _rakes(self) -> None:
        """What the house took, pot by pot."""
        pay, stage = self.pay, self.record.rakes
        if pay.cuts is None:
            return
        amount, codes = self.record.columns.values["amount"], self.record.columns.codes
        row = stage.row.take(pay.alone)
        cut = pay.alone_cut.take(pay.alone)
        unlike = amount.take(row, mode="clip") != cut
        unlike |= codes.take(row, mode="clip") != event_code("RakeTaken", pot=0)
        self._mark(pay.alone, unlike & (cut > 0), Why.RAKE)
        row = stage.row.take(self.down)
        for pot, cut in zip(pay.pots, pay.cuts, strict=True):
            unlike = amount.take(row, mode="clip") != cut
            unlike |= codes.take(row, mode="clip") != event_code("RakeTaken", pot=pot.number)
            self._mark(self.down, unlike & (cut != 0), Why.RAKE)
            row = row + (cut != 0)

    def _split(self, some: Column) -> None:
        """Several pots or several winners: each pot as it was split, beside how the rules do it."""
        if not len(some):
            return
        record, there = self.record, self.there
        hands: Column = self.down.take(some)
        rows = there.every(some)
        values = there.by_seat(self.values.take(rows), rows, some)
        begins: Column = record.splits.row.take(hands)
        seats, chips = (record.columns.lists[name] for name in ("seats", "shares"))
        back = np.zeros(len(hands), dtype=bool)
        if self.plan.game.showdown_tie == "no_change":
            back = _tied(values)
        won = np.zeros((self.plan.seats, len(hands)), dtype=np.int32)
        for paid in self._awards(self.plan.game, values, some):
            row = begins.take(paid.rows) + paid.number
            unlike = record.columns.codes.take(row, mode="clip") != event_code(
                "PotSplit", pot=paid.number
            )
            unlike |= ~paid.exact
            self.odd[some.take(paid.rows)] |= paid.odd
            winners = paid.wins.sum(0)
            unlike |= seats.many(row) != winners
            unlike |= chips.many(row) != winners
            rank = np.zeros(len(row), dtype=np.int64)
            for seat, wins, share in zip(paid.seats, paid.wins, paid.shares, strict=True):
                unlike |= wins & (seats.entry(row, rank) != seat)
                unlike |= wins & (chips.entry(row, rank) != share)
                rank += wins
            won[paid.seats, paid.rows] += paid.shares
            self._mark(hands[paid.rows], unlike & ~back[paid.rows], Why.AWARD)
        if back.any():
            won[:, back] = self._given_back(hands[back])
        self.wins[:, hands] = won

    def _awards(self, game: Policies, values: Column, some: Column) -> Iterator[Paid]:
        """Each pot of some hands, as these rules pay it."""
        pots = [Layer(*(column.take(some) for column in pot)) for pot in self.pay.pots]
        cuts = None if self.pay.cuts is None else [cut.take(some) for cut in self.pay.cuts]
        button = self.played.hands.button.take(self.down.take(some))
        return awards(game, pots, cuts, values, button)

    def _given_back(self, hands: Column) -> Column:
        """In a tie of the two, bankrolls do not change: each takes back what he put in (A9)."""
        record = self.record
        put_in = (self.pay.paid + self.played.dead)[:, hands].astype(np.int64)
        row = record.splits.row.take(hands)
        seats, chips = (record.columns.lists[name] for name in ("seats", "shares"))
        both = np.zeros(len(row), dtype=np.int32)
        unlike = seats.one_or_two(row) != pair(both, both + 1)
        unlike |= chips.one_or_two(row) != pair(*put_in)
        unlike |= record.columns.codes.take(row, mode="clip") != event_code("PotSplit", pot=0)
        self._mark(hands, unlike, Why.AWARD)
        return put_in

    def pays(self, game: Policies, values: Column, some: Column) -> tuple[Column, Column]:
        """What each seat wins of some hands by these rules, and where they leave it open."""
        won = np.zeros((self.plan.seats, len(some)), dtype=np.int64)
        doubt = np.zeros(len(some), dtype=bool)
        for paid in self._awards(game, values, some):
            doubt[paid.rows] |= ~paid.exact
            won[paid.seats, paid.rows] += paid.shares
        if game.showdown_tie == "no_change" and self.plan.seats == 2:
            back = _tied(values)
            put_in = self.pay.paid + self.played.dead
            hands: Column = self.down.take(some.compress(back))
            won[:, back] = put_in.take(hands, axis=1)
        return won, doubt

    def won(self, some: Column) -> Column:
        """What each seat has won of some hands."""
        found: Column = self.wins.take(self.down.take(some), axis=1)
        return found


def _tied(values: Column) -> Column:
    """Hands of two seats that have the same."""
    tie: Column = (values[0] == values[1]) & (values[0] >= 0)
    return tie


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
