"""What each action of many hands faced: the bet, what its seat had in, who could still answer.

Everything is added up from what the record says of earlier actions (`replay.py` has the theory).
"""

import numpy as np

from analytics.screen.table import PlanHands, Table
from analytics.screen.why import Why
from store.columns.cells import Column

FOLD, CHECK, CALL, BET, RAISE = range(5)
CHOSEN, DEFAULT, FORCED = range(3)
NO_SEAT = 30  # one that no table has


class Facing(Table):
    """Actions, a row each, beside the hands that they are of.

    The first of every round come first, then all second ones: longer rounds before shorter, so the
    rounds that have a next action are the first of those that have this one.
    """

    def __init__(self, hands: PlanHands) -> None:
        super().__init__(hands)
        n, seats, rounds = self.n, self.seats, self.plan.rounds
        self.of = hands.of
        self.why[self.of[hands.numbers == rounds]] = Why.SHAPE
        self.number = np.minimum(hands.numbers, rounds - 1)
        self.place = self.number * n + self.of  # in what is counted by round and hand
        self.begins = np.cumsum([0, *hands.counts])[:-1]  # where all n-th actions begin
        sizes = zip(self.begins.tolist(), hands.counts, strict=True)
        self.every = [slice(begin, begin + count) for begin, count in sizes]
        self.next = [
            (slice(now.start, now.start + count), slice(now.stop, now.stop + count))
            for now, count in zip(self.every, hands.counts[1:], strict=False)
        ]  # actions that another follows, and these
        self.ends = self.begins.take(hands.lengths - 1) + np.arange(len(self.of))
        acts = hands.acts
        self.kind, self.seat, self.amount = acts.kind, acts.seat, acts.amount
        self.raising = acts.kind >= BET
        self.who = np.minimum(acts.seat, seats - 1)
        self.bit = np.left_shift(1, self.who.view(np.uint8), dtype=self.sets)
        self.cell = self._spread(self.number * (seats * n) + self.of)
        self.cell += self.who * np.int32(n)  # in what is counted by round, seat and hand

    def _carried(self, opening: Column, change: np.ufunc, values: Column) -> Column:
        """By action: a number as its round opens, changed by the value of each action before it."""
        found = np.empty(len(self.kind), dtype=opening.dtype)
        found[: len(opening)] = opening
        for now, then in self.next:
            change(found[now], values[now], out=found[then])
        return found

    def _spread(self, values: Column) -> Column:
        """A number of each round, by action."""
        found = np.empty(len(self.kind), dtype=values.dtype)
        for now in self.every:
            found[now] = values[: now.stop - now.start]
        return found

    def _count(self, what: Column, opening: Column) -> Column:
        """By action: what its round opens with, and all that was added before it."""
        return self._carried(opening, np.add, what)

    def _highest(self, values: Column, opening: Column) -> Column:
        """By action: the highest of these values before it in its round, and the opening's."""
        return self._carried(opening, np.maximum, values)

    def _none(self, kind: type = np.int32) -> Column:
        """Nothing, by round."""
        return np.zeros(len(self.of), dtype=kind)

    def rounds(self, rows: Column) -> Column:
        """The rounds of some actions."""
        found: Column = rows - self.begins.take(self.begins.searchsorted(rows, side="right") - 1)
        return found

    # What is added up before a round opens.

    def _put_in(self) -> None:
        """What each seat has put in the round before it acts, and in the end; who folds in it."""
        bets = self.bets.ravel()
        self.mine = np.empty(len(self.cell), dtype=np.int32)
        for now in self.every:
            cell = self.cell[now]
            mine = bets.take(cell, mode="clip", out=self.mine[now])
            bets[cell] = mine + self.amount[now]
        self.folds = self.bit * (self.kind == FOLD)
        gone = self._none(self.sets)
        for now in self.every:
            gone[: now.stop - now.start] |= self.folds[now]
        self.gone.ravel()[self.place] = gone

    # What an action faces.

    def _faced(self) -> None:
        """The bet, the size of a raise, who is in and who can act."""
        acts, place = self.hands.acts, self.place
        self.bet = self._highest(acts.to, self.open_bet.ravel().take(place))
        self.owed = self.bet - self.mine
        self.chips = self.base.ravel().take(self.cell, mode="clip") - self.mine
        self.more = acts.to - self.bet
        self.size = self._size(self.hands.sizes)
        spent = (self.amount == self.chips) & (self.amount > 0)
        spent |= (self.kind == FOLD) & (self.chips > 0)
        self.out = self.bit * spent
        stays, able = self.open_stays.ravel().take(place), self.open_able.ravel().take(place)
        self.in_before = self._carried(stays, np.subtract, self.folds)
        self.able_before = self._carried(able, np.subtract, self.out)
        before = self._carried(self._none(self.sets), np.bitwise_or, self.bit)
        self.acted = (before & self.bit) != 0

    def _size(self, opening: Column) -> Column:
        """What a full raise adds, at the least: as much as the last full one did (G9)."""
        if self.game.sizing == "fixed":
            return self._spread(opening)
        return self._highest(self.more * self.hands.acts.full, opening)

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
        acts, opening = self.hands.acts, self.open_bet.ravel().take(self.place)
        return self._highest(acts.to * acts.full, opening)

    def _capped(self) -> Column:
        """No raise once there were so many; a bet that opens a round without blinds is none."""
        game = self.game
        raises = self._count(self.hands.acts.full, self._none())
        if game.cap_counts == "raises":
            unposted = (self.number > 0) | (self.poster.take(self.of) < 0)
            raises -= self._spread(unposted) & (raises > 0)
        capped: Column = raises >= (game.raise_cap or 0)
        if game.cap_lift == "never":
            return capped
        left = np.bitwise_count(self.in_before).astype(np.int32)
        if game.cap_lift == "round_starts_heads_up":
            left += self._count(self.kind == FOLD, self._none())
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
        opening = self.open_bet.ravel().take(self.place) + self.hands.sizes
        return self._highest((self.hands.acts.to + self.more) * self.raising, opening)

    def _pot_so_far(self) -> Column:
        """What a pot-limit raise is measured by, bets of this round included (T15)."""
        return self._count(self.amount, self.open_pot.ravel().take(self.place))

    def _aggressor(self) -> None:
        """Who made the last bet or raise of the last round that opened, if anybody did."""
        last, seat = self._none(np.int8), self.seat + np.int8(1)
        for now in self.every:
            rounds = last[: now.stop - now.start]
            rounds += (seat[now] - rounds) * self.raising[now]
        made = np.zeros(self.plan.rounds * self.n, dtype=np.int8)
        made[self.place] = last
        round_ = np.minimum(np.maximum(self.hands.opened, 1), self.plan.rounds) - 1
        self.aggressor = made.take(round_ * self.n + self.rows).astype(np.int32) - 1
