"""The betting of many hands at once: every action they hold, against what the rules say it faced.

Theory of operation
-------------------
All actions of all hands stand in one column. A record tells of each action who acts, what it moves
and who is asked next. As long as all that is true, it also tells what the next action faces: the
bet, who is in, who has answered. So no round waits for another: what an action faced is added up
from what the record says of those before it, in all rounds at once, and each is held against that.
A hand is right if no action of it is wrong. The first wrong action of a hand is found as such,
because everything before it is true; what is found after it means nothing more, and touches no
other hand. (An induction: whoever changes a sum here sees to it that it takes only from the action
itself and earlier ones of the same hand.)

Two sums look ahead. Whom the record asks is held against who acts next: so of two that do not fit,
the action or the one after it is wrong. And `owes` takes what others have put in by the end of the
round: where it matters they are all-in or folded, the rules ask none of them, and if one acts after
all, some action is wrong.

Three levels of columns: hands, the rounds that a hand is told to open, and actions: the first ones
of all rounds, then all second ones, and so on, those of longer rounds before those of shorter. So
what changes inside a round is carried from one slice to the beginning of the next, by `_carried`:
the bet at each raise, the size of a raise at each full one. Between rounds `table.py` counts what
became of them.
"""

from functools import cache

import numpy as np

from analytics.batch.facing import BET, CALL, CHECK, DEFAULT, FOLD, FORCED, Facing
from analytics.batch.rows import Column
from analytics.batch.why import Why


class Replay(Facing):
    """Hands whose actions are held against the rules; and what these actions made of them."""

    def run(self) -> None:
        """Every round of every hand, then every action."""
        self.begin()
        self.played.ravel()[self.place] = self.hands.lengths
        self._put_in()
        for number in range(self.plan.rounds):
            self.open(number)
            self.close(number)
        if len(self.kind):
            self._faced()
            self._judge()
        self.fail(((self.open_next >= 0) & (self.played == 0)).any(0), Why.STOPS)
        if self.game.show_first == "last_aggressor":
            self._aggressor()

    # Whether an action is one that its seat had, and what the record says of it.

    def _judge(self) -> None:
        """Every action, and the first wrong one of a hand."""
        acts, kind, free = self.hands.acts, self.kind, self.owed <= 0
        checks = kind == CHECK
        self.vetoed = self.veto()
        wrong = checks ^ free
        if self.game.fold_when_free:
            wrong &= kind != FOLD
        wrong &= ~self.raising
        unlike = self.amount != np.minimum(self.owed, self.chips) * (kind == CALL)
        unlike &= ~self.raising
        rows = np.flatnonzero(self.raising)
        if len(rows):
            self._judge_raises(rows, wrong, unlike)
        unlike |= self._another_asked()
        expected = np.zeros(len(kind), dtype=np.int8)
        if not self.game.fold_when_free:
            expected += (self.vetoed & checks) * np.int8(FORCED)
        unlike |= (acts.origin != expected) & (acts.origin != DEFAULT)
        first = self.open_next.ravel().take(self.place).astype(np.int8)
        unasked = acts.seat != self._carried(first, lambda now, seat: acts.asked[now])
        bad = np.flatnonzero(wrong | unlike | unasked)
        if len(bad):
            why = np.full(len(bad), Why.ACTION, dtype=np.uint8)
            why[wrong.take(bad)] = Why.ILLEGAL
            why[unasked.take(bad)] = Why.TURN
            rounds = self.rounds(bad)
            hand, row = self.of.take(rounds), self.hands.opens.row.take(rounds)
            last_first = np.lexsort((bad, row))[::-1]  # the first wrong one is written last
            some = last_first.compress(self.why.take(hand.take(last_first)) == 0)
            self.why[hand.take(some)] = why.take(some)
        stops = np.flatnonzero(acts.asked.take(self.ends) != -1)
        stopped = self.of.take(stops)
        self.why[stopped[self.why.take(stopped) == 0]] = Why.STOPS

    def _judge_raises(self, rows: Column, wrong: Column, unlike: Column) -> None:
        """A bet or raise lies between the least and the most, and is told as what it is."""
        acts = self.hands.acts
        to, bet, mine = (one.take(rows) for one in (acts.to, self.bet, self.mine))
        low, high, least = self._range(rows, bet, mine)
        bad = self.vetoed.take(rows) | (to < low) | (to > high)
        bad |= (self.kind.take(rows) == BET) != (bet == 0)
        wrong[rows] = bad
        if self.game.sizing == "fixed" and self.game.reopen == "half_bet":
            full = 2 * (to - self._level().take(rows)) >= self.size.take(rows)
        else:
            full = to >= least
        unlike[rows] = (acts.full.take(rows) != full) | (acts.amount.take(rows) != to - mine)

    def _another_asked(self) -> Column:
        """Whether the record asks another seat next than the rules."""
        acts = self.hands.acts
        stays = self.in_before - self.folds
        able = self.able_before - self.out
        none = self._none()
        answered = self._carried(
            none, lambda now, seats: seats * ~self.raising[now] | self.bit[now]
        )
        answered *= ~self.raising
        answered |= self.bit
        wanted, lone = able & ~answered, (able & (able - 1)) == 0
        if self.game.ask_when_closed:
            closed = (self.bet == 0) & ~self.raising
            wanted |= (stays & ~answered) * closed
            lone &= ~closed
        wanted *= (stays & (stays - 1)) != 0
        lone &= wanted != 0
        lone &= ~self.raising
        if lone.any():
            raised = self._carried(none > 0, lambda now, made: made | self.raising[now])
            self._if_it_owes(np.flatnonzero(lone & ~raised), wanted, stays)
        said = np.zeros_like(self.bit)
        for now, then in self.next:
            said[now] = self.bit[then]
        turn = (acts.seat.astype(np.int16) << 5) + (acts.asked + 1)
        found: Column = (wanted & arcs(self.seats).take(turn)) != said
        return found

    def _if_it_owes(self, rows: Column, wanted: Column, stays: Column) -> None:
        """The only seat that could still bet, nobody having raised, may owe blinds (G8)."""
        place = self.rounds(rows)
        seat = np.minimum(np.bitwise_count(wanted.take(rows) - 1), self.seats - 1)
        hands, number = self.of.take(place), self.number.take(place)
        owes = self.owes(hands, seat, stays.take(rows), number)
        wanted[rows.compress(~owes)] = 0


@cache
def arcs(seats: int) -> Column:
    """By seat << 5 | next + 1: the seats after the first up to the second, or all, if nobody."""
    found = np.zeros((32, 32), dtype=np.int32)
    for seat in range(seats):
        found[seat, 0] = (1 << seats) - 1
        for next_ in range(seats):
            places = range(1, (next_ - seat - 1) % seats + 2)
            found[seat, next_ + 1] = sum(1 << (seat + place) % seats for place in places)
    return found.ravel()
