"""Replay the betting of many hands in lock-step, and compute the chip results of each seat.

Theory of operation
-------------------
Hands stand in columns, those with the most actions first, so that the hands that still act at step
t are a prefix of every column. It is the record that is followed, as `events.evolve` does, not the
rules: a claim that no rule allows is counted like any other action, and any ruleset will do. Rules
say two things only, whether the acting seat might raise, and how much (`rules.py`).

A slice first takes in what happened since the last action: blinds, new cards, a round that opened.
Then each reader looks at it: facts at what it means (`Streets`), decisions at what it faced. And
then the round (`BettingRounds`) counts the chips that it moved.
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
from store.columns.numpy_columns import Column


class BettingRounds:
    """The betting rounds of hands in lock-step: chips, the bet to match, who is still in.

    of each seat     `stacks`, and `base`, what it had when the round began: the difference is its
                     bet; `met`, the bet that it last answered; `fulls`, full bets and raises it
                     made; `dead`, what it paid that is nobody's stake
    of the round     `bet` to match, `level` and `size` of the last full one, `least` that the next
                     is to make it where short raises count, `made`, `folds`, and who posted the
                     last blind
    of the hand      masks over seats: `folded`, `tapped` (nothing left), `timed` (out of time)
    """

    def __init__(self, hands: ReplayColumns, batch: "HandBatch") -> None:
        self.hands, self.batch = hands, batch
        n, places = len(batch.which), len(batch.places)
        self.brought = hands.stacks.take(batch.places)
        self.stacks = self.brought.copy()
        self.base = self.stacks.copy()
        self.met = np.full(places, -1, dtype=np.int64)
        self.fulls, self.dead = np.zeros((2, places), dtype=np.int64)
        self.bet, self.size, self.level, self.least = np.zeros((4, n), dtype=np.int64)
        self.made, self.folds = np.zeros((2, n), dtype=np.int64)
        self.folded, self.tapped, self.timed = np.zeros((3, n), dtype=np.int32)
        self.poster, self.opens, self.boards = np.full((3, n), -1, dtype=np.int32)
        self.opened = np.zeros(n, dtype=bool)
        self.everybody = np.left_shift(1, batch.seats).astype(np.int32) - 1
        self.seats = range(int(batch.seats.max(initial=0)))
        self._order_changes()

    def advance(self, t: int, act: Column) -> None:
        """Take in what happened since the last action: cards, a round that opened, chips moved."""
        acts, live = self.hands.acts, len(act)
        boards, opens = acts.boards.take(act), acts.opens.take(act)
        opened = opens != self.opens[:live]
        over = np.flatnonzero((boards != self.boards[:live]) | (opened & self.opened[:live]))
        if len(over):
            self._begin_round(over)
        if self.upto[t] < self.upto[t + 1]:
            self._apply_changes(slice(self.upto[t], self.upto[t + 1]))
        asked = acts.asked.take(act)
        rows = np.flatnonzero(opened & asked)
        if len(rows):
            which = opens[rows] - 1
            self.bet[rows] = self.level[rows] = self.hands.open_bet.take(which)
            self.size[rows] = self.hands.open_size.take(which)
            self.least[rows] = self.bet[rows] + self.size[rows]
        self.boards[:live], self.opens[:live], self.opened[:live] = boards, opens, asked

    def raise_state(self, it: "ActionSlice", policies: BettingPolicies) -> RaiseState:
        """The chips and bets that bound the acting seat's raise."""
        live = it.live
        pot = self._pot(live) if policies.sizing == "pot_limit" else self.bet[:live]
        if policies.sizing == "pot_limit" and policies.pot_limit_base == "active_pot":
            pot = self._active_pot(live, pot)
        bounded = policies.raise_ceiling == "effective_stack"
        deepest = self.deepest(it, able=False) if bounded else self.bet[:live]
        round_ = (self.bet[:live], self.size[:live], self.level[:live], self.least[:live])
        return RaiseState(it.chips, it.mine, *round_, deepest, pot)

    def deepest(self, it: "ActionSlice", *, able: bool) -> Column:
        """The most that another seat still in has, bets of the round included; with `able` that it
        can still bet: who is out of time has no more than his bet."""
        live, found = it.live, np.zeros(it.live, dtype=np.int64)
        others = self.everybody[:live] & ~(self.folded[:live] | it.bit)
        for seat, _, had, bets in self._seats(live):
            most = np.where(self.timed[:live] >> seat & 1, bets, had) if able else had
            np.maximum(found, np.where(others >> seat & 1, most, 0), out=found)
        return found

    def _pot(self, live: int) -> Column:
        """The pot, bets of the round included."""
        found = np.zeros(live, dtype=np.int64)
        for seat, brought, had, bets in self._seats(live):
            found += np.where(self.everybody[:live] >> seat & 1, brought - had + bets, 0)
        return found

    def _active_pot(self, live: int, every: Column) -> Column:
        """The pot above what a seat that is all-in before this round has a stake in (T15)."""
        out, most = self.tapped[:live] & ~self.folded[:live], np.full(live, -1, dtype=np.int64)
        before = []
        for seat, brought, had, bets in self._seats(live):
            there = self.everybody[:live] >> seat & 1
            dead = self.dead.take(self.batch.begin[:live] + seat, mode="clip")
            before.append((np.where(there, brought - had - dead, 0), np.where(there, bets, 0)))
            capped = (out >> seat & 1 == 1) & (bets == 0)
            np.maximum(most, np.where(capped, before[-1][0], -1), out=most)
        active = sum(np.maximum(paid - most, 0) + bets for paid, bets in before)
        return np.where(most < 0, every, active)

    def _seats(self, live: int) -> Iterator[tuple[int, Column, Column, Column]]:
        """Seat by seat the chips that it brought, had as the round began, and has bet; anything for
        seats that a hand does not have."""
        for seat in self.seats:
            place = self.batch.begin[:live] + seat
            had = self.base.take(place, mode="clip")
            bets = had - self.stacks.take(place, mode="clip")
            yield seat, self.brought.take(place, mode="clip"), had, bets

    def is_out(self, live: int, seat: Column) -> Column:
        """Whether a seat, where there is one, is all-in or has folded."""
        seat = np.maximum(seat, 0)
        out = (self.folded[:live] | self.timed[:live]) >> seat & 1
        gone: Column = (out == 1) | (self.stacks.take(self.batch.begin[:live] + seat) == 0)
        return gone

    def apply(self, it: "ActionSlice") -> None:
        """Apply a slice of actions: move chips, and change bets and masks with them."""
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

    def _begin_round(self, rows: Column) -> None:
        """Begin a round: forget what belonged to the last one."""
        self.bet[rows] = self.made[rows] = self.folds[rows] = 0
        self.poster[rows] = -1
        seats = self.batch.seats[rows]
        before = np.cumsum(seats) - seats
        places = np.repeat(self.batch.begin[rows] - before, seats) + np.arange(int(seats.sum()))
        self.base[places] = self.stacks.take(places)
        self.met[places] = -1
        self.fulls[places] = 0

    def _order_changes(self) -> None:
        """Order stack changes by the action that follows each; later ones matter to nobody."""
        moves, acts, batch = self.hands.stack_changes, self.hands.acts, self.batch
        row_of = np.full(self.hands.count, -1, dtype=np.int64)
        row_of[batch.which] = np.arange(len(batch.which))
        mine = np.flatnonzero(row_of.take(moves.hand) >= 0)
        row = row_of.take(moves.hand.take(mine))
        act = self.hands.acts_upto.take(moves.row.take(mine))
        step = act - batch.first.take(row)
        asked = np.flatnonzero(step < batch.count.take(row))
        order = asked[np.argsort(step[asked], kind="stable")]
        mine, act, self.row = mine[order], act[order], row[order]
        self.seat = moves.seat.take(mine)
        self.place = batch.begin.take(self.row) + self.seat
        self.amount, self.out = moves.amount.take(mine), moves.out.take(mine)
        self.lost = moves.dead.take(mine)
        same_round = self.hands.boards_upto.take(moves.row.take(mine)) == acts.boards.take(act)
        self.staked = moves.stake.take(mine) & same_round
        self.leads = moves.leads.take(mine) & same_round
        steps = int(batch.count.max(initial=0))
        self.upto = np.searchsorted(step[order], np.arange(steps + 1)).tolist()

    def _apply_changes(self, some: slice) -> None:
        """Apply blinds, antes, prices and returned bets; a seat without chips acts no more."""
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


class ReplayActionState(ActionState):
    """The acting seat and its round in a slice of actions, for rules about raises."""

    def __init__(self, rounds: BettingRounds, it: "ActionSlice", policies: BettingPolicies) -> None:
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
            had = rounds.base.take(rounds.batch.begin[:live] + seat, mode="clip")
            found |= (had > self.bet) & ((others >> seat & 1) == 1)
        return found


class ActionSlice(NamedTuple):
    """The n-th action of each of the first `live` hands; `act` numbers it among all actions.

    `place` is where the seat's own columns are, `bit` the seat as a mask, `mine` what lies before
    it, `asked` whether a round of betting is on, `offered` whether a raise was legal: who raised is
    taken to have been offered it. `raise_forbidden` is whether the rules forbid to raise,
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


class HandBatch(NamedTuple):
    """Hands that are replayed together; the seats of each begin at `begin` among all places."""

    which: Column  # of all hands
    first: Column  # action of each
    count: Column  # of its actions
    seats: Column
    begin: Column
    places: Column  # of all places, each of ours


class Replay:
    """Replay hands that share betting policies, action by action."""

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
        self.batch = HandBatch(which, first[order], (upto - first)[order], seats, begin, places)
        self.rounds = BettingRounds(hands, self.batch)

    def slices(self) -> Iterator[ActionSlice]:
        """Every action of every hand; `rounds` stand as the action's seat found them."""
        count = self.batch.count
        steps = int(count[0]) if len(count) else 0
        live = np.searchsorted(-count, -np.arange(steps), side="left").tolist()
        for t in range(steps):
            it = self._slice(t, live[t])
            yield it
            self.rounds.apply(it)

    def _slice(self, t: int, live: int) -> ActionSlice:
        """The t-th action of every hand that has one."""
        acts, rounds = self.hands.acts, self.rounds
        act = self.batch.first[:live] + t
        rounds.advance(t, act)
        seat, kind = acts.seat.take(act), acts.kind.take(act)
        place = self.batch.begin[:live] + seat
        chips = rounds.stacks.take(place)
        raising, asked = kind >= BET, rounds.opened[:live]
        it = ActionSlice(
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
        veto = raise_forbidden(self.policies, ReplayActionState(rounds, it, self.policies))
        return it._replace(offered=raising | asked & ~veto, raise_forbidden=veto)


def replays(
    hands: ReplayColumns, games: Sequence[Game | None], ruleset: Column
) -> Iterator[Replay]:
    """Replays of all hands with actions, grouped by policies; `ruleset` numbers their games."""
    batches: dict[BettingPolicies | None, list[int]] = {}
    for number, game in enumerate(games):
        batches.setdefault(betting_policies(game), []).append(number)
    some = hands.counted & (np.diff(hands.first_act) > 0)
    for policies, numbers in batches.items():
        which = np.flatnonzero(some & np.isin(ruleset, numbers))
        if len(which):
            yield Replay(hands, which, policies)


class ChipResults(NamedTuple):
    """Chips put in, collected and net of every place; `won` is true also in a split pot."""

    put_in: Column
    collected: Column
    net: Column
    won: Column


def chip_results(hands: ReplayColumns) -> ChipResults:
    """The chip results of every place."""
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
    return ChipResults(put_in, taken, net, taken > 0)
