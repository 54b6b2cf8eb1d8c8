"""A whole ledger through the screen: its event columns, some thousand hands at a time, in order.

Memory does not grow with the ledger: a few row groups are in hand at once. Of hands that are fine
only numbers are kept; the others come as records, for the engine to explain.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.screen.rows import Rows, Words, gathered
from analytics.screen.screen import Screen, Screened
from analytics.screen.why import Why
from events.ledger import is_match
from events.types import Events
from store.columns.codec import leaves_of, table
from store.folder.frames import Damaged
from store.log.leaf import Leaf
from store.reader import Snapshot

HANDS = 1 << 14  # that are screened at once: some ten row groups
Nets = tuple[int, ...]
Asked = Callable[[int, int], bool]  # whether any hand from one to another is asked for


class Batch(NamedTuple):
    """Some hands in the order they closed, what the screen says, and the records in doubt."""

    rows: Rows
    words: Words
    screened: Screened
    records: dict[int, Events]  # by place among these hands

    def __len__(self) -> int:
        return self.rows.hands

    def hand(self, place: int) -> str:
        """The stream of a hand."""
        match = self.words.word(int(self.rows.match[place]))
        return f"{match}/{self.rows.number[place]}"

    def why(self, place: int) -> Why:
        """What the screen says of a hand."""
        return Why(int(self.screened.why[place]))

    def ruleset(self, place: int) -> str | None:
        """The name of the ruleset that a hand was held against."""
        return self.screened.names[int(self.screened.ruleset[place])]

    def nets(self, place: int) -> Nets:
        """What each seat won or lost in a hand that is fine."""
        count = int(self.rows.ragged["stacks"].many(self.rows.first[place]))
        return tuple(self.screened.nets[place, :count].tolist())

    def fine(self) -> dict[tuple[str, str], int]:
        """How many hands of each match and ruleset are fine, the first to come first."""
        known = np.array([name is not None for name in self.screened.names])
        at = np.flatnonzero(known[self.screened.ruleset]) if len(known) else np.zeros(0, int)
        match, ruleset = self.rows.match[at], self.screened.ruleset[at]
        both = match.astype(np.int64) << 32 | ruleset
        _, first, where = np.unique(both, return_index=True, return_inverse=True)
        counts = np.bincount(where, weights=self.screened.why[at] == 0, minlength=len(first))
        found: dict[tuple[str, str], int] = {}
        for one in np.argsort(first).tolist():
            place = int(at[first[one]])
            name = self.words.word(int(self.rows.match[place]))
            key = name, cast(str, self.ruleset(place))
            found[key] = found.get(key, 0) + int(counts[one])
        return found


def batches(
    snapshot: Snapshot, screen: Screen, asked: Asked = lambda first, last: True
) -> Iterator[Batch]:
    """Every hand that closed, in that order; without segments in which none is asked for."""
    tables: list[pa.Table] = []
    waiting = 0
    for rows in _tables(snapshot, asked):
        if not rows.num_rows:
            continue
        tables.append(rows)
        waiting += rows["hand_seq"][-1].as_py() - rows["hand_seq"][0].as_py() + 1
        if waiting >= HANDS:
            yield _batch(tables, screen)
            tables, waiting = [], 0
    if tables:
        yield _batch(tables, screen)


def _batch(tables: list[pa.Table], screen: Screen) -> Batch:
    """The screen's answer, and the records that it does not answer for."""
    rows = gathered(tables, screen.words)
    screened = screen.judge(rows)
    doubtful = np.flatnonzero(screened.why != Why.FINE)
    records: dict[int, Events] = {}
    if len(doubtful):
        wanted = pa.array(rows.hand_seq[doubtful])
        places = dict(zip(rows.hand_seq[doubtful].tolist(), doubtful.tolist(), strict=True))
        for one in tables:
            there = one.filter(pc.is_in(one["hand_seq"], value_set=wanted))
            for leaf in leaves_of(there):
                record = tuple(it.event for it in leaf.recorded)
                records[places[leaf.hand_seq]] = cast(Events, record)
    return Batch(rows, screen.words, screened, records)


def _tables(snapshot: Snapshot, asked: Asked) -> Iterator[pa.Table]:
    """The events of all that closed, a row group at a time; segments may be compacted meanwhile."""
    live, after = snapshot.live, -1
    while True:
        number = live.number
        segments, closed = live.parts()
        try:
            for segment in segments:
                known = segment.last_seq <= after or segment.first_seq >= snapshot.next_seq
                if not known and asked(segment.first_seq, segment.last_seq):
                    for rows in live.events(segment):
                        last = rows["hand_seq"][-1].as_py()
                        if last > after:
                            yield _between(rows, after, snapshot.next_seq)
                            after = last
        except (FileNotFoundError, Damaged) as missing:
            live.retired(number, missing)
            continue
        hot = [
            Leaf(one.hand_seq, one.recorded())
            for one in closed
            if after < one.hand_seq < snapshot.next_seq
            and not is_match(one.stream)
            and asked(one.hand_seq, one.hand_seq)
        ]
        for start in range(0, len(hot), HANDS):
            yield table(hot[start : start + HANDS])
        return


def _between(rows: pa.Table, after: int, end: int) -> pa.Table:
    """Of these rows, what was not told yet and belongs to the snapshot."""
    first, last = rows["hand_seq"][0].as_py(), rows["hand_seq"][-1].as_py()
    if first > after and last < end:
        return rows
    seq = rows["hand_seq"]
    return rows.filter(pc.and_(pc.greater(seq, after), pc.less(seq, end)))
