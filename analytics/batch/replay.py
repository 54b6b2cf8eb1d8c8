"""The betting of many hands in lock-step: every hand's n-th action at once, checked and counted.

Theory of operation
-------------------
Hands stand in columns, those with the most actions first, so that whoever still acts at step t is
a prefix of every column. What a hand is at that moment is a handful of numbers:

    bits over seats   `stays` not folded, `able` with chips to bet, `owes` an answer to the bet
    of the round      `bet` to match, `size` a full raise has, `level` the last full bet made,
                      `least` the total where short raises count, `made` full bets and raises
    of each seat      `stacks`, and `base`, what it had when the round began: the difference is its
                      bet, and also the bet it last answered, for who falls short acts no more

A step reads one action of each hand, says what of it the rules forbid (the first fault of a hand is
kept, and it goes on with what it would have been), moves the chips, and finds who is next: the
lowest bit of who owes and is able, seen from the seat that acted. Where nobody is next the round
closes: what nobody matched goes back, an auction is settled, the next round opens or, where nothing
could change any more (G8), does not. Nothing here reads what the record says came of an action but
to compare it.
"""

import numpy as np

from analytics.batch.rows import Column
from analytics.batch.table import Table
from analytics.batch.why import Why

FOLD, CHECK, CALL, BET, RAISE = range(5)
CHOSEN, DEFAULT, FORCED = range(3)


def coded(kind: Column, seat: Column, asked: Column, full: Column, origin: Column) -> Column:
    """What a record tells of an action beside its chips, as one number to compare."""
    seat = np.where((seat < 0) | (seat > 22), 31, seat)
    asked = np.where((asked < -1) | (asked > 22), 30, asked) + 1
    code: Column = kind | seat << 3 | asked << 8 | full.astype(np.int32) << 13 | origin << 14
    return code.astype(np.int32)


class Replay(Table):
    """Hands while they are played; afterwards, what the rules made of them."""

    def run(self) -> None:
        """Play every hand to its last recorded action."""
        self._begin()
        counts = self.hands.count
        steps = int(counts[0]) if self.n else 0
        live = np.searchsorted(-counts, -np.arange(steps), side="left").tolist()
        for t in range(steps):
            self._step(t, live[t])
        self._wrong(self.turn >= 0, Why.STOPS)

    # One action of every hand that has one left.

    def _step(self, t: int, live: int) -> None:
        game, rows = self.game, self.rows[:live]
        which = self.hands.first[:live] + t
        acts = self.hands.acts
        packed = acts.code.take(which, mode="clip")
        code, chips_told = (packed & 65535).astype(np.int32), (packed >> 16).astype(np.int32)
        over = self.turn[:live] < 0
        seat = np.maximum(self.turn[:live], 0)
        bit = np.left_shift(self.wide(1), seat, dtype=self.wide)
        at = seat * self.n + rows
        chips = self.stacks.ravel().take(at, mode="clip")
        mine = self.base.ravel().take(at, mode="clip") - chips
        bet = self.bet[:live]
        owed = bet - mine
        kind = code & 7
        raising = kind >= BET
        veto = self._veto(live, bit, chips, mine, owed)
        low, high, least = self._range(live, seat, chips, mine, owed)
        amount = np.minimum(np.maximum(owed, 0), chips) * (kind == CALL)
        to = chips_told
        np.copyto(amount, np.minimum(np.maximum(to - mine, 0), chips), where=raising)
        full = raising & self._is_full(live, to, least)
        wrong = self._illegal(kind, owed, raising, veto, bet, to, low, high)
        self._move(live, at, bit, kind, chips - amount, mine + amount, raising, full)
        if self.shows_aggressor:
            np.copyto(self.aggressor[:live], seat, where=raising)
        after = self._asked(seat, slice(0, live))
        np.copyto(after, -1, where=over)
        alone = veto if not game.fold_when_free else None
        origin = code >> 14
        expected = np.zeros(live, dtype=np.int32)
        if alone is not None:
            expected[alone & (kind == CHECK)] = FORCED
        np.copyto(expected, DEFAULT, where=origin == DEFAULT)
        expected = (
            kind | seat << 3 | (after + 1) << 8 | full.astype(np.int32) << 13 | expected << 14
        )
        unlike = (expected != code) | ((amount != chips_told) & ~raising)
        if len(raises := np.flatnonzero(raising)):
            unlike[raises] |= acts.amount.take(which[raises]) != amount[raises]
        self._wrong(over, Why.GOES_ON)
        if (bad := wrong | unlike).any():
            self._wrong(bad & ~over & wrong, Why.ILLEGAL)
            self._wrong(bad & ~over, Why.ACTION)
        self.turn[:live] = after
        closing = np.flatnonzero((after < 0) & ~over)
        if len(closing):
            self._close(closing, t + 1)

    def _illegal(
        self,
        kind: Column,
        owed: Column,
        raising: Column,
        veto: Column,
        bet: Column,
        to: Column,
        low: Column,
        high: Column,
    ) -> Column:
        """What may not be answered: each kind of action has its own conditions."""
        free = owed <= 0
        wrong: Column = (kind == CHECK) & ~free
        wrong |= (kind == CALL) & free
        if not self.game.fold_when_free:
            wrong |= (kind == FOLD) & free
        wrong |= raising & (veto | (to < low) | (to > high) | ((kind == BET) != (bet == 0)))
        return wrong

    def _veto(self, live: int, bit: Column, chips: Column, mine: Column, owed: Column) -> Column:
        """Whether something forbids this seat to bet or raise."""
        game, bet = self.game, self.bet[:live]
        veto: Column = chips <= owed
        if game.raise_needs_responder:
            veto |= self._unanswered(live, bit)
        acted = (self.acted[:live] & bit) != 0
        if game.reopen != "always":
            veto |= acted & ~self._reopened(live, mine)
        if not game.check_raise:
            veto |= acted & (mine == 0) & (bet > 0)
        if game.raise_cap is not None:
            veto |= self._capped(live)
        if game.short_raise == "forbidden":
            veto |= chips < self.level[:live] + self.size[:live] - mine
        return veto

    def _unanswered(self, live: int, bit: Column) -> Column:
        """No other seat could put in more than the bet (G7); only a high bet makes one count."""
        bet, others = self.bet[:live], self.able[:live] & ~bit
        found: Column = others == 0
        high = np.flatnonzero(bet >= self.shallow[:live])
        if len(high):
            some = np.zeros(len(high), dtype=bool)
            for one in range(self.seats):
                some |= (self.base[one, high] > bet[high]) & ((others[high] >> one & 1) == 1)
            found[high] = ~some
        return found

    def _reopened(self, live: int, met: Column) -> Column:
        """Whether a seat that has acted may raise again (G9), or has only checked so far (G11)."""
        game, bet, size = self.game, self.bet[:live], self.size[:live]
        raised: Column = self.level[:live] > met
        if game.reopen == "sum":
            raised = bet - met >= size
        elif game.reopen == "half_bet":
            raised = raised | (bet - met >= size)
        if game.short_open_reopens:
            raised = raised | ((met == 0) & (bet < size))
        return raised

    def _capped(self, live: int) -> Column:
        """No raise once there were so many; a bet that opens a round without blinds is none."""
        game = self.game
        raises = self.made[:live]
        if game.cap_counts == "raises":
            raises = raises - ((self.poster[:live] < 0) & (raises > 0))
        capped: Column = raises >= (game.raise_cap or 0)
        if game.cap_lift == "never":
            return capped
        left = np.bitwise_count(self.stays[:live]).astype(np.int32)
        if game.cap_lift == "round_starts_heads_up":
            left += self.folds[:live]
        return capped & (left != 2)

    def _range(
        self, live: int, seat: Column, chips: Column, mine: Column, owed: Column
    ) -> tuple[Column, Column, Column]:
        """The totals that may be bet or raised to, and the one from which a raise is full."""
        game, bet, size = self.game, self.bet[:live], self.size[:live]
        most = mine + chips
        if game.raise_ceiling == "effective_stack":  # G12: two seats
            most = np.minimum(most, np.where(seat == 0, self.base[1, :live], self.base[0, :live]))
        if game.sizing == "fixed":
            one = self.level[:live] + size
            high = np.minimum(one, most)
            return high, high, one
        least = bet + size
        if game.min_raise_after_short == "last_full_total":  # G10
            least = self.least[:live]
        low = np.maximum(least, bet + 1)
        if game.min_raise == "more_than":
            low = low + (bet > 0)
        if game.sizing == "pot_limit":
            most = np.minimum(most, np.maximum(low, bet + self._pot(live) + owed))
        return np.minimum(low, most), most, least

    def _pot(self, live: int) -> Column:
        """What a pot-limit raise is measured by, bets of this round included (T15)."""
        bets = self.base[:, :live] - self.stacks[:, :live]
        before = self.hands.brought[:, :live] - self.stacks[:, :live] - bets  # dead chips too
        total: Column = before.sum(0, dtype=np.int32)
        if self.game.pot_limit_base == "active_pot":
            own = before - self.dead[:, :live]
            top = np.full(live, -1, dtype=np.int32)
            for one in range(self.seats):
                out = (self.stays[:live] & ~self.able[:live]) >> one & 1
                np.maximum(top, own[one], out=top, where=(out == 1) & (bets[one] == 0))
            side = np.maximum(own - top, 0).sum(0, dtype=np.int32)
            total = np.where(top >= 0, side, total)
        return total + bets.sum(0, dtype=np.int32)

    def _is_full(self, live: int, to: Column, least: Column) -> Column:
        """Whether a bet or raise to this total counts as a full one."""
        if self.game.sizing == "fixed" and self.game.reopen == "half_bet":
            half: Column = 2 * (to - self.level[:live]) >= self.size[:live]
            return half
        return to >= least

    def _move(
        self,
        live: int,
        at: Column,
        bit: Column,
        kind: Column,
        left: Column,
        now: Column,
        raising: Column,
        full: Column,
    ) -> None:
        """Chips move, and what the round is changes with them."""
        fold = kind == FOLD
        stays, able, owes = self.stays[:live], self.able[:live], self.owes[:live]
        self.stacks.ravel()[at] = left
        stays &= ~(bit * fold)
        able &= ~(bit * (fold | (left == 0)))
        np.copyto(owes, stays, where=raising)
        owes &= ~bit
        self.acted[:live] |= bit
        bet, size, least = self.bet[:live], self.size[:live], self.least[:live]
        more = now - bet
        if self.game.min_raise_after_short == "last_full_total":
            np.copyto(least, np.maximum(least, now + more), where=raising)
        np.copyto(size, np.maximum(size, more), where=full)
        np.copyto(self.level[:live], now, where=full)
        np.copyto(bet, now, where=raising)
        if self.game.raise_cap is not None:
            self.made[:live] += full
            self.folds[:live] += fold
