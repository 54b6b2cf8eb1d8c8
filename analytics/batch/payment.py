"""Showdowns and payment in columns: who shows, what the pots pay, and what other readings would."""

import numpy as np
from msgspec.structs import replace

from analytics.batch.cards import DECK, Cards
from analytics.batch.marks import SHOW, mark
from analytics.batch.plan import comparison
from analytics.batch.pots import Layer, awards, layers, taken
from analytics.batch.record import Record, Stage
from analytics.batch.replay import Replay
from analytics.batch.rows import CODES, UNKNOWN_CARD, Column
from analytics.batch.why import Why
from engine.game import Game
from odds.batch import Showdown, columns, with_hole, worth

MUCKED = CODES["Mucked"]


class Payment:
    """What is in the middle of each hand at its end, and how it is cut into pots."""

    def __init__(self, played: Replay) -> None:
        self.played, self.game = played, played.game
        paid = np.maximum(played.paid(), 0)
        dead = played.dead.sum(0, dtype=np.int32)
        self.paid, self.dead = paid, dead
        n = played.n
        alone = played.last >= 0
        self.down = np.flatnonzero(~alone)
        self.pots = layers(paid[:, self.down], dead[self.down], played.stays[self.down])
        self.whole = paid.sum(0, dtype=np.int32) + dead
        self.count = np.ones(n, dtype=np.int32)
        self.count[self.down] = sum(
            ((pot.amount > 0).astype(np.int32) for pot in self.pots),
            np.zeros(len(self.down), dtype=np.int32),
        )
        self.cuts: list[Column] | None = None
        self.alone_cut = np.zeros(n, dtype=np.int64)
        self.rakes = np.zeros(n, dtype=np.int32)
        if self.game.rake is not None:
            self._rake(alone)

    def _rake(self, alone: Column) -> None:
        """The cut of each pot; nothing of a hand without a flop, if so ruled (R3)."""
        rule, played = self.game.rake, self.played
        assert rule is not None
        flop = self._flop_after()
        seen = (played.last < 0) | (played.last > flop) | (not rule.no_flop_no_drop)
        seats = played.seats
        self.cuts = taken(rule, self.pots, seats, seen[self.down])
        one = [Layer(self.whole, played.stays, np.zeros_like(self.whole))]
        self.alone_cut = taken(rule, one, seats, seen & alone)[0]
        self.rakes = (self.alone_cut != 0).astype(np.int32)
        for cut in self.cuts:
            self.rakes[self.down] += cut != 0

    def _flop_after(self) -> int:
        """The number of the last round before three cards are on the board."""
        number = -1
        for line in self.played.plan.lines:
            number += line.does == "bet"
            if line.does == "board" and line.total >= 3:
                return number
        return number


class Verdicts:
    """The last part of the screen: showing, rake, award, readings; and what each seat won."""

    def __init__(self, record: Record, cards: Cards, payment: Payment) -> None:
        self.record, self.cards, self.pay = record, cards, payment
        self.played, self.plan = record.played, record.plan
        self.nets = (self.played.stacks - self.played.hands.brought).astype(np.int64)
        self.down = payment.down[record.why[payment.down] == 0]
        at = np.searchsorted(payment.down, self.down)
        self.pots = [Layer(p.amount[at], p.seats[at], p.number[at]) for p in payment.pots]
        self.cuts = None if payment.cuts is None else [cut[at] for cut in payment.cuts]
        self.hole = cards.hole[:, self.down]
        unknown = self.hole >> UNKNOWN_CARD & 1 == 1
        self.held = np.bitwise_count(self.hole)
        self.slots = 3 if any(line.does == "auction" for line in self.plan.lines) else 2
        self.board = cards.board[self.down]
        stays = self.played.stays[self.down]
        self.stay = np.stack([(stays >> seat & 1) == 1 for seat in range(self.plan.seats)])
        secret = (unknown & self.stay).any(0) | (self.board >> UNKNOWN_CARD & 1 == 1)
        self._mark(secret, Why.UNKNOWN)

    def check(self) -> None:
        """Every event after the betting."""
        self._alone()
        values = self.values(self.plan.game)
        if len(self.down):
            self._shown()
            self._mucked(values)
            self._rakes()
        self._paid(values)
        self._readings(values)

    def values(self, game: Game) -> Column:
        """What each seat still in has at showdown, seat by seat; -1 for who is not."""
        rules = comparison(game)
        found = np.full(self.stay.shape, -1, dtype=np.int64)
        for seat in range(self.plan.seats):
            for size in range(2, self.slots + 1):
                rows = np.flatnonzero(self.stay[seat] & (self.held[seat] == size))
                if len(rows):
                    found[seat, rows] = _worth(self.hole[seat, rows], self.board[rows], size, rules)
        return found

    def _mark(self, wrong: Column, why: Why) -> None:
        """Something is wrong with hands that came to a showdown."""
        if wrong.any():
            rows = self.down[wrong]
            rows = rows[self.record.why[rows] == 0]
            self.record.why[rows] = why

    def _cell(self, name: str, stage: Stage, place: Column) -> Column:
        rows = stage.row[self.down] + place
        return self.record.rows.cells[name].take(rows, mode="clip")

    def _mark_at(self, stage: Stage, place: Column) -> Column:
        return self.record.laid.marks.take(stage.row[self.down] + place, mode="clip")

    def _first_to_show(self) -> Column:
        """The last to bet or raise; nobody did: the first to act (T9)."""
        game, button = self.plan.game, self.played.hands.button[self.down]
        first = button + (game.first_to_act == "left_of_button")
        if game.show_first == "last_aggressor":
            aggressor = self.played.aggressor[self.down]
            first = np.where(aggressor >= 0, aggressor, first)
        return first % self.plan.seats

    def _shown(self) -> None:
        """From the first to show, everybody who is still in, with the cards he was dealt."""
        stage, seats = self.record.parts[-1][2][1], self.plan.seats
        rank = np.zeros(len(self.down), dtype=np.int64)
        first, rows = self._first_to_show(), np.arange(len(self.down))
        wrong = np.zeros(len(self.down), dtype=bool)
        may_muck, laid = self.plan.game.muck != "never", self.record.laid
        for place in range(seats):
            seat = (first + place) % seats
            there = self.stay[seat, rows]
            mucked = self._cell("kind", stage, rank) == MUCKED
            held = self.held[seat, rows]
            said = np.where(mucked, mark(SHOW, seat=seat), mark(SHOW, seat=seat, cards=held))
            unlike = self._mark_at(stage, rank) != said
            order = laid.order.take(stage.row[self.down] + rank, mode="clip")
            unlike |= (order != self.cards.order[seat, self.down]) & ~mucked
            unlike |= mucked & (not may_muck)
            wrong |= unlike & there
            rank += there
        self._mark(wrong, Why.SHOWING)

    def _mucked(self, values: Column) -> None:
        """The first must show, and whoever leads some pot of those shown so far (T10)."""
        if self.plan.game.muck == "never" or not len(self.down):
            return
        stage, seats = self.record.parts[-1][2][1], self.plan.seats
        paid = self.pay.paid[:, self.down]
        rank = np.zeros(len(self.down), dtype=np.int64)
        first, rows = self._first_to_show(), np.arange(len(self.down))
        shown = np.zeros_like(self.stay)
        wrong = np.zeros(len(self.down), dtype=bool)
        for place in range(seats):
            seat = (first + place) % seats
            there = self.stay[seat, rows]
            mucked = there & (self._cell("kind", stage, rank) == MUCKED)
            beaten = shown & (paid >= paid[seat, rows]) & (values > values[seat, rows])
            wrong |= mucked & ~beaten.any(0)
            shown[seat, rows] = there & ~mucked
            rank += there
        self._mark(wrong, Why.SHOWING)

    def _alone(self) -> None:
        """The last contender wins unseen (G17), all but the house's cut."""
        record, pay, played = self.record, self.pay, self.played
        alone = (played.last >= 0) & (record.why == 0)
        seat = np.bitwise_count(played.stays - 1).astype(np.int32)
        row = np.minimum(record.splits.row, len(record.rows.cells["kind"]) - 1)
        share = pay.whole - pay.alone_cut
        seats, shares = (self.record.rows.ragged[name] for name in ("seats", "shares"))
        unlike = (seats.count.take(row) != 1) | (shares.count.take(row) != 1)
        unlike |= (seats.entry(row, 0) != seat) | (shares.entry(row, 0) != share)
        unlike |= record.laid.marks.take(row, mode="clip") != mark("PotSplit", pot=0)
        record.fail(alone & unlike, Why.AWARD)
        if self.plan.game.rake is not None:
            cut = record.cell("amount", record.rakes) != pay.alone_cut
            rakes = record.laid.marks.take(record.rakes.row, mode="clip")
            cut |= rakes != mark("RakeTaken", pot=0)
            record.fail(alone & (pay.alone_cut > 0) & cut, Why.RAKE)
        rows = np.flatnonzero(alone)
        self.nets[seat[rows], rows] += share[rows]

    def _rakes(self) -> None:
        """What the house took, pot by pot."""
        rank = np.zeros(len(self.down), dtype=np.int64)
        for place, cut in enumerate(self.cuts or ()):
            unlike = self._cell("amount", self.record.rakes, rank) != cut
            told = mark("RakeTaken", pot=self.pots[place].number)
            unlike |= self._mark_at(self.record.rakes, rank) != told
            self._mark(unlike & (cut != 0), Why.RAKE)
            rank += cut != 0

    def _paid(self, values: Column) -> None:
        """Each pot as it was split, beside how the rules split it."""
        game, record = self.plan.game, self.record
        button = self.played.hands.button[self.down]
        told, chips = (record.rows.ragged[name] for name in ("seats", "shares"))
        back = self._taken_back(values) if game.showdown_tie == "no_change" else None
        begins = record.splits.row[self.down]
        self.won = np.zeros((self.plan.seats, len(self.down)), dtype=np.int64)
        for paid in awards(game, self.pots, self.cuts, values, button):
            row = np.minimum(begins[paid.rows] + paid.number, len(told.at) - 1)
            unlike = record.laid.marks.take(row) != mark("PotSplit", pot=paid.number)
            unlike |= ~paid.exact
            winners = paid.wins.sum(0)
            unlike |= (told.count.take(row) != winners) | (chips.count.take(row) != winners)
            rank = np.zeros(len(row), dtype=np.int64)
            for seat, wins, share in zip(paid.seats, paid.wins, paid.shares, strict=True):
                unlike |= wins & (told.entry(row, rank) != seat)
                unlike |= wins & (chips.entry(row, rank) != share)
                rank += wins
                self.won[seat, paid.rows] += share
            wrong = np.zeros(len(self.down), dtype=bool)
            wrong[paid.rows] = unlike
            if back is not None:
                wrong &= ~back
            self._mark(wrong, Why.AWARD)
        if back is not None and back.any():
            self._given_back(back)
        self.nets[:, self.down] += self.won

    def _taken_back(self, values: Column) -> Column:
        """In a tie of the two, bankrolls do not change: each takes back what he put in (A9)."""
        tie: Column = self.stay.all(0) & (values[0] == values[1])
        return tie

    def _given_back(self, back: Column) -> None:
        record, rows = self.record, self.down[back]
        put_in = (self.pay.paid + self.played.dead)[:, rows].astype(np.int64)
        row = record.splits.row[rows]
        told, chips = (record.rows.ragged[name] for name in ("seats", "shares"))
        unlike = (told.count.take(row) != 2) | (chips.count.take(row) != 2)
        for seat in (0, 1):
            unlike |= told.entry(row, seat) != seat
            unlike |= chips.entry(row, seat) != put_in[seat]
        unlike |= record.laid.marks.take(row) != mark("PotSplit", pot=0)
        wrong = np.zeros(len(self.down), dtype=bool)
        wrong[back] = unlike
        self._mark(wrong, Why.AWARD)
        self.won[:, back] = put_in

    # What other readings of the rules would pay.

    def _readings(self, values: Column) -> None:
        """Hands that some reading, or the partner as a whole, could pay differently."""
        game = self.plan.game
        others = [replace(game, **{one.policy: one.value}) for one in game.readings]
        if self.plan.partner is not None:
            shared = {"rake": game.rake, "split_unit": game.split_unit}
            others.append(replace(self.plan.partner, **shared))
        for other in others:
            if len(self.down):
                self._mark(self._pays_differently(other, values), Why.READING)

    def _pays_differently(self, other: Game, values: Column) -> Column:
        """Whether this reading pays somebody else, or could: then the engine counts."""
        game = self.plan.game
        doubt = np.zeros(len(self.down), dtype=bool)
        if other.kickers != game.kickers:  # only a tie of five cards can be broken (T11)
            ranked = np.sort(np.where(self.stay, values, -1 - np.arange(len(values))[:, None]), 0)
            doubt |= (np.diff(ranked, axis=0) == 0).any(0)
        if other.split != game.split:  # pots are cut otherwise only where a seat was all-in (T8)
            able = self.played.able[self.down]
            doubt |= (self.played.stays[self.down] & ~able) != 0
        if other.announce != game.announce or other.uncalled != game.uncalled:
            doubt |= True
        if all(getattr(game, one) == getattr(other, one) for one in _PAYING):
            return doubt
        theirs = self._other_values(other, values)
        rows = np.flatnonzero(self._won_otherwise(other, values, theirs) & ~doubt)
        if not len(rows):
            return doubt
        pots = [Layer(p.amount[rows], p.seats[rows], p.number[rows]) for p in self.pots]
        cuts = None if self.cuts is None else [cut[rows] for cut in self.cuts]
        button = self.played.hands.button[self.down[rows]]
        won = np.zeros((self.plan.seats, len(rows)), dtype=np.int64)
        for paid in awards(other, pots, cuts, theirs[:, rows], button):
            doubt[rows[paid.rows]] |= ~paid.exact
            for seat, share in zip(paid.seats, paid.shares, strict=True):
                won[seat, paid.rows] += share
        if other.showdown_tie == "no_change" and self.plan.seats == 2:
            back = self._taken_back(theirs)[rows]
            won[:, back] = (self.pay.paid + self.played.dead)[:, self.down[rows[back]]]
        doubt[rows] |= (won != self.won[:, rows]).any(0)
        return doubt

    def _other_values(self, other: Game, values: Column) -> Column:
        """What hands are worth under another comparison; a coarser one looks it up."""
        mine, theirs = comparison(self.plan.game), comparison(other)
        if mine == theirs:
            return values
        if mine == replace(theirs, ranking="standard") and not mine.hole_min:
            coarse = columns(7, theirs).coarse
            assert coarse is not None
            return np.where(values < 0, -1, coarse.take(np.maximum(values, 0)).astype(np.int64))
        return self.values(other)

    def _won_otherwise(self, other: Game, values: Column, theirs: Column) -> Column:
        """Hands in which another seat wins some pot, or where a tie is paid by other rules."""
        game = self.plan.game
        odd = other.odd_chips != game.odd_chips or other.showdown_tie != game.showdown_tie
        found = np.zeros(len(self.down), dtype=bool)
        for pot in self.pots:
            may = [(pot.seats >> seat & 1) == 1 for seat in range(self.plan.seats)]
            mine, others = np.where(may, values, -1), np.where(may, theirs, -1)
            best = mine == mine.max(0)
            unlike = (best != (others == others.max(0))).any(0)
            if odd:
                unlike |= best.sum(0, dtype=np.int8) > 1
            found |= unlike & (pot.amount > 0)
        return found


_PAYING = ("ranking", "straights", "hole_min", "odd_chips", "showdown_tie")


def _worth(hole: Column, board: Column, held: int, rules: Showdown) -> Column:
    """Values of hole cards with a whole board; cards that repeat count for nothing here."""
    hole, board = hole & DECK, board & DECK
    values = worth(hole | board, held + 5, rules)
    if rules.hole_min:
        with_hole(values, hole, board, held, rules)
    return values.astype(np.int64)
