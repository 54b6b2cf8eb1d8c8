"""A sealed file that is open: what its footer says of each row group, and readers for later."""

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from store.columns.layout import columns
from store.segments.segment import ROW_GROUPS, STEADY

_JUST_NS = 2_000_000_000  # of what has only just changed, the time does not tell two changes apart
_WORDS = [
    it.name for it in columns().values() if it.arrow == pa.string() and it.encoding == "DICTIONARY"
]
Bounds = list[tuple[Any, Any]]
READERS = 4  # of one file that are kept for later


class RowGroup(NamedTuple):
    """Where a row group lies in its file, and its digest."""

    start: int
    end: int
    sha256: str


class Seen(NamedTuple):
    path: str
    sha256: str
    size: int
    changed: int


class _Bounds(dict[str, Bounds]):
    """The least and the greatest value of each row group, by column, looked up when asked for."""

    def __init__(self, metadata: pq.FileMetaData, names: list[str]) -> None:
        self._metadata = metadata
        self._names = names

    def __missing__(self, name: str) -> Bounds:
        place, metadata = self._names.index(name), self._metadata
        groups = (metadata.row_group(group) for group in range(metadata.num_row_groups))
        self[name] = [_bounds(group.column(place).statistics) for group in groups]
        return self[name]


@dataclass
class Opened:
    """A file's footer: what is in which row group.

    `unchecked` are the row groups whose digests nobody has compared yet;
    `settled` tells whether the file as it was `seen` could not change any more unseen.
    """

    metadata: pq.FileMetaData
    groups: int
    bounds: _Bounds
    steady: dict[str, int]
    reader: Callable[[], pq.ParquetFile]
    unchecked: dict[int, RowGroup]
    seen: Seen | None
    settled: bool
    _idle: deque[pq.ParquetFile] = field(default_factory=lambda: deque(maxlen=READERS))

    @contextmanager
    def reading(self) -> Iterator[pq.ParquetFile]:
        """A reader that is nobody else's meanwhile: two threads must not share one."""
        try:
            file = self._idle.pop()
        except IndexError:
            file = self.reader()
        yield file
        self._idle.append(file)

    @cached_property
    def names(self) -> list[str]:
        """The columns that there are."""
        return [self.metadata.schema.column(at).name for at in range(self.metadata.num_columns)]

    def having(self, **wanted: Any) -> list[int]:
        """The row groups that may hold these values, column by column."""
        places = list(range(self.groups))
        for column, value in wanted.items():
            bounds = self.bounds[column]
            known = [it for it in places if bounds[it][0] is not None]
            places = [it for it in known if bounds[it][0] <= value <= bounds[it][1]]
        return places

    def group_of(self, hand_seq: int) -> int:
        """The row group with this hand: they follow one another without gaps."""
        return bisect_right(self.bounds["hand_seq"], hand_seq, key=itemgetter(0)) - 1

    def same(self, group: int) -> dict[str, Any]:
        """Columns that say the same in every row of a group: their bounds tell what."""
        row_group, found = self.metadata.row_group(group), {}
        for name, place in self.steady.items():
            told = row_group.column(place).statistics
            low, high = _bounds(told)
            if low is not None and low == high and told.null_count == 0:
                found[name] = low
        return found


def open_file(source: Callable[[], Any], seen: Seen | None, footer: bytes | None) -> Opened:
    """With a footer that has been compared, its row groups are yet to be."""
    metadata = pq.read_metadata(source() if footer is None else pa.BufferReader(footer))
    names = [metadata.schema.column(place).name for place in range(metadata.num_columns)]
    words = [name for name in _WORDS if name in names] if "type" in names else []
    wide = "type" in names  # for few columns the threads of one large read cost more than they save
    steady = {name: names.index(name) for name in ("match", *STEADY) if name in names}

    def reader() -> pq.ParquetFile:
        return pq.ParquetFile(source(), metadata=metadata, read_dictionary=words, pre_buffer=wide)

    return Opened(
        metadata=metadata,
        groups=metadata.num_row_groups,
        bounds=_Bounds(metadata, names),
        steady=steady if wide else {},
        reader=reader,
        unchecked={} if footer is None else dict(enumerate(_row_groups(metadata))),
        seen=seen,
        settled=seen is not None and is_settled(seen),
    )


def _row_groups(metadata: pq.FileMetaData) -> Iterator[RowGroup]:
    """The row groups of a file, as its footer tells them."""
    start = 0
    for one in metadata.metadata[ROW_GROUPS].decode().split():
        end, _, sha256 = one.partition(":")
        yield RowGroup(start, int(end), sha256)
        start = int(end)


def _bounds(statistics: Any) -> tuple[Any, Any]:
    known = statistics is not None and statistics.has_min_max
    return (statistics.min, statistics.max) if known else (None, None)


def is_settled(seen: Seen) -> bool:
    return seen.changed < time.time_ns() - _JUST_NS
