"""Many hands as their decisions saw them: who sat where, with which chips and cards, at any row."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.cards import Held
from analytics.replay.columns import BLINDS, ReplayColumns
from analytics.replay.seats import named, seen
from store.columns.cells import Column


class _Chips:
    """Every move of chips between a stack and the middle, by place and by row."""

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
        self.out = np.full(
            columns.places + 1, columns.cells.size
        )  # the row since which a seat is out of time
        self.out[moves.place[out]] = moves.row[out]

    def moved(self, place: Column, row: Column) -> Column:
        """What has come to the stack of a place before an event."""
        upto = np.searchsorted(self._place_key, place * self._wide + row)
        begin = np.searchsorted(self._place_key, place * self._wide)
        return self._moved.take(upto) - self._moved.take(begin)

    def pot(self, head: Column, row: Column) -> Column:
        """What lay in the middle before an event, bets of the round included; `head` begins the
        hand.
        """
        upto, begin = (np.searchsorted(self._paid_row, it) for it in (row, head))
        return self._paid.take(upto) - self._paid.take(begin)

    def posted(self, place: Column, row: Column) -> Column:
        """The blinds of a place that no round of betting has been opened on before an event."""
        begin = self._begins.take(np.searchsorted(self._begins, row) - 1)
        upto = np.searchsorted(self._blind_key, place * self._wide + row)
        since = np.searchsorted(self._blind_key, place * self._wide + begin)
        return self._blinds.take(upto) - self._blinds.take(since)


class Hands:
    """The hands of a table of events, each whole in it; facts and decisions share what is found."""

    def __init__(self, events: pa.Table) -> None:
        self._events = events
        self.columns = columns = ReplayColumns(events)
        self.seen = seen(columns)
        self.at = named(columns, self.seen.dealt)
        self.players = columns.players(columns.place_hand, columns.place_seat)

    @cached_property
    def counted(self) -> Column:
        """Of every hand, whether it adds up, where bids, swaps, tosses and mucks name seats."""
        found = self.columns.counted.copy()
        for kind in ("BidPlaced", "CardSwapped", "Tossed", "Mucked"):
            _, hand, _, place = self.columns.at(kind)
            found[hand[place == self.columns.places]] = False
        return found

    @cached_property
    def held(self) -> Held:
        """The cards that everybody held."""
        return Held(self.columns, self.columns.at("CardSwapped"), self.columns.at("Tossed"))

    @cached_property
    def chips(self) -> _Chips:
        """The chips that moved."""
        return _Chips(self.columns)

    def positions(self, place: Column) -> pa.Array:
        """The names of places; nothing for who was not dealt in."""
        which = np.append(self.at.position, -1).take(place)
        words = pa.array([str(it) or None for it in self.at.words], pa.string())
        return words.take(pa.array(which, mask=which < 0))

    def stack(self, place: Column, row: Column) -> Column:
        """What a place had before an event."""
        return np.append(self.columns.stacks, 0).take(place) + self.chips.moved(place, row)

    def effective(self, hand: Column, seat: Column, row: Column) -> Column:
        """The most that a seat can still lose, between rounds of betting: its stack, or what the
        deepest other seat that may still bet can match, blinds of the round to come included.
        """
        place = self.columns.base.take(hand) + seat
        stack, deepest = self.stack(place, row), np.zeros(len(row), dtype=np.int64)
        for other, there in self.others(hand, seat):
            able = there & (self.seen.fold.take(other) > row) & (self.chips.out.take(other) > row)
            had = self.stack(other, row) + self.chips.posted(other, row)
            np.maximum(deepest, np.where(able, had, 0), out=deepest)
        found = np.minimum(deepest - self.chips.posted(place, row), stack)
        return np.maximum(found, 0)

    def rivals(self, hand: Column, seat: Column, row: Column) -> Column:
        """How many other seats have not folded before an event."""
        found = np.zeros(len(row), dtype=np.int32)
        for other, there in self.others(hand, seat):
            found += there & (self.seen.fold.take(other) > row)
        return found

    def thought(self, hand: Column, row: Column, wanted: Column) -> pa.Array:
        """Milliseconds since the event before; a hand that was written at once tells no times."""
        cells, first, last = (
            self.columns.cells,
            self.columns.heads.take(hand),
            self.columns.ends.take(hand) - 1,
        )
        timed = wanted & (cells.numbers("at", first) != cells.numbers("at", last))
        return pa.array(cells.numbers("at", row) - cells.numbers("at", row - 1), mask=~timed)

    def filled(self, name: str, row: Column) -> Column:
        """Whether these events say anything there."""
        if name not in self._events.column_names:
            return np.zeros(len(row), dtype=bool)
        cells = pc.is_valid(self._events[name].take(pa.array(row)))
        return cells.combine_chunks().to_numpy(zero_copy_only=False)

    def rows_of(self, hands: Sequence[int]) -> list[slice]:
        """Where the events of some hands are."""
        columns = self.columns
        return [slice(int(columns.heads[it]), int(columns.ends[it])) for it in hands]

    def others(self, hand: Column, seat: Column) -> Iterator[tuple[Column, Column]]:
        """Seat by seat: its place in some hands, and whether it is there and not this one."""
        seats, base = self.columns.seats.take(hand), self.columns.base.take(hand)
        for other in range(int(seats.max(initial=0))):
            place = np.minimum(base + other, self.columns.places)
            yield place, (other < seats) & (seat != other)
