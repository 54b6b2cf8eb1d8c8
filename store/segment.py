"""Parquet files of a segment, written once: row groups hold whole hands, names hold a digest.

Rows are sorted by `hand_seq`, and row groups are cut where a hand ends, so whoever reads one group
has whole hands: a cut hand once looked like a pot that does not balance. A group of 49,152 rows
is the measured middle: a third fewer make a hand 4 bytes longer, a third more a lookup 1 ms slower.
"""

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from store.columns import encoded
from store.disk import Disk, Output
from store.layout import ENVELOPE, columns
from store.leaf import Leaf

FOLDER = "segments"
ROW_GROUP = 49_152
LEVEL = 9
BOUNDED = ("hand_seq", "pos", "match", "number", "at")  # what readers look for by its bounds


class Stored(NamedTuple):
    """A file that is in its place, durable once the folder is synced."""

    path: str
    sha256: str
    size: int


def store(disk: Disk, name: str, first: int, last: int, groups: Iterable[pa.Table]) -> Stored:
    """A file of these row groups, aside and then in place; written as it is made."""
    aside = f"{FOLDER}/{name}-{first:012}-{last:012}.tmp"
    if aside.removeprefix(f"{FOLDER}/") in disk.names(FOLDER):
        disk.remove(aside)
    sink = _Sink(disk.create(aside))
    try:
        write(sink, groups)
        sink.output.sync()
    finally:
        sink.output.close()
    digest = sink.digest.hexdigest()
    path = f"{FOLDER}/{name}-{first:012}-{last:012}-{digest[:12]}.parquet"
    disk.rename(aside, path)
    return Stored(path, digest, sink.size)


def write(sink: Any, groups: Iterable[pa.Table]) -> None:
    """Row groups as one Parquet file; events as their layout says, other tables by type."""
    stream = iter(groups)
    first = next(stream)
    layout = _events_layout() if "idx" in first.column_names[:5] else _plain_layout(first.schema)
    with pq.ParquetWriter(
        sink,
        first.schema,
        compression="zstd",
        compression_level=LEVEL,
        write_statistics=[name for name in BOUNDED if name in first.column_names],
        max_rows_per_page=ROW_GROUP,
        store_schema=False,
        **layout,
    ) as writer:
        for group in chain((first,), stream):
            writer.write_table(group, row_group_size=max(1, group.num_rows))


def to_parquet(leaves: Sequence[Leaf]) -> bytes:
    """The bytes of a segment's events."""
    sink = io.BytesIO()
    write(sink, (encoded(group) for group in row_groups(leaves)))
    return sink.getvalue()


def row_groups(leaves: Iterable[Leaf], rows: int | None = None) -> Iterator[list[Leaf]]:
    """Leaves gathered until a row group is full; one larger than that is a group of its own."""
    group: list[Leaf] = []
    held, most = 0, rows or ROW_GROUP
    for leaf in leaves:
        if group and held + len(leaf.recorded) > most:
            yield group
            group, held = [], 0
        group.append(leaf)
        held += len(leaf.recorded)
    if group:
        yield group


def cut(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in groups of at most so many, each of whole hands; at least one group."""
    held: pa.Table | None = None
    for table in tables:
        held = table if held is None else pa.concat_tables([held, table])
        while held.num_rows > rows and (end := _last_end(held["hand_seq"], rows)):
            yield held.slice(0, end)
            held = held.slice(end)
    assert held is not None, "there is something to write"
    while held.num_rows > rows and (end := _last_end(held["hand_seq"], rows)):
        yield held.slice(0, end)
        held = held.slice(end)
    yield held


def _last_end(hands: pa.ChunkedArray, rows: int) -> int:
    """Where the last hand within so many rows ends, or else the first; 0 if that is not known."""
    start: int = pc.index(hands, hands[rows]).as_py()
    if start:
        return start
    end: int = pc.sum(pc.equal(hands, hands[0])).as_py()
    return end if end < len(hands) else 0


def _events_layout() -> dict[str, Any]:
    layout = columns().values()
    return {
        "use_dictionary": [it.name for it in layout if it.encoding == "DICTIONARY"],
        "column_encoding": {it.name: it.encoding for it in layout if it.encoding != "DICTIONARY"},
        "sorting_columns": [pq.SortingColumn(0), pq.SortingColumn(list(ENVELOPE).index("idx"))],
    }


def _plain_layout(schema: pa.Schema) -> dict[str, Any]:
    """Positions and times in steps, everything else by number of word."""
    steps = {"hand_seq", "number", "first_pos", "last_pos", "first_at", "last_at"}
    steps &= set(schema.names)
    return {
        "use_dictionary": [name for name in schema.names if name not in steps],
        "column_encoding": dict.fromkeys(sorted(steps), "DELTA_BINARY_PACKED"),
        "sorting_columns": [pq.SortingColumn(0)],
    }


class _Sink(io.RawIOBase):
    """A file being written, that counts and digests what goes by."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.digest = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self.output.write(piece)
        self.digest.update(piece)
        self.size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self.size
