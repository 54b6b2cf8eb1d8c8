"""Sealed segments: written once from what has closed, read by stream and by position.

Most questions end in the manifest, which knows each segment's hands by number. The rest go to the
`hands` projection, one row a hand, and from there to one row group of events.
"""

import heapq
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from events.ledger import Recorded
from store.columns.codec import leaves_of, rows_of, used_columns
from store.columns.event_columns import columns_of_hot_leaves
from store.columns.layout import SCHEMA_VERSION
from store.folder.disk import Disk
from store.folder.manifest import Segment
from store.log.streams import HotLeaf, Leaf, split_stream
from store.segments.parquet_files import (
    FOLDER,
    LEVEL,
    StoredFile,
    hand_groups,
    leaf_groups,
    manifest_fields,
    write_file,
)
from store.segments.reading import files_of
from store.tables.projection import HANDS, Projection, ProjectionBuilder


def write_segment(
    disk: Disk, closed: Sequence[HotLeaf], projections: Sequence[Projection], level: int = LEVEL
) -> Segment:
    """The files of a segment, aside and then in place, durable before any manifest names them."""
    first, last = closed[0].hand_seq, closed[-1].hand_seq
    parted = [columns_of_hot_leaves(group) for group in leaf_groups(closed)]
    columns = used_columns(parted)
    extent = Extent()

    def groups() -> Iterator[pa.Table]:
        for group in parted:
            low, high = int(group.pos.min()), int(group.pos.max())
            kinds = (it.kind.__name__ for it in group.by_kind)
            extent.add(len(group.pos), low, high, kinds, group.streams)
            yield rows_of(group, columns)

    return write_rows(disk, (first, last), groups(), projections, extent, level)


def write_rows(
    disk: Disk,
    ends: tuple[int, int],
    groups: Iterable[pa.Table],
    projections: Sequence[Projection],
    extent: "Extent",
    level: int,
) -> Segment:
    """The files of a segment: the events, a row group at a time, and what is made of them as they
    go by; what the manifest says of them is gathered by then."""
    wanted = with_hands_table(projections)
    parts: dict[str, list[pa.Table]] = {one.name: [] for one in wanted}
    builder = ProjectionBuilder(wanted)

    def passing() -> Iterator[pa.Table]:
        for rows in groups:
            for name, made in builder.add(rows):
                parts[name].append(made)
            yield rows
        for name, made in builder.flush():
            parts[name].append(made)

    files = {"events": write_file(disk, "events", *ends, passing(), level)}
    for one in wanted:
        files[one.name] = write_file(
            disk, one.name, *ends, hand_groups(parts[one.name], one.rows), level
        )
    disk.sync_folder(FOLDER)
    return extent.segment(*ends, files, {one.name: one.version for one in wanted})


def with_hands_table(projections: Sequence[Projection]) -> tuple[Projection, ...]:
    """The projections with `hands` first, the table by which hands are found."""
    return (HANDS, *(projection for projection in projections if projection.name != HANDS.name))


class Extent:
    """Gathers what the manifest says of a segment besides its files, as its hands go by."""

    def __init__(self) -> None:
        self._events = 0
        self._low, self._high = 2**63, -1
        self._types: set[str] = set()
        self._records: set[str] = set()
        self._numbers: dict[str, tuple[int, int]] = {}

    def add(
        self, events: int, low: int, high: int, types: Iterable[str], streams: Iterable[str]
    ) -> None:
        """Streams with so many events, which lie between these positions."""
        self._events += events
        self._low, self._high = min(self._low, low), max(self._high, high)
        self._types.update(types)
        for stream in streams:
            match, number = split_stream(stream)
            if number is None:
                self._records.add(match)
            else:
                least, most = self._numbers.get(match, (number, number))
                self._numbers[match] = min(least, number), max(most, number)

    def segment(
        self, first: int, last: int, files: dict[str, StoredFile], projections: dict[str, int]
    ) -> Segment:
        return Segment(
            first_seq=first,
            last_seq=last,
            first_pos=self._low,
            last_pos=self._high,
            events=self._events,
            schema=SCHEMA_VERSION,
            projections=projections,
            numbers=self._numbers,
            records=tuple(sorted(self._records)),
            types=tuple(sorted(self._types)),
            **manifest_fields(files),
        )


class ClosedHand(NamedTuple):
    """A closed hand, and its place in the order of closing."""

    hand_seq: int
    hand: str


class _Group(NamedTuple):
    """A row group of events that nobody has decoded yet."""

    segment: Segment
    place: int


CACHED_GROUPS = 8  # row groups of hands whose numbers are kept: hands of a page lie together
CACHED_HANDS = 4_096  # hands whose rows are


class _Row(NamedTuple):
    """The place of a hand in the table of hands, whose rows are in the order of closing."""

    segment: Segment
    group: int
    place: int
    hand_seq: int


class SealedSegments:
    """The segments of one manifest, for reading."""

    def __init__(self, disk: Disk, segments: tuple[Segment, ...]) -> None:
        self.segments = segments
        self._files = files_of(disk)
        self._firsts = [one.first_seq for one in segments]
        self._hands: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        self._records: dict[str, list[Segment]] = defaultdict(list)
        self._find = lru_cache(CACHED_HANDS)(self._looked_up)
        self._column = lru_cache(2 * CACHED_GROUPS)(self._read)
        for at, segment in enumerate(segments):
            for match, (low, high) in segment.numbers.items():
                self._hands[match].append((low, high, at))
            for match in segment.records:
                self._records[match].append(segment)

    def version(self, stream: str) -> int | None:
        """The number of events of a sealed hand; None if there is no such hand."""
        found = self._find(stream)
        if found is None:
            return None
        events = self._files.rows(found.segment, HANDS.name, found.group, ["events"])["events"]
        return int(events[found.place].as_py())

    def hand_seq(self, stream: str) -> int | None:
        """The place of a sealed hand in the order of closing; None if there is no such hand."""
        found = self._find(stream)
        return None if found is None else found.hand_seq

    def hand_seqs(self, stream: str) -> list[int]:
        """Every place of a sealed hand in that order: more than one is a second record of it."""
        return [row.hand_seq for row in self._rows(stream)]

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """Read the sealed events of one stream."""
        match, number = split_stream(stream)
        if number is not None:
            found = self._find(stream)
            return () if found is None else self.read_hand_seq(found.hand_seq)
        return tuple(recorded for leaf in self.records(match) for recorded in leaf.recorded)

    def records(self, match: str) -> Iterator[Leaf]:
        """The sealed appends of a match's own records, in the order of closing."""
        for segment in self._records.get(match, ()):
            for hand_seq in self._appends(segment, match):
                yield Leaf(hand_seq, self.read_hand_seq(hand_seq))

    def read_hand_seq(self, hand_seq: int) -> tuple[Recorded, ...]:
        """Read the events of the leaf at this place in the order of closing, if it is sealed."""
        place = bisect_right(self._firsts, hand_seq) - 1
        if place < 0 or hand_seq > self.segments[place].last_seq:
            return ()
        segment = self.segments[place]
        group = self._files.open(segment, "events").group_of(hand_seq)
        rows = self._files.slice(segment, group, hand_seq)
        return tuple(recorded for leaf in leaves_of(rows) for recorded in leaf.recorded)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Sealed events from a position on, in order of position.

        Segments are opened and row groups decoded when their first position is reached, so
        memory holds only those that overlap at one place.
        """
        turns = count()
        waiting: list[tuple[int, int, Segment | _Group | list[Recorded]]] = [
            (segment.first_pos, next(turns), segment)
            for segment in self.segments
            if segment.last_pos >= pos
        ]
        heapq.heapify(waiting)
        while waiting:
            _, _, part = heapq.heappop(waiting)
            if isinstance(part, Segment):
                bounds = self._files.open(part, "events").bounds["pos"]
                for group, (low, high) in enumerate(bounds):
                    if high >= pos:
                        heapq.heappush(waiting, (low, next(turns), _Group(part, group)))
                continue
            if isinstance(part, _Group):
                part = self._run(part, pos)
            until = waiting[0][0] if waiting else None
            while part and (until is None or part[-1].pos < until):
                yield part.pop()
            if part:
                heapq.heappush(waiting, (part[-1].pos, next(turns), part))

    def leaves(self, segment: Segment) -> Iterator[Leaf]:
        """The leaves of a segment, in the order of closing."""
        for rows in self._files.all_events(segment):
            yield from leaves_of(rows)

    def hands(self, segment: Segment) -> Iterator[ClosedHand]:
        """The hands of a segment, from the table that has a row for each if it is there."""
        name = HANDS.name if HANDS.name in segment.files else "events"
        for group in range(self._files.open(segment, name).groups):
            rows = self._files.rows(segment, name, group, ["hand_seq", "match", "number"])
            last = -1
            for hand_seq, match, number in zip(
                *map(pa.ChunkedArray.to_pylist, rows.columns), strict=True
            ):
                if hand_seq != last and number is not None:
                    yield ClosedHand(hand_seq, f"{match}/{number}")
                last = hand_seq

    def _run(self, group: _Group, pos: int) -> list[Recorded]:
        """A row group's events from a position on, the first one last."""
        leaves = leaves_of(self._files.events(group.segment, group.place))
        events = [recorded for leaf in leaves for recorded in leaf.recorded if recorded.pos >= pos]
        events.sort(key=lambda recorded: -recorded.pos)
        return events

    def _looked_up(self, stream: str) -> _Row | None:
        """A sealed hand's row in the table of hands."""
        return next(self._rows(stream), None)

    def _rows(self, stream: str) -> Iterator[_Row]:
        """Every row of a hand in the tables of hands."""
        match, number = split_stream(stream)
        if number is None or stream != f"{match}/{number}":
            return
        for low, high, at in self._hands.get(match, ()):
            if low <= number <= high:
                opened = self._files.open(self.segments[at], HANDS.name)
                for group in opened.having(match=match, number=number):
                    matches = opened.bounds["match"][group]
                    for place in self._places(at, group, match, number, matches):
                        first = opened.bounds["hand_seq"][group][0]
                        yield _Row(self.segments[at], group, place, first + place)

    def _places(
        self, at: int, group: int, match: str, number: int, matches: tuple[str, str]
    ) -> list[int]:
        """The rows of a hand in a row group; matches are compared where there are several."""
        numbers = self._column(at, group, "number").to_numpy()
        places: list[int] = (numbers == number).nonzero()[0].tolist()
        if places and matches != (match, match):
            names = self._column(at, group, "match")
            places = [place for place in places if names[place].as_py() == match]
        return places

    def _read(self, at: int, group: int, name: str) -> pa.ChunkedArray:
        """A column of the table of hands."""
        return self._files.rows(self.segments[at], HANDS.name, group, [name])[name]

    def _appends(self, segment: Segment, match: str) -> list[int]:
        """The places of a match's own records in the order of closing."""
        found: list[int] = []
        for group in self._files.open(segment, HANDS.name).having(match=match):
            rows = self._files.rows(segment, HANDS.name, group, ["hand_seq", "match", "number"])
            here = pc.and_(pc.is_null(rows["number"]), pc.equal(rows["match"], match))
            found += rows["hand_seq"].filter(here).to_pylist()
        return found


def in_position_order(sealed: Iterable[Recorded], tail: Iterable[Recorded]) -> Iterator[Recorded]:
    """Merge sealed and log events by position: an open hand's first ones lie among sealed ones."""
    return heapq.merge(sealed, tail, key=lambda recorded: recorded.pos)
