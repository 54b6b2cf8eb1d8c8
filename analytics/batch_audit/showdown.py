"""The showdowns of many hands at once: who shows or mucks in which order, and each hand's value.

A row of `Contenders` is a seat at a showdown, as the record shows it. The check of the record
compares seats and order with the rules; payouts are computed from these rows.
"""

import numpy as np

from analytics.batch_audit.betting_state import row_ranges
from analytics.batch_audit.event_arrays import SHOW, UNKNOWN_CARD, code_field, event_code
from analytics.batch_audit.plan import DoubtReason
from analytics.batch_audit.record_check import DECK, DealtCards
from odds.batch import Showdown, with_hole, worth
from store.columns.numpy_columns import Column


class Contenders:
    """The seats still in at the showdowns of some hands, a row each."""

    def __init__(self, cards: DealtCards, at_showdown: Column, paid: Column) -> None:
        self.cards, self.record, self.plan = cards, cards.record, cards.plan
        record, played = self.record, cards.record.played
        self.at_showdown = at_showdown  # the hands that come to a showdown
        self.count = record.contenders.take(at_showdown).astype(np.int64)
        self.first = np.cumsum(self.count) - self.count
        self.of = np.repeat(np.arange(len(at_showdown)), self.count)
        self.hand = at_showdown.take(self.of)
        stage = record.parts[-1][2][1]
        rows = stage.row.take(at_showdown)
        self.rows = np.repeat(rows - self.first, self.count) + np.arange(len(self.of))
        self.codes = record.columns.codes.take(self.rows, mode="clip")
        seat = code_field(self.codes, "seat") - 1
        self.seat = np.minimum(np.maximum(seat, 0), self.plan.seats - 1)
        self.mucked = code_field(self.codes, "cards") == 0
        button = played.hands.button.take(self.hand)
        self.at = cards.at(self.seat, self.hand, button)
        self.hole = cards.hole.take(self.at)
        self.paid = paid.ravel().take(self.seat * np.int64(played.n) + self.hand)
        self.held = np.bitwise_count(self.hole)
        self.board = cards.board.take(self.hand)

    def check(self, values: Column) -> None:
        """Check who shows what and who may muck; unknown cards leave a hand to the engine."""
        self.doubt_where((self.hole | self.board) >> UNKNOWN_CARD & 1 == 1, DoubtReason.UNKNOWN)
        self.doubt_where(self._is_wrong(), DoubtReason.SHOWING)
        if self.plan.game.muck != "never":
            self.doubt_where(self._mucks_unbeaten(values), DoubtReason.SHOWING)

    def doubt_where(self, wrong: Column, why: DoubtReason) -> None:
        """Doubt the hands of these contenders."""
        self.record.doubt(self.hand.take(np.flatnonzero(wrong)), why)

    def _is_wrong(self) -> Column:
        """Whether a contender shows out of turn, or other cards than he was dealt."""
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
        wrong |= (order != self.cards.card_order(self.at)) & shown
        if self.plan.game.muck == "never":
            wrong |= self.mucked
        return wrong

    def _first_to_show(self) -> Column:
        """The seat of the last bet or raise; if there was none, the first to act (T9)."""
        game, played = self.plan.game, self.record.played
        first: Column = played.seat_left_of_button(game.first_to_act == "left_of_button")
        if game.show_first == "last_aggressor":
            aggressor = played.aggressor
            first = first + (aggressor - first) * (aggressor >= 0)
        return first.take(self.at_showdown)

    def _mucks_unbeaten(self, values: Column) -> Column:
        """Whether a contender mucks who is first, or leads some pot of those shown so far (T10)."""
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

    def hand_values(self, rules: Showdown, rows: Column | None = None) -> Column:
        """The value of each contender's hand; cards that repeat count for nothing here."""
        hole, board, held = self.hole, self.board, self.held
        if rows is not None:
            hole, board, held = hole.take(rows), board.take(rows), held.take(rows)
        hole, board = hole & DECK, board & DECK
        if not any(line.kind == "auction" for line in self.plan.lines):
            return _hand_values(hole, board, 2, rules)
        found = np.zeros(len(hole), dtype=np.uint16)
        for size in (2, 3):
            some = np.flatnonzero(held == size)
            found[some] = _hand_values(hole.take(some), board.take(some), size, rules)
        return found

    def best_values(self, values: Column) -> Column:
        """The best value at each showdown."""
        found = np.maximum(values.take(self.first), values.take(self.first + 1))
        hands, place = np.arange(len(found)), 2
        while len(hands := hands.compress(self.count.take(hands) > place)):
            more = values.take(self.first.take(hands) + place)
            found[hands] = np.maximum(found.take(hands), more)
            place += 1
        return found

    def rows_of(self, hands: Column) -> Column:
        """The rows of some hands; these are numbered among those that come to a showdown."""
        rows = row_ranges(self.first.take(hands), self.count.take(hands))
        return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows

    def by_seat(self, values: Column, rows: Column, hands: Column) -> Column:
        """Values of contenders, seat by seat; -1 for who is not in."""
        found = np.full((self.plan.seats, len(hands)), -1, dtype=np.int32)
        place = np.repeat(np.arange(len(hands)), self.count.take(hands))
        found[self.seat.take(rows), place] = values
        return found


def _hand_values(hole: Column, board: Column, held: int, rules: Showdown) -> Column:
    values = worth(hole | board, held + 5, rules)
    if rules.hole_min:
        with_hole(values, hole, board, held, rules)
    return values
