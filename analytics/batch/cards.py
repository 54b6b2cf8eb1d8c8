"""The cards of many hands: dealt to whom they had to be, swapped, and no card twice."""

import numpy as np

from analytics.batch.laid import BIT
from analytics.batch.record import Record, Stage
from analytics.batch.rows import UNKNOWN_CARD, Column
from analytics.batch.why import Why

DECK = (1 << UNKNOWN_CARD) - 1
_PLACE = 63  # six bits hold a card, one more than its number


class Cards:
    """What each seat holds, as a mask and in order; the board; all cards there were in a hand."""

    def __init__(self, record: Record) -> None:
        self.record, self.plan = record, record.plan
        n, seats = record.played.n, self.plan.seats
        self.hole = np.zeros((seats, n), dtype=np.int64)
        self.order = np.zeros((seats, n), dtype=np.int64)
        self.board = np.zeros(n, dtype=np.int64)
        self.seen = np.zeros(n, dtype=np.int64)
        self.count = np.zeros(n, dtype=np.int32)
        self.dealt: list[tuple[Stage, int]] = []
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
        blank = self._blank() if (self.seen >> UNKNOWN_CARD & 1).any() else 0
        record.fail(np.bitwise_count(self.seen & DECK) + blank != self.count, Why.CARDS)

    def _deal(self, stage: Stage, count: int, place: int = 0) -> Column:
        """So many new cards on the table; a card that comes twice, or is none, is missed later."""
        there = stage.count > place
        bits: Column = self.record.laid.bits.take(stage.row + place, mode="clip") * there
        self.seen |= bits
        self.count += there * np.int32(count)
        self.dealt.append((stage, place))
        return bits

    def _blank(self) -> Column:
        """How many cards of each hand nobody recorded."""
        found = np.zeros(len(self.seen), dtype=np.int64)
        for stage, place in self.dealt:
            there = stage.count > place
            found += self.record.laid.blank.take(stage.row + place, mode="clip") * there
        return found

    def _holes(self) -> None:
        record, seats = self.record, self.plan.seats
        stage, button = record.hole[1], record.played.hands.button
        pairs = self.plan.game.hole_order == "pairs_from_dealer"
        for place in range(seats):
            seat = (button + place + (not pairs)) % seats
            record.hold(stage, Why.CARDS, place, seat=seat, cards=2)
            at = seat * len(seat) + record.played.rows
            self.hole.ravel()[at] = self._deal(stage, 2, place)
            self.order.ravel()[at] = record.laid.order.take(stage.row + place, mode="clip")

    def _board(self, stage: Stage, count: int) -> None:
        self.record.hold(stage, Why.CARDS, cards=count)
        self.board |= self._deal(stage, count)

    def _third(self, stage: Stage) -> None:
        """The winners' cards, the dealer's first."""
        record, played = self.record, self.record.played
        dealer = played.hands.button
        first = np.where(played.winners >> dealer & 1, dealer, 1 - dealer)
        for place, seat in enumerate((first, 1 - dealer)):
            record.hold(stage, Why.CARDS, place, seat=seat, cards=1)
            there = stage.count > place
            self.hole[seat, played.rows] |= self._deal(stage, 1, place)
            order = record.laid.order.take(stage.row + place, mode="clip") * there
            self.order[seat, played.rows] |= order << 12

    def _swap(self, stage: Stage) -> None:
        """Each card at risk in turn, the dealer's first; a new one was never in play before."""
        record, rows = self.record, self.record.played.rows
        dealer = record.played.hands.button
        told = self.plan.game.swap_seen == "both_told"
        for place in range(4):
            seat, slot = (dealer + place // 2) % 2, place % 2
            there = stage.count > place
            record.hold(stage, Why.CARDS, place, seat=seat, slot=slot, told=told)
            old = record.cell("old", stage, place).astype(np.int64) + 1
            new = record.cell("new", stage, place).astype(np.int64) + 1
            was = self.order[seat, rows]
            record.fail(there & (old != was >> 6 * slot & _PLACE), Why.CARDS)
            blank = UNKNOWN_CARD + 1
            record.fail(there & ((new == blank) | (old == blank)), Why.UNKNOWN)
            changed = there & (new != old)
            self.seen |= BIT.take(new) * changed
            self.count += changed
            self.order[seat, rows] = np.where(changed, was ^ (old ^ new) << 6 * slot, was)
            held = self.hole[seat, rows]
            swapped = held & ~BIT.take(old) | BIT.take(new)
            self.hole[seat, rows] = np.where(changed, swapped, held)
