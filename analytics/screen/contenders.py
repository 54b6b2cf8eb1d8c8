"""The cards of many hands, and their showdowns: who is still in shows or mucks, hand after hand.

Cards are dealt to whom they had to be, swapped, and no card twice. A row of `Contenders` is a seat
at a showdown, as the record shows it; that they are the right ones in the right order is checked,
and everything later is counted from them.
"""

import numpy as np

from analytics.screen.codes import SHOW, Why, event_code, field
from analytics.screen.columns import BIT, UNKNOWN_CARD, spans
from analytics.screen.record import Record, Stage
from odds.batch import Showdown, with_hole, worth
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
        targets = (first + (turns << 8)).astype(np.int32).T  # by button and place
        rows = (stage.row[:, None] + np.arange(seats)).ravel()
        columns = record.columns
        targets = targets.take(record.played.hands.button, axis=0).ravel()
        record.doubt(
            np.flatnonzero(columns.codes.take(rows, mode="clip") != targets) // seats, Why.CARDS
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
        both_see = self.plan.game.swap_seen == "both_told"
        holes, orders = self.hole, self.order
        for place in range(4):
            seat, slot = dealer ^ (place // 2), place % 2
            there = stage.there
            record.hold(stage, Why.CARDS, place, seat=seat, slot=slot, told=both_see)
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


class Contenders:
    """The seats that are still in at the showdowns of some hands."""

    def __init__(self, cards: Cards, down: Column, paid: Column) -> None:
        self.cards, self.record, self.plan = cards, cards.record, cards.plan
        record, played = self.record, cards.record.played
        self.down = down  # the hands that come to a showdown
        self.count = record.contenders.take(down).astype(np.int64)
        self.first = np.cumsum(self.count) - self.count
        self.of = np.repeat(np.arange(len(down)), self.count)
        self.hand = down.take(self.of)
        stage = record.parts[-1][2][1]
        rows = stage.row.take(down)
        self.rows = np.repeat(rows - self.first, self.count) + np.arange(len(self.of))
        self.codes = record.columns.codes.take(self.rows, mode="clip")
        seat = field(self.codes, "seat") - 1
        self.seat = np.minimum(np.maximum(seat, 0), self.plan.seats - 1)
        self.mucked = field(self.codes, "cards") == 0
        button = played.hands.button.take(self.hand)
        self.at = cards.at(self.seat, self.hand, button)
        self.hole = cards.hole.take(self.at)
        self.paid = paid.ravel().take(self.seat * np.int64(played.n) + self.hand)
        self.held = np.bitwise_count(self.hole)
        self.board = cards.board.take(self.hand)

    def check(self, values: Column) -> None:
        """Unknown cards leave a hand to the engine; then who shows what, and who may muck."""
        self.mark((self.hole | self.board) >> UNKNOWN_CARD & 1 == 1, Why.UNKNOWN)
        self.mark(self._unlike(), Why.SHOWING)
        if self.plan.game.muck != "never":
            self.mark(self._unbeaten(values), Why.SHOWING)

    def mark(self, wrong: Column, why: Why) -> None:
        """Something is wrong with the hands of these contenders."""
        self.record.doubt(self.hand.take(np.flatnonzero(wrong)), why)

    def _unlike(self) -> Column:
        """From the first to show, everybody who is still in, with the cards he was dealt."""
        record, seats = self.record, self.plan.seats
        stays = record.played.stays.take(self.hand)
        wrong = (stays >> self.seat & 1) == 0
        turn = self.seat - self._first_to_show().take(self.of)
        turn += np.int32(seats) * (turn < 0)
        before = np.empty_like(turn)
        before[1:] = turn[:-1]
        before[self.first] = -1
        wrong |= turn <= before
        shown = ~self.mucked
        cards = (self.held + np.int8(1)) * shown
        wrong |= self.codes != event_code(SHOW, seat=self.seat) + event_code(
            0, cards=cards - np.int8(1)
        )
        order = record.columns.order.take(self.rows, mode="clip")
        wrong |= (order != self.cards.order_at(self.at)) & shown
        if self.plan.game.muck == "never":
            wrong |= self.mucked
        return wrong

    def _first_to_show(self) -> Column:
        """The last to bet or raise; nobody did: the first to act (T9)."""
        game, played = self.plan.game, self.record.played
        first: Column = played.left(game.first_to_act == "left_of_button")
        if game.show_first == "last_aggressor":
            aggressor = played.aggressor
            first = first + (aggressor - first) * (aggressor >= 0)
        return first.take(self.down)

    def _unbeaten(self, values: Column) -> Column:
        """The first must show, and each seat that leads some pot of those shown so far (T10)."""
        wrong = np.zeros(len(values), dtype=bool)
        place = np.arange(len(values)) - self.first.take(self.of)
        rest, back = np.flatnonzero(self.mucked), 0
        while len(rest):
            back += 1
            alone = place.take(rest) < back
            wrong[rest[alone]] = True
            rest = rest.compress(~alone)
            other = rest - back
            beaten = values.take(other) > values.take(rest)
            beaten &= self.paid.take(other) >= self.paid.take(rest)
            beaten &= ~self.mucked.take(other)
            rest = rest.compress(~beaten)
        return wrong

    def worth(self, rules: Showdown, rows: Column | None = None) -> Column:
        """What each of these contenders has; cards that repeat count for nothing here."""
        hole, board, held = self.hole, self.board, self.held
        if rows is not None:
            hole, board, held = hole.take(rows), board.take(rows), held.take(rows)
        hole, board = hole & DECK, board & DECK
        if not any(line.does == "auction" for line in self.plan.lines):
            return _worth(hole, board, 2, rules)
        found = np.zeros(len(hole), dtype=np.uint16)
        for size in (2, 3):
            some = np.flatnonzero(held == size)
            found[some] = _worth(hole.take(some), board.take(some), size, rules)
        return found

    def best(self, values: Column) -> Column:
        """The best of these values at each showdown."""
        found = np.maximum(values.take(self.first), values.take(self.first + 1))
        hands, place = np.arange(len(found)), 2
        while len(hands := hands.compress(self.count.take(hands) > place)):
            more = values.take(self.first.take(hands) + place)
            found[hands] = np.maximum(found.take(hands), more)
            place += 1
        return found

    def every(self, hands: Column) -> Column:
        """The rows of some of the hands, by place among those that come to a showdown."""
        rows = spans(self.first.take(hands), self.count.take(hands))
        return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows

    def by_seat(self, values: Column, rows: Column, hands: Column) -> Column:
        """Values of contenders, seat by seat; -1 for who is not in."""
        found = np.full((self.plan.seats, len(hands)), -1, dtype=np.int32)
        place = np.repeat(np.arange(len(hands)), self.count.take(hands))
        found[self.seat.take(rows), place] = values
        return found


def _worth(hole: Column, board: Column, held: int, rules: Showdown) -> Column:
    values = worth(hole | board, held + 5, rules)
    if rules.hole_min:
        with_hole(values, hole, board, held, rules)
    return values
