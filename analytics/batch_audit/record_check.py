"""Check records field by field against what the rules make of their actions.

The replay says how many events of which kind must follow one another. Where a record has just
those, each event's place is known, and its fields are compared as columns.

Then the cards: dealt to whom they had to be, swapped, and no card twice.
"""

import numpy as np

from analytics.batch_audit.betting_check import BettingCheck
from analytics.batch_audit.event_arrays import (
    CARD_BITS,
    CODE,
    ORIGINS,
    SHOW,
    UNKNOWN_CARD,
    EventArrays,
    code_field,
    event_code,
)
from analytics.batch_audit.plan import ANTE, DoubtReason, ScriptLine
from store.columns.numpy_columns import Column, pair

DECK = (1 << UNKNOWN_CARD) - 1
_CARD_MASK = 63  # six bits hold a card, one more than its number
Field = Column | int | bool


class RecordStage:
    """A stage of records: successive events of one kind; their first rows, and hands with any."""

    def __init__(self, kind: str | int, row: Column, there: Column) -> None:
        self.kind = CODE[kind] if isinstance(kind, str) else kind
        self.row, self.there = row, there


class RecordCheck:
    """Check the rows of some hands against their replay."""

    def __init__(
        self, columns: EventArrays, which: Column, played: BettingCheck, pots: Column, raked: Column
    ) -> None:
        self.columns, self.played = columns, played
        self.plan = played.plan
        self.why = played.why
        self.contenders = np.bitwise_count(played.stays).astype(np.int64)
        self.row: Column = columns.first.take(which)  # of the next stage
        self.every = np.ones(played.n, dtype=bool)
        self.start = self._stage_in_all("HandStarted")
        self.posts = self._stage_in_all("StepEntered") if self.plan.announced else None
        self.forced = [
            self._stage_in_some("AntePosted" if f.kind == ANTE else "BlindPosted", there)
            for f, there in zip(self.plan.forced, played.posted, strict=True)
        ]
        entered = self._stage_in_all("StepEntered")
        self.hole = entered, self._stage_in_all("HoleDealt", self.plan.seats)
        self.parts = self._line_stages()
        self.rakes = self._stage_in_some("RakeTaken", raked > 0, raked.astype(np.int64))
        self.splits = self._stage_in_some("PotSplit", pots > 0, pots.astype(np.int64))
        self.end = self._stage_in_all("HandEnded")
        self.doubt_where(self.row != columns.first.take(which + 1), DoubtReason.SHAPE)

    def _stage_in_all(self, kind: str, count: int = 1) -> RecordStage:
        """Add a stage that every hand has."""
        stage = RecordStage(kind, self.row, self.every)
        self.row = self.row + count
        return stage

    def _stage_in_some(
        self, kind: str | int, there: Column, count: Column | None = None
    ) -> RecordStage:
        """Add a stage that some hands have, with one event if no count is given."""
        stage = RecordStage(kind, self.row, there)
        if there.any():
            self.row = self.row + (there.astype(np.int64) if count is None else count)
        return stage

    def _line_stages(self) -> list[tuple[ScriptLine, int, tuple[RecordStage, ...]]]:
        """The stages of each line of the script, with the number of the last round before it."""
        played, number = self.played, -1
        found: list[tuple[ScriptLine, int, tuple[RecordStage, ...]]] = []
        stages: tuple[RecordStage, ...]
        last = played.last.view(np.uint32)  # where nobody was left alone: after every round
        for line in self.plan.lines:
            if line.kind == "bet":
                number += 1
                found.append((line, number, self._round_stages(number)))
                continue
            on = last > number
            one = on.astype(np.int64)
            entered = self._stage_in_some("StepEntered", on, one)
            if line.kind == "board":
                stages = entered, self._stage_in_some("BoardDealt", on, one)
            elif line.kind == "auction":
                bids = self._stage_in_some("BidPlaced", on, 2 * one)
                settled = self._stage_in_some("AuctionSettled", on, one)
                won = np.bitwise_count(played.winners) * on
                third = self._stage_in_some("HoleDealt", on, won.astype(np.int64))
                stages = entered, bids, settled, third
            elif line.kind == "swap":
                stages = entered, self._stage_in_some("CardSwapped", on, 4 * one)
            else:
                stages = entered, self._stage_in_some(SHOW, on, self.contenders * one)
            found.append((line, number, stages))
        return found

    def _round_stages(self, number: int) -> tuple[RecordStage, ...]:
        """The stages of a betting round: its opening, and an uncalled bet that goes back."""
        played = self.played
        opened = played.open_next[number] >= 0
        opening = RecordStage("BettingOpened", self.row, opened)
        self.row = self.row + (played.played[number] + opened)
        return opening, self._stage_in_some("UncalledReturned", played.back[number] > 0)

    def doubt_where(self, where: Column, why: DoubtReason) -> None:
        """Give hands a reason to doubt; the first one of a hand is kept."""
        self.played.doubt_where(where, why)

    def doubt(self, hands: Column, why: DoubtReason) -> None:
        """Doubt these hands, numbered; the first reason of a hand is kept."""
        self.why[hands[self.why.take(hands) == 0]] = why

    def field_of(self, name: str, stage: RecordStage, place: int = 0) -> Column:
        """The values of a column in a stage's event; anything where a hand has none."""
        rows = stage.row + place if place else stage.row
        return self.columns.values[name].take(rows, mode="clip")

    def expect(
        self, stage: RecordStage, why: DoubtReason, place: int = 0, /, **fields: Field
    ) -> None:
        """Doubt hands whose event of a stage is missing, or has other fields than these."""
        unlike = self.codes(stage, place) != event_code(stage.kind, **fields)
        self.doubt_where(unlike & stage.there, why)

    def codes(self, stage: RecordStage, place: int = 0) -> Column:
        """The codes of a stage's event; anything where a hand has none."""
        rows = stage.row + place if place else stage.row
        return self.columns.codes.take(rows, mode="clip")

    def expect_amounts(self, stage: RecordStage, why: DoubtReason, /, **expected: Field) -> None:
        """Doubt hands whose event of a stage has other amounts than these."""
        for name, value in expected.items():
            self.doubt_where((self.field_of(name, stage) != value) & stage.there, why)

    def expect_step(self, stage: RecordStage, line: ScriptLine) -> None:
        """Doubt hands that enter a step under another number or name."""
        street = self.columns.words.number(line.name)
        self.expect(stage, DoubtReason.DIFFERS, step=line.at, street=street)

    # Events that the rules alone decide, but for cards and payouts.

    def check(self) -> None:
        """Check start, forced bets, rounds that open and close, auctions."""
        self.expect(self.start, DoubtReason.SHAPE)
        if self.posts is not None:
            self.expect_step(self.posts, ScriptLine("posts", 0, "posts"))
        self._check_forced_bets()
        self.expect_step(self.hole[0], ScriptLine("hole", self.plan.deal, "hole"))
        self._check_openings()
        for line, number, stages in self.parts:
            if line.kind == "bet":
                self._check_uncalled(stages[1], number)
            else:
                self.expect_step(stages[0], line)
            if line.kind == "auction":
                self._check_auction(stages)
        self.expect(self.end, DoubtReason.SHAPE)

    def _check_openings(self) -> None:
        """Check how each round opens; that only actions follow is known of every hand here."""
        played = self.played
        bets = [(line, stages[0]) for line, _, stages in self.parts if line.kind == "bet"]
        opening = [
            event_code("BettingOpened", step=line.at, street=self.columns.words.number(line.name))
            for line, _ in bets
        ]
        opens, place = played.hands.opens, played.place
        codes = np.array(opening, dtype=np.int32).take(played.number)
        codes += event_code(0, next=played.open_next.ravel().take(place))
        wrong = opens.code != codes
        wrong |= np.stack([stage.row for _, stage in bets]).ravel().take(place) != opens.row
        wrong |= opens.bet != played.open_bet.ravel().take(place)
        wrong |= opens.size != played.hands.sizes
        self.doubt(played.of.take(np.flatnonzero(wrong)), DoubtReason.DIFFERS)
        opened = (played.open_next >= 0).sum(0, dtype=np.int8)
        self.doubt_where(opened != played.hands.opened, DoubtReason.SHAPE)

    def _check_uncalled(self, stage: RecordStage, number: int) -> None:
        """Check that uncalled bets go back to the seat that the rules name."""
        played = self.played
        hands = np.flatnonzero(stage.there)
        rows = stage.row.take(hands)
        seat = event_code(stage.kind, seat=played.back_to[number].take(hands))
        wrong = self.columns.codes.take(rows, mode="clip") != seat
        amount = self.columns.values["amount"].take(rows, mode="clip")
        wrong |= amount != played.back[number].take(hands)
        self.doubt(hands.compress(wrong), DoubtReason.DIFFERS)

    def _check_forced_bets(self) -> None:
        """Check antes and blinds: seats, amounts, and that nobody chose them."""
        played = self.played
        for number, (forced, stage) in enumerate(zip(self.plan.forced, self.forced, strict=True)):
            if not stage.there.any():
                continue
            seat = played.seat_left_of_button(1 + forced.place)
            self.expect_amounts(stage, DoubtReason.START, amount=played.post[number])
            if forced.kind == ANTE:
                self.expect(stage, DoubtReason.START, seat=seat)
            else:
                whole, origin = played.post_to[number] == played.post[number], ORIGINS["forced"]
                fields = {"seat": seat, "blind": forced.kind, "origin": origin, "whole": whole}
                self.expect(stage, DoubtReason.START, **fields)
                some = np.flatnonzero(stage.there & ~whole)
                to = self.columns.values["to"].take(stage.row.take(some), mode="clip")
                self.doubt(some[to != played.post_to[number].take(some)], DoubtReason.START)

    def _check_auction(self, stages: tuple[RecordStage, ...]) -> None:
        """Check bids, sealed or leaked, in order; the price, the winners, and revealed bids."""
        played, game, bids = self.played, self.plan.game, self.played.hands.bids
        _, placed, settled, _ = stages
        dealer = played.hands.button
        there = settled.there
        every: Column | bool = True
        for place, seat in enumerate((1 - dealer, dealer)):
            codes = self.codes(placed, place)
            sealed: Column | bool = True
            if game.bids != "sealed":
                sealed = code_field(codes, "sealed") == 2
                every = every & sealed
            code = event_code(placed.kind, seat=seat, sealed=sealed)
            broke = played.bid_max.ravel().take(seat * np.int64(played.n) + played.rows) == 0
            usual = code + event_code(0, origin=broke * np.int8(ORIGINS["forced"]))
            default = code + event_code(0, origin=ORIGINS["default"])
            self.doubt_where(there & (codes != usual) & (codes != default), DoubtReason.BID)
        self.expect(settled, DoubtReason.SHAPE)
        self.expect_amounts(settled, DoubtReason.BID, price=played.price, sealed=every)
        revealed, winners = self.columns.lists["bids"], self.columns.lists["seats"]
        row = settled.row
        if game.bids_revealed == "after_auction":
            unlike = revealed.one_or_two(row) != pair(*bids)
        else:
            unlike = revealed.lengths(row) != 0
        both = played.winners == 3
        first = both * dealer + (played.winners >> 1) * ~both  # the dealer before the other
        unlike |= winners.one_or_two(row) != pair(first, both * (2 - dealer) - 1)
        self.doubt_where(there & unlike, DoubtReason.BID)


class DealtCards:
    """Check the cards of hands; keep each seat's, as a mask and in order, and the board.

    A hand's holes stand together, in the order in which they were dealt: `at` finds a seat's.
    """

    def __init__(self, record: RecordCheck) -> None:
        self.record, self.plan = record, record.plan
        n = record.played.n
        self.board = np.zeros(n, dtype=np.int64)
        self.blank: Column | int = 0
        self.changes = any(line.kind in ("auction", "swap") for line in self.plan.lines)
        self._check_holes()
        dealt = 0
        for line, _, stages in record.parts:
            if line.kind == "board":
                self._check_board(stages[1], line.total - dealt)
                dealt = line.total
            elif line.kind == "auction":
                self._check_third_cards(stages[3])
            elif line.kind == "swap":
                self._check_swaps(stages[1])
        held = np.bitwise_count(self.seen & DECK) + self.blank
        record.doubt_where(held != self.count, DoubtReason.CARDS)

    def at(self, seat: Column, hand: Column, button: Column) -> Column:
        """The place of a seat's hole cards in the column of all holes."""
        place = seat - button
        if self.plan.game.hole_order != "pairs_from_dealer":
            place -= 1
        place += np.int32(self.plan.seats) * (place < 0)
        found: Column = hand * np.int64(self.plan.seats) + place
        return found

    def card_order(self, at: Column) -> Column:
        """The cards of some holes in the order in which they were dealt."""
        if self.changes:
            return self.order.take(at)
        return self.record.columns.order.take(self.rows.take(at), mode="clip")

    def _check_holes(self) -> None:
        """Check that each seat gets two cards, from the left of the button or from the button."""
        record, seats = self.record, self.plan.seats
        stage, n = record.hole[1], record.played.n
        pairs = self.plan.game.hole_order == "pairs_from_dealer"
        first = event_code("HoleDealt", seat=0, cards=2)
        turns = (np.arange(seats)[:, None] + np.arange(seats) + (not pairs)) % seats
        targets = (first + (turns << 8)).astype(np.int32).T  # by button and place
        rows = (stage.row[:, None] + np.arange(seats)).ravel()
        columns = record.columns
        targets = targets.take(record.played.hands.button, axis=0).ravel()
        wrong = columns.codes.take(rows, mode="clip") != targets
        record.doubt(np.flatnonzero(wrong) // seats, DoubtReason.CARDS)
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

    def _add_dealt(self, stage: RecordStage, count: int, place: int = 0) -> Column:
        """Add so many new cards; one that comes twice, or is none, is missed later."""
        rows = stage.row + place if place else stage.row
        there = stage.there
        bits: Column = self.record.columns.bits.take(rows, mode="clip")
        bits *= there
        self.seen |= bits
        self.count += there * np.int8(count)
        if (bits >> UNKNOWN_CARD & 1).any():
            self.blank = self.blank + self.record.columns.blank.take(rows, mode="clip") * there
        return bits

    def _check_board(self, stage: RecordStage, count: int) -> None:
        self.record.expect(stage, DoubtReason.CARDS, cards=count)
        self.board |= self._add_dealt(stage, count)

    def _check_third_cards(self, stage: RecordStage) -> None:
        """Check the third cards of an auction's winners, the dealer's first."""
        record, played = self.record, self.record.played
        dealer = played.hands.button
        first = 1 - dealer + (2 * dealer - 1) * (played.winners >> dealer & 1)
        hole, orders = self.hole, self.order
        third = stage
        for seat in (first, 1 - dealer):
            record.expect(third, DoubtReason.CARDS, seat=seat, cards=1)
            at = self.at(seat, played.rows, dealer)
            hole[at] |= self._add_dealt(third, 1)
            order = record.columns.order.take(third.row, mode="clip") * third.there
            orders[at] |= order << 12
            third = RecordStage("HoleDealt", stage.row + 1, played.winners == 3)
            if not third.there.any():
                break

    def _check_swaps(self, stage: RecordStage) -> None:
        """Check each swap, the dealer's first; a new card was never in play before."""
        record, rows = self.record, self.record.played.rows
        dealer = record.played.hands.button
        both_see = self.plan.game.swap_seen == "both_told"
        holes, orders = self.hole, self.order
        for place in range(4):
            seat, slot = dealer ^ (place // 2), place % 2
            there = stage.there
            record.expect(stage, DoubtReason.CARDS, place, seat=seat, slot=slot, told=both_see)
            old = record.field_of("old", stage, place).astype(np.int32) + 1
            new = record.field_of("new", stage, place).astype(np.int32) + 1
            at = self.at(seat, rows, dealer)
            was, held = orders.take(at), holes.take(at)
            record.doubt_where(there & (old != was >> 6 * slot & _CARD_MASK), DoubtReason.CARDS)
            blank = UNKNOWN_CARD + 1
            record.doubt_where(there & ((new == blank) | (old == blank)), DoubtReason.UNKNOWN)
            changed = there & (new != old)
            self.seen |= CARD_BITS.take(new) * changed
            self.count += changed
            orders[at] = was ^ ((old ^ new) << 6 * slot) * changed
            swapped = held & ~CARD_BITS.take(old) | CARD_BITS.take(new)
            holes[at] = held + (swapped - held) * changed
