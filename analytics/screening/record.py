"""A record held against what the rules made of its choices: every event, in order, field by field.

What the replay found says how many events of which kind must follow one another. Where a record has
just those, each event's place is known, and what it says is compared as a column.

Then the cards: dealt to whom they had to be, swapped, and no card twice.
"""

import numpy as np

from analytics.screening.columns import (
    BIT,
    CODE,
    ORIGINS,
    SHOW,
    UNKNOWN_CARD,
    ScreenColumns,
    event_code,
    field,
)
from analytics.screening.plan import ANTE, ScriptLine, Why
from analytics.screening.replay import Replay
from store.columns.cells import Column, pair

DECK = (1 << UNKNOWN_CARD) - 1
_PLACE = 63  # six bits hold a card, one more than its number
Expected = Column | int | bool


class Stage:
    """Events of one kind in a row: where the first stands, and which hands have any."""

    def __init__(self, kind: str | int, row: Column, there: Column) -> None:
        self.kind = CODE[kind] if isinstance(kind, str) else kind
        self.row, self.there = row, there


class Record:
    """The rows of some hands, beside their replay."""

    def __init__(
        self, columns: ScreenColumns, which: Column, played: Replay, pots: Column, rakes: Column
    ) -> None:
        self.columns, self.played = columns, played
        self.plan = played.plan
        self.why = played.why
        self.contenders = np.bitwise_count(played.stays).astype(np.int64)
        self.row: Column = columns.first.take(which)  # of the next stage
        self.every = np.ones(played.n, dtype=bool)
        self.start = self._one("HandStarted")
        self.posts = self._one("StepEntered") if self.plan.announced else None
        self.forced = [
            self._some("AntePosted" if f.kind == ANTE else "BlindPosted", there)
            for f, there in zip(self.plan.forced, played.posted, strict=True)
        ]
        self.hole = self._one("StepEntered"), self._one("HoleDealt", self.plan.seats)
        self.parts = self._lines()
        self.rakes = self._some("RakeTaken", rakes > 0, rakes.astype(np.int64))
        self.splits = self._some("PotSplit", pots > 0, pots.astype(np.int64))
        self.end = self._one("HandEnded")
        self.fail(self.row != columns.first.take(which + 1), Why.SHAPE)

    def _one(self, kind: str, count: int = 1) -> Stage:
        """A stage that every hand has."""
        stage = Stage(kind, self.row, self.every)
        self.row = self.row + count
        return stage

    def _some(self, kind: str | int, there: Column, count: Column | None = None) -> Stage:
        """A stage that some hands have, with one event if nothing else is said."""
        stage = Stage(kind, self.row, there)
        if there.any():
            self.row = self.row + (there.astype(np.int64) if count is None else count)
        return stage

    def _lines(self) -> list[tuple[ScriptLine, int, tuple[Stage, ...]]]:
        """The stages of each line of the script, beside the number of the last round before it."""
        played, number = self.played, -1
        found: list[tuple[ScriptLine, int, tuple[Stage, ...]]] = []
        stages: tuple[Stage, ...]
        last = played.last.view(np.uint32)  # where nobody was left alone: after every round
        for line in self.plan.lines:
            if line.does == "bet":
                number += 1
                found.append((line, number, self._bet(number)))
                continue
            on = last > number
            one = on.astype(np.int64)
            entered = self._some("StepEntered", on, one)
            if line.does == "board":
                stages = entered, self._some("BoardDealt", on, one)
            elif line.does == "auction":
                bids = self._some("BidPlaced", on, 2 * one)
                settled = self._some("AuctionSettled", on, one)
                won = np.bitwise_count(played.winners) * on
                stages = entered, bids, settled, self._some("HoleDealt", on, won.astype(np.int64))
            elif line.does == "swap":
                stages = entered, self._some("CardSwapped", on, 4 * one)
            else:
                stages = entered, self._some(SHOW, on, self.contenders * one)
            found.append((line, number, stages))
        return found

    def _bet(self, number: int) -> tuple[Stage, ...]:
        """A round: it opens, its actions follow, and something may go back."""
        played = self.played
        opened = played.open_next[number] >= 0
        opening = Stage("BettingOpened", self.row, opened)
        self.row = self.row + (played.played[number] + opened)
        return opening, self._some("UncalledReturned", played.back[number] > 0)

    def fail(self, where: Column, why: Why) -> None:
        """The first thing wrong with a hand is kept."""
        self.played.fail(where, why)

    def doubt(self, hands: Column, why: Why) -> None:
        """Something is wrong with these hands; the first thing wrong with one is kept."""
        self.why[hands[self.why.take(hands) == 0]] = why

    def cell(self, name: str, stage: Stage, place: int = 0) -> Column:
        """What a column says in a stage's event; anything where a hand has none."""
        rows = stage.row + place if place else stage.row
        return self.columns.values[name].take(rows, mode="clip")

    def hold(self, stage: Stage, why: Why, place: int = 0, /, **expected: Expected) -> None:
        """A stage's event is there, and its code says this."""
        unlike = self.codes(stage, place) != event_code(stage.kind, **expected)
        self.fail(unlike & stage.there, why)

    def codes(self, stage: Stage, place: int = 0) -> Column:
        """The code of a stage's event; any, where a hand has none."""
        rows = stage.row + place if place else stage.row
        return self.columns.codes.take(rows, mode="clip")

    def chips(self, stage: Stage, why: Why, /, **expected: Expected) -> None:
        """A stage's event has these amounts."""
        for name, value in expected.items():
            self.fail((self.cell(name, stage) != value) & stage.there, why)

    def entered(self, stage: Stage, line: ScriptLine) -> None:
        """A step that waits says its number and its name."""
        self.hold(stage, Why.DIFFERS, step=line.at, street=self.columns.words.number(line.name))

    # What the rules alone decide, cards and payment apart.

    def check(self) -> None:
        """Start, forced bets, rounds that open and close, auctions."""
        self.hold(self.start, Why.SHAPE)
        if self.posts is not None:
            self.entered(self.posts, ScriptLine("posts", 0, "posts"))
        self._forced()
        self.entered(self.hole[0], ScriptLine("hole", self.plan.deal, "hole"))
        self._rounds()
        for line, number, stages in self.parts:
            if line.does == "bet":
                self._returned(stages[1], number)
            else:
                self.entered(stages[0], line)
            if line.does == "auction":
                self._auction(stages)
        self.hold(self.end, Why.SHAPE)

    def _rounds(self) -> None:
        """How each round opens; that only actions follow is known of every hand here."""
        played = self.played
        bets = [(line, stages[0]) for line, _, stages in self.parts if line.does == "bet"]
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
        self.doubt(played.of.take(np.flatnonzero(wrong)), Why.DIFFERS)
        opened = (played.open_next >= 0).sum(0, dtype=np.int8)
        self.fail(opened != played.hands.opened, Why.SHAPE)

    def _returned(self, stage: Stage, number: int) -> None:
        """What nobody matched goes back, to whom the rules say."""
        played = self.played
        hands = np.flatnonzero(stage.there)
        rows = stage.row.take(hands)
        seat = event_code(stage.kind, seat=played.back_to[number].take(hands))
        wrong = self.columns.codes.take(rows, mode="clip") != seat
        amount = self.columns.values["amount"].take(rows, mode="clip")
        wrong |= amount != played.back[number].take(hands)
        self.doubt(hands.compress(wrong), Why.DIFFERS)

    def _forced(self) -> None:
        """Antes and blinds: who, how much, and that nobody chose them."""
        played = self.played
        for number, (forced, stage) in enumerate(zip(self.plan.forced, self.forced, strict=True)):
            if not stage.there.any():
                continue
            seat = played.left(1 + forced.place)
            self.chips(stage, Why.START, amount=played.post[number])
            if forced.kind == ANTE:
                self.hold(stage, Why.START, seat=seat)
            else:
                whole, origin = played.post_to[number] == played.post[number], ORIGINS["forced"]
                fields = {"seat": seat, "blind": forced.kind, "origin": origin, "whole": whole}
                self.hold(stage, Why.START, **fields)
                some = np.flatnonzero(stage.there & ~whole)
                to = self.columns.values["to"].take(stage.row.take(some), mode="clip")
                self.doubt(some[to != played.post_to[number].take(some)], Why.START)

    def _auction(self, stages: tuple[Stage, ...]) -> None:
        """Bids in order, sealed if they have to be; the price, the winners, and what is told."""
        played, game, bids = self.played, self.plan.game, self.played.hands.bids
        _, placed, settled, _ = stages
        dealer = played.hands.button
        there = settled.there
        every: Column | bool = True
        for place, seat in enumerate((1 - dealer, dealer)):
            codes = self.codes(placed, place)
            sealed: Column | bool = True
            if game.bids != "sealed":
                sealed = field(codes, "sealed") == 2
                every = every & sealed
            code = event_code(placed.kind, seat=seat, sealed=sealed)
            broke = played.bid_max.ravel().take(seat * np.int64(played.n) + played.rows) == 0
            usual = code + event_code(0, origin=broke * np.int8(ORIGINS["forced"]))
            default = code + event_code(0, origin=ORIGINS["default"])
            self.fail(there & (codes != usual) & (codes != default), Why.BID)
        self.hold(settled, Why.SHAPE)
        self.chips(settled, Why.BID, price=played.price, sealed=every)
        revealed, winners = self.columns.lists["bids"], self.columns.lists["seats"]
        row = settled.row
        if game.bids_revealed == "after_auction":
            unlike = revealed.one_or_two(row) != pair(*bids)
        else:
            unlike = revealed.many(row) != 0
        both = played.winners == 3
        first = both * dealer + (played.winners >> 1) * ~both  # the dealer before the other
        unlike |= winners.one_or_two(row) != pair(first, both * (2 - dealer) - 1)
        self.fail(there & unlike, Why.BID)


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
