"""The actions of many hands in lock-step: every hand's n-th at once, and what it faced.

Theory of operation
-------------------
Hands stand in columns, those with the most actions first, so that the hands that still act at step
t are a prefix of every column. It is the record that is followed, as `events.evolve` does, not the
rules: a claim that no rule allows is counted like any other action, and any ruleset will do. Rules
are asked two things only, whether the menu offered a raise and how large a one (`rules.py`).

A step first takes in what happened since the last action: blinds, new cards, a round that opened.
Then each reader looks at it: facts at what it means (`Streets`), decisions at what it faced.
And then the round (`Rounds`) counts the chips that it moved; `money` is what became of all of them.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from analytics.replay.columns import BET, CALLED, FOLDED, ReplayColumns
from analytics.replay.rules import (
    ActionState,
    BettingPolicies,
    RaiseState,
    betting_policies,
    raise_forbidden,
)
from engine.game import Game
from store.columns.cells import Column


class Rounds:
    """Rounds of betting of hands in lock-step: chips, the bet to match, who is still in.

    of each seat     `stacks`, and `base`, what it had when the round began: the difference is its
                     bet; `met`, the bet that it last answered; `fulls`, full bets and raises it
                     made; `dead`, what it paid that is nobody's stake
    of the round     `bet` to match, `level` and `size` of the last full one, `least` that the next
                     is to make it where short raises count, `made`, `folds`, and who posted the
                     last blind
    of the hand      masks over seats: `folded`, `tapped` (nothing left), `timed` (out of time)
    """

    def __init__(self, hands: ReplayColumns, table: "Table") -> None:
        self.hands, self.table = hands, table
        n, places = len(table.which), len(table.places)
        self.brought = hands.stacks.take(table.places)
        self.stacks = self.brought.copy()
        self.base = self.stacks.copy()
        self.met = np.full(places, -1, dtype=np.int64)
        self.fulls, self.dead = np.zeros((2, places), dtype=np.int64)
        self.bet, self.size, self.level, self.least = np.zeros((4, n), dtype=np.int64)
        self.made, self.folds = np.zeros((2, n), dtype=np.int64)
        self.folded, self.tapped, self.timed = np.zeros((3, n), dtype=np.int32)
        self.poster, self.opens, self.boards = np.full((3, n), -1, dtype=np.int32)
        self.opened = np.zeros(n, dtype=bool)
        self.everybody = np.left_shift(1, table.seats).astype(np.int32) - 1
        self.seats = range(int(table.seats.max(initial=0)))
        self._order_moves()

    def take_in(self, t: int, act: Column) -> None:
        """What happened since the last action: cards, a round that opened, chips that moved."""
        acts, live = self.hands.acts, len(act)
        boards, opens = acts.boards.take(act), acts.opens.take(act)
        opened = opens != self.opens[:live]
        over = np.flatnonzero((boards != self.boards[:live]) | (opened & self.opened[:live]))
        if len(over):
            self._begin(over)
        if self.upto[t] < self.upto[t + 1]:
            self._move(slice(self.upto[t], self.upto[t + 1]))
        asked = acts.asked.take(act)
        rows = np.flatnonzero(opened & asked)
        if len(rows):
            which = opens[rows] - 1
            self.bet[rows] = self.level[rows] = self.hands.open_bet.take(which)
            self.size[rows] = self.hands.open_size.take(which)
            self.least[rows] = self.bet[rows] + self.size[rows]
        self.boards[:live], self.opens[:live], self.opened[:live] = boards, opens, asked

    def raise_state(self, it: "Step", policies: BettingPolicies) -> RaiseState:
        """What bounds a raise of who is asked."""
        live = it.live
        pot = self._pot(live) if policies.sizing == "pot_limit" else self.bet[:live]
        if policies.sizing == "pot_limit" and policies.pot_limit_base == "active_pot":
            pot = self._active_pot(live, pot)
        bounded = policies.raise_ceiling == "effective_stack"
        deepest = self.deepest(it, able=False) if bounded else self.bet[:live]
        round_ = (self.bet[:live], self.size[:live], self.level[:live], self.least[:live])
        return RaiseState(it.chips, it.mine, *round_, deepest, pot)

    def deepest(self, it: "Step", *, able: bool) -> Column:
        """The most that another seat still in has, bets of the round included; with `able` that it
        can still bet: who is out of time has no more than his bet.
        """
        live, found = it.live, np.zeros(it.live, dtype=np.int64)
        others = self.everybody[:live] & ~(self.folded[:live] | it.bit)
        for seat, _, had, bets in self._each(live):
            most = np.where(self.timed[:live] >> seat & 1, bets, had) if able else had
            np.maximum(found, np.where(others >> seat & 1, most, 0), out=found)
        return found

    def _pot(self, live: int) -> Column:
        """All that lies in the middle, bets of the round included."""
        found = np.zeros(live, dtype=np.int64)
        for seat, brought, had, bets in self._each(live):
            found += np.where(self.everybody[:live] >> seat & 1, brought - had + bets, 0)
        return found

    def _active_pot(self, live: int, every: Column) -> Column:
        """The same above what a seat that is all-in before this round has a stake in (T15)."""
        out, most = self.tapped[:live] & ~self.folded[:live], np.full(live, -1, dtype=np.int64)
        before = []
        for seat, brought, had, bets in self._each(live):
            there = self.everybody[:live] >> seat & 1
            dead = self.dead.take(self.table.begin[:live] + seat, mode="clip")
            before.append((np.where(there, brought - had - dead, 0), np.where(there, bets, 0)))
            capped = (out >> seat & 1 == 1) & (bets == 0)
            np.maximum(most, np.where(capped, before[-1][0], -1), out=most)
        active = sum(np.maximum(paid - most, 0) + bets for paid, bets in before)
        return np.where(most < 0, every, active)

    def _each(self, live: int) -> Iterator[tuple[int, Column, Column, Column]]:
        """Seat by seat what it brought, had as the round began, and has bet; of seats that a hand
        does not have, anything.
        """
        for seat in self.seats:
            place = self.table.begin[:live] + seat
            had = self.base.take(place, mode="clip")
            bets = had - self.stacks.take(place, mode="clip")
            yield seat, self.brought.take(place, mode="clip"), had, bets

    def gone(self, live: int, seat: Column) -> Column:
        """Whether a seat, where there is one, is all-in or has folded."""
        seat = np.maximum(seat, 0)
        out = (self.folded[:live] | self.timed[:live]) >> seat & 1
        gone: Column = (out == 1) | (self.stacks.take(self.table.begin[:live] + seat) == 0)
        return gone

    def stake(self, it: "Step") -> None:
        """Chips move, and what the round is changes with them."""
        acts, live, bet = self.hands.acts, it.live, self.bet[: it.live]
        amount, to, full = acts.amount.take(it.act), acts.to.take(it.act), acts.full.take(it.act)
        fold = it.kind == FOLDED
        self.stacks[it.place] = it.chips - amount
        np.copyto(self.size[:live], np.maximum(self.size[:live], to - bet), where=full)
        np.copyto(self.level[:live], to, where=full)
        least = self.least[:live]
        np.copyto(least, np.maximum(least, 2 * to - bet), where=it.raising)
        np.copyto(bet, to, where=it.raising)
        self.met[it.place] = np.where(fold, self.met.take(it.place), bet)
        self.made[:live] += full
        self.fulls[it.place] += full
        self.folds[:live] += fold
        self.folded[:live] |= it.bit * fold
        self.tapped[:live] |= it.bit * ((it.kind >= CALLED) & (it.chips == amount))

    # What happens between actions.

    def _begin(self, rows: Column) -> None:
        """What belonged to a round dies with it."""
        self.bet[rows] = self.made[rows] = self.folds[rows] = 0
        self.poster[rows] = -1
        seats = self.table.seats[rows]
        before = np.cumsum(seats) - seats
        places = np.repeat(self.table.begin[rows] - before, seats) + np.arange(int(seats.sum()))
        self.base[places] = self.stacks.take(places)
        self.met[places] = -1
        self.fulls[places] = 0

    def _order_moves(self) -> None:
        """Each move goes before the action that follows it; after the last nobody asks."""
        moves, acts, table = self.hands.stack_changes, self.hands.acts, self.table
        row_of = np.full(self.hands.count, -1, dtype=np.int64)
        row_of[table.which] = np.arange(len(table.which))
        mine = np.flatnonzero(row_of.take(moves.hand) >= 0)
        row = row_of.take(moves.hand.take(mine))
        act = self.hands.acts_upto.take(moves.row.take(mine))
        step = act - table.first.take(row)
        asked = np.flatnonzero(step < table.count.take(row))
        order = asked[np.argsort(step[asked], kind="stable")]
        mine, act, self.row = mine[order], act[order], row[order]
        self.seat = moves.seat.take(mine)
        self.place = table.begin.take(self.row) + self.seat
        self.amount, self.out = moves.amount.take(mine), moves.out.take(mine)
        self.lost = moves.dead.take(mine)
        same_round = self.hands.boards_upto.take(moves.row.take(mine)) == acts.boards.take(act)
        self.staked = moves.stake.take(mine) & same_round
        self.leads = moves.leads.take(mine) & same_round
        steps = int(table.count.max(initial=0))
        self.upto = np.searchsorted(step[order], np.arange(steps + 1)).tolist()

    def _move(self, some: slice) -> None:
        """Blinds, antes, prices, what goes back; a stack that they empty has no more to say."""
        row, place, seat, amount = (
            it[some] for it in (self.row, self.place, self.seat, self.amount)
        )
        np.add.at(self.stacks, place, amount)
        np.add.at(self.base, place, np.where(self.staked[some], 0, amount))
        np.add.at(self.dead, place, np.where(self.lost[some], -amount, 0))
        leads, out = self.leads[some], self.out[some]
        self.poster[row[leads]] = seat[leads]
        bits = np.left_shift(1, seat).astype(np.int32)
        empty = out | ((amount < 0) & (self.stacks.take(place) == 0))
        np.bitwise_or.at(self.tapped, row[empty], bits[empty])
        np.bitwise_or.at(self.timed, row[out], bits[out])


class Faced(ActionState):
    """A round as it stands for who is asked, for the rules."""

    def __init__(self, rounds: Rounds, it: "Step", policies: BettingPolicies) -> None:
        self._rounds, self._it, self._policies, live = rounds, it, policies, it.live
        self.chips, self.mine = it.chips, it.mine
        self.met = rounds.met.take(it.place)
        self.bet, self.size, self.level, self.folds = (
            one[:live] for one in (rounds.bet, rounds.size, rounds.level, rounds.folds)
        )
        self.owed, self.raised, self.acted = self.bet - it.mine, self.bet - self.met, self.met >= 0

    @cached_property
    def made(self) -> Column:
        by_player = self._policies.cap_scope == "player"
        rounds, it = self._rounds, self._it
        return rounds.fulls.take(it.place) if by_player else rounds.made[: it.live]

    @cached_property
    def remaining(self) -> Column:
        rounds, live = self._rounds, self._it.live
        return np.bitwise_count(rounds.everybody[:live] & ~rounds.folded[:live])

    @cached_property
    def after_blinds(self) -> Column:
        return self._rounds.poster[: self._it.live] >= 0

    @cached_property
    def poster(self) -> Column:
        return self._rounds.poster[: self._it.live] == self._it.seat

    @cached_property
    def answered(self) -> Column:
        rounds, it, live = self._rounds, self._it, self._it.live
        others = rounds.everybody[:live] & ~(rounds.folded[:live] | rounds.tapped[:live] | it.bit)
        found = np.zeros(live, dtype=bool)
        for seat in rounds.seats:
            had = rounds.base.take(rounds.table.begin[:live] + seat, mode="clip")
            found |= (had > self.bet) & ((others >> seat & 1) == 1)
        return found


class Step(NamedTuple):
    """The n-th actions of the first so many hands, a column each; `act` is which of all actions.

    `place` is where the seat's own columns are, `bit` the seat as a mask, `mine` what lies before
    it, `asked` whether a round of betting is on, `offered` whether a raise was on the menu: who
    raised is taken to have been offered it. `raise_forbidden` is whether the rules forbid to raise,
    where somebody has them.
    """

    live: int
    act: Column
    seat: Column
    bit: Column
    place: Column
    kind: Column
    raising: Column
    asked: Column
    chips: Column
    mine: Column
    offered: Column
    raise_forbidden: Column | None


class Table(NamedTuple):
    """Hands that are walked together: where each one's seats begin among all of their places."""

    which: Column  # of all hands
    first: Column  # action
    count: Column  # of actions
    seats: Column
    begin: Column
    places: Column  # of all places, each of ours


class Walk:
    """Hands of one menu, which are walked action by action."""

    def __init__(
        self, hands: ReplayColumns, which: Column, policies: BettingPolicies | None
    ) -> None:
        self.hands, self.policies = hands, policies
        first, upto = hands.first_act[which], hands.first_act[which + 1]
        order = np.argsort(first - upto, kind="stable")  # those with the most actions first
        which = which[order]
        seats = hands.seats[which]
        begin = np.cumsum(seats) - seats
        places = np.repeat(hands.base[which] - begin, seats) + np.arange(int(seats.sum()))
        self.table = Table(which, first[order], (upto - first)[order], seats, begin, places)
        self.rounds = Rounds(hands, self.table)

    def steps(self) -> Iterator[Step]:
        """Every action of every hand, to the last; `rounds` stand as each was asked."""
        count = self.table.count
        steps = int(count[0]) if len(count) else 0
        live = np.searchsorted(-count, -np.arange(steps), side="left").tolist()
        for t in range(steps):
            it = self._step(t, live[t])
            yield it
            self.rounds.stake(it)

    def _step(self, t: int, live: int) -> Step:
        """One action of every hand that has one left."""
        acts, rounds = self.hands.acts, self.rounds
        act = self.table.first[:live] + t
        rounds.take_in(t, act)
        seat, kind = acts.seat.take(act), acts.kind.take(act)
        place = self.table.begin[:live] + seat
        chips = rounds.stacks.take(place)
        raising, asked = kind >= BET, rounds.opened[:live]
        it = Step(
            live,
            act,
            seat,
            np.left_shift(1, seat, dtype=np.int32),
            place,
            kind,
            raising,
            asked,
            chips,
            rounds.base.take(place) - chips,
            raising,
            None,
        )
        if self.policies is None:
            return it
        veto = raise_forbidden(self.policies, Faced(rounds, it, self.policies))
        return it._replace(offered=raising | asked & ~veto, raise_forbidden=veto)


def walks(hands: ReplayColumns, games: Sequence[Game | None], ruleset: Column) -> Iterator[Walk]:
    """Hands in which anybody acts; those of one menu together. `ruleset` is which game each had."""
    batches: dict[BettingPolicies | None, list[int]] = {}
    for number, game in enumerate(games):
        batches.setdefault(betting_policies(game), []).append(number)
    some = hands.counted & (np.diff(hands.first_act) > 0)
    for policies, numbers in batches.items():
        which = np.flatnonzero(some & np.isin(ruleset, numbers))
        if len(which):
            yield Walk(hands, which, policies)


class Money(NamedTuple):
    """Chips of every place; who splits has won, so `won` asks what was collected."""

    put_in: Column
    collected: Column
    net: Column
    won: Column


def money(hands: ReplayColumns) -> Money:
    """What became of everybody's chips."""
    acts, moves = hands.acts, hands.stack_changes
    spent = np.zeros(hands.places + 1, dtype=np.int64)
    np.add.at(spent, acts.place, acts.amount)
    np.subtract.at(spent, moves.place, moves.amount)
    stake = spent.copy()
    np.add.at(stake, moves.place, moves.amount * moves.dead)
    collected = hands.collected
    # Rulesets that leave an uncalled bet in the pot pay it out as one more side pot.
    stake, none = stake[: hands.places], -(1 << 62)
    most, matched = np.full((2, hands.count), none)
    np.maximum.at(most, hands.place_hand, stake)
    top = stake == most.take(hands.place_hand)
    alone = top & (np.bincount(hands.place_hand, top, hands.count) == 1).take(hands.place_hand)
    back = np.zeros(hands.places, dtype=np.int64)
    if alone.any():
        np.maximum.at(matched, hands.place_hand, np.where(alone, none, stake))
        back = np.minimum((stake - matched.take(hands.place_hand)) * alone, collected)
    put_in = spent[: hands.places] - back
    taken = collected - back
    net = taken - put_in + hands.summed(hands.bounties)
    return Money(put_in, taken, net, taken > 0)
