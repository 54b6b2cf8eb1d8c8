"""Tables as files that other programs read, written as they are made: CSV, Parquet, Arrow, NDJSON.

Parquet and Arrow hold, beside the rows, whose view of which table they are.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from api.exporting.sight import Eyes
from api.exporting.tables import tables
from events.ledger import Recorded
from store.leaf import Leaf, split
from store.query import plain

BINARY = ("parquet", "arrow")
LEAVES = 1_000  # hands whose lines are written together
Tables = Iterator[pa.Table]


def written(sink: BinaryIO, to: str, leaves: Iterable[Leaf], table: str, eyes: Eyes) -> int:
    """One table in one format; how many rows it has."""
    if to == "ndjson" and table == "events":
        return _lines(sink, leaves, eyes)
    rows = tables(leaves, table, eyes)
    first = next(rows)
    marks = {"muckrake.table": table, "muckrake.view": eyes.view}
    counter = _Counter()
    _WRITERS[to](sink, first.schema.with_metadata(marks), counter.all(first, rows))
    return counter.rows


class _Counter:
    """Rows going by."""

    rows = 0

    def all(self, first: pa.Table, rest: Tables) -> Tables:
        yield self._count(first)
        yield from map(self._count, rest)

    def _count(self, rows: pa.Table) -> pa.Table:
        self.rows += rows.num_rows
        return rows


def _csv(sink: BinaryIO, schema: pa.Schema, rows: Tables) -> None:
    """Text stands in quotes, so that an empty one is not a missing one."""
    with pa.csv.CSVWriter(sink, schema) as writer:
        for group in rows:
            writer.write_table(group)


def _parquet(sink: BinaryIO, schema: pa.Schema, rows: Tables) -> None:
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in rows:
            if group.num_rows:
                writer.write_table(group.cast(schema), row_group_size=group.num_rows)


def _arrow(sink: BinaryIO, schema: pa.Schema, rows: Tables) -> None:
    with pa.ipc.new_stream(sink, schema) as writer:
        for group in rows:
            writer.write_table(_bare(group))


def _bare(rows: pa.Table) -> pa.Table:
    """The same values and no other byte: Arrow would write out whatever lies under a null."""
    columns = []
    for field in rows.schema:
        moment = pa.types.is_timestamp(field.type)  # whole numbers: Python knows no year 287396
        values = rows[field.name].cast(pa.int64()) if moment else rows[field.name]
        columns.append(pa.array(values.to_pylist(), values.type).cast(field.type))
    return pa.table(columns, schema=rows.schema)


def _ndjson(sink: BinaryIO, schema: pa.Schema, rows: Tables) -> None:
    for group in rows:
        sink.writelines(_canonical(row) + b"\n" for row in plain(group))


_WRITERS: dict[str, Callable[[BinaryIO, pa.Schema, Tables], None]] = {
    "csv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
    "ndjson": _ndjson,
}
TABULAR = tuple(_WRITERS)


# Events as lines of JSON.


_canonical = msgspec.json.Encoder(order="sorted").encode


def _lines(sink: BinaryIO, leaves: Iterable[Leaf], eyes: Eyes) -> int:
    """Each event as it is seen, in its canonical form, among the fields of its envelope."""
    rows = 0
    for group in _by(leaves, LEAVES):
        told = list(_told(group, eyes))
        times = pc.strftime(
            pa.array([one.at for one, _ in told], pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ"
        )
        buffer = io.BytesIO()
        for (_, fields), at in zip(told, times.to_pylist(), strict=True):
            buffer.write(_canonical({**fields, "at": at}) + b"\n")
        sink.write(buffer.getvalue())
        rows += len(told)
    return rows


def _told(group: Iterable[Leaf], eyes: Eyes) -> Iterator[tuple[Recorded, dict[str, Any]]]:
    for leaf in group:
        match, number = split(leaf.stream)
        envelope = {"hand": leaf.stream, "match": match, "number": number}
        if eyes.auditor:
            for one in leaf.recorded:
                place = {"hand_seq": leaf.hand_seq, "idx": one.index, "pos": one.pos}
                yield one, {**_fields(one.event), **envelope, **place}
        else:
            for place_seen, (seen, stored, _) in enumerate(eyes.see(leaf).ones):
                place = {"hand_seq": leaf.hand_seq, "idx": place_seen}
                yield stored, {**_fields(seen), **envelope, **place}


def _fields(event: Any) -> dict[str, Any]:
    """The event's own; a deck's number is not the hand's."""
    fields: dict[str, Any] = msgspec.to_builtins(event)
    if fields["type"] == "DeckOpened":
        fields["deck"] = fields.pop("number")
    return fields


def _by(leaves: Iterable[Leaf], size: int) -> Iterator[list[Leaf]]:
    group: list[Leaf] = []
    for leaf in leaves:
        group.append(leaf)
        if len(group) == size:
            yield group
            group = []
    yield group
