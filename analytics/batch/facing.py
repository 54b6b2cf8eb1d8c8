"""What each action of many hands faced: the bet, what its seat had in, who could still answer.

Everything is added up from what the record says of earlier actions (`replay.py` has the theory).
"""

from typing import NamedTuple

import numpy as np

from analytics.batch.rows import LARGE, Column
from analytics.batch.table import Hands, Table
from analytics.batch.why import Why

FOLD, CHECK, CALL, BET, RAISE = range(5)
CHOSEN, DEFAULT, FORCED = range(3)
NO_SEAT = 30  # one that no table has


class Parts(NamedTuple):
    """Rounds cut into parts: a part begins with a round, and with each action of some kind."""

    at: Column  # where each part begins
    of: Column  # by action: its part
    quiet: Column  # rounds that begin with another action
    opening: Column  # and their first parts


class Facing(Table):
    """Actions, a row each, beside the hands that they are of."""

    def __init__(self, hands: Hands) -> None:
        super().__init__(hands)
        n, seats, rounds = self.n, self.seats, self.plan.rounds
        self.lengths = hands.lengths
        self.of = np.repeat(self.rows, hands.opened)  # by round: its hand
        self.why[self.of[hands.numbers == rounds]] = Why.SHAPE
        self.number = np.minimum(hands.numbers, rounds - 1)
        self.place = self.number * n + self.of  # in what is counted by round and hand
        self.starts = np.cumsum(self.lengths) - self.lengths
        acts = hands.acts
        self.kind, self.seat, self.amount = acts.kind, acts.seat, acts.amount
        self.raising = acts.kind >= BET
        self.who = np.minimum(acts.seat, seats - 1)
        self.bit = np.left_shift(1, self.who, dtype=np.int32)
        self.cell = np.repeat(self.number * (seats * n) + self.of, self.lengths)
        self.cell += self.who * np.int64(n)  # in what is counted by round, seat and hand

    def _folds(self) -> None:
        """Who folds, and who has folded before, as bits; and in each round."""
        self.folds = self.bit * (self.kind == FOLD)
        self.folded = np.cumsum(self.folds, dtype=np.int32)
        ends = self.folded.take(self.starts + self.lengths - 1)
        self.folded -= self.folds
        self.gone.ravel()[self.place] = ends - self.folded.take(self.starts)

    def _laps(self) -> None:
        """What each seat had put in the round before it acts.

        The turn goes round: a lap is one action of every seat that has one. Whoever acts in a later
        lap has acted before.
        """
        bets, cell, amount = self.bets.ravel(), self.cell, self.amount
        turn = self.who - self._spread(self.who.take(self.starts))
        turn += np.int8(self.seats) * (turn < 0)
        again = np.empty(len(cell), dtype=bool)
        again[1:] = turn[1:] <= turn[:-1]
        again[self.starts] = False
        lap = np.cumsum(again, dtype=np.int32)
        lap -= self._spread(lap.take(self.starts))
        self.acted = lap > 0
        self.mine = bets.take(cell)
        rows = np.flatnonzero(lap == 0)
        bets[cell.take(rows)] = (self.mine + amount).take(rows)
        later, number = np.flatnonzero(self.acted), 1
        while len(later):
            now = lap.take(later) == number
            rows, later = later.compress(now), later.compress(~now)
            here = cell.take(rows)
            mine = bets.take(here)
            self.mine[rows] = mine
            bets[here] = mine + amount.take(rows)
            number += 1

    # What changes in a round, by action.

    def _spread(self, values: Column) -> Column:
        """A number of each round, by action."""
        return np.repeat(values, self.lengths)

    def _before(self, after: Column, opening: Column) -> Column:
        """By action: what was so after the one before it, or as the round opened."""
        found = np.empty_like(after)
        found[1:] = after[:-1]
        found[self.starts] = opening
        return found

    def _parts(self, changes: Column) -> Parts:
        """Rounds cut where something changes."""
        begins = changes | self.fresh
        part = np.cumsum(begins, dtype=np.int32)
        part -= 1
        quiet = np.flatnonzero(~changes.take(self.starts))
        return Parts(np.flatnonzero(begins), part, quiet, part.take(self.starts.take(quiet)))

    def _since(self, parts: Parts, values: Column, opening: Column) -> Column:
        """By action: the value of the last change before it in its round, or the opening's."""
        kept = values.take(parts.at)
        kept[parts.opening] = opening.take(parts.quiet)
        return self._before(kept.take(parts.of), opening)

    # What an action faces.

    def _faced(self) -> None:
        """The bet, the size of a raise, who is in and who can act."""
        acts, place = self.hands.acts, self.place
        self.fresh = np.zeros(len(self.kind), dtype=bool)
        self.fresh[self.starts] = True
        self.parts = self._parts(self.raising)
        same = (acts.full == self.raising).all()
        self.full_parts = self.parts if same else self._parts(acts.full)
        self.bet = self._since(self.parts, acts.to, self.open_bet.ravel().take(place))
        self.owed = self.bet - self.mine
        self.chips = self.base.ravel().take(self.cell, mode="clip") - self.mine
        self.more = acts.to - self.bet
        self.size = self._size(self.hands.sizes.ravel().take(place))
        spent = (self.amount == self.chips) & (self.amount > 0)
        spent |= (self.kind == FOLD) & (self.chips > 0)
        self.out = self.bit * spent
        out = np.cumsum(self.out, dtype=np.int32)
        out -= self.out
        stays = self.open_stays.ravel().take(place) + self.folded.take(self.starts)
        able = self.open_able.ravel().take(place) + out.take(self.starts)
        self.in_before = self._spread(stays) - self.folded
        self.able_before = self._spread(able) - out

    def _size(self, opening: Column) -> Column:
        """What a full raise adds, at the least: as much as the last full one did (G9)."""
        if self.game.sizing == "fixed":
            return self._spread(opening)
        if self.game.min_raise_after_short == "last_full_total":
            return self._highest(self.more * self.hands.acts.full, opening)
        return self._since(self.full_parts, self.more, opening)

    def veto(self) -> Column:
        """By action that is no fold and no call: whether something forbids this seat to raise."""
        game = self.game
        found: Column = self.chips <= self.owed
        if game.raise_needs_responder:
            found |= self._unanswered(~found & (self.raising | (self.kind == CHECK)))
        if game.reopen != "always":
            found |= self.acted & ~self._reopened()
        if not game.check_raise:
            found |= self.acted & (self.mine == 0) & (self.bet > 0)
        if game.raise_cap is not None:
            found |= self._capped()
        if game.short_raise == "forbidden":
            found |= self.chips < self._level() + self.size - self.mine
        return found

    def _unanswered(self, matters: Column) -> Column:
        """No other seat could put in more than the bet (G7); only a high bet makes one count."""
        others = self.able_before & ~self.bit
        found: Column = others == 0
        shallow = self._spread(self.shallow.ravel().take(self.place))
        high = np.flatnonzero(matters & (self.bet >= shallow))
        if len(high):
            bet, others = self.bet.take(high), others.take(high)
            row = self.cell.take(high) - self.who.take(high) * np.int64(self.n)
            some = np.zeros(len(high), dtype=bool)
            base = self.base.ravel()
            for one in range(self.seats):
                some |= (base.take(row + one * self.n) > bet) & ((others >> one & 1) == 1)
            found[high] = ~some
        return found

    def _reopened(self) -> Column:
        """Whether a seat that has acted may raise again (G9), or has only checked so far (G11)."""
        game = self.game
        if game.reopen == "sum":
            raised: Column = self.owed >= self.size
        else:
            raised = self._level() > self.mine
            if game.reopen == "half_bet":
                raised |= self.owed >= self.size
        if game.short_open_reopens:
            raised |= (self.mine == 0) & (self.bet < self.size)
        return raised

    def _level(self) -> Column:
        """The last full bet made."""
        opening = self.open_bet.ravel().take(self.place)
        return self._since(self.full_parts, self.hands.acts.to, opening)

    def _count(self, what: Column) -> Column:
        """How many of these actions there were before in the round."""
        count = np.cumsum(what, dtype=np.int32)
        count -= what
        return count - self._spread(count.take(self.starts))

    def _capped(self) -> Column:
        """No raise once there were so many; a bet that opens a round without blinds is none."""
        game = self.game
        raises = self._count(self.hands.acts.full)
        if game.cap_counts == "raises":
            unposted = (self.number > 0) | (self.poster.take(self.of) < 0)
            raises -= self._spread(unposted) & (raises > 0)
        capped: Column = raises >= (game.raise_cap or 0)
        if game.cap_lift == "never":
            return capped
        left = np.bitwise_count(self.in_before).astype(np.int32)
        if game.cap_lift == "round_starts_heads_up":
            left += self._count(self.kind == FOLD)
        return capped & (left != 2)

    def _range(self, rows: Column, bet: Column, mine: Column) -> tuple[Column, Column, Column]:
        """The totals that may be bet or raised to, and the one from which a raise is full."""
        game, size = self.game, self.size.take(rows)
        most = mine + self.chips.take(rows)
        if game.raise_ceiling == "effective_stack":  # G12: two seats
            seat, cell = self.who.take(rows), self.cell.take(rows)
            other = cell + (1 - 2 * seat) * np.int64(self.n)
            most = np.minimum(most, self.base.ravel().take(other, mode="clip"))
        if game.sizing == "fixed":
            one = self._level().take(rows) + size
            high = np.minimum(one, most)
            return high, high, one
        least = bet + size
        if game.min_raise_after_short == "last_full_total":  # G10
            least = self._least().take(rows)
        low = np.maximum(least, bet + 1)
        if game.min_raise == "more_than":
            low = low + (bet > 0)
        if game.sizing == "pot_limit":
            owed = self.owed.take(rows)
            most = np.minimum(most, np.maximum(low, bet + self._pot_so_far().take(rows) + owed))
        return np.minimum(low, most), most, least

    def _least(self) -> Column:
        """The highest total that any raise so far has made the least of the next."""
        opening = self.open_bet.ravel().take(self.place) + self.hands.sizes.ravel().take(self.place)
        return self._highest((self.hands.acts.to + self.more) * self.raising, opening)

    def _highest(self, values: Column, opening: Column) -> Column:
        """By action: the highest of these values before it in its round, and the opening's."""
        before = np.zeros(len(values), dtype=np.int64)
        before[1:] = np.clip(values[:-1], 0, LARGE)
        before[self.starts] = opening
        before += self._spread(np.arange(len(self.starts)) << 32)
        found = np.maximum.accumulate(before) & ((1 << 32) - 1)
        return found.astype(np.int32)

    def _pot_so_far(self) -> Column:
        """What a pot-limit raise is measured by, bets of this round included (T15)."""
        return self._spread(self.open_pot.ravel().take(self.place)) + self._count(self.amount)

    def _aggressor(self) -> None:
        """Who made the last bet or raise of the last round that opened, if anybody did."""
        rows = np.flatnonzero(self.raising)
        if len(rows):
            raises = np.cumsum(self.raising, dtype=np.int32)
            last = raises.take(self.starts + self.lengths - 1)
            made = last > raises.take(self.starts) - self.raising.take(self.starts)
            seat = self.seat.take(rows.take(last - 1)) + np.int8(1)
            self.aggressor[self.of] = seat * made - np.int8(1)
