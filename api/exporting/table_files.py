"""Write tables as CSV, Parquet, Arrow or NDJSON, while their rows are made.

Parquet and Arrow hold, beside the rows, whose view of which table they are.
"""

import io
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, Protocol

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from api.printable import printable
from store.sql.result_values import as_rfc_3339, json_rows

BINARY = ("parquet", "arrow")
ARROW_FILE = "arrow-file"  # how `arrow` is written where it becomes a file: readers open it by name
FORMULA_PATTERN = r"^('*[=+\-@\t\r\n＝＋－＠])"  # what spreadsheets run, and what was made of it


class TableWriter(Protocol):
    """Tables on their way into one file."""

    def write(self, rows: pa.Table) -> None: ...
    def close(self) -> None: ...


TextFilter = Callable[[pa.ChunkedArray], pa.ChunkedArray]  # what becomes of a column of text in CSV


def table_writer(
    sink: BinaryIO, to: str, schema: pa.Schema, texts: TextFilter | None = None
) -> TableWriter:
    """A writer of tables of this schema into `sink`, which is whole when the writer is closed."""
    return _Csv(sink, schema, texts) if to == "csv" else _WRITERS[to](sink, schema)


def without_formulas(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text that a spreadsheet takes for text: what it would run begins with one more `'`.

    One `'` taken from each text that begins with `'` and a sign of a formula gives it back.
    """
    return pc.replace_substring_regex(column, FORMULA_PATTERN, r"'\1")


def without_controls(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text for a terminal, each on one line."""
    columns = [None if text is None else printable(text) for text in column.to_pylist()]
    return pa.chunked_array([pa.array(columns, pa.string())])


class _Csv:
    """Text stands in quotes, so that an empty one is not a missing one."""

    def __init__(self, sink: BinaryIO, schema: pa.Schema, texts: TextFilter | None) -> None:
        self._out = pa.csv.CSVWriter(sink, schema)
        self._texts = texts

    def write(self, rows: pa.Table) -> None:
        for place, field in enumerate(rows.schema if self._texts else ()):
            if self._texts and pa.types.is_string(field.type):
                rows = rows.set_column(place, field, self._texts(rows[place]))
        self._out.write_table(rows)

    def close(self) -> None:
        self._out.close()


class _Parquet:
    """A row group for each table, so that it holds whole hands as that does.

    What counts up is written in steps, and the name of a hand by where it differs from the last.
    """

    def __init__(self, sink: BinaryIO, schema: pa.Schema) -> None:
        self._schema = schema
        steps = {
            name: how
            for name, (fits, how) in _STEPS.items()
            if name in schema.names and fits(schema.field(name).type)
        }
        self._out = pq.ParquetWriter(
            sink,
            schema,
            compression="zstd",
            column_encoding=steps,
            use_dictionary=[name for name in schema.names if name not in steps],
            write_statistics=[name for name in schema.names if name in _INDEXED],
        )

    def write(self, rows: pa.Table) -> None:
        if rows.num_rows:
            self._out.write_table(rows.cast(self._schema), row_group_size=rows.num_rows)

    def close(self) -> None:
        self._out.close()


class _Arrow:
    """A stream, which is read from its beginning on; or a file, with an index of its parts."""

    def __init__(
        self, sink: BinaryIO, schema: pa.Schema, opened: Callable[..., Any] = pa.ipc.new_stream
    ) -> None:
        self._out = opened(sink, schema)

    def write(self, rows: pa.Table) -> None:
        # The same values and no other byte: Arrow would write out whatever lies under a null.
        columns = [_compacted(rows[field.name].combine_chunks()) for field in rows.schema]
        self._out.write_table(pa.table(columns, schema=rows.schema))

    def close(self) -> None:
        self._out.close()


class _Ndjson:
    """Each row in canonical form. Polars writes it, seven times as fast as row by row, where a
    value is nothing but a number, a truth, a text or a time: then it writes the same bytes."""

    def __init__(self, sink: BinaryIO, schema: pa.Schema) -> None:
        self._sink = sink
        self._simple = all(any(is_one(kind) for is_one in _SIMPLE) for kind in schema.types)

    def write(self, rows: pa.Table) -> None:
        if self._simple:
            # Rows of simple values as lines, their names in order.
            import polars as pl  # no other format needs it

            columns = {name: rows[name] for name in sorted(rows.column_names)}
            for name, column in columns.items():
                if pa.types.is_timestamp(column.type):
                    columns[name] = as_rfc_3339(column)
            lines = io.BytesIO()
            pl.DataFrame(pl.from_arrow(pa.table(columns))).write_ndjson(lines)
            self._sink.write(lines.getvalue())
        else:
            self._sink.write(b"".join(_canonical(row) + b"\n" for row in json_rows(rows)))

    def close(self) -> None:
        """Every line is whole."""


def _compacted(column: pa.Array) -> pa.Array:
    """A column in buffers of its own, with nothing where there is no value."""
    if pa.types.is_string(column.type):
        nothing = pa.scalar("")
    elif pa.types.is_boolean(column.type):
        nothing = pa.scalar(False)
    elif any(is_one(column.type) for is_one in _NUMBERS):
        nothing = pa.scalar(0, pa.int64()).cast(column.type)
    else:
        return pa.array(column.to_pylist(), column.type)
    filled = pc.fill_null(column, nothing)
    filled = pa.concat_arrays([filled, filled[:0]])
    known = pc.is_valid(pa.concat_arrays([column, column[:0]]))
    return pa.Array.from_buffers(
        column.type, len(column), [known.buffers()[1], *filled.buffers()[1:]]
    )


_canonical = msgspec.json.Encoder(order="sorted").encode
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_timestamp)
_SIMPLE = (
    pa.types.is_integer,
    pa.types.is_string,
    pa.types.is_boolean,
    pa.types.is_timestamp,
    pa.types.is_null,
)
_STEPS: dict[str, tuple[Callable[[pa.DataType], bool], str]] = {
    **dict.fromkeys(
        ("hand_seq", "number", "idx", "pos"), (pa.types.is_integer, "DELTA_BINARY_PACKED")
    ),
    "hand": (pa.types.is_string, "DELTA_BYTE_ARRAY"),
}
_INDEXED = ("hand_seq", "hand", "match", "number", "at", "player")  # by a reader, by its bounds
_WRITERS: dict[str, Callable[[BinaryIO, pa.Schema], TableWriter]] = {
    "parquet": _Parquet,
    "arrow": _Arrow,
    "ndjson": _Ndjson,
}
TABULAR = ("csv", *_WRITERS)
_WRITERS[ARROW_FILE] = partial(_Arrow, opened=pa.ipc.new_file)
