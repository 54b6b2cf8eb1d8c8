"""Many hands as their decisions saw them: who sat where, with which chips and cards, at any row."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.cards import Held
from analytics.replay.layout import BLINDS, Laid, players
from analytics.replay.seating import named
from analytics.replay.seen import seen
from store.columns.cells import Column


class _Chips:
    """Every move of chips between a stack and the middle, by place and by row."""

    def __init__(self, laid: Laid) -> None:
        acts, moves = laid.acts, laid.moves
        row = np.concatenate((acts.row, moves.row))
        place = np.concatenate((acts.place, moves.place)).astype(np.int64)
        amount = np.concatenate((-acts.amount, moves.amount))
        self._wide = laid.cells.size + 1
        order = np.lexsort((row, place))
        self._place_key = place[order] * self._wide + row[order]
        self._moved = np.append(0, np.cumsum(amount[order]))
        order = np.argsort(row, kind="stable")
        self._paid_row, self._paid = row[order], np.append(0, np.cumsum(-amount[order]))
        row, _, _, place, kind = laid.blinds
        live = kind != BLINDS["dead"]
        order = np.lexsort((row[live], place[live]))
        self._blind_key = (place[live] * self._wide + row[live])[order]
        amount = laid.cells.numbers("amount", row[live])
        self._blinds = np.append(0, np.cumsum(amount[order]))
        self._begins = np.sort(np.concatenate((laid.heads, laid.board, laid.open)))
        out = laid.moves.out
        self.out = np.full(
            laid.places + 1, laid.cells.size
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
        self.laid = laid = Laid(events)
        self.ends = np.append(laid.heads[1:], laid.cells.size)
        self.seen = seen(laid)
        self.at = named(laid, self.seen.dealt)
        self.players = players(laid)

    @cached_property
    def told(self) -> Column:
        """Of every hand, whether it adds up, also where bids, swaps and mucks name a seat."""
        found = self.laid.told.copy()
        for kind in ("BidPlaced", "CardSwapped", "Mucked"):
            _, hand, _, place = self.of(kind)
            found[hand[place == self.laid.places]] = False
        return found

    def of(self, kind: str) -> tuple[Column, Column, Column, Column]:
        """Row, hand, seat and place of each event of a kind; of a seat that is not there, the place
        after the last.
        """
        laid, row = self.laid, self.laid.of(kind)
        hand, seat = laid.hand_of.take(row), laid.cells.numbers("seat", row, -1)
        there = (seat >= 0) & (seat < laid.seats.take(hand))
        return row, hand, seat, np.where(there, laid.base.take(hand) + seat, laid.places)

    @cached_property
    def held(self) -> Held:
        """The cards that everybody held."""
        return Held(self.laid, self.of("CardSwapped"))

    @cached_property
    def chips(self) -> _Chips:
        """The chips that moved."""
        return _Chips(self.laid)

    def positions(self, place: Column) -> pa.Array:
        """The names of places; nothing for who was not dealt in."""
        which = np.append(self.at.position, -1).take(place)
        words = pa.array([str(it) or None for it in self.at.words], pa.string())
        return words.take(pa.array(which, mask=which < 0))

    def stack(self, place: Column, row: Column) -> Column:
        """What a place had before an event."""
        return self.laid.stacks.take(place) + self.chips.moved(place, row)

    def effective(self, hand: Column, seat: Column, row: Column) -> Column:
        """The most that a seat can still lose, between rounds of betting: its stack, or what the
        deepest other seat that may still bet can match, blinds of the round to come included.
        """
        place = self.laid.base.take(hand) + seat
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
        cells, first, last = self.laid.cells, self.laid.heads.take(hand), self.ends.take(hand) - 1
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
        laid = self.laid
        return [slice(int(laid.heads[it]), int(self.ends[it])) for it in hands]

    def others(self, hand: Column, seat: Column) -> Iterator[tuple[Column, Column]]:
        """Seat by seat: its place in some hands, and whether it is there and not this one."""
        seats, base = self.laid.seats.take(hand), self.laid.base.take(hand)
        for other in range(int(seats.max(initial=0))):
            place = np.minimum(base + other, self.laid.places)
            yield place, (other < seats) & (seat != other)
