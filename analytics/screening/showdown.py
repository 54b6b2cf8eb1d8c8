"""The showdowns of many hands, and the pots that they are about.

Who is still in shows or mucks, hand after hand. A row of `Contenders` is a seat at a showdown, as
the record shows it; that they are the right ones in the right order is checked, and everything
later is counted from them. What was put in is cut into pots, less the house's cut.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analytics.screening.columns import SHOW, UNKNOWN_CARD, event_code, field
from analytics.screening.plan import Why
from analytics.screening.record import DECK, Cards
from analytics.screening.replay import Replay
from analytics.screening.table import spans
from engine.policies import Policies, Rake
from odds.batch import Showdown, with_hole, worth
from store.columns.cells import Column


class Contenders:
    """The seats that are still in at the showdowns of some hands."""

    def __init__(self, cards: Cards, down: Column, paid: Column) -> None:
        self.cards, self.record, self.plan = cards, cards.record, cards.plan
        record, played = self.record, cards.record.played
        self.down = down  # the hands that come to a showdown
        self.count = record.contenders.take(down).astype(np.int64)
        self.first = np.cumsum(self.count) - self.count
        self.of = np.repeat(np.arange(len(down)), self.count)
        self.hand = down.take(self.of)
        stage = record.parts[-1][2][1]
        rows = stage.row.take(down)
        self.rows = np.repeat(rows - self.first, self.count) + np.arange(len(self.of))
        self.codes = record.columns.codes.take(self.rows, mode="clip")
        seat = field(self.codes, "seat") - 1
        self.seat = np.minimum(np.maximum(seat, 0), self.plan.seats - 1)
        self.mucked = field(self.codes, "cards") == 0
        button = played.hands.button.take(self.hand)
        self.at = cards.at(self.seat, self.hand, button)
        self.hole = cards.hole.take(self.at)
        self.paid = paid.ravel().take(self.seat * np.int64(played.n) + self.hand)
        self.held = np.bitwise_count(self.hole)
        self.board = cards.board.take(self.hand)

    def check(self, values: Column) -> None:
        """Unknown cards leave a hand to the engine; then who shows what, and who may muck."""
        self.mark((self.hole | self.board) >> UNKNOWN_CARD & 1 == 1, Why.UNKNOWN)
        self.mark(self._unlike(), Why.SHOWING)
        if self.plan.game.muck != "never":
            self.mark(self._unbeaten(values), Why.SHOWING)

    def mark(self, wrong: Column, why: Why) -> None:
        """Something is wrong with the hands of these contenders."""
        self.record.doubt(self.hand.take(np.flatnonzero(wrong)), why)

    def _unlike(self) -> Column:
        """From the first to show, everybody who is still in, with the cards he was dealt."""
        record, seats = self.record, self.plan.seats
        stays = record.played.stays.take(self.hand)
        wrong = (stays >> self.seat & 1) == 0
        turn = self.seat - self._first_to_show().take(self.of)
        turn += np.int32(seats) * (turn < 0)
        before = np.empty_like(turn)
        before[1:] = turn[:-1]
        before[self.first] = -1
        wrong |= turn <= before
        shown = ~self.mucked
        cards = (self.held + np.int8(1)) * shown
        wrong |= self.codes != event_code(SHOW, seat=self.seat) + event_code(
            0, cards=cards - np.int8(1)
        )
        order = record.columns.order.take(self.rows, mode="clip")
        wrong |= (order != self.cards.order_at(self.at)) & shown
        if self.plan.game.muck == "never":
            wrong |= self.mucked
        return wrong

    def _first_to_show(self) -> Column:
        """The last to bet or raise; nobody did: the first to act (T9)."""
        game, played = self.plan.game, self.record.played
        first: Column = played.left(game.first_to_act == "left_of_button")
        if game.show_first == "last_aggressor":
            aggressor = played.aggressor
            first = first + (aggressor - first) * (aggressor >= 0)
        return first.take(self.down)

    def _unbeaten(self, values: Column) -> Column:
        """The first must show, and each seat that leads some pot of those shown so far (T10)."""
        wrong = np.zeros(len(values), dtype=bool)
        place = np.arange(len(values)) - self.first.take(self.of)
        rest, back = np.flatnonzero(self.mucked), 0
        while len(rest):
            back += 1
            alone = place.take(rest) < back
            wrong[rest[alone]] = True
            rest = rest.compress(~alone)
            other = rest - back
            beaten = values.take(other) > values.take(rest)
            beaten &= self.paid.take(other) >= self.paid.take(rest)
            beaten &= ~self.mucked.take(other)
            rest = rest.compress(~beaten)
        return wrong

    def worth(self, rules: Showdown, rows: Column | None = None) -> Column:
        """What each of these contenders has; cards that repeat count for nothing here."""
        hole, board, held = self.hole, self.board, self.held
        if rows is not None:
            hole, board, held = hole.take(rows), board.take(rows), held.take(rows)
        hole, board = hole & DECK, board & DECK
        if not any(line.does == "auction" for line in self.plan.lines):
            return _worth(hole, board, 2, rules)
        found = np.zeros(len(hole), dtype=np.uint16)
        for size in (2, 3):
            some = np.flatnonzero(held == size)
            found[some] = _worth(hole.take(some), board.take(some), size, rules)
        return found

    def best(self, values: Column) -> Column:
        """The best of these values at each showdown."""
        found = np.maximum(values.take(self.first), values.take(self.first + 1))
        hands, place = np.arange(len(found)), 2
        while len(hands := hands.compress(self.count.take(hands) > place)):
            more = values.take(self.first.take(hands) + place)
            found[hands] = np.maximum(found.take(hands), more)
            place += 1
        return found

    def every(self, hands: Column) -> Column:
        """The rows of some of the hands, by place among those that come to a showdown."""
        rows = spans(self.first.take(hands), self.count.take(hands))
        return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows

    def by_seat(self, values: Column, rows: Column, hands: Column) -> Column:
        """Values of contenders, seat by seat; -1 for who is not in."""
        found = np.full((self.plan.seats, len(hands)), -1, dtype=np.int32)
        place = np.repeat(np.arange(len(hands)), self.count.take(hands))
        found[self.seat.take(rows), place] = values
        return found


def _worth(hole: Column, board: Column, held: int, rules: Showdown) -> Column:
    values = worth(hole | board, held + 5, rules)
    if rules.hole_min:
        with_hole(values, hole, board, held, rules)
    return values


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
