"""Many hands laid out for a report on a player: who sat where, with which chips, at any moment."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.opponents.held import Held
from analytics.replay.layout import Laid
from analytics.replay.seating import named
from analytics.replay.seen import seen
from analytics.replay.words import head, players
from analytics.stored.facts_table import games_of, units_of
from analytics.stored.rulebook import Rulebook
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

    def thought(self, hand: Column, row: Column) -> pa.Array:
        """Milliseconds since the event before; a hand that was written at once tells no times."""
        cells, first, last = self.laid.cells, self.laid.heads.take(hand), self.ends.take(hand) - 1
        timed = cells.numbers("at", first) != cells.numbers("at", last)
        return pa.array(cells.numbers("at", row) - cells.numbers("at", row - 1), mask=~timed)

    def filled(self, name: str, row: Column) -> Column:
        """Whether these events say anything there."""
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
