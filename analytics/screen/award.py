"""Who is paid in a record, beside whom the rules pay.

Most pots are won by one seat, and one number says so; pots that are shared, and hands of several
pots, are paid seat by seat.
"""

from collections.abc import Iterator

import numpy as np

from analytics.replay.rulebook import comparison
from analytics.screen.contenders import Contenders
from analytics.screen.event_codes import event_code
from analytics.screen.payment import Payment
from analytics.screen.pots import Layer, Paid, awards
from analytics.screen.record import Record
from analytics.screen.why import Why
from engine.policies import Policies
from store.columns.cells import Column, pair


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
        told, chips = (record.columns.lists[name] for name in ("seats", "shares"))
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
            unlike |= told.many(row) != winners
            unlike |= chips.many(row) != winners
            rank = np.zeros(len(row), dtype=np.int64)
            for seat, wins, share in zip(paid.seats, paid.wins, paid.shares, strict=True):
                unlike |= wins & (told.entry(row, rank) != seat)
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
        told, chips = (record.columns.lists[name] for name in ("seats", "shares"))
        both = np.zeros(len(row), dtype=np.int32)
        unlike = told.one_or_two(row) != pair(both, both + 1)
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
