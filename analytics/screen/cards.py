"""The cards of many hands: dealt to whom they had to be, swapped, and no card twice."""

import numpy as np

from analytics.screen.columns import BIT, UNKNOWN_CARD
from analytics.screen.event_codes import event_code
from analytics.screen.record import Record, Stage
from analytics.screen.why import Why
from store.columns.cells import Column

DECK = (1 << UNKNOWN_CARD) - 1
_PLACE = 63  # six bits hold a card, one more than its number


class Cards:
    """What each seat holds, as a mask and in order; the board; all cards there were in a hand.

    A hand's holes stand together, in the order in which they were dealt: `at` finds a seat's.
    """

    def __init__(self, record: Record) -> None:
        self.record, self.plan = record, record.plan
        n = record.played.n
        self.board = np.zeros(n, dtype=np.int64)
        self.blank: Column | int = 0
        self.changes = any(line.does in ("auction", "swap") for line in self.plan.lines)
        self._holes()
        dealt = 0
        for line, _, stages in record.parts:
            if line.does == "board":
                self._board(stages[1], line.total - dealt)
                dealt = line.total
            elif line.does == "auction":
                self._third(stages[3])
            elif line.does == "swap":
                self._swap(stages[1])
        held = np.bitwise_count(self.seen & DECK) + self.blank
        record.fail(held != self.count, Why.CARDS)

    def at(self, seat: Column, hand: Column, button: Column) -> Column:
        """Where the hole of a seat stands in the column of all holes."""
        place = seat - button
        if self.plan.game.hole_order != "pairs_from_dealer":
            place -= 1
        place += np.int32(self.plan.seats) * (place < 0)
        found: Column = hand * np.int64(self.plan.seats) + place
        return found

    def order_at(self, at: Column) -> Column:
        """The cards of some holes in the order in which they came."""
        if self.changes:
            return self.order.take(at)
        return self.record.columns.order.take(self.rows.take(at), mode="clip")

    def _holes(self) -> None:
        """Two cards to each seat, from the left of the button or from the button."""
        record, seats = self.record, self.plan.seats
        stage, n = record.hole[1], record.played.n
        pairs = self.plan.game.hole_order == "pairs_from_dealer"
        first = event_code("HoleDealt", seat=0, cards=2)
        turns = (np.arange(seats)[:, None] + np.arange(seats) + (not pairs)) % seats
        said = (first + (turns << 8)).astype(np.int32).T  # by button and place
        rows = (stage.row[:, None] + np.arange(seats)).ravel()
        columns = record.columns
        said = said.take(record.played.hands.button, axis=0).ravel()
        record.doubt(
            np.flatnonzero(columns.codes.take(rows, mode="clip") != said) // seats, Why.CARDS
        )
        self.hole = columns.bits.take(rows, mode="clip")
        self.rows = rows
        if self.changes:
            self.order: Column = columns.order.take(rows, mode="clip")
        self.seen = self.hole[::seats].copy()
        for place in range(1, seats):
            self.seen |= self.hole[place::seats]
        self.count = np.full(n, 2 * seats, dtype=np.int8)
        if (self.seen >> UNKNOWN_CARD & 1).any():
            self.blank = columns.blank.take(rows, mode="clip").reshape(n, seats).sum(1)

    def _deal(self, stage: Stage, count: int, place: int = 0) -> Column:
        """So many new cards on the table; a card that comes twice, or is none, is missed later."""
        rows = stage.row + place if place else stage.row
        there = stage.there
        bits: Column = self.record.columns.bits.take(rows, mode="clip")
        bits *= there
        self.seen |= bits
        self.count += there * np.int8(count)
        if (bits >> UNKNOWN_CARD & 1).any():
            self.blank = self.blank + self.record.columns.blank.take(rows, mode="clip") * there
        return bits

    def _board(self, stage: Stage, count: int) -> None:
        self.record.hold(stage, Why.CARDS, cards=count)
        self.board |= self._deal(stage, count)

    def _third(self, stage: Stage) -> None:
        """The winners' cards, the dealer's first."""
        record, played = self.record, self.record.played
        dealer = played.hands.button
        first = 1 - dealer + (2 * dealer - 1) * (played.winners >> dealer & 1)
        hole, orders = self.hole, self.order
        third = stage
        for seat in (first, 1 - dealer):
            record.hold(third, Why.CARDS, seat=seat, cards=1)
            at = self.at(seat, played.rows, dealer)
            hole[at] |= self._deal(third, 1)
            order = record.columns.order.take(third.row, mode="clip") * third.there
            orders[at] |= order << 12
            third = Stage("HoleDealt", stage.row + 1, played.winners == 3)
            if not third.there.any():
                break

    def _swap(self, stage: Stage) -> None:
        """Each card at risk in turn, the dealer's first; a new one was never in play before."""
        record, rows = self.record, self.record.played.rows
        dealer = record.played.hands.button
        told = self.plan.game.swap_seen == "both_told"
        holes, orders = self.hole, self.order
        for place in range(4):
            seat, slot = dealer ^ (place // 2), place % 2
            there = stage.there
            record.hold(stage, Why.CARDS, place, seat=seat, slot=slot, told=told)
            old = record.cell("old", stage, place).astype(np.int32) + 1
            new = record.cell("new", stage, place).astype(np.int32) + 1
            at = self.at(seat, rows, dealer)
            was, held = orders.take(at), holes.take(at)
            record.fail(there & (old != was >> 6 * slot & _PLACE), Why.CARDS)
            blank = UNKNOWN_CARD + 1
            record.fail(there & ((new == blank) | (old == blank)), Why.UNKNOWN)
            changed = there & (new != old)
            self.seen |= BIT.take(new) * changed
            self.count += changed
            orders[at] = was ^ ((old ^ new) << 6 * slot) * changed
            swapped = held & ~BIT.take(old) | BIT.take(new)
            holes[at] = held + (swapped - held) * changed
