"""Many hands as their decisions saw them: who sat where, with which chips and cards, at any row."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.cards import Held
from analytics.replay.layout import BLINDS, Laid, head, players
from analytics.replay.rulebook import Rulebook, games_of, units_of
from analytics.replay.seating import named
from analytics.replay.seen import seen
from store.columns.cells import Column


class Hands:
    """The hands of a table of events that add up, each whole in it."""

    def __init__(self, events: pa.Table, rules: Rulebook) -> None:
        self._events = events
        self.laid = laid = Laid(events)
        self.ends = np.append(laid.heads[1:], laid.cells.size)
        self.held = Held(laid)
        self.seen = seen(laid)
        self.at = named(laid, self.seen.dealt)
        self.games, self.ruleset = games_of(laid, rules.of)
        self.unit = units_of(self.games, self.ruleset)
        self.players = players(laid)
        self._chips()

    def head(self, hand: Column) -> dict[str, pa.Array]:
        """How rows about these hands begin (`stored.row_head`)."""
        told = head(self.laid, hand)
        number = told["number"].cast(pa.string())
        return {**told, "hand": pc.binary_join_element_wise(told["match"], number, "/")}

    def positions(self, place: Column) -> pa.Array:
        """The names of places; nothing for who was not dealt in."""
        which = np.append(self.at.position, -1).take(place)
        words = pa.array([str(it) or None for it in self.at.words], pa.string())
        return words.take(pa.array(which, mask=which < 0))

    def stack(self, place: Column, row: Column) -> Column:
        """What a place had before an event."""
        wide = self.laid.cells.size + 1
        upto = np.searchsorted(self._place_key, place * wide + row)
        begin = np.searchsorted(self._place_key, place * wide)
        return self.laid.stacks.take(place) + self._moved.take(upto) - self._moved.take(begin)

    def pot(self, hand: Column, row: Column) -> Column:
        """What lay in the middle before an event, bets of the round included."""
        upto = np.searchsorted(self._paid_row, row)
        begin = np.searchsorted(self._paid_row, self.laid.heads.take(hand))
        return self._paid.take(upto) - self._paid.take(begin)

    def effective(self, hand: Column, seat: Column, row: Column) -> Column:
        """The most that a seat can still lose, between rounds of betting: its stack, or what the
        deepest other seat that may still bet can match, blinds of the round to come included.
        """
        place = self.laid.base.take(hand) + seat
        stack, deepest = self.stack(place, row), np.zeros(len(row), dtype=np.int64)
        for other, there in self.others(hand, seat):
            able = there & (self.seen.fold.take(other) > row) & (self._out.take(other) > row)
            had = self.stack(other, row) + self._posted(other, row)
            np.maximum(deepest, np.where(able, had, 0), out=deepest)
        found = np.minimum(deepest - self._posted(place, row), stack)
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

    def _chips(self) -> None:
        """Every move of chips between a stack and the middle, by place and by row."""
        laid, acts, moves = self.laid, self.laid.acts, self.laid.moves
        row = np.concatenate((acts.row, moves.row))
        place = np.concatenate((acts.place, moves.place)).astype(np.int64)
        amount = np.concatenate((-acts.amount, moves.amount))
        order = np.lexsort((row, place))
        self._place_key = place[order] * (laid.cells.size + 1) + row[order]
        self._moved = np.append(0, np.cumsum(amount[order]))
        order = np.argsort(row, kind="stable")
        self._paid_row, self._paid = row[order], np.append(0, np.cumsum(-amount[order]))
        row, _, _, place, kind = laid.blinds
        live = kind != BLINDS["dead"]
        order = np.lexsort((row[live], place[live]))
        self._blind_key = (place[live] * (laid.cells.size + 1) + row[live])[order]
        amount = laid.cells.numbers("amount", row[live])
        self._blinds = np.append(0, np.cumsum(amount[order]))
        self._out = np.full(laid.places + 1, laid.cells.size)
        row, _, _, place = laid.at("TimedOut", "all_in")
        self._out[place] = row
        self._begins = np.sort(np.concatenate((laid.heads, laid.board, laid.open)))

    def _posted(self, place: Column, row: Column) -> Column:
        """The blinds of a place that no round of betting has been opened on before an event."""
        if not len(self._blind_key):
            return np.zeros(len(row), dtype=np.int64)
        wide = self.laid.cells.size + 1
        begin = self._begins.take(np.searchsorted(self._begins, row) - 1)
        upto = np.searchsorted(self._blind_key, place * wide + row)
        found: Column = self._blinds.take(upto)
        return found - self._blinds.take(np.searchsorted(self._blind_key, place * wide + begin))

    def others(self, hand: Column, seat: Column) -> Iterator[tuple[Column, Column]]:
        """Seat by seat: its place in some hands, and whether it is there and not this one."""
        seats, base = self.laid.seats.take(hand), self.laid.base.take(hand)
        for other in range(int(seats.max(initial=0))):
            place = np.minimum(base + other, self.laid.places)
            yield place, (other < seats) & (seat != other)
