"""Check the betting of many hands at once: every action against what the rules say it faced.

Theory of operation
-------------------
All actions of all hands stand in one column. A record tells of each action who acts, what it moves
and who is asked next. As long as all that is true, it also tells what the next action faces: the
bet, who is in, who has answered. So no round waits for another: what an action faced is added up
from what the record says of those before it, in all rounds at once, and each is held against that.
A hand is right if no action of it is wrong. The first wrong action of a hand is found as such,
because everything before it is true; what is found after it means nothing more, and touches no
other hand. (An induction: a change of a sum here must take only from the action itself and earlier
ones of the same hand.)

One sum looks ahead: `owes_blind` takes what others have put in by the end of the round. Where it
matters they are all-in or folded, the rules ask none of them, and if one acts after all, some
action is wrong.

Three levels of columns: hands, the rounds that a hand is told to open, and actions: the first ones
of all rounds, then all second ones, and so on, those of longer rounds before those of shorter. So
what changes inside a round is carried from one slice to the next, by `_accumulated`: the bet, the
size of a raise, who is in. A bet only rises, and so does the size of a full raise: the last of them
is the highest. Between rounds `betting_state.py` counts what became of them.
"""

from functools import cached_property

import numpy as np

from analytics.batch_audit.betting_state import BettingState, PlanHands
from analytics.batch_audit.plan import DoubtReason
from analytics.replay.rules import ActionState, RaiseState, raise_bounds, raise_forbidden
from store.columns.numpy_columns import Column

FOLD, CHECK, CALL, BET, RAISE = range(5)
CHOSEN, DEFAULT, FORCED = range(3)
NO_SEAT = 30  # one that no table has


class ActionRows(BettingState, ActionState):
    """The recorded actions of a plan's hands, a row each, and what each of them faced.

    The first of every round come first, then all second ones: longer rounds before shorter, so the
    rounds that have a next action are the first of those that have this one.
    """

    def __init__(self, hands: PlanHands) -> None:
        super().__init__(hands)
        n, seats, rounds = self.n, self.seats, self.plan.rounds
        self.of = hands.of
        self.why[self.of[hands.numbers == rounds]] = DoubtReason.SHAPE
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
        self.cell = self._per_action(self.number * (seats * n) + self.of)
        self.cell += self.who * np.int32(n)  # in what is counted by round, seat and hand

    def _accumulated(self, opening: Column, change: np.ufunc, values: Column) -> Column:
        """By action: a number as its round opens, changed by the value of each action before."""
        found = np.empty(len(self.kind), dtype=opening.dtype)
        found[: len(opening)] = opening
        for now, then in self.next:
            change(found[now], values[now], out=found[then])
        return found

    def _per_action(self, values: Column) -> Column:
        """A number of each round, repeated for its actions."""
        found = np.empty(len(self.kind), dtype=values.dtype)
        for now in self.every:
            found[now] = values[: now.stop - now.start]
        return found

    def _sum_before(self, what: Column, opening: Column) -> Column:
        """By action: the opening number of its round, and all that was added before it."""
        return self._accumulated(opening, np.add, what)

    def _maximum_before(self, values: Column, opening: Column) -> Column:
        """By action: the highest of these values before it in its round, and the opening's."""
        return self._accumulated(opening, np.maximum, values)

    def _zeros(self, kind: type = np.int32) -> Column:
        """Zero for each round."""
        return np.zeros(len(self.of), dtype=kind)

    def rounds_of(self, rows: Column) -> Column:
        """The rounds of some actions."""
        found: Column = rows - self.begins.take(self.begins.searchsorted(rows, side="right") - 1)
        return found

    # What is added up before a round opens.

    def _add_up_bets(self) -> None:
        """Add up bets before each action and by the end of each round, and who folds in it."""
        bets = self.bets.ravel()
        self.mine = np.empty(len(self.cell), dtype=np.int32)
        for now in self.every:
            cell = self.cell[now]
            mine = bets.take(cell, mode="clip", out=self.mine[now])
            bets[cell] = mine + self.amount[now]
        self.folding = self.bit * (self.kind == FOLD)
        gone = self._zeros(self.sets)
        for now in self.every:
            gone[: now.stop - now.start] |= self.folding[now]
        self.gone.ravel()[self.place] = gone

    # What an action faces.

    def _compute_faced(self) -> None:
        """Compute the bet, the size of a raise, who is in and who can act, by action."""
        acts, place = self.hands.acts, self.place
        self.bet = self._maximum_before(acts.to, self.open_bet.ravel().take(place))
        self.owed = self.bet - self.mine
        self.met, self.raised = self.mine, self.owed  # who has acted has put in what he answered
        self.chips = self.base.ravel().take(self.cell, mode="clip") - self.mine
        self.more = acts.to - self.bet
        self.size = self._raise_size(self.hands.sizes)
        spent = (self.amount == self.chips) & (self.amount > 0)
        spent |= (self.kind == FOLD) & (self.chips > 0)
        self.out = self.bit * spent
        stays, able = self.open_stays.ravel().take(place), self.open_able.ravel().take(place)
        self.in_before = self._accumulated(stays, np.subtract, self.folding)
        self.able_before = self._accumulated(able, np.subtract, self.out)
        before = self._accumulated(self._zeros(self.sets), np.bitwise_or, self.bit)
        self.acted = (before & self.bit) != 0

    def _raise_size(self, opening: Column) -> Column:
        """The least that a full raise adds: as much as the last full one did (G9)."""
        if self.game.sizing == "fixed":
            return self._per_action(opening)
        return self._maximum_before(self.more * self.hands.acts.full, opening)

    # What rules about raises read (`replay.rules`).

    @cached_property
    def answered(self) -> Column:
        """Whether another seat could put in more than the bet (G7); only a high bet makes one
        count, and who checks or raises and has the chips for it."""
        others = self.able_before & ~self.bit
        found: Column = others != 0
        matters = found & (self.chips > self.owed) & (self.raising | (self.kind == CHECK))
        shallow = self._per_action(self.shallow.ravel().take(self.place))
        high = np.flatnonzero(matters & (self.bet >= shallow))
        if len(high):
            bet, others = self.bet.take(high), others.take(high)
            row = self.cell.take(high) - self.who.take(high) * np.int64(self.n)
            some = np.zeros(len(high), dtype=bool)
            base = self.base.ravel()
            for one in range(self.seats):
                some |= (base.take(row + one * self.n) > bet) & ((others >> one & 1) == 1)
            found[high] = some
        return found

    @cached_property
    def level(self) -> Column:
        """The last full bet made."""
        acts, opening = self.hands.acts, self.open_bet.ravel().take(self.place)
        return self._maximum_before(acts.to * acts.full, opening)

    @cached_property
    def made(self) -> Column:
        """How many full bets and raises there were in the round."""
        return self._sum_before(self.hands.acts.full, self._zeros())

    @cached_property
    def remaining(self) -> Column:
        """How many have not folded."""
        return np.bitwise_count(self.in_before).astype(np.int32)

    @cached_property
    def folds(self) -> Column:
        """How many have folded in the round."""
        return self._sum_before(self.kind == FOLD, self._zeros())

    @cached_property
    def after_blinds(self) -> Column:
        """Whether a blind opened the round."""
        return self._per_action((self.number == 0) & (self.poster_seat.take(self.of) >= 0))

    @cached_property
    def poster(self) -> Column:
        """Whether this seat posted the last blind."""
        return self.after_blinds & (self._per_action(self.poster_seat.take(self.of)) == self.who)

    def raise_state(self, rows: Column) -> RaiseState:
        """The chips and bets that bound the raises among these actions."""
        game = self.game
        chips, mine, bet, size = (
            it.take(rows) for it in (self.chips, self.mine, self.bet, self.size)
        )
        level = least = deepest = pot = bet
        if game.sizing == "fixed":
            level = self.level.take(rows)
        if game.raise_ceiling == "effective_stack":  # two seats
            other = self.cell.take(rows) + (1 - 2 * self.who.take(rows)) * np.int64(self.n)
            deepest = self.base.ravel().take(other, mode="clip")
        if game.min_raise_after_short == "last_full_total":
            opening = self.open_bet.ravel().take(self.place) + self.hands.sizes
            totals = (self.hands.acts.to + self.more) * self.raising
            least = self._maximum_before(totals, opening).take(rows)
        if game.sizing == "pot_limit":  # bets of the round included (T15)
            pot = self._sum_before(self.amount, self.open_pot.ravel().take(self.place)).take(rows)
        return RaiseState(chips, mine, bet, size, level, least, deepest, pot)

    def _find_aggressor(self) -> None:
        """Find the seat of the last bet or raise of the last round that opened."""
        last, seat = self._zeros(np.int8), self.seat + np.int8(1)
        for now in self.every:
            rounds = last[: now.stop - now.start]
            rounds += (seat[now] - rounds) * self.raising[now]
        made = np.zeros(self.plan.rounds * self.n, dtype=np.int8)
        made[self.place] = last
        round_ = np.minimum(np.maximum(self.hands.opened, 1), self.plan.rounds) - 1
        self.aggressor = made.take(round_ * self.n + self.rows).astype(np.int32) - 1


class BettingCheck(ActionRows):
    """Replay the hands of one plan, and check each action against the rules."""

    def run(self) -> None:
        """Replay every round of every hand, then check every action."""
        self.post_forced_bets()
        self.played.ravel()[self.place] = self.hands.lengths
        self._add_up_bets()
        for number in range(self.plan.rounds):
            self.open_round(number)
            self.close_round(number)
        if len(self.kind):
            self._compute_faced()
            self._check_actions()
        self.doubt_where(((self.open_next >= 0) & (self.played == 0)).any(0), DoubtReason.STOPS)
        if self.game.show_first == "last_aggressor":
            self._find_aggressor()

    # Whether an action is legal, and what the record says of it.

    def _check_actions(self) -> None:
        """Check every action; the first wrong one of a hand decides the reason."""
        acts, kind, free = self.hands.acts, self.kind, self.owed <= 0
        checks = kind == CHECK
        self.raise_forbidden = raise_forbidden(self.game, self)
        wrong = checks ^ free
        if self.game.fold_when_free:
            wrong &= kind != FOLD
        wrong &= ~self.raising
        unlike = self.amount != np.minimum(self.owed, self.chips) * (kind == CALL)
        unlike &= ~self.raising
        rows = np.flatnonzero(self.raising)
        if len(rows):
            self._check_raises(rows, wrong, unlike)
        unlike |= self._asks_wrong_seat()
        expected = np.zeros(len(kind), dtype=np.int8)
        if not self.game.fold_when_free:
            expected += (self.raise_forbidden & checks) * np.int8(FORCED)
        unlike |= (acts.origin != expected) & (acts.origin != DEFAULT)
        unasked = acts.seat != self._acting_seats()
        bad = np.flatnonzero(wrong | unlike | unasked)
        if len(bad):
            why = np.full(len(bad), DoubtReason.ACTION, dtype=np.uint8)
            why[wrong.take(bad)] = DoubtReason.ILLEGAL
            why[unasked.take(bad)] = DoubtReason.TURN
            rounds = self.rounds_of(bad)
            hand, row = self.of.take(rounds), self.hands.opens.row.take(rounds)
            last_first = np.lexsort((bad, row))[::-1]  # the first wrong one is written last
            some = last_first.compress(self.why.take(hand.take(last_first)) == 0)
            self.why[hand.take(some)] = why.take(some)
        stops = np.flatnonzero(acts.asked.take(self.ends) != -1)
        stopped = self.of.take(stops)
        self.why[stopped[self.why.take(stopped) == 0]] = DoubtReason.STOPS

    def _check_raises(self, rows: Column, wrong: Column, unlike: Column) -> None:
        """Check that bets and raises lie within their bounds, and are recorded as what they are."""
        acts = self.hands.acts
        to, bet, mine = (one.take(rows) for one in (acts.to, self.bet, self.mine))
        low, high, least = raise_bounds(self.game, self.raise_state(rows))
        bad = self.raise_forbidden.take(rows) | (to < low) | (to > high)
        bad |= (self.kind.take(rows) == BET) != (bet == 0)
        wrong[rows] = bad
        if self.game.sizing == "fixed" and self.game.reopen == "half_bet":
            full = 2 * (to - self.level.take(rows)) >= self.size.take(rows)
        else:
            full = to >= least
        unlike[rows] = (acts.full.take(rows) != full) | (acts.amount.take(rows) != to - mine)

    def _acting_seats(self) -> Column:
        """The acting seats: the first of a round by the rules, then as the record asks them."""
        found = np.empty_like(self.hands.acts.asked)
        found[: len(self.of)] = self.open_next.ravel().take(self.place)
        for now, then in self.next:
            found[then] = self.hands.acts.asked[now]
        return found

    def _asks_wrong_seat(self) -> Column:
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
            raised = self._accumulated(self._zeros(np.bool_), np.logical_or, self.raising)
            self._drop_paid_up(np.flatnonzero(lone & ~raised), wanted, stays)
        found: Column = self._first_seat(self.who, wanted) != self.hands.acts.asked
        return found

    def _drop_paid_up(self, rows: Column, wanted: Column, stays: Column) -> None:
        """Do not ask the only seat that could still bet, unless it owes blinds (G8)."""
        place = self.rounds_of(rows)
        seat = np.minimum(np.bitwise_count(wanted.take(rows) - 1), self.seats - 1)
        hands, number = self.of.take(place), self.number.take(place)
        owes = self.owes_blind(hands, seat, stays.take(rows), number)
        wanted[rows.compress(~owes)] = 0
