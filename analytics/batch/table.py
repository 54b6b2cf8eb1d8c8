"""A table of many hands: seats, chips and rounds in columns, and what happens between actions.

Antes and blinds, who is asked, a round that opens or does not, chips that go back, an auction: what
nobody chooses stands here; `replay.py` has the actions, and what the columns mean.
"""

from typing import Any, NamedTuple

import numpy as np

from analytics.batch.plan import ANTE, Plan
from analytics.batch.rows import BLINDS, LARGE, Column
from analytics.batch.why import Why


class Acts(NamedTuple):
    """Actions, hand by hand, one number each: what is told (`coded`), and chips 16 bits above.

    The chips are what moved, or the total of a bet or raise; `amount` is what that moved.
    """

    code: Column
    amount: Column


class Hands(NamedTuple):
    """Hands of one plan as columns, the ones with most actions first; seats are rows."""

    plan: Plan
    button: Column
    brought: Column  # by seat
    owed: Column  # by forced bet
    sizes: Column  # by round
    acts: Acts
    first: Column  # of `acts`
    count: Column
    bids: Column  # two, in order of bidding


class Table:
    """Hands of one plan while they are played."""

    def __init__(self, hands: Hands) -> None:
        plan = hands.plan
        self.hands, self.plan, self.game = hands, plan, plan.game
        self.n, self.seats = len(hands.button), plan.seats
        n, seats, rounds = self.n, plan.seats, plan.rounds
        self.rows = np.arange(n)
        self.wide: Any = np.int32 if seats <= 15 else np.int64  # bits twice over must fit
        self.everybody = self.wide((1 << seats) - 1)
        self.stacks = hands.brought.copy()
        self.dead = np.zeros((seats, n), dtype=np.int32)
        self.purse = hands.brought.copy()  # what may become a stake: not what is dead
        self.base = self.stacks
        self.stays: Column = np.full(n, self.everybody, dtype=self.wide)
        self.able: Column = self.stays.copy()
        self.owes: Column = self.stays.copy()
        self.acted: Column = np.zeros(n, dtype=self.wide)
        for name in (
            "bet",
            "size",
            "level",
            "least",
            "made",
            "folds",
            "since",
            "street",
            "shallow",
        ):
            setattr(self, name, np.zeros(n, dtype=np.int32))
        self.turn = np.full(n, -1, dtype=np.int32)
        self.aggressor = np.full(n, -1, dtype=np.int32)
        self.poster = np.full(n, -1, dtype=np.int32)
        self.why = np.zeros(n, dtype=np.uint8)
        self.open_bet = np.zeros((rounds, n), dtype=np.int32)
        self.open_next = np.full((rounds, n), -1, dtype=np.int32)
        self.played = np.zeros((rounds, n), dtype=np.int32)
        self.back = np.zeros((rounds, n), dtype=np.int32)
        self.back_to = np.zeros((rounds, n), dtype=np.int32)
        self.last = np.full(n, -1, dtype=np.int32)  # the round after which one was left
        self.shows_aggressor = self.game.show_first == "last_aggressor"
        self.price = np.zeros(n, dtype=np.int32)
        self.winners = np.zeros(n, dtype=np.int32)
        self.bid_max = np.zeros((seats, n), dtype=np.int32)
        self.auctions = [
            sum(one.does == "bet" for one in plan.lines[:place]) - 1
            for place, one in enumerate(plan.lines)
            if one.does == "auction"
        ]
        self.posted = np.zeros((len(plan.forced), n), dtype=bool)
        self.post = np.zeros((len(plan.forced), n), dtype=np.int32)
        self.post_to = np.zeros((len(plan.forced), n), dtype=np.int32)

    bet: Column
    size: Column
    level: Column
    least: Column
    made: Column
    folds: Column
    since: Column
    street: Column
    shallow: Column

    @property
    def over(self) -> Column:
        """Hands that came to an end: shown down, or won by the last contender."""
        return self.turn < 0

    def paid(self) -> Column:
        """What each seat has put in as its own stake."""
        found: Column = self.purse - self.stacks
        return found

    def _wrong(self, where: Column, why: Why) -> None:
        """The first thing wrong with a hand is kept."""
        here = self.why[: len(where)]
        np.copyto(here, np.uint8(why), where=where & (here == 0))

    # Who is asked.

    def _asked(self, seat: Column, rows: "Column | slice") -> Column:
        """Who is asked after this seat, itself the last; nobody, if nothing can change (G8)."""
        stays, able, owes = self.stays[rows], self.able[rows], self.owes[rows]
        wanted = owes & able
        closed = None
        if self.game.ask_when_closed:
            closed = self.bet[rows] == 0
            wanted = np.where(closed, owes, wanted)
        wanted = wanted * ((stays & (stays - 1)) != 0)
        found = self._next(seat, wanted)
        lone = (found >= 0) & ((able & (able - 1)) == 0)
        if closed is not None:
            lone &= ~closed
        if lone.any():
            which = np.flatnonzero(lone)
            found[which] = self._if_it_owes(found[which], self.rows[rows][which])
        return found

    def _next(self, seat: Column, wanted: Column) -> Column:
        """The first of the wanted seats from the left of this one; -1, if there is none."""
        if self.seats == 2:
            other = 1 - seat
            found = np.where(wanted >> other & 1, other, seat)
        else:
            shift = (seat + 1).astype(self.wide)
            turned = ((wanted << self.wide(self.seats)) | wanted) >> shift & self.everybody
            steps = np.bitwise_count((turned & -turned) - 1)
            found = seat + 1 + steps
            found -= self.seats * (found >= self.seats)
        np.copyto(found, -1, where=wanted == 0)
        return found

    def _if_it_owes(self, seat: Column, rows: Column) -> Column:
        """The only seat that could still bet is asked for chips that another has really put in."""
        bets = self.base[:, rows] - self.stacks[:, rows]
        most = np.full(len(rows), -1, dtype=np.int32)
        for one in range(self.seats):
            other = ((self.stays[rows] >> one & 1) == 1) & (seat != one)
            np.maximum(most, bets[one], out=most, where=other)
        mine = bets[seat, np.arange(len(rows))]
        return np.where(mine < most, seat, -1)

    # Between rounds.

    def _begin(self) -> None:
        """Antes and blinds, each cut by the stack; then the first round opens."""
        full = self.game.short_blind == "full"
        self.base = self.stacks.copy()
        for number, (kind, place) in enumerate(self.plan.forced):
            seat = (self.hands.button + 1 + place) % self.seats
            at = seat * self.n + self.rows
            chips, owed = self.stacks.ravel().take(at), self.hands.owed[number]
            due = full and kind in (BLINDS["big"], BLINDS["straddle"])
            kept = kind == ANTE and not self.plan.announced  # an ante of nothing is told too
            there = (owed > 0) & ((chips > 0) | due | kept)
            amount = np.minimum(owed, chips) * there
            self.posted[number], self.post[number] = there, amount
            self.stacks.ravel()[at] = chips - amount
            self.able &= ~np.where(there & (chips == amount), 1 << seat.astype(self.wide), 0)
            if kind == BLINDS["dead"]:
                self.dead.ravel()[at] += amount
                self.purse.ravel()[at] -= amount
                self.base.ravel()[at] -= amount
                self.post_to[number] = amount
            elif kind == ANTE:
                self.base.ravel()[at] -= amount
            else:
                to = np.where(there, owed if full else amount, 0)
                self.post_to[number] = to
                np.maximum(self.bet, to, out=self.bet)
                if kind != BLINDS["post"]:
                    np.copyto(self.poster, seat, where=there)
        self._open(self.rows, 0)
        if (shut := np.flatnonzero(self.turn < 0)).size:
            self._close(shut, 0)

    def _open(self, rows: Column, number: int) -> None:
        """A round opens on top of its blinds, and somebody is asked, or nobody."""
        size, stays, able = self.hands.sizes[number][rows], self.stays[rows], self.able[rows]
        button = self.hands.button[rows]
        first = button if self.game.first_to_act == "left_of_button" else button - 1
        if number:
            bet: Column = np.zeros(len(rows), dtype=np.int32)
            base = self.stacks[:, rows]
            self.base[:, rows] = base
            self.bet[rows] = self.acted[rows] = 0
            if self.game.raise_cap is not None:
                self.made[rows] = self.folds[rows] = 0
                self.poster[rows] = -1
            after = first % self.seats
        else:
            bet, base = self.bet, self.base
            after = np.where(self.poster < 0, first % self.seats, self.poster)
        self.level[rows], self.size[rows] = bet, size
        if self.game.min_raise_after_short == "last_full_total":
            self.least[rows] = bet + size
        shallow = np.full(len(rows), LARGE, dtype=np.int32)
        for one in range(self.seats):
            np.minimum(shallow, base[one], out=shallow, where=(able >> one & 1) == 1)
        self.shallow[rows] = shallow
        if not self.game.live_option:
            for one in range(self.seats):
                answered = (bet > 0) & (base[one] - self.stacks[one, rows] == bet)
                stays = stays & ~(answered * self.wide(1 << one))
        self.owes[rows] = stays
        asked = self._asked(after, rows)
        self.turn[rows], self.street[rows] = asked, number
        self.open_next[number, rows] = asked
        if not number:
            self.open_bet[0] = bet
        if self.shows_aggressor:
            self.aggressor[rows[asked >= 0]] = -1

    def _close(self, rows: Column, done: int) -> None:
        """The rounds of these hands are over: what comes next, until somebody is asked again."""
        for number in range(self.plan.rounds):
            mine = rows[(self.street[rows] == number) & (self.turn[rows] < 0)]
            if not len(mine):
                continue
            self.played[number, mine] = done - self.since[mine]
            self.since[mine] = done
            self._return(mine, number)
            stays = self.stays[mine]
            alone = (stays & (stays - 1)) == 0
            self.last[mine[alone]] = number
            goes_on = mine[~alone]
            if number in self.auctions:
                self._auction(goes_on)
            if number + 1 < self.plan.rounds:
                self._open(goes_on, number + 1)

    def _return(self, rows: Column, number: int) -> None:
        """What nobody matched goes back to who put it in (G4)."""
        if self.game.uncalled == "in_pot":
            return
        paid = self.purse[:, rows] - self.stacks[:, rows]
        if self.seats == 2:
            seat = (paid[1] > paid[0]).astype(np.int32)
            more = np.abs(paid[1] - paid[0])
        else:
            most, next_most = np.maximum(paid[0], paid[1]), np.minimum(paid[0], paid[1])
            for one in paid[2:]:
                np.maximum(next_most, np.minimum(most, one), out=next_most)
                np.maximum(most, one, out=most)
            more = most - next_most
            if not more.any():
                return
            seat = paid.argmax(0).astype(np.int32)
        self.back[number, rows] = more
        self.back_to[number, rows] = seat
        self.stacks[seat, rows] += more

    def _auction(self, rows: Column) -> None:
        """Left of the button bids first; the higher bid pays the lower, equal ones both (A4)."""
        dealer = self.hands.button[rows]
        bids = self.hands.bids[:, rows]
        bidder = np.stack([1 - dealer, dealer])
        self.bid_max[:, rows] = self.stacks[:, rows]
        chips = self.stacks[bidder, rows]
        bad = ((bids < 0) | (bids > chips)).any(0)
        self.why[rows[bad & (self.why[rows] == 0)]] = Why.BID
        bids = np.clip(bids, 0, chips)
        price = bids.min(0)
        won = bids >= bids.max(0)
        self.price[rows] = price
        self.winners[rows] = (won * (1 << bidder)).sum(0)
        for place in (0, 1):
            paying = price * won[place]
            price_of, seat = paying, bidder[place]
            self.dead[seat, rows] += price_of
            self.purse[seat, rows] -= price_of
            self.stacks[seat, rows] -= price_of
            spent = won[place] & (self.stacks[seat, rows] == 0)
            self.able[rows] &= ~np.where(spent, 1 << seat, 0).astype(self.wide)
