"""Hands of an event table in columns: seats, chips that move, cards, and what does not add up.

A seat of a hand is a place; places follow one another hand by hand. Who names a seat that is not
at his table gets the place after the last.
"""

from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from events.ledger import Column
from store.columns.layout import CARDS, KINDS
from store.columns.numpy_columns import CardRows, ColumnReader

KIND = {name: code for code, name in enumerate(KINDS)}
PAYMENTS = ("AntePosted", "BlindPosted", "Called", "Bet", "Raised")
SEATED = ("HoleDealt", "Folded", "Checked", "Shown")  # whose seat must be at the table, too


class ChipMoves(NamedTuple):
    """Chips that move: the row of the event, whose they are; `pays`: from a stack to the middle."""

    row: Column
    hand: Column
    seat: Column
    place: Column
    amount: Column
    pays: Column


class DealtCards(NamedTuple):
    """Cards that a place is dealt or shows, in order of places and rows.

    Shown cards take the place of all that were held: with them a new `turn` begins. `upto` is how
    many are held then.
    """

    row: Column
    place: Column
    turn: Column
    count: Column
    upto: Column


class CardChanges(NamedTuple):
    """Cards that became others: where, in which turn of `Dealt`, whether a card is held there."""

    row: Column
    place: Column
    slot: Column
    turn: Column
    held: Column


class HandColumns:
    """The hands of these events, and appends of match records among them, each of them whole."""

    def __init__(self, *tables: pa.Table) -> None:
        self.tables = tables
        self.cells = cells = ColumnReader(*tables)
        seq = cells.numbers("hand_seq")
        self.heads: Column = np.flatnonzero(np.append(True, seq[1:] != seq[:-1])[: cells.size])
        self.ends = np.append(self.heads[1:], cells.size)[: len(self.heads)]
        self.count = len(self.heads)
        self.hand_seq: Column = seq.take(self.heads)
        self.kind: Column = cells.map_words("type", lambda word: KIND.get(word, -1), -1, np.int8)
        self._rows_of: dict[tuple[str, ...], Column] = {}
        self.starts = cells.only(self.heads)  # the events that hands begin with
        self.started = self.kind.take(self.heads) == KIND["HandStarted"]
        self.started &= self.starts.numbers("number", missing=-1) >= 0
        self.seats = np.zeros(self.count, dtype=np.int64)
        stacks = self.starts.ragged("stacks", np.flatnonzero(self.started))
        self.seats[self.started] = stacks.count
        self.stacks = stacks.flat()[2]  # what each place brings
        self.base = np.cumsum(self.seats) - self.seats  # the place of each hand's first seat
        self.places = int(self.seats.sum())

    @cached_property
    def rows(self) -> pa.Table:
        """The event rows as they are stored."""
        return pa.concat_tables(self.tables, promote_options="default")

    @cached_property
    def hand_of(self) -> Column:
        """The hand of every event."""
        return np.repeat(np.arange(self.count, dtype=np.int32), self.ends - self.heads)

    @cached_property
    def place_hand(self) -> Column:
        """The hand of every place."""
        return np.repeat(np.arange(self.count), self.seats)

    @cached_property
    def place_seat(self) -> Column:
        """The seat that every place is."""
        found: Column = np.arange(self.places) - self.base.take(self.place_hand)
        return found

    @cached_property
    def voids(self) -> Column:
        """The row that made each hand void, or its first."""
        found = np.copy(self.heads)
        void = self.of("HandVoided")
        found[self.hand_of.take(void)] = void
        return found

    @cached_property
    def voided(self) -> Column:
        """Whether each hand is void."""
        found: Column = self.voids > self.heads
        return found

    def of(self, *kinds: str) -> Column:
        """The rows of some kinds of events, in their order."""
        if kinds not in self._rows_of:
            is_kind = self.kind == KIND[kinds[0]]
            for kind in kinds[1:]:
                is_kind |= self.kind == KIND[kind]
            self._rows_of[kinds] = np.flatnonzero(is_kind)
        return self._rows_of[kinds]

    def seat(self, row: Column) -> Column:
        """Whom some events name."""
        return self.cells.numbers("seat", row, -1)

    def place(self, hand: Column, seat: Column) -> Column:
        """The places of some hands' seats."""
        there = (seat >= 0) & (seat < self.seats.take(hand))
        found: Column = self.base.take(hand) + seat
        return found if there.all() else np.where(there, found, self.places)

    def named(self, *kinds: str) -> Column:
        """The place that each event of some kinds names."""
        row = self.of(*kinds)
        return self.place(self.hand_of.take(row), self.seat(row))

    def marked(self, *kinds: str) -> Column:
        """Whether an event of these kinds names each place."""
        found = np.zeros(self.places + 1, dtype=bool)
        found[self.named(*kinds)] = True
        return found[: self.places]

    def summed(self, chips: ChipMoves, until: Column | None = None) -> Column:
        """The sum of chips that move for each place, in all or before a row of each hand; what
        moved before a hand was void came back."""
        found = np.zeros(self.places + 1, dtype=np.int64)
        kept = (chips.row > self.voids.take(chips.hand)) & self._early(chips.row, until)
        np.add.at(found, chips.place[kept], chips.amount[kept])
        return found[: self.places]

    @cached_property
    def adds_up(self) -> Column:
        """Whether each hand has all that its events name: the seat, the card."""
        strange = np.zeros(self.count, dtype=bool)
        for chips in (self.moves, self.shares, self.bounties):
            strange[chips.hand[chips.place == self.places]] = True
        for row in (self.of(*SEATED), self.late):
            hand = self.hand_of.take(row)
            strange[hand[self.place(hand, self.seat(row)) == self.places]] = True
        strange[self.hand_of.take(self.changes.row[~self.changes.held])] = True
        found: Column = self.started & ~strange
        return found

    @cached_property
    def counted(self) -> Column:
        """Whether each hand adds up and is not void; other hands are in no statistic."""
        found: Column = self.adds_up & ~self.voided
        return found

    @cached_property
    def late(self) -> Column:
        """The rows of those who are out of time and stay in for what they have paid."""
        row = self.of("TimedOut")
        found: Column = row[self.cells.truths("all_in", row)]
        return found

    @cached_property
    def tapped(self) -> Column:
        """Whether each place went all in: nothing left after it paid, or in without time."""
        found = np.zeros(self.places + 1, dtype=bool)
        found[self.place(self.hand_of.take(self.late), self.seat(self.late))] = True
        moves, won = self.moves, self.shares
        row, place = (np.concatenate([moves[at], won[at]]) for at in (0, 3))
        amount = np.concatenate([moves.amount, -won.amount])
        pays = np.concatenate([moves.pays, won.pays])
        stacks = np.append(self.stacks, 1)
        paid = np.zeros(self.places + 1, dtype=np.int64)
        np.add.at(paid, place[pays], amount[pays])
        some = np.flatnonzero((paid >= stacks).take(place))
        order = some[np.lexsort((row[some], place[some]))]
        place, pays = place[order], pays[order]
        sums = np.cumsum(amount[order])
        first = run_starts(place)
        sums -= (sums - amount[order])[first]
        found[place[pays & (sums == stacks.take(place))]] = True
        return found[: self.places]

    @cached_property
    def moves(self) -> ChipMoves:
        """Chips between a seat and the pot, auction prices too; negative when they come back."""
        row = self.of(*PAYMENTS, "UncalledReturned")
        pays = self.kind.take(row) != KIND["UncalledReturned"]
        hand, seat = self.hand_of.take(row), self.seat(row)
        amount = np.where(pays, 1, -1) * self.cells.numbers("amount", row)
        paid = ChipMoves(row, hand, seat, self.place(hand, seat), amount, pays)
        settled = self.of("AuctionSettled")
        of, _, seat = self.cells.ragged("seats", settled).flat()
        row, price = settled.take(of), self.cells.numbers("price", settled).take(of)
        hand, pays = self.hand_of.take(row), np.ones(len(row), dtype=bool)
        prices = ChipMoves(row, hand, seat, self.place(hand, seat), price, pays)
        return ChipMoves(*(np.concatenate(both) for both in zip(paid, prices, strict=True)))

    @cached_property
    def shares(self) -> ChipMoves:
        """The chips paid to each seat from each pot, in order."""
        row = self.of("PotSplit")
        of, _, seat = self.cells.ragged("seats", row).flat()
        _, _, share = self.cells.ragged("shares", row).flat()
        row = row.take(of)
        hand, pays = self.hand_of.take(row), np.zeros(len(row), dtype=bool)
        return ChipMoves(row, hand, seat, self.place(hand, seat), share, pays)

    @cached_property
    def bounties(self) -> ChipMoves:
        """The chips of bounties beside the pot; negative for the payer."""
        row = self.of("BountySettled")
        amount = self.cells.numbers("amount", row)
        rows, hand = np.tile(row, 2), self.hand_of.take(np.tile(row, 2))
        seat = np.concatenate([self.seat(row), self.cells.numbers("payer", row)])
        pays = np.zeros(len(rows), dtype=bool)
        gets = np.concatenate([amount, -amount])
        return ChipMoves(rows, hand, seat, self.place(hand, seat), gets, pays)

    @cached_property
    def dealt(self) -> DealtCards:
        """Hole cards as they come, and as they are shown."""
        row = self.of("HoleDealt", "Shown")
        place = self.place(self.hand_of.take(row), self.seat(row))
        order = np.argsort(place, kind="stable")
        row, place = row[order], place[order]
        count = np.bincount(self.cards(row)[0], minlength=len(row))
        shown = self.kind.take(row) == KIND["Shown"]
        new: Column = (run_starts(place) == np.arange(len(row))) | shown
        turn = np.cumsum(new) - 1
        upto = np.cumsum(count)
        upto -= (upto - count)[np.flatnonzero(new)].take(turn)
        return DealtCards(row, place, turn, count, upto)

    @cached_property
    def changes(self) -> CardChanges:
        """Swaps that made a card another one, in order."""
        row = self.of("CardSwapped")
        if not len(row):
            return CardChanges(row, row, row, row, row.astype(bool))
        old, new = self.cells.alike(("old", "new"), row)
        row = row[old != new]
        place = self.place(self.hand_of.take(row), self.seat(row))
        slot, dealt, step = self.cells.numbers("slot", row), self.dealt, self.cells.size + 1
        at = np.searchsorted(dealt.place * step + dealt.row, place * step + row) - 1
        held = (at >= 0) & (place < self.places)
        at = np.maximum(at, 0)
        if len(dealt.row):
            held &= (dealt.place.take(at) == place) & (slot < dealt.upto.take(at))
            return CardChanges(row, place, slot, dealt.turn.take(at), held)
        return CardChanges(row, place, slot, at, np.zeros(len(row), dtype=bool))

    def hole(self, until: Column | None = None) -> CardRows:
        """Each place's cards in the order they came; what is shown was held. In the end, or before
        a row of each hand."""
        dealt, changes = self.dealt, self.changes
        of, nth, word, words = self.cards(dealt.row)
        early, changed = (self._early(row, until) for row in (dealt.row, changes.row))
        last = np.full(self.places + 1, -1, dtype=np.int64)
        last[dealt.place[early]] = dealt.turn[early]
        slot = (dealt.upto - dealt.count).take(of) + nth
        found = np.full((self.places + 1, int(slot.max(initial=-1)) + 1), -1, dtype=np.int64)
        place = dealt.place.take(of)
        kept = early.take(of) & (dealt.turn.take(of) == last.take(place))
        found[place[kept], slot[kept]] = word[kept]
        which, new = self.cells.words("new", changes.row)
        codes = np.array([*(_code(words, card) for card in new.to_pylist()), -1])
        kept = changed & changes.held & (changes.turn == last.take(changes.place))
        found[changes.place[kept], changes.slot[kept]] = codes.take(which[kept])
        self._toss(found, last, until)
        return CardRows(found[: self.places], [*words])

    def _toss(self, hole: Column, last: Column, until: Column | None) -> None:
        """Take what was tossed out of the cards of places, unless what is left was shown."""
        row = self.of("Tossed")
        row = row[self._early(row, until)]
        place = self.place(self.hand_of.take(row), self.seat(row))
        dealt, step = self.dealt, self.cells.size + 1
        at = np.searchsorted(dealt.place * step + dealt.row, place * step + row) - 1
        is_place = (at >= 0) & (place < self.places)
        is_place &= np.append(dealt.turn, -1).take(at) == last.take(place)
        place, slot = place[is_place], self.cells.numbers("slot", row[is_place])
        later = np.append(hole[place, 1:], np.full((len(place), 1), -1), axis=1)
        moves = np.arange(hole.shape[1]) >= slot[:, None]
        hole[place] = np.where(moves, later, hole[place])

    def board(self, until: Column | None = None) -> CardRows:
        """Each hand's board in the end, or before a row of it."""
        row = self.of("BoardDealt", "Tossed")
        of, _, word, words = self.cards(row[self._early(row, until)])
        hand = self.hand_of.take(row[self._early(row, until)]).take(of)
        place = np.arange(len(hand)) - run_starts(hand)
        found = np.full((self.count, int(place.max(initial=-1)) + 1), -1, dtype=np.int64)
        found[hand, place] = word
        return CardRows(found, [*words])

    def _early(self, row: Column, until: Column | None) -> Column:
        """Whether each row comes before the given row of its hand."""
        if until is None:
            return np.ones(len(row), dtype=bool)
        return row < until.take(self.hand_of.take(row))

    def cards(self, row: Column) -> tuple[Column, Column, Column, dict[str, int]]:
        """The cards of some events: of which event each is, its place there, and its word."""
        words: dict[str, int] = {}
        columns = np.full((CARDS, len(row)), -1, dtype=np.int64)
        for at, column in enumerate(columns):
            which, known = self.cells.words(f"card{at + 1}", row)
            codes = [_code(words, word) if word else -1 for word in known.to_pylist()]
            column[:] = np.array([*codes, -1]).take(which)
        which, known = self.cells.words("more_cards", row)
        if len(known):
            more = [[_code(words, card) for card in it.split()] for it in known.to_pylist()]
            wide = np.full((len(more) + 1, max(map(len, more))), -1, dtype=np.int64)
            for at, codes in enumerate(more):
                wide[at, : len(codes)] = codes
            columns = np.concatenate([columns, wide.take(which, axis=0).T])
        of, nth = np.nonzero(columns.T >= 0)
        return of, nth, columns[nth, of], words

    def players(self, hand: Column, seat: Column) -> pa.Array:
        """The player in each seat; each different row of names is read once."""
        which, words = self.cells.words("players", self.heads)
        names: list[list[str]] = [msgspec.json.decode(word) for word in words.to_pylist()]
        first = np.cumsum([0, *map(len, names)])
        every = pa.array([name for row in names for name in row], pa.string())
        return every.take(pa.array(first.take(which.take(hand)) + seat))

    def entered(self, row: Column) -> pa.Array:
        """The step or round of betting that each row is in, by its name; before the first, none."""
        steps = self.of("StepEntered", "BettingOpened")
        at = np.searchsorted(steps, row, side="right") - 1
        found = np.append(steps, -1).take(at)
        is_this_hand = found >= self.heads.take(self.hand_of.take(row))
        names = self.column("street", np.maximum(found, 0))
        return pc.if_else(pa.array(is_this_hand), names, "")

    def after(self, rows: Column, row: Column, ends: Column, count: int = 0) -> Column:
        """The first of the wanted rows after each row, or one that comes so many later; past all
        rows if it is not before the end."""
        found = np.append(rows, [self.cells.size] * (count + 1))
        found = found.take(np.searchsorted(rows, row, side="right") + count)
        return np.where(found < ends, found, self.cells.size)

    def middle(self, hand: Column, until: Column) -> Column:
        """The pot before some rows, one row of each of these hands."""
        taken = self.of("RakeTaken")
        row = np.concatenate([self.moves.row, self.shares.row, taken])
        rake = self.cells.numbers("amount", taken)
        amount = np.concatenate([self.moves.amount, -self.shares.amount, -rake])
        return self.sum_before(row, amount, hand, until)

    def sum_before(self, row: Column, amount: Column, hand: Column, until: Column) -> Column:
        """The sum of these rows' amounts before some rows, one of each of these hands."""
        order = np.argsort(row, kind="stable")
        sums = np.append(0, np.cumsum(amount[order]))
        now, before = (np.searchsorted(row[order], it) for it in (until, self.heads.take(hand)))
        found: Column = sums.take(now) - sums.take(before)
        return found

    def column(self, name: str, row: Column, default: Any = None) -> pa.Array:
        """A column as it is stored, at some rows."""
        if name not in self.rows.column_names:
            kind = pa.bool_() if isinstance(default, bool) else pa.string()
            return pa.array([default] * len(row), kind)
        array = self.rows[name].take(pa.array(row)).combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def run_starts(values: Column) -> Column:
    """The start of the run of equal values in which each value stands."""
    new = np.append(True, values[1:] != values[:-1])[: len(values)]
    return np.maximum.accumulate(np.arange(len(values)) * new)


def _code(words: dict[str, int], word: str) -> int:
    return words.setdefault(word, len(words))
