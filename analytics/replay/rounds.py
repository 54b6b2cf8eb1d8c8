"""Rounds of betting of many hands in lock-step: chips, the bet to match, who is still in.

of each seat     `stacks`, and `base`, what it had when the round began: the difference is its
                 bet; `met`, the bet that it last answered; `fulls`, full bets and raises it made
of the round     `bet` to match, `level` and `size` of the last full one, `made`, `folds`, and
                 who posted the last blind
of the hand      masks over seats: `folded`, `tapped` (nothing left), `timed` (out of time)
"""

from typing import TYPE_CHECKING

import numpy as np

from analytics.replay.layout import CALLED, FOLDED, Laid
from analytics.replay.raises import Asked, Menu
from store.columns.cells import Column

if TYPE_CHECKING:
    from analytics.replay.actions import Step, Table


class Rounds:
    """The rounds of hands that are walked together."""

    def __init__(self, laid: Laid, table: "Table") -> None:
        self.laid, self.table = laid, table
        n, places = len(table.which), len(table.places)
        self.stacks = laid.stacks.take(table.places)
        self.base = self.stacks.copy()
        self.met = np.full(places, -1, dtype=np.int64)
        self.fulls = np.zeros(places, dtype=np.int64)
        self.bet, self.size, self.level, self.made, self.folds = np.zeros((5, n), dtype=np.int64)
        self.folded, self.tapped, self.timed = np.zeros((3, n), dtype=np.int32)
        self.poster, self.opens, self.boards = np.full((3, n), -1, dtype=np.int32)
        self.opened = np.zeros(n, dtype=bool)
        self.everybody = np.left_shift(1, table.seats).astype(np.int32) - 1
        self.seats = range(int(table.seats.max(initial=0)))
        self._order_moves()

    def take_in(self, t: int, act: Column) -> None:
        """What happened since the last action: cards, a round that opened, chips that moved."""
        acts, live = self.laid.acts, len(act)
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
            self.bet[rows] = self.level[rows] = self.laid.open_bet.take(which)
            self.size[rows] = self.laid.open_size.take(which)
        self.boards[:live], self.opens[:live], self.opened[:live] = boards, opens, asked

    def asked(self, it: "Step", menu: Menu) -> Asked:
        """The round as it stands for who is asked."""
        live, poster = it.live, self.poster[: it.live]
        by_player = menu.cap_scope == "player"
        return Asked(
            it.chips,
            it.mine,
            self.met.take(it.place),
            self.bet[:live],
            self.size[:live],
            self.level[:live],
            self.fulls.take(it.place) if by_player else self.made[:live],
            np.bitwise_count(self.everybody[:live] & ~self.folded[:live]),
            self.folds[:live],
            poster >= 0,
            poster == it.seat,
            self._answered(it),
        )

    def gone(self, live: int, seat: Column) -> Column:
        """Whether a seat, where there is one, is all-in or has folded."""
        seat = np.maximum(seat, 0)
        out = (self.folded[:live] | self.timed[:live]) >> seat & 1
        gone: Column = (out == 1) | (self.stacks.take(self.table.begin[:live] + seat) == 0)
        return gone

    def stake(self, it: "Step") -> None:
        """Chips move, and what the round is changes with them."""
        acts, live, bet = self.laid.acts, it.live, self.bet[: it.live]
        amount, to, full = acts.amount.take(it.act), acts.to.take(it.act), acts.full.take(it.act)
        fold = it.kind == FOLDED
        self.stacks[it.place] = it.chips - amount
        np.copyto(self.size[:live], np.maximum(self.size[:live], to - bet), where=full)
        np.copyto(self.level[:live], to, where=full)
        np.copyto(bet, to, where=it.raising)
        self.met[it.place] = np.where(fold, self.met.take(it.place), bet)
        self.made[:live] += full
        self.fulls[it.place] += full
        self.folds[:live] += fold
        self.folded[:live] |= it.bit * fold
        self.tapped[:live] |= it.bit * ((it.kind >= CALLED) & (it.chips == amount))

    def _answered(self, it: "Step") -> Column:
        """Whether another live seat could put in more than the bet (G7)."""
        live, bet = it.live, self.bet[: it.live]
        others = self.everybody[:live] & ~(self.folded[:live] | self.tapped[:live] | it.bit)
        found = np.zeros(live, dtype=bool)
        for seat in self.seats:
            had = self.base.take(self.table.begin[:live] + seat, mode="clip")
            found |= (had > bet) & ((others >> seat & 1) == 1)
        return found

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
        moves, acts, table = self.laid.moves, self.laid.acts, self.table
        row_of = np.full(self.laid.count, -1, dtype=np.int64)
        row_of[table.which] = np.arange(len(table.which))
        mine = np.flatnonzero(row_of.take(moves.hand) >= 0)
        row = row_of.take(moves.hand.take(mine))
        act = self.laid.acts_upto.take(moves.row.take(mine))
        step = act - table.first.take(row)
        asked = np.flatnonzero(step < table.count.take(row))
        order = asked[np.argsort(step[asked], kind="stable")]
        mine, act, self.row = mine[order], act[order], row[order]
        self.seat = moves.seat.take(mine)
        self.place = table.begin.take(self.row) + self.seat
        self.amount, self.out = moves.amount.take(mine), moves.out.take(mine)
        same_round = self.laid.boards_upto.take(moves.row.take(mine)) == acts.boards.take(act)
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
        leads, out = self.leads[some], self.out[some]
        self.poster[row[leads]] = seat[leads]
        bits = np.left_shift(1, seat).astype(np.int32)
        empty = out | ((amount < 0) & (self.stacks.take(place) == 0))
        np.bitwise_or.at(self.tapped, row[empty], bits[empty])
        np.bitwise_or.at(self.timed, row[out], bits[out])
