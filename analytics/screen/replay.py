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

One sum looks ahead: `owes` takes what others have put in by the end of the round. Where it matters
they are all-in or folded, the rules ask none of them, and if one acts after all, some action is
wrong.

Three levels of columns: hands, the rounds that a hand is told to open, and actions: the first ones
of all rounds, then all second ones, and so on, those of longer rounds before those of shorter. So
what changes inside a round is carried from one slice to the beginning of the next, by `_carried`:
the bet, the size of a raise, who is in. A bet only rises, and so does the size of a full raise: the
last of them is the highest. Between rounds `table.py` counts what became of them.
"""

import numpy as np

from analytics.replay.raises import sizes, vetoed
from analytics.screen.facing import BET, CALL, CHECK, DEFAULT, FOLD, FORCED, Facing
from analytics.screen.why import Why
from store.columns.cells import Column


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
        self.vetoed = vetoed(self.game, self)
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
        unasked = acts.seat != self._asked()
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
        low, high, least = sizes(self.game, self.reach(rows))
        bad = self.vetoed.take(rows) | (to < low) | (to > high)
        bad |= (self.kind.take(rows) == BET) != (bet == 0)
        wrong[rows] = bad
        if self.game.sizing == "fixed" and self.game.reopen == "half_bet":
            full = 2 * (to - self.level.take(rows)) >= self.size.take(rows)
        else:
            full = to >= least
        unlike[rows] = (acts.full.take(rows) != full) | (acts.amount.take(rows) != to - mine)

    def _asked(self) -> Column:
        """By action: whom the rules ask first, then whom the record asks next."""
        found = np.empty_like(self.hands.acts.asked)
        found[: len(self.of)] = self.open_next.ravel().take(self.place)
        for now, then in self.next:
            found[then] = self.hands.acts.asked[now]
        return found

    def _another_asked(self) -> Column:
        """Whether the record asks another seat next than the rules."""
        stays = self.in_before - self.folding
        able = self.able_before - self.out
        goes_on = ~self.raising
        answered = np.zeros_like(self.bit)
        for now, then in self.next:
            seats = answered[then]
            np.multiply(answered[now], goes_on[now], out=seats)
            seats |= self.bit[now]
        answered *= goes_on
        answered |= self.bit
        wanted, lone = able & ~answered, (able & (able - 1)) == 0
        if self.game.ask_when_closed:
            closed = (self.bet == 0) & goes_on
            wanted |= (stays & ~answered) * closed
            lone &= ~closed
        wanted *= (stays & (stays - 1)) != 0
        lone &= wanted != 0
        lone &= goes_on
        if lone.any():
            raised = self._carried(self._none(np.bool_), np.logical_or, self.raising)
            self._if_it_owes(np.flatnonzero(lone & ~raised), wanted, stays)
        found: Column = self._first(self.who, wanted) != self.hands.acts.asked
        return found

    def _if_it_owes(self, rows: Column, wanted: Column, stays: Column) -> None:
        """The only seat that could still bet, nobody having raised, may owe blinds (G8)."""
        place = self.rounds(rows)
        seat = np.minimum(np.bitwise_count(wanted.take(rows) - 1), self.seats - 1)
        hands, number = self.of.take(place), self.number.take(place)
        owes = self.owes(hands, seat, stays.take(rows), number)
        wanted[rows.compress(~owes)] = 0
