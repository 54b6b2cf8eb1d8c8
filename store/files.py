"""Segment files for reading: digest checked when first opened, footers kept while there is room."""

import hashlib
import io
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from store.disk import Disk, RealDisk
from store.frames import Damaged
from store.layout import ENVELOPE, KINDS, SCHEMA_VERSION, columns, columns_of, fields
from store.manifest import Segment
from store.segment import BOUNDED
from store.upcast import upcast

GROUPS = 20_000  # row groups whose footers are kept: 10 million hands have some 6,000
BATCH = 8_192  # rows decoded at a time when one hand is looked for
_PIECE = 1 << 20
_WORDS = [
    it.name for it in columns().values() if it.arrow == pa.string() and it.encoding == "DICTIONARY"
]
Bounds = list[tuple[Any, Any]]


@dataclass
class Opened:
    """A file's footer: what is in which row group."""

    file: pq.ParquetFile
    groups: int
    bounds: dict[str, Bounds]

    def having(self, **wanted: Any) -> list[int]:
        """The row groups that may hold these values, column by column."""
        places = list(range(self.groups))
        for column, value in wanted.items():
            bounds = self.bounds[column]
            places = [it for it in places if _may_hold(bounds[it], value)]
        return places


class Files:
    """What one process has opened of a disk's segments; threads take turns."""

    def __init__(self, disk: Disk) -> None:
        self._read = disk.read
        self._root = disk.root if isinstance(disk, RealDisk) else None
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self._checked: set[str] = set()
        self._turn = threading.RLock()

    def open(self, segment: Segment, name: str) -> Opened:
        """A file of the segment; a wrong byte anywhere in it is damage, found here."""
        path = segment.files[name]
        with self._turn:
            if path not in self._opened:
                size = self._check(segment, name)
                native = None if self._root is None else str(self._root / path)
                self._opened[path] = _opened(native or _Input(self._read, path, size))
                while len(self._opened) > 1 and self._kept() > GROUPS:
                    self._opened.popitem(last=False)
            self._opened.move_to_end(path)
            return self._opened[path]

    def rows(self, segment: Segment, name: str, group: int, wanted: list[str]) -> pa.Table:
        """Some columns of one row group."""
        with self._turn:
            return self.open(segment, name).file.read_row_group(group, columns=wanted)

    def events(self, segment: Segment, group: int) -> pa.Table:
        """One row group of events, in today's columns."""
        with self._turn:
            file = self.open(segment, "events").file
            return _today(file.read_row_group(group, columns=_filled(segment)), segment)

    def slice(self, segment: Segment, group: int, hand_seq: int) -> pa.Table:
        """One hand's rows of a row group; decoding stops where it ends."""
        found = []
        wanted = pa.scalar(hand_seq, pa.int64())
        with self._turn:
            file = self.open(segment, "events").file
            for batch in file.iter_batches(
                BATCH, [group], columns=_filled(segment), use_threads=True
            ):
                hands = batch.column("hand_seq")
                if hands[-1].as_py() < hand_seq:
                    continue
                start = pc.index(hands, wanted).as_py()
                if start >= 0:
                    found.append(batch.slice(start, pc.sum(pc.equal(hands, wanted)).as_py()))
                if start < 0 or hands[-1].as_py() > hand_seq:
                    break
        return _today(pa.Table.from_batches(found), segment)

    def _kept(self) -> int:
        return sum(one.groups for one in self._opened.values())

    def _check(self, segment: Segment, name: str) -> int:
        """The size of a file, whose digest is compared once."""
        path = segment.files[name]
        if path in self._checked and name in segment.sizes:
            return segment.sizes[name]
        digest, size = hashlib.sha256(), 0
        try:
            while piece := self._read(path, size, size + _PIECE):
                digest.update(piece)
                size += len(piece)
        except FileNotFoundError:
            raise Damaged(f"{path} is missing: {_hands(segment)}") from None
        if digest.hexdigest() != segment.sha256[name]:
            raise Damaged(f"{path} is not as it was sealed: {_hands(segment)}")
        self._checked.add(path)
        return size


_kept: WeakKeyDictionary[Disk, Files] = WeakKeyDictionary()


def files_of(disk: Disk) -> Files:
    """One for each disk, so that a new manifest opens nothing anew."""
    if disk not in _kept:
        _kept[disk] = Files(disk)
    return _kept[disk]


def _today(rows: pa.Table, segment: Segment) -> pa.Table:
    """Rows of an old schema in today's columns."""
    return upcast(rows, segment.schema) if segment.schema != SCHEMA_VERSION else rows


def _filled(segment: Segment) -> list[str] | None:
    """The columns that a segment's events fill; all of an old one's."""
    if segment.schema != SCHEMA_VERSION or not segment.types:
        return None
    return list(_of_types(segment.types))


@cache
def _of_types(types: tuple[str, ...]) -> tuple[str, ...]:
    filled = {
        column.name
        for kind in types
        for field in fields(KINDS[kind])
        for column in columns_of(field)
    }
    return tuple(name for name in columns() if name in ENVELOPE or name in filled)


def _opened(source: "str | _Input") -> Opened:
    metadata = pq.read_metadata(source)
    names = [metadata.schema.column(place).name for place in range(metadata.num_columns)]
    words = [name for name in _WORDS if name in names] if "type" in names else []
    wide = "type" in names  # for few columns the threads of one large read cost more than they save
    file = pq.ParquetFile(source, metadata=metadata, read_dictionary=words, pre_buffer=wide)
    where = {name: names.index(name) for name in BOUNDED if name in names}
    groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
    bounds = {
        name: [_bounds(group.column(place).statistics) for group in groups]
        for name, place in where.items()
        if name != "at"
    }
    return Opened(file, len(groups), bounds)


def _may_hold(bounds: tuple[Any, Any], value: Any) -> bool:
    low, high = bounds
    return low is not None and bool(low <= value <= high)


def _bounds(statistics: Any) -> tuple[Any, Any]:
    known = statistics is not None and statistics.has_min_max
    return (statistics.min, statistics.max) if known else (None, None)


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
