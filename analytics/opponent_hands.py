"""Many hands laid out for a report on a player: who sat where, with which chips, at any moment."""

from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.facts import units
from analytics.facts_cells import Column
from analytics.facts_laid import FOLDED, Laid
from analytics.facts_named import named
from analytics.facts_seen import seen
from analytics.luck_rules import Rulebook
from analytics.opponent_held import Held


class Hands:
    """The hands of a table of events that add up, each whole in it."""

    def __init__(self, events: pa.Table, rules: Rulebook) -> None:
        self._events = events
        self.laid = laid = Laid(events)
        self.ends = np.append(laid.heads[1:], laid.cells.size)
        self.held = Held(laid)
        self.seen = seen(laid)
        self.at = named(laid, self.seen.dealt)
        self.folded = self._folded()
        which, words = laid.cells.words("ruleset", laid.heads)
        self.games = [*(rules.of(str(it)) for it in words), None]
        self.ruleset = np.where(laid.told, which, len(words))
        self.unit = np.array([units(it) if it else 1 for it in self.games]).take(self.ruleset)
        which, words = laid.cells.words("players", laid.heads)
        names = [*(msgspec.json.decode(str(it), type=list[str]) for it in words), []]
        self.names = [
            names[it][seat] if seat < len(names[it]) else None
            for it, seats in zip(which.tolist(), laid.seats.tolist(), strict=True)
            for seat in range(seats)
        ]
        self.players = pa.array([*self.names, None], pa.string())
        self._chips()

    def head(self, hand: Column) -> dict[str, pa.Array]:
        """How rows about these hands begin (`row_head`)."""
        seq, number = self.laid.hand_seq.take(hand), self._numbers.take(hand)
        of = pa.array(hand)
        told = {"hand_seq": pa.array(seq), "hand": self._streams.take(of)}
        told |= {"match": self.word("match", hand), "number": pa.array(number)}
        return {**told, "game": self.word("game", hand)}

    def word(self, name: str, hand: Column) -> pa.Array:
        """A word of how each hand began."""
        which, words = self.laid.cells.words(name, self.laid.heads)
        which = which.take(hand)
        told = pa.array([*map(str, words), None], pa.string())
        return told.take(pa.array(which))

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

    def _folded(self) -> Column:
        """The row in which each place folded; the last of all and one more, if it did not."""
        acts = self.laid.acts
        found = np.full(self.laid.places + 1, self.laid.cells.size, dtype=np.int64)
        folds = np.flatnonzero(acts.kind == FOLDED)[::-1]
        found[acts.place[folds]] = acts.row[folds]
        return found

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
        self._numbers = laid.cells.numbers("number", laid.heads)
        which, words = laid.cells.words("match", laid.heads)
        words = [*map(str, words), ""]
        streams = [
            f"{words[it]}/{number}"
            for it, number in zip(which.tolist(), self._numbers.tolist(), strict=True)
        ]
        self._streams = pa.array(streams, pa.string())
