"""Who is paid in a record, compared with whom the rules pay.

What was put in is cut into pots, less the house's cut. Most pots are won by one seat, and one
number says so; pots that are shared, and hands of several pots, are paid seat by seat.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analytics.replay.rules import comparison
from analytics.screen.codes import Why, event_code
from analytics.screen.contenders import Contenders
from analytics.screen.record import Record
from analytics.screen.replay import Replay
from engine.policies import Policies, Rake
from store.columns.cells import Column, pair


class Layer(NamedTuple):
    """One layer of each hand: its chips (none, if the hand has no such pot), and who may win it."""

    amount: Column
    seats: Column  # bits
    number: Column  # of the pot


class Paid(NamedTuple):
    """One pot of some hands: the clockwise places that win it, seat by seat, and their shares."""

    rows: Column
    number: Column
    seats: Column  # by place from the left of the button
    wins: Column
    shares: Column
    exact: Column  # false where no unit divides the pot (G1)
    odd: Column  # where the winners cannot all have the same


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


def pots(paid: Column, dead: Column, stays: Column) -> list[Layer]:
    """The pots of each hand: one, where every claimant has put in the same, otherwise layers."""
    bits = np.left_shift(1, np.arange(len(paid)), dtype=np.int32)[:, None]
    claims = (stays & bits) != 0
    claimed = paid * claims
    uneven = np.flatnonzero(((claimed != claimed.max(0)) & claims).any(0))
    whole = paid.sum(0, dtype=np.int32) + dead
    found = [Layer(whole, stays.copy(), np.zeros_like(whole))]
    if not len(uneven):
        return found
    for place, some in enumerate(layers(paid[:, uneven], dead[uneven], stays[uneven])):
        if place:
            found.append(Layer(*(np.zeros_like(whole) for _ in range(3))))
        for column, values in zip(found[place], some, strict=True):
            column[uneven] = values
    return found


def layers(paid: Column, dead: Column, stays: Column) -> list[Layer]:
    """For every level that a claimant reached, what all seats put in up to it (G5).

    Dead chips go to the first (G6), to the seats still in; what a seat that folded put in beyond
    all others, to the last.
    """
    seats, n = paid.shape
    claims = [(stays >> seat & 1) == 1 for seat in range(seats)]
    most = np.iinfo(np.int32).max
    levels = np.sort(np.stack([np.where(c, paid[s], most) for s, c in enumerate(claims)]), axis=0)
    left = np.bitwise_count(stays)
    top = levels[np.maximum(left.astype(np.int64) - 1, 0), np.arange(n)]
    found: list[Layer] = []
    below = np.zeros(n, dtype=np.int32)
    number = np.zeros(n, dtype=np.int32)
    for place in range(seats):
        level = np.minimum(levels[place], top)
        amount = (np.minimum(paid, level) - np.minimum(paid, below)).sum(0, dtype=np.int32)
        if place == 0:
            amount += dead
        last = (level == top) & ((below < top) | (place == 0))
        amount += np.maximum(paid - top, 0).sum(0, dtype=np.int32) * last
        who = sum((c & (paid[s] >= level)) << s for s, c in enumerate(claims))
        found.append(Layer(amount, np.asarray(who), number))
        number = number + (amount > 0)
        below = level
        if (below == top).all():
            break
    return found


def taken(rule: Rake, pots: list[Layer], seats: int, raked: Column) -> list[Column]:
    """The house's cut of each pot; of hands that are not `raked` (R3) none."""
    caps = [cap for least, cap in sorted(rule.caps_by_players) if seats >= least]
    before = sofar = np.zeros(len(raked), dtype=np.int64)
    found = []
    for pot in pots:
        if rule.scope == "pot":
            found.append(_cut(rule, pot.amount.astype(np.int64), caps) * raked)
            continue
        sofar = sofar + pot.amount.astype(np.int64)
        after = _cut(rule, sofar, caps)
        found.append((after - before) * raked)
        before = after
    return found


def _cut(rule: Rake, pot: Column, caps: list[int]) -> Column:
    """The rate of a pot, rounded, and never more than the cap (R1, R2)."""
    if rule.rounding == "incremental":
        cut = pot // rule.increment * (rule.increment * rule.percent // rule.of)
    else:
        cut, rest = np.divmod(pot * rule.percent, rule.of)
        if rule.rounding == "ceil":
            cut = cut + (rest > 0)
        elif rule.rounding == "half_even":
            cut = cut + ((2 * rest > rule.of) | ((2 * rest == rule.of) & (cut % 2 == 1)))
    return np.minimum(cut, caps[-1]) if caps else cut


def awards(
    game: Policies, pots: list[Layer], cuts: list[Column] | None, values: Column, button: Column
) -> Iterator[Paid]:
    """Pot by pot, who wins how much: the best of those who may, odd chips by the policy (G2)."""
    count = len(values)
    for place, pot in enumerate(pots):
        rows = np.flatnonzero(pot.amount > 0)
        if not len(rows):
            continue
        amount = pot.amount[rows].astype(np.int64)
        if cuts is not None:
            amount = amount - cuts[place][rows]
        may = (pot.seats[rows] >> np.arange(count)[:, None] & 1) == 1
        mine = (values.take(rows, axis=1) + 1) * may
        best = mine == mine.max(0)
        order = (button.take(rows) + np.arange(1, count + 1)[:, None]) % count
        wins = best.ravel().take(order * len(rows) + np.arange(len(rows)))
        shares, exact = _split(game, amount, wins)
        odd = amount % (wins.sum(0) * game.split_unit) != 0
        yield Paid(rows, pot.number[rows], order, wins, shares, exact, odd)


def _split(game: Policies, amount: Column, wins: Column) -> tuple[Column, Column]:
    """An even split between winners; what does not divide goes by the policy."""
    winners = wins.sum(0)
    rank = np.cumsum(wins, axis=0) - 1
    if game.odd_chips == "fractional":
        return amount // winners * wins, amount % winners == 0
    unit = game.split_unit
    even, odd = np.divmod(amount // unit, winners)
    first = wins & (rank == 0)
    if game.odd_chips == "first_left_all":
        shares = even * unit * wins + (amount - even * unit * winners) * first
    else:
        shares = (even + (rank < odd)) * unit * wins + amount % unit * first
    return shares, np.ones(len(amount), dtype=bool)
