"""What is to be exported: whole matches, single hands, or all that is over, leaf by leaf.

A leaf (a hand, or an append of match records) comes whole and alone, so an export of any length
needs the memory of one row group.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from events.ledger import closes
from store.columns.codec import leaves_of
from store.folder.frames import Damaged
from store.folder.manifest import Segment
from store.log.leaf import Leaf, split
from store.reader import Snapshot
from store.segments.reading import Files


class Selection(NamedTuple):
    """A match, or a hand of it; everything, if it names neither."""

    match: str | None = None
    number: int | None = None

    def holds(self, stream: str) -> bool:
        """Whether this stream belongs to it."""
        match, number = split(stream)
        return self.match in (None, match) and self.number in (None, number)


class Absent(Exception):
    """What was asked for does not exist; `choices` says by parameter what does."""

    def __init__(self, sentence: str, **choices: Sequence[str]) -> None:
        super().__init__(sentence)
        self.choices = choices


class Unfinished(Exception):
    """It exists, and cannot be exported before it is over."""


def selections(snapshot: Snapshot, names: Sequence[str]) -> tuple[Selection, ...]:
    """What these names mean, in their order; a hand of a match that is named comes with it."""
    if not names:
        return (Selection(),)
    whole = {name for name in names if "/" not in name}
    selections = []
    for name in dict.fromkeys(names):
        match, slash, number = name.partition("/")
        if not slash:
            known = match and (snapshot.read(match) or next(snapshot.hands(match), None))
            if not known:
                raise Absent(f"there is no match {match}: muckrake matches lists those there are")
            selections.append(Selection(match))
        elif match not in whole:
            plain = number.isascii() and number.isdecimal() and number == str(int(number[:18]))
            record = snapshot.read(name) if plain else ()
            if not record:
                raise Absent(f"there is no hand {name}: muckrake hands lists those there are")
            if not closes(name, [event.event for event in record]):
                raise Unfinished(f"{name} is not over: only hands that are over are exported")
            selections.append(Selection(match, int(number)))
    return tuple(selections)


Places = np.ndarray[Any, np.dtype[np.int64]]  # of hands in the order of closing, sorted


def leaves(
    snapshot: Snapshot,
    selection: Selection,
    between: tuple[int, int] | None = None,
    places: Places | None = None,
) -> Iterator[Leaf]:
    """Everything of it that has closed, in the order of closing; with `between` two places, what
    stands from the first up to the second; with `places`, what stands there."""
    first, end = between or (0, snapshot.next_seq)
    after, live = first - 1, snapshot.live
    files = Files(live.disk)
    while True:
        number = live.number
        segments, closed = snapshot.parts()
        try:
            for segment in segments:
                for leaf in _sealed(files, segment, selection, (after + 1, end), places):
                    after = leaf.hand_seq
                    yield leaf
        except (FileNotFoundError, Damaged) as missing:
            live.retired(number, missing)  # compacted meanwhile: the same hands in other files
            continue
        for entry in closed:
            there = after < entry.hand_seq < end and selection.holds(entry.stream)
            if there and (places is None or len(among(places, entry.hand_seq, entry.hand_seq))):
                yield Leaf(entry.hand_seq, entry.recorded())
        return


def _sealed(
    files: Files,
    segment: Segment,
    selection: Selection,
    between: tuple[int, int],
    places: Places | None,
) -> Iterator[Leaf]:
    """What a segment holds of it, a row group at a time."""
    first, end = between
    sought = {"match": selection.match, "number": selection.number}
    for group in groups(files, segment, selection, between, places):
        rows = files.events(segment, group)
        keep = pc.and_(pc.greater_equal(rows["hand_seq"], first), pc.less(rows["hand_seq"], end))
        for name, value in sought.items():
            if value is not None:
                keep = pc.and_(keep, pc.equal(rows[name].cast(_PLAIN[name]), value))
        rows = rows.filter(keep)
        yield from leaves_of(rows if places is None else standing(rows, places))


def groups(
    files: Files,
    segment: Segment,
    selection: Selection,
    between: tuple[int, int],
    places: Places | None = None,
) -> Iterator[int]:
    """The row groups of a segment's events that may hold some of it."""
    first, end = between
    match = selection.match
    has_match = match is None or match in segment.numbers or match in segment.records
    if segment.last_seq < first or segment.first_seq >= end or not has_match:
        return
    opened = files.open(segment, "events")
    sought = {"match": selection.match, "number": selection.number}
    bounds = opened.bounds["hand_seq"]
    for group in opened.having(**{name: it for name, it in sought.items() if it is not None}):
        low, high = bounds[group]
        if low is None or (
            high >= first and low < end and (places is None or len(among(places, low, high)))
        ):
            yield group


def among(places: Places, first: int, last: int) -> Places:
    """Those of the places from one to another."""
    return places[np.searchsorted(places, first) : np.searchsorted(places, last, "right")]


def standing(rows: pa.Table, places: Places) -> pa.Table:
    """The events of hands that stand at these places."""
    if not rows.num_rows:
        return rows
    ends = pc.min_max(rows["hand_seq"]).as_py()
    there = pa.array(among(places, ends["min"], ends["max"]))
    return rows.filter(pc.is_in(rows["hand_seq"], there))


_PLAIN = {"match": pa.string(), "number": pa.int64()}
