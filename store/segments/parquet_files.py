"""Parquet files of a segment, written once: row groups hold whole hands, names hold a digest.

Rows are sorted by `hand_seq`, and row groups are cut where a hand ends, so a reader of one group
has whole hands: a cut hand once looked like a pot that does not balance. A group of 49,152 rows
is the measured middle: a quarter fewer make a hand 2 bytes longer, and every column of every group
costs a reader the same once more; a third more make a look-up slower. Columns that nothing in the
segment fills are left out: each would take 100 bytes of every group. `CONSTANT_COLUMNS` tell their
bounds: where these are the same nobody need decode the column. `NEVER_NULL`, and all columns with a
filler, have a value in every row, and nobody need look for nulls. Groups of this size at level 15
of zstd keep a hand below 60 bytes.

The footer holds a digest of each row group, and the manifest one of the footer, beside that of the
whole file. So a reader of a few row groups compares those and the footer, and no more.

A file that is open keeps what its footer says of each row group, and readers for later.
"""

import hashlib
import io
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from store.columns.codec import with_fillers
from store.columns.layout import ENVELOPE, blank_values, columns
from store.folder.disk import Disk, Output, create_anew
from store.log.streams import AnyLeaf

FOLDER = "segments"
ROW_GROUP = 49_152
LEVEL = 15
CONSTANT_COLUMNS = ("game", "ruleset", "players", "stacks", "dead_small", "size", "sealed", "pot")
NEVER_NULL = set(ENVELOPE) - {"number"}  # a match's own records have no number
BOUNDED_COLUMNS = ("hand_seq", "pos", "match", "number", "at")  # readers search their bounds


ROW_GROUPS = b"muckrake.pieces"  # in the footer: where each ends, a colon, its SHA-256 in hex


class StoredFile(NamedTuple):
    """A file that was written, durable once the folder is synced; `footer` is a digest, too."""

    path: str
    sha256: str
    size: int
    footer: str = ""


def manifest_fields(files: Mapping[str, StoredFile]) -> dict[str, dict[str, Any]]:
    """The fields of a manifest's `Segment` that describe its files."""
    return {
        "files": {name: file.path for name, file in files.items()},
        "sha256": {name: file.sha256 for name, file in files.items()},
        "sizes": {name: file.size for name, file in files.items()},
        "footers": {name: file.footer for name, file in files.items() if file.footer},
    }


class FileWriter:
    """Writes a Parquet file aside, a row group at a time, until `done` puts it in its place."""

    def __init__(self, disk: Disk, name: str, first: int, last: int, level: int = LEVEL) -> None:
        self.name = name
        self._disk = disk
        self._level = level
        self._path = f"{FOLDER}/{name}-{first:012}-{last:012}"
        self._sink = _Sink(create_anew(disk, f"{self._path}.tmp"))
        self._writer: pq.ParquetWriter | None = None
        self._row_groups: list[str] = []
        self._closed = False

    def add(self, group: pa.Table) -> None:
        """Write one more row group; the first one decides the columns."""
        group = with_fillers(group) if _is_of_events(group.schema) else group
        self._writer = self._writer or _writer(self._sink, group.schema, self._level)
        self._writer.write_table(
            group.cast(self._writer.schema), row_group_size=max(1, group.num_rows)
        )
        self._row_groups.append(f"{self._sink.size}:{self._sink.cut()}")

    def done(self) -> StoredFile:
        """The file under its own name."""
        assert self._writer is not None, "there is something to write"
        self._writer.add_key_value_metadata({ROW_GROUPS: " ".join(self._row_groups)})
        self._writer.close()
        footer = self._sink.cut()
        self._sink.output.sync()
        self.close()
        digest = self._sink.digest.hexdigest()
        path = f"{self._path}-{digest[:12]}.parquet"
        self._disk.rename(f"{self._path}.tmp", path)
        return StoredFile(path, digest, self._sink.size, footer)

    def close(self) -> None:
        """Let go of the file, whether it is in its place or not."""
        if not self._closed:
            self._closed = True
            self._sink.output.close()


def write_file(
    disk: Disk, name: str, first: int, last: int, groups: Iterable[pa.Table], level: int = LEVEL
) -> StoredFile:
    """Write a file of these row groups, aside and then in place."""
    with closing(FileWriter(disk, name, first, last, level)) as aside:
        for group in groups:
            aside.add(group)
        return aside.done()


def leaf_groups(leaves: Iterable[AnyLeaf], rows: int | None = None) -> Iterator[list[AnyLeaf]]:
    """Leaves gathered until a row group is full; one larger than that is a group of its own."""
    group: list[AnyLeaf] = []
    held, most = 0, rows or ROW_GROUP
    for leaf in leaves:
        if group and held + leaf.size > most:
            yield group
            group, held = [], 0
        group.append(leaf)
        held += leaf.size
    if group:
        yield group


class HandGroups:
    """Cuts rows that come in tables of any size into groups of whole hands."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._held: pa.Table | None = None

    def add(self, table: pa.Table) -> Iterator[pa.Table]:
        """The groups that are full now; what is not full is held."""
        held = table if self._held is None else pa.concat_tables([self._held, table])
        while held.num_rows > self._rows:
            hands = held["hand_seq"]
            # where the last hand within so many rows ends, or else the first, if that is known
            end = pc.index(hands, hands[self._rows]).as_py()
            end = end or pc.sum(pc.equal(hands, hands[0])).as_py()
            if end == len(hands):
                break
            yield held.slice(0, end)
            held = held.slice(end)
        self._held = held

    def flush(self) -> pa.Table:
        """The last group."""
        assert self._held is not None, "there is something to write"
        return self._held


def hand_groups(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Cut rows into groups of at most so many, each of whole hands; at least one group."""
    cutter = HandGroups(rows)
    for table in tables:
        yield from cutter.add(table)
    yield cutter.flush()


def _writer(sink: Any, fields: pa.Schema, level: int = LEVEL) -> pq.ParquetWriter:
    """Events as their layout says. In other tables positions and times stand in steps, chips byte
    by byte, everything else by number of word."""
    events = _is_of_events(fields)
    if events:
        layout = [columns()[name] for name in fields.names]
        coded = [column.name for column in layout if column.encoding == "DICTIONARY"]
        encodings: dict[str, str] = {
            column.name: column.encoding for column in layout if column.encoding != "DICTIONARY"
        }
        order = [0, list(ENVELOPE).index("idx")]
    else:
        coded = [name for name in fields.names if name not in _ENCODED]
        encodings = {name: how for name, how in _ENCODED.items() if name in fields.names}
        order = [0]
    others = CONSTANT_COLUMNS if events else ("player",)  # one player's rows are soon found
    bounded = {*BOUNDED_COLUMNS, *others}
    certain = NEVER_NULL | blank_values().keys() if events else set()
    return pq.ParquetWriter(
        sink,
        pa.schema([field.with_nullable(field.name not in certain) for field in fields]),
        compression="zstd",
        compression_level=level,
        write_statistics=[name for name in fields.names if name in bounded],
        max_rows_per_page=ROW_GROUP,
        store_schema=False,
        use_dictionary=coded,
        column_encoding=encodings,
        sorting_columns=list(map(pq.SortingColumn, order)),
    )


def _is_of_events(schema: pa.Schema) -> bool:
    return set(ENVELOPE) <= set(schema.names)


# Measured on decisions of heads-up auction hands: what is smallest, column by column.
_ENCODED = {
    **dict.fromkeys(
        ("hand_seq", "number", "first_pos", "last_pos", "first_at", "last_at"),
        "DELTA_BINARY_PACKED",
    ),
    **dict.fromkeys(
        ("pot", "stack", "effective", "to_call", "raise_min", "raise_max", "raised_to"),
        "BYTE_STREAM_SPLIT",
    ),
    "hole": "DELTA_LENGTH_BYTE_ARRAY",
    "board": "DELTA_BYTE_ARRAY",  # a street begins with the cards of the one before
}


class _Sink(io.RawIOBase):
    """A file being written, that counts and digests what goes by, as a whole and by row groups."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.digest = hashlib.sha256()
        self.size = 0
        self._part = hashlib.sha256()

    def cut(self) -> str:
        """The digest of what came since the last one."""
        found, self._part = self._part.hexdigest(), hashlib.sha256()
        return found

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = bytes(data)
        self.output.write(data)
        self.digest.update(data)
        self._part.update(data)
        self.size += len(data)
        return len(data)

    def tell(self) -> int:
        return self.size


_JUST_NS = 2_000_000_000  # of what has only just changed, the time does not tell two changes apart
_WORDS = [
    it.name for it in columns().values() if it.arrow == pa.string() and it.encoding == "DICTIONARY"
]
Bounds = list[tuple[Any, Any]]
READERS = 4  # of one file that are kept for later


class RowGroup(NamedTuple):
    """The bytes of a row group in its file, and its digest."""

    start: int
    end: int
    sha256: str


class FileState(NamedTuple):
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
class OpenedFile:
    """An open file: its footer, which says what is in which row group, and idle readers.

    `unchecked` are the row groups whose digests nobody has compared yet;
    `settled` tells whether the file as it was `seen` could not change any more unseen.
    """

    metadata: pq.FileMetaData
    groups: int
    bounds: _Bounds
    steady: dict[str, int]
    reader: Callable[[], pq.ParquetFile]
    unchecked: dict[int, RowGroup]
    seen: FileState | None
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

    def having(self, **values: Any) -> list[int]:
        """The row groups that may hold these values, by the bounds of the columns."""
        places = list(range(self.groups))
        for column, value in values.items():
            bounds = self.bounds[column]
            known = [group for group in places if bounds[group][0] is not None]
            places = [group for group in known if bounds[group][0] <= value <= bounds[group][1]]
        return places

    def group_of(self, hand_seq: int) -> int:
        """The row group with this hand: they follow one another without gaps."""
        return bisect_right(self.bounds["hand_seq"], hand_seq, key=itemgetter(0)) - 1

    def same(self, group: int) -> dict[str, Any]:
        """The constant columns of a row group and their values, as the bounds tell them."""
        row_group, values = self.metadata.row_group(group), {}
        for name, place in self.steady.items():
            statistics = row_group.column(place).statistics
            low, high = _bounds(statistics)
            if low is not None and low == high and statistics.null_count == 0:
                values[name] = low
        return values


def open_file(
    source: Callable[[], Any], seen: FileState | None, footer: bytes | None
) -> OpenedFile:
    """Open a file by its footer; of a footer that has been compared, row groups are yet to be."""
    metadata = pq.read_metadata(source() if footer is None else pa.BufferReader(footer))
    names = [metadata.schema.column(place).name for place in range(metadata.num_columns)]
    wide = "type" in names  # for few columns the threads of one large read cost more than they save
    first = metadata.row_group(0)  # not every version has the same columns as numbers of words
    coded = {it for at, it in enumerate(names) if "RLE_DICTIONARY" in first.column(at).encodings}
    words = [name for name in _WORDS if wide and name in coded]
    steady = {name: names.index(name) for name in ("match", *CONSTANT_COLUMNS) if name in names}

    unchecked, start = {}, 0
    if footer is not None:
        for number, row_group in enumerate(metadata.metadata[ROW_GROUPS].decode().split()):
            end, _, sha256 = row_group.partition(":")
            unchecked[number] = RowGroup(start, int(end), sha256)
            start = int(end)

    def reader() -> pq.ParquetFile:
        return pq.ParquetFile(source(), metadata=metadata, read_dictionary=words, pre_buffer=wide)

    return OpenedFile(
        metadata=metadata,
        groups=metadata.num_row_groups,
        bounds=_Bounds(metadata, names),
        steady=steady if wide else {},
        reader=reader,
        unchecked=unchecked,
        seen=seen,
        settled=seen is not None and is_settled(seen),
    )


def _bounds(statistics: Any) -> tuple[Any, Any]:
    known = statistics is not None and statistics.has_min_max
    return (statistics.min, statistics.max) if known else (None, None)


def is_settled(seen: FileState) -> bool:
    return seen.changed < time.time_ns() - _JUST_NS
