"""Positions, chips and cards of many hands' seats at any row, as their decisions saw them.

A card is its place in the deck, and cards are rows of those. A seat's cards are those that it
showed later, unless one of them was swapped or tossed in between; else those that it was dealt. So
what was shown does not depend on what only its holder saw.

How strong cards were is before the flop the tenth of all hands of two, the middle of a class
deciding, and afterwards the category of the best five.
"""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.replay.columns import BLINDS, ReplayColumns, seat_positions, seat_progress
from analytics.replay.rules import hole_classes
from events.cards import DECK
from odds.batch import Showdown, showdown
from odds.ranges import CLASSES, hands_of, stored
from odds.rank import mask
from odds.tables import SIZES
from store.columns.layout import CARDS
from store.columns.numpy_columns import Column
from store.tables.hand_columns import run_starts

Rankings = Sequence[Showdown | None]  # how each ruleset ranks hands


@cache
def class_tenths(rules: Showdown) -> dict[str, int]:
    """The tenth of all 1,326 hands that each class of two cards is in; 1 is the weakest."""
    odds = stored()[rules]
    order = sorted(CLASSES, key=lambda name: (2 * odds[name][0] + odds[name][1], name))
    found, below = {}, 0
    for name in order:
        hands = len(hands_of(name))
        found[name] = 1 + 10 * (2 * below + hands) // (2 * 1_326)
        below += hands
    return found


def hole_tenths(kind: Column, ruleset: Column, rules: Rankings) -> Column:
    """The tenths of hole-card classes, by the rules of each hand; 0 where there is none."""
    names, _ = hole_classes()
    known = np.zeros((len(rules), len(names) + 1), dtype=np.int32)  # at the end: no class
    for at, how in enumerate(rules):
        if how is not None:
            known[at, :-1] = [class_tenths(how)[name] for name in names]
    found: Column = known[ruleset, kind]
    return found


def hand_categories(hole: Column, board: Column, ruleset: Column, rules: Rankings) -> Column:
    """The category of the best five of cards and board, as masks, by the rules of each hand; less
    than nothing where there is none."""
    cards, common = np.bitwise_count(hole), np.bitwise_count(board)
    found = np.full(len(hole), -1, dtype=np.int8)
    size = cards + common
    can = (cards > 0) & (common > 0) & ((hole & board) == 0) & np.isin(size, SIZES) & (common <= 5)
    kinds = (ruleset * np.int64(16) + cards) * 8 + common
    for kind in np.unique(kinds[can]).tolist():
        rows = np.flatnonzero(can & (kinds == kind))
        if (how := rules[kind >> 7]) is not None:
            found[rows] = showdown(hole[rows], board[rows], how) >> 12  # `odds.rank.category`
    return found


UNKNOWN, NONE = len(DECK), -1
_CODES = {word: code for code, word in enumerate(DECK)}
_LETTERS = np.array([list(f"{word} ".encode()) for word in (*DECK, "??")], dtype=np.uint8)
_BITS = np.array([*(mask((word,)) for word in DECK), 0, 0])  # of `UNKNOWN` and of `NONE`


class CardRows(NamedTuple):
    """Rows of cards, by the card first: `codes[0]` is the first card of each row; after the last
    of a row there are none."""

    codes: Column

    @property
    def count(self) -> Column:
        """The number of cards in each row."""
        return (self.codes >= 0).sum(0, dtype=np.int8)

    @property
    def known(self) -> Column:
        """Whether a row has cards, and each of them is known."""
        return (self.codes != UNKNOWN).all(0) & (self.codes >= 0).any(0)

    def text(self) -> pa.Array:
        """The cards of each row in words; null where not all are known."""
        wide, rows = self.codes.shape
        known = self.known
        size = np.where(known, 3 * self.count - 1, 0)  # a word and a space each, but for the last
        letters = _LETTERS.take(self.codes.T, axis=0, mode="clip").reshape(rows, 3 * wide)
        kept = letters[np.arange(3 * wide) < size[:, None]]
        ends = np.append(0, np.cumsum(size)).astype(np.int32)
        valid = np.packbits(known, bitorder="little")
        buffers = [pa.py_buffer(it) for it in (valid, ends, kept)]
        return pa.Array.from_buffers(pa.string(), rows, buffers)

    def masks(self) -> Column:
        """The cards of each row as the bits of `odds.rank`; none where a card is unknown or there
        twice."""
        found: Column = np.bitwise_or.reduce(_BITS.take(self.codes), initial=0)
        return np.where(self.known & (np.bitwise_count(found) == self.count), found, 0)

    def classes(self) -> Column:
        """The class of two cards, by its number in `hole_classes`; -1 for other cards."""
        if len(self.codes) < 2:
            return np.full(self.codes.shape[1], NONE)
        both = self.codes[0] * np.int64(len(DECK) + 1) + self.codes[1]
        return np.where(self.known & (self.count == 2), hole_classes()[1].take(both), NONE)


class HoleCards:
    """The hole cards of places, and boards, by the row of an event.

    A place's cards change each time that it is dealt some, has one at risk of a swap or tosses one.
    """

    def __init__(self, hands: ReplayColumns) -> None:
        self._hands = hands
        self._wide = hands.cells.size + 1
        dealt, _, _, given = hands.deals
        risked, _, _, of = hands.locate("CardSwapped")
        tossed, _, _, by = hands.locate("Tossed")
        row, place = np.concatenate((dealt, risked, tossed)), np.concatenate((given, of, by))
        slot = np.append(np.full(len(dealt), NONE), hands.cells.numbers("slot", row[len(dealt) :]))
        which, words = hands.cells.words("new", risked)
        new = _card_codes(words).take(which)[None]
        cards = _stacked(_stacked(cards_of(hands, dealt), new), np.full((1, len(tossed)), NONE))
        order = np.lexsort((row, place))
        self._place, self._key = place[order], place[order] * self._wide + row[order]
        gone = np.where(order >= len(dealt) + len(risked), slot[order], NONE)
        own = _cards_after_changes(self._place, cards[:, order], slot[order], gone)
        self.size = own.count
        shows, _, _, showing = hands.shows
        by_place = np.lexsort((shows, showing))
        turned = cards_of(hands, shows)[:, by_place]
        key = showing[by_place] * self._wide + shows[by_place]
        risks = self._key[slot[order] >= 0]
        self.cards, self.shown = self._as_shown(own, CardRows(turned), key, risks)

    def _as_shown(
        self, own: CardRows, turned: CardRows, key: Column, swaps: Column
    ) -> tuple[CardRows, Column]:
        """The cards after each change, as they were shown if they were, and whether they were."""
        never = np.iinfo(np.int64).max
        first = np.searchsorted(key, self._key)
        shows = np.append(key, never).take(first)
        swap = np.append(swaps, never).take(np.searchsorted(swaps, self._key, side="right"))
        there = (shows // self._wide == self._place) & (shows < swap)
        wide = max(len(own.codes), 1)
        codes = np.full((wide, len(self._key)), NONE, dtype=np.int8)
        some = np.flatnonzero(there)
        part = turned.codes[:wide, first[some]]
        codes[: len(part), some] = part
        codes[np.arange(wide)[:, None] >= self.size] = NONE
        shown = CardRows(codes).known
        np.copyto(codes[: len(own.codes)], own.codes, where=~shown)
        return CardRows(codes), shown

    def last_change(self, place: Column, row: Column) -> Column:
        """The last change of places' cards before these rows; -1 if there was none."""
        at = np.searchsorted(self._key, place * self._wide + row) - 1
        there = np.append(self._place, NONE).take(at) == place
        return np.where(there, at, NONE)

    @cached_property
    def boards(self) -> CardRows:
        """The board after each time that it was dealt."""
        hands = self._hands
        none = np.full(len(hands.board_row), NONE)
        return _cards_after_changes(hands.board_hand, cards_of(hands, hands.board_row), none, none)

    def board(self, row: Column) -> Column:
        """The number in `boards` of the board before these rows; -1 if there was none."""
        hands = self._hands
        boards = hands.boards_upto.take(row - 1)
        first = hands.boards_upto.take(hands.heads).take(hands.hand_of.take(row))
        return np.where(boards == first, NONE, boards - 1)


def cards_of(hands: ReplayColumns, row: Column) -> Column:
    """The cards of some events, in their order, as rows of codes."""
    cells = hands.cells.only(row)
    cards = np.empty((CARDS, len(row)), dtype=np.int8)
    for number, column in enumerate(cards, start=1):
        which, words = cells.words(f"card{number}")
        _card_codes(words).take(which, out=column)
    which, words = cells.words("more_cards")
    if not len(words):
        return cards
    seat_positions = [it.split() for it in words.to_pylist()]
    more = np.full((len(seat_positions) + 1, max(map(len, seat_positions))), NONE, dtype=np.int8)
    for codes, those in zip(more, seat_positions, strict=False):
        codes[: len(those)] = [_CODES.get(word, UNKNOWN) for word in those]
    return np.concatenate((cards, more.take(which, axis=0).T))


def _card_codes(words: pa.Array) -> Column:
    """The card code of each word, and after the last that of no card."""
    codes = (_CODES.get(word, UNKNOWN) if word else NONE for word in words.to_pylist())
    return np.array([*codes, NONE], dtype=np.int8)


def _stacked(one: Column, other: Column) -> Column:
    """Rows of codes, and others after them."""
    wide = max(len(one), len(other))
    found = np.full((wide, one.shape[1] + other.shape[1]), NONE, dtype=np.int8)
    found[: len(one), : one.shape[1]] = one
    found[: len(other), one.shape[1] :] = other
    return found


def _cards_after_changes(owner: Column, cards: Column, slot: Column, gone: Column) -> CardRows:
    """All cards of each owner after each change, in the order of owners and changes: new ones come
    behind those that he has; with a slot, the first takes the place of the one there, if any. What
    is `gone` leaves its slot to those behind it, and nothing comes afterwards.
    """
    each, begin = np.arange(len(owner)), run_starts(owner)
    dealt = slot < 0
    count = np.where(dealt, CardRows(cards).count, 0)
    upto = np.cumsum(count)
    upto -= (upto - count).take(begin) if len(owner) else 0
    held = np.full((int(upto.max(initial=0)), len(owner)), NONE, dtype=np.int8)
    for place, column in enumerate(held):
        nth = np.where(dealt, place - upto + count, 0)
        swapped = (slot == place) & (place < upto) & (gone < 0)
        new = np.where(dealt, (nth >= 0) & (nth < count), swapped)
        last = np.maximum.accumulate(np.where(new, each, NONE))
        codes = cards[np.clip(nth, 0, len(cards) - 1), each]
        column[:] = np.where(last >= begin, codes.take(last), NONE)
    if (gone >= 0).any():
        last = np.maximum.accumulate(np.where(gone >= 0, each, NONE))
        left = np.where(last >= begin, gone.take(last), len(held))
        later = np.append(held[1:], np.full((1, len(owner)), NONE), axis=0)
        held = np.where(np.arange(len(held))[:, None] >= left, later, held)
    return CardRows(held)


class _ChipMoves:
    """Moves of chips between stacks and the pot, by place and by row."""

    def __init__(self, columns: ReplayColumns) -> None:
        acts, moves = columns.acts, columns.stack_changes
        row = np.concatenate((acts.row, moves.row))
        place = np.concatenate((acts.place, moves.place)).astype(np.int64)
        amount = np.concatenate((-acts.amount, moves.amount))
        self._wide = columns.cells.size + 1
        order = np.lexsort((row, place))
        self._place_key = place[order] * self._wide + row[order]
        self._moved = np.append(0, np.cumsum(amount[order]))
        order = np.argsort(row, kind="stable")
        self._paid_row, self._paid = row[order], np.append(0, np.cumsum(-amount[order]))
        row, _, _, place, kind = columns.blinds
        live = kind != BLINDS["dead"]
        order = np.lexsort((row[live], place[live]))
        self._blind_key = (place[live] * self._wide + row[live])[order]
        amount = columns.cells.numbers("amount", row[live])
        self._blinds = np.append(0, np.cumsum(amount[order]))
        self._begins = np.sort(np.concatenate((columns.heads, columns.board_row, columns.open)))
        out = moves.out
        # the row since which a seat is out of time
        self.out = np.full(columns.places + 1, columns.cells.size)
        self.out[moves.place[out]] = moves.row[out]

    def moved(self, place: Column, row: Column) -> Column:
        """Chips that a place's stack has gained before an event."""
        upto = np.searchsorted(self._place_key, place * self._wide + row)
        begin = np.searchsorted(self._place_key, place * self._wide)
        return self._moved.take(upto) - self._moved.take(begin)

    def pot(self, head: Column, row: Column) -> Column:
        """The pot before an event, bets of the round included; `head` is the first row of the
        hand."""
        upto, begin = (np.searchsorted(self._paid_row, it) for it in (row, head))
        return self._paid.take(upto) - self._paid.take(begin)

    def posted(self, place: Column, row: Column) -> Column:
        """Blinds that a place posted since the last round of betting opened, before an event."""
        begin = self._begins.take(np.searchsorted(self._begins, row) - 1)
        upto = np.searchsorted(self._blind_key, place * self._wide + row)
        since = np.searchsorted(self._blind_key, place * self._wide + begin)
        return self._blinds.take(upto) - self._blinds.take(since)


class ReplayedHands:
    """The hands of a table of events, each whole in it, as facts and decisions share them."""

    def __init__(self, events: pa.Table) -> None:
        self._events = events
        self.columns = columns = ReplayColumns(events)
        self.progress = seat_progress(columns)
        self.seat_positions = seat_positions(columns, self.progress.dealt)
        self.players = columns.players(columns.place_hand, columns.place_seat)

    @cached_property
    def counted(self) -> Column:
        """Whether a hand adds up, and its bids, swaps, tosses and mucks name seats of it."""
        found = self.columns.counted.copy()
        for kind in ("BidPlaced", "CardSwapped", "Tossed", "Mucked"):
            _, hand, _, place = self.columns.locate(kind)
            found[hand[place == self.columns.places]] = False
        return found

    @cached_property
    def hole_cards(self) -> HoleCards:
        """The hole cards of all places."""
        return HoleCards(self.columns)

    @cached_property
    def chips(self) -> _ChipMoves:
        """The moves of chips."""
        return _ChipMoves(self.columns)

    def positions(self, place: Column) -> pa.Array:
        """The position names of places; null for a place that was not dealt in."""
        which = np.append(self.seat_positions.position, -1).take(place)
        words = pa.array([str(it) or None for it in self.seat_positions.words], pa.string())
        return words.take(pa.array(which, mask=which < 0))

    def stack(self, place: Column, row: Column) -> Column:
        """The stack of a place before an event."""
        return np.append(self.columns.stacks, 0).take(place) + self.chips.moved(place, row)

    def effective(self, hand: Column, seat: Column, row: Column) -> Column:
        """The most that a seat can still lose, between rounds of betting: its stack, or what the
        deepest other seat that may still bet can match, blinds of the round to come included."""
        place = self.columns.base.take(hand) + seat
        stack, deepest = self.stack(place, row), np.zeros(len(row), dtype=np.int64)
        for other, there in self.other_seats(hand, seat):
            stays = self.progress.fold.take(other) > row
            able = there & stays & (self.chips.out.take(other) > row)
            had = self.stack(other, row) + self.chips.posted(other, row)
            np.maximum(deepest, np.where(able, had, 0), out=deepest)
        found = np.minimum(deepest - self.chips.posted(place, row), stack)
        return np.maximum(found, 0)

    def rivals(self, hand: Column, seat: Column, row: Column) -> Column:
        """The number of other seats that have not folded before an event."""
        found = np.zeros(len(row), dtype=np.int32)
        for other, there in self.other_seats(hand, seat):
            found += there & (self.progress.fold.take(other) > row)
        return found

    def think_ms(self, hand: Column, row: Column, wanted: Column) -> pa.Array:
        """Milliseconds since the last event; null in hands that were written at once."""
        cells, first, last = (
            self.columns.cells,
            self.columns.heads.take(hand),
            self.columns.ends.take(hand) - 1,
        )
        timed = wanted & (cells.numbers("at", first) != cells.numbers("at", last))
        return pa.array(cells.numbers("at", row) - cells.numbers("at", row - 1), mask=~timed)

    def has_value(self, name: str, row: Column) -> Column:
        """Whether events have a value in a column."""
        if name not in self._events.column_names:
            return np.zeros(len(row), dtype=bool)
        cells = pc.is_valid(self._events[name].take(pa.array(row)))
        return cells.combine_chunks().to_numpy(zero_copy_only=False)

    def rows_of(self, hands: Sequence[int]) -> list[slice]:
        """The rows of the events of some hands."""
        columns = self.columns
        return [slice(int(columns.heads[it]), int(columns.ends[it])) for it in hands]

    def other_seats(self, hand: Column, seat: Column) -> Iterator[tuple[Column, Column]]:
        """Seat by seat: its place in some hands, and whether the hand has it, other than `seat`."""
        seats, base = self.columns.seats.take(hand), self.columns.base.take(hand)
        for other in range(int(seats.max(initial=0))):
            place = np.minimum(base + other, self.columns.places)
            yield place, (other < seats) & (seat != other)
