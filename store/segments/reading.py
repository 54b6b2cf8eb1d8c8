"""Reading segment files: digests are compared first, footers cached while there is room.

Several threads read the same file at once: each borrows a reader of its own. One player's rows of a
table (`PlayerRows`) are sooner read here than a database is opened: footers say between which names
a row group lies, so few groups are read, and of these more than the names only where he is found.
"""

import hashlib
import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from store.columns.layout import READABLE_VERSIONS, SCHEMA_VERSION, columns, columns_of_types
from store.folder.disk import Disk, RealDisk, sha256_of
from store.folder.frames import Damaged
from store.folder.manifest import Segment
from store.segments.parquet_files import FileState, OpenedFile, is_settled, open_file
from store.tables.projection import Projection

Upcast = Callable[[pa.Table], pa.Table]

# From each version of the schema to the next: nothing stored is ever rewritten for a new one. A new
# field with a default needs no function here; a column that changed its name or its meaning does.
UPCASTS: Mapping[int, Upcast] = {1: lambda rows: rows}  # of `READABLE_VERSIONS`

_AT_ONCE = 2  # files
RowNumbers = list[tuple[int, pa.Array]]


class NewerSegment(OSError):
    """A segment written by a newer program than this one."""


def upcast(
    rows: pa.Table, version: int, to: int = SCHEMA_VERSION, upcasts: Mapping[int, Upcast] = UPCASTS
) -> pa.Table:
    """Stored rows of one version as rows of a later one."""
    if version > to:
        raise NewerSegment(
            f"a newer muckrake wrote this ledger, and reads it: layout {version} of its segments"
            f" is newer than {to}"
        )
    for step in range(version, to):
        rows = upcasts[step](rows)
    return rows


GROUPS = 20_000  # row groups whose footers are kept: 10 million hands have some 9,000


class SegmentFiles:
    """The segment files of a disk that a process has opened; threads may share it."""

    def __init__(self, disk: Disk) -> None:
        self._read = disk.read
        self._root = disk.root.absolute() if isinstance(disk, RealDisk) else None
        self._local: Callable[[str], Path] | None = getattr(disk, "local", None)
        self._opened: OrderedDict[str, OpenedFile] = OrderedDict()
        self._turn = threading.RLock()

    def open(self, segment: Segment, name: str) -> OpenedFile:
        """A file of the segment. A wrong byte in its footer is damage, found here; elsewhere, when
        it is read. In a file whose footer has no digests any wrong byte is found here.
        """
        path = segment.files[name]
        with self._turn:
            if path not in self._opened:
                self._opened[path] = self._anew(segment, name)
                while len(self._opened) > 1 and self._group_count() > GROUPS:
                    self._opened.popitem(last=False)
            self._opened.move_to_end(path)
            return self._opened[path]

    def reopen(self, segment: Segment, name: str) -> OpenedFile:
        """Open a file for another question: anew if it may have changed since."""
        path = segment.files[name]
        now = self._file_state(path, segment.sha256[name])
        with self._turn:
            known = self._opened.get(path)
            if known and now and (now != known.seen or not known.settled):
                del self._opened[path]
            return self.open(segment, name)

    def is_current(self, projection: Projection, segment: Segment) -> bool:
        """Whether a segment's file of a projection says what one made today would."""
        made = segment.projections.get(projection.name)
        return projection.is_current(made, lambda: self.open(segment, "events").names)

    def filled(self, segment: Segment) -> list[str]:
        """Today's columns that a segment's events fill, as far as that is known."""
        if segment.schema not in READABLE_VERSIONS:
            return list(columns())
        names = set(self.open(segment, "events").names)
        return [name for name in _filled(segment) or columns() if name in names]

    def rows(
        self, segment: Segment, name: str, group: int, names: list[str] | None = None
    ) -> pa.Table:
        """Read some columns of one row group, or all."""
        with self._borrowed_reader(segment, name, group) as file:
            rows = file.read_row_group(group, columns=names, use_threads=False)
        return rows.replace_schema_metadata(None)

    def events(self, segment: Segment, group: int, wanted: Sequence[str] = ()) -> pa.Table:
        """Read one row group of events in today's columns, or in the wanted ones.

        Of a few columns one that says the same in every row is not decoded: its bounds tell it.
        Where all are read, each is compared with its bounds.
        """
        opened = self.open(segment, "events")
        known = opened.same(group)
        if not wanted or segment.schema not in READABLE_VERSIONS:
            with self._borrowed_reader(segment, "events", group) as file:
                rows = file.read_row_group(group, columns=_filled(segment))
            if any(rows[name].unique().to_pylist() != [one] for name, one in known.items()):
                raise _changed(segment, "events")
            return _in_current_schema(rows.replace_schema_metadata(None), segment)
        names = set(_filled(segment) or opened.names) & set(opened.names)
        names &= set(wanted)
        with self._borrowed_reader(segment, "events", group) as file:
            rows = file.read_row_group(group, columns=sorted(names - known.keys()))
        cells = dict(zip(rows.column_names, rows.columns, strict=True))
        for name in known.keys() & names:
            cells[name] = _repeated(known[name], columns()[name].arrow, rows.num_rows)
        return pa.table(cells)

    def all_events(self, segment: Segment, wanted: Sequence[str] = ()) -> Iterator[pa.Table]:
        """A segment's events, a row group at a time, as `events` gives them."""
        for group in range(self.open(segment, "events").groups):
            yield self.events(segment, group, wanted)

    def slice(self, segment: Segment, group: int, hand_seq: int) -> pa.Table:
        """Read one hand's rows of a row group; decoding stops where the hand ends."""
        opened = self.open(segment, "events")
        with self._borrowed_reader(segment, "events", group) as file:
            hands = file.read_row_group(group, ["hand_seq"], use_threads=False)["hand_seq"]
            start, end = hands.to_numpy().searchsorted([hand_seq, hand_seq + 1]).tolist()
            known = {**opened.same(group), "hand_seq": hand_seq}
            names = _filled(segment) or opened.names
            others = [name for name in names if name not in known]
            batches = file.iter_batches(end, [group], others, use_threads=False)
            taken, count = [], 0
            for batch in batches:  # one, unless a hand is larger than a page; no more is decoded
                taken.append(batch)
                count += batch.num_rows
                if count >= end:
                    break
            rows = pa.Table.from_batches(taken).slice(start)
        cells = dict(zip(rows.column_names, rows.columns, strict=True))
        for name, value in known.items():
            cells[name] = _repeated(value, columns()[name].arrow, end - start)
        return _in_current_schema(pa.table(cells), segment)

    def check(self, segment: Segment, name: str) -> int:
        """The size of a file, whose digest is compared; once, as long as it is the same file."""
        path = segment.files[name]
        try:
            now = _file_state(self._local(path), segment.sha256[name]) if self._local else None
            if now is not None and now in _verified_files:
                return now.size
            sha256, size = sha256_of(self._read, path)
        except FileNotFoundError:
            raise _missing(segment, name) from None
        if sha256 != segment.sha256[name]:
            raise _changed(segment, name)
        if now is not None and is_settled(now):
            _verified_files.add(now)
        return size

    def _anew(self, segment: Segment, name: str) -> OpenedFile:
        path = segment.files[name]
        now = self._file_state(path, segment.sha256[name])
        if name not in segment.footers:
            return open_file(partial(self._source, path, self.check(segment, name)), now, None)
        footer = self._footer(segment, name)
        return open_file(partial(self._source, path, segment.sizes[name]), now, footer)

    def _footer(self, segment: Segment, name: str) -> bytes:
        """The end of a file, as it was sealed; there is nothing after it."""
        path, size = segment.files[name], segment.sizes[name]
        start = max(0, size - _FOOTER)
        try:
            end = self._read(path, start, size + 1)
            length = int.from_bytes(end[-8:-4], "little") + 8
            if len(end) < length <= size:
                start = size - length
                end = self._read(path, start, size + 1)
        except FileNotFoundError:
            raise _missing(segment, name) from None
        footer = end[-length:]
        if start + len(end) != size or hashlib.sha256(footer).hexdigest() != segment.footers[name]:
            raise _changed(segment, name)
        return footer

    @contextmanager
    def _borrowed_reader(self, segment: Segment, name: str, group: int) -> Iterator[pq.ParquetFile]:
        """A reader for a row group, which is as it was sealed."""
        opened = self.open(segment, name)
        if row_group := opened.unchecked.get(group):
            data = self._read(segment.files[name], row_group.start, row_group.end)
            if hashlib.sha256(data).hexdigest() != row_group.sha256:
                raise _changed(segment, name)
            opened.unchecked.pop(group, None)
        with opened.reading() as file:
            yield file

    def _source(self, path: str, size: int) -> "str | _Input":
        native = None if self._root is None else str(self._root / path)
        return native or _Input(self._read, path, size)

    def _group_count(self) -> int:
        return sum(opened.groups for opened in self._opened.values())

    def _file_state(self, path: str, sha256: str) -> FileState | None:
        """The state that tells a file from a changed one; None on a disk of a test."""
        return None if self._root is None else _file_state(self._root / path, sha256)


_FOOTER = 1 << 18  # bytes that are read at first; most footers have fewer
_verified_files: set[FileState] = set()
_files_by_disk: WeakKeyDictionary[Disk, SegmentFiles] = WeakKeyDictionary()


def files_of(disk: Disk) -> SegmentFiles:
    """The shared `SegmentFiles` of a disk: a new manifest opens nothing anew."""
    if disk not in _files_by_disk:
        _files_by_disk[disk] = SegmentFiles(disk)
    return _files_by_disk[disk]


def _file_state(path: Path, sha256: str) -> FileState | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return FileState(str(path.absolute()), sha256, found.st_size, found.st_mtime_ns)


def _in_current_schema(rows: pa.Table, segment: Segment) -> pa.Table:
    """Rows of an old schema in today's columns."""
    return upcast(rows, segment.schema) if segment.schema != SCHEMA_VERSION else rows


def _repeated(value: Any, kind: pa.DataType, rows: int) -> pa.Array:
    """A column of one value; of text the one word, and its number in each row."""
    if kind != pa.string():
        return pa.array(np.full(rows, value), kind)
    zeros = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(zeros, pa.array([value], kind), safe=False)


def _filled(segment: Segment) -> list[str] | None:
    """The columns that a segment's events fill; all of an old one's."""
    if segment.schema not in READABLE_VERSIONS or not segment.types:
        return None
    return list(columns_of_types(segment.types))


def _missing(segment: Segment, name: str) -> Damaged:
    return Damaged(f"{segment.files[name]} is missing: {_hands(segment)}")


def _changed(segment: Segment, name: str) -> Damaged:
    return Damaged(f"{segment.files[name]} is not as it was sealed: {_hands(segment)}")


def _hands(segment: Segment) -> str:
    return f"it holds what closed as {segment.first_seq} to {segment.last_seq}"


class _Input(io.RawIOBase):
    """A file on a disk that is not the machine's own, as Parquet's reader wants it."""

    def __init__(self, read: Any, path: str, size: int) -> None:
        self._read = read
        self._path = path
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def size(self) -> int:
        return self._size

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._size, self._at + size)
        data: bytes = self._read(self._path, self._at, end)
        self._at += len(data)
        return data


class PlayerRows:
    """One player's rows of a table; their places in a file are cached as long as it is the same."""

    def __init__(self, files: SegmentFiles, name: str, player: str) -> None:
        self._files = files
        self._name = name
        self._player = player
        self._found: dict[str, tuple[OpenedFile, RowNumbers]] = {}

    def rows(
        self, segments: Sequence[Segment], tables: Sequence[pa.Table], names: Sequence[str]
    ) -> pa.Table:
        """These columns of the player's rows in order of closing: sealed, then those of tables."""
        read = partial(self._in_segment, names=names)
        with ThreadPoolExecutor(_AT_ONCE) if len(segments) > 1 else nullcontext() as pool:
            sealed = chain.from_iterable((pool.map if pool else map)(read, segments))
            return pa.concat_tables([*sealed, *(self._within(table, names) for table in tables)])

    def _within(self, table: pa.Table, names: Sequence[str]) -> pa.Table:
        return table.filter(pc.equal(table["player"], self._player)).select(names)

    def _in_segment(self, segment: Segment, names: Sequence[str]) -> list[pa.Table]:
        parts = []
        for group, places in self._places(segment):
            first, last = places[0].as_py(), places[-1].as_py()
            rows = self._files.rows(segment, self._name, group, list(names))
            rows = rows.slice(first, last - first + 1)
            everything = rows.num_rows == len(places)
            parts.append(rows if everything else rows.take(pc.subtract(places, places[0])))
        return parts

    def _places(self, segment: Segment) -> RowNumbers:
        """The player's row numbers in each row group of a segment's file."""
        path, opened = segment.files[self._name], self._files.reopen(segment, self._name)
        if path in self._found and self._found[path][0] is opened:
            return self._found[path][1]
        places = []
        for group, (low, high) in enumerate(opened.bounds["player"]):
            if low is None or low <= self._player <= high:
                names = self._files.rows(segment, self._name, group, ["player"])["player"]
                where = pc.indices_nonzero(pc.equal(names, self._player))
                if len(where):
                    places.append((group, where))
        self._found[path] = opened, places
        return places
