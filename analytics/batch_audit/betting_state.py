"""The betting of many hands between their actions: stacks, bets and rounds in columns.

Antes and blinds, the first seat to act, a round that opens or does not, chips that go back, an
auction: what nobody chooses, a round of all hands at once. `betting_check.py` has the actions.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from analytics.batch_audit.plan import ANTE, DoubtReason, RulesetPlan
from analytics.replay.columns import BLINDS
from store.columns.numpy_columns import LARGE, Column

BYTE = 8  # seats of larger tables need more than a byte for a bit each


class RecordedActions(NamedTuple):
    """Actions as records tell them."""

    kind: Column
    seat: Column
    asked: Column  # the seat asked next; -1 for nobody
    full: Column
    origin: Column
    amount: Column  # what moved
    to: Column  # the total of a bet or raise


class Openings(NamedTuple):
    """Rounds of betting as records open them; those with more actions come first."""

    row: Column  # where in the record
    code: Column
    bet: Column
    size: Column


class PlanHands(NamedTuple):
    """The hands of one plan as columns; seats are rows."""

    plan: RulesetPlan
    button: Column
    brought: Column  # by seat
    owed: Column  # by forced bet
    acts: RecordedActions  # the first of each round, then the second ones, and so on
    counts: list[int]  # how many rounds have a first action, a second, and so on
    opened: Column  # how many rounds of each hand are told to open
    opens: Openings
    of: Column  # the hand of each of these rounds
    numbers: Column  # of the round; past the last, if there is none such
    sizes: Column  # of a bet in the round
    lengths: Column  # how many actions follow
    bids: Column  # two, in order of bidding


class BettingState:
    """Stacks, bets and rounds of the hands of one plan while they are replayed."""

    def __init__(self, hands: PlanHands) -> None:
        plan = hands.plan
        self.hands, self.plan, self.game = hands, plan, plan.game
        self.n, self.seats = len(hands.button), plan.seats
        n, seats, rounds = self.n, plan.seats, plan.rounds
        self.rows = np.arange(n)
        self._left: dict[int, Column] = {}
        self.sets = np.uint8 if seats <= BYTE else np.int32  # what holds a bit for each seat
        self.bits = np.left_shift(1, np.arange(seats))[:, None].astype(self.sets)
        self.why = np.zeros(n, dtype=np.uint8)
        self.dead = np.zeros((seats, n), dtype=np.int32)
        self.purse = hands.brought.copy()  # what may become a stake: not what is dead
        self.stacks = hands.brought.copy()
        self.stays: Column = np.full(n, (1 << seats) - 1, dtype=self.sets)
        self.able: Column = self.stays
        self.poster_seat = np.full(n, -1, dtype=np.int32)
        self.last = np.full(n, -1, dtype=np.int32)  # the round after which one was left
        self.base = np.empty((rounds, seats, n), dtype=np.int32)  # chips as a round begins
        self.bets = np.zeros((rounds, seats, n), dtype=np.int32)  # what each puts in, in a round
        self.gone = np.zeros((rounds, n), dtype=self.sets)  # who folds, as bits
        self.played = np.zeros((rounds, n), dtype=np.int32)
        self.open_bet = np.zeros((rounds, n), dtype=np.int32)
        self.open_next = np.empty((rounds, n), dtype=np.int32)
        self.open_stays = np.empty((rounds, n), dtype=self.sets)
        self.open_able = np.empty((rounds, n), dtype=self.sets)
        self.shallow = np.empty((rounds, n), dtype=np.int32)
        self.open_pot = np.empty((rounds, n), dtype=np.int32)
        self.aggressor = np.full(n, -1, dtype=np.int32)
        self.back = np.zeros((rounds, n), dtype=np.int32)
        self.back_to = np.zeros((rounds, n), dtype=np.int32)
        self.price = np.zeros(n, dtype=np.int32)
        self.winners = np.zeros(n, dtype=np.int32)
        self.bid_max = np.zeros((seats, n), dtype=np.int32)
        self.auctions = [
            sum(line.kind == "bet" for line in plan.lines[:place]) - 1
            for place, one in enumerate(plan.lines)
            if one.kind == "auction"
        ]
        self.posted = np.zeros((len(plan.forced), n), dtype=bool)
        self.post = np.zeros((len(plan.forced), n), dtype=np.int32)
        self.post_to = np.zeros((len(plan.forced), n), dtype=np.int32)

    def paid(self) -> Column:
        """Chips that each seat has put in as its own stake."""
        found: Column = self.purse - self.stacks
        return found

    def seat_left_of_button(self, places: int) -> Column:
        """The seat so many places to the left of the button."""
        if places % self.seats not in self._left:
            seat = self.hands.button + np.int32(places % self.seats)
            seat -= np.int32(self.seats) * (seat >= self.seats)
            self._left[places % self.seats] = seat
        return self._left[places % self.seats]

    def doubt_where(self, where: Column, why: DoubtReason) -> None:
        """Give hands a reason to doubt; the first one of a hand is kept."""
        hands = np.flatnonzero(where)
        if len(hands):
            self.why[hands[self.why.take(hands) == 0]] = why

    # Before the first round.

    def post_forced_bets(self) -> None:
        """Post antes and blinds, each cut by the stack."""
        full = self.game.short_blind == "full"
        base = self.hands.brought.copy()
        stacks, bet = self.stacks.ravel(), self.open_bet[0]
        for number, (kind, place) in enumerate(self.plan.forced):
            if not self.hands.owed[number].any():
                continue
            seat = self.seat_left_of_button(1 + place)
            at = seat * np.int64(self.n) + self.rows
            chips, owed = stacks.take(at), self.hands.owed[number]
            due = full and kind in (BLINDS["big"], BLINDS["straddle"])
            kept = kind == ANTE and not self.plan.announced  # an ante of nothing is told too
            there = owed > 0
            if not (due or kept):
                there &= chips > 0
            amount = np.minimum(owed, chips) * there
            self.posted[number], self.post[number] = there, amount
            stacks[at] = chips - amount
            if kind == BLINDS["dead"]:
                self.dead.ravel()[at] += amount
                self.purse.ravel()[at] -= amount
                base.ravel()[at] -= amount
                self.post_to[number] = amount
            elif kind == ANTE:
                base.ravel()[at] -= amount
            else:
                to = owed * there if full else amount
                self.post_to[number] = to
                np.maximum(bet, to, out=bet)
                if kind != BLINDS["post"]:
                    self.poster_seat += (seat - self.poster_seat) * there
        self.able = self._seat_bits(self.stacks > 0)
        self.base[0] = base
        self.blinds = base - self.stacks
        self.bets[0] = self.blinds

    def _seat_bits(self, seats: Column) -> Column:
        """A mask of the seats of which something is true."""
        found: Column = np.bitwise_or.reduce(seats * self.bits, axis=0)
        return found

    # A round.

    def open_round(self, number: int) -> None:
        """Open a round on top of its blinds, and find the first seat to act, if any (G8)."""
        stays, able, bet = self.stays, self.able, self.open_bet[number]
        before = self.seat_left_of_button(0 if self.game.first_to_act == "left_of_button" else -1)
        if number:
            self.base[number] = self.stacks
        else:
            before = before + (self.poster_seat - before) * (self.poster_seat >= 0)
        self.open_stays[number], self.open_able[number] = stays, able
        if self.game.raise_needs_responder:  # the least that any seat has, if it has anything
            least = (self.base[number] - 1).view(np.uint32).min(0)
            self.shallow[number] = np.minimum(least, LARGE) + np.uint32(1)
        if self.game.sizing == "pot_limit":
            self.open_pot[number] = self._pot_limit_base(number)
        wanted = able * ((stays & (stays - 1)) != 0)
        lone = (able & (able - 1)) == 0
        if self.game.ask_when_closed:
            closed = bet == 0
            wanted += ((stays * ((stays & (stays - 1)) != 0)) - wanted) * closed
            lone &= ~closed
        asked = self._first_seat(before, wanted)
        lone &= wanted != 0
        if lone.any():
            rows = np.flatnonzero(lone)
            asked[rows[~self.owes_blind(rows, asked[rows], stays[rows], number)]] = -1
        self.open_next[number] = asked

    def _first_seat(self, before: Column, wanted: Column) -> Column:
        """The first of the wanted seats to the left of a seat; -1, if there is none."""
        if self.sets is np.uint8:
            return next_seats(self.seats).take((before.astype(np.uint16) << 8) | wanted)
        beyond = wanted & np.left_shift(-2, before, dtype=np.int32)
        beyond += wanted * (beyond == 0)
        found: Column = np.bitwise_count((beyond & -beyond) - 1).astype(np.int8)
        found[wanted == 0] = -1
        return found

    def owes_blind(self, rows: Column, seat: Column, stays: Column, number: Column | int) -> Column:
        """Whether the only seat that could still bet owes blinds that another has really put in.

        Others put in no more after that, so what they have in the end is what they have.
        """
        others = stays & ~np.left_shift(1, seat, dtype=np.int32)
        bets = self.bets[0].take(rows, axis=1) * ((others & self.bits) != 0)
        found: Column = self.blinds[seat, rows] < bets.max(0)
        return found & (number == 0)

    def _pot_limit_base(self, number: int) -> Column:
        """The pot that limits a raise; all-in seats have no part in the last side pot."""
        bets = self.blinds * (number == 0)
        before = self.hands.brought - self.base[number]  # dead chips too
        total: Column = before.sum(0, dtype=np.int32)
        if self.game.pot_limit_base == "active_pot":
            own = before - self.dead
            out = ((self.stays & ~self.able & self.bits) != 0) & (bets == 0)
            top = ((own + 1) * out).max(0) - 1
            side = np.maximum(own - top, 0).sum(0, dtype=np.int32)
            total += (side - total) * (top >= 0)
        return total + bets.sum(0, dtype=np.int32)

    def close_round(self, number: int) -> None:
        """Close a round: who folded or is all-in, what goes back, and whether one seat is left."""
        playing = (self.stays & (self.stays - 1)) != 0
        self.stacks = self.base[number] - self.bets[number]
        self.stays = self.stays & ~self.gone[number]
        self.able = self.able & self.stays & self._seat_bits(self.stacks > 0)
        self._return_uncalled(number)
        alone = ((self.stays & (self.stays - 1)) == 0) & playing
        self.last += (number + 1) * alone
        if number in self.auctions:
            self._settle_auction(playing & ~alone)

    def _return_uncalled(self, number: int) -> None:
        """Return a bet that nobody matched to the seat that made it (G4)."""
        if self.game.uncalled == "in_pot":
            return
        paid = self.purse - self.stacks
        most = paid.max(0)
        who = self._seat_bits(paid == most)
        rows = np.flatnonzero((who & (who - 1)) == 0)
        if len(rows):
            paid, seat = paid.take(rows, axis=1), np.bitwise_count(who.take(rows) - 1)
            paid[seat, np.arange(len(rows))] = -LARGE
            more = most.take(rows) - paid.max(0)
            self.back[number, rows], self.back_to[number, rows] = more, seat
            self.stacks[seat, rows] += more

    def _settle_auction(self, on: Column) -> None:
        """Settle an auction: the higher bid pays the lower, equal bids both pay (A4)."""
        first, second = self.hands.bids
        change = (second - first) * (self.hands.button == 0)
        bids = np.stack([first + change, second - change])  # by seat
        self.bid_max = self.stacks
        self.doubt_where(((bids < 0) | (bids > self.stacks)).any(0) & on, DoubtReason.BID)
        bids = np.minimum(np.maximum(bids, 0), self.stacks)
        won = (bids == bids.max(0)) & on
        self.price = bids.min(0) * on
        self.winners = self._seat_bits(won)
        paying = self.price * won
        self.dead += paying
        self.purse -= paying
        self.stacks = self.stacks - paying
        self.able = self.able & self._seat_bits(self.stacks > 0)


def row_ranges(first: Column, count: Column) -> "slice | Column":
    """The rows of several ranges, by first row and count; one slice, if they are adjacent."""
    if not len(first):
        return slice(0, 0)
    if (first[1:] == first[:-1] + count[:-1]).all():
        return slice(int(first[0]), int(first[-1] + count[-1]))
    before = np.cumsum(count) - count
    found: Column = np.arange(int(count.sum())) + np.repeat(first - before, count)
    return found


@cache
def next_seats(seats: int) -> Column:
    """By seat << 8 | wanted bits: the first wanted seat to the left of the seat, or -1."""
    found = np.full((seats, 1 << BYTE), -1, dtype=np.int8)
    for seat in range(seats):
        for place in range(seats, 0, -1):
            one = (seat + place) % seats
            found[seat, (np.arange(1 << BYTE) >> one & 1) == 1] = one
    return found.ravel()
