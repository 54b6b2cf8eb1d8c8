"""Quick ways to write a table, each held against the slow and obvious one."""

import io
from collections.abc import Iterator
from datetime import UTC

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from api.asking.exports import ordered
from api.exporting.files import writer
from api.http.streams import _written
from store.query import plain

canonical = msgspec.json.Encoder(order="sorted").encode
numbers = st.integers(-(2**63), 2**63 - 1)
texts = st.text() | st.sampled_from(
    ["", '"', "\\", "\n\t\x00\x1f\x7f", "</script>", "\u2028", "😀"]
)
times = st.datetimes(timezones=st.just(UTC))
rows = st.lists(
    st.fixed_dictionaries(
        {
            "hand_seq": st.none() | numbers,
            "seat": st.none() | st.integers(-(2**31), 2**31 - 1),
            "player": st.none() | texts,
            "at": st.none() | times,
            "Folded": st.none() | st.booleans(),
            "nobody": st.none(),
        }
    ),
    max_size=20,
)
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "seat": pa.int32(),
        "player": pa.string(),
        "at": pa.timestamp("us", "UTC"),
        "Folded": pa.bool_(),
        "nobody": pa.null(),
    }
)


@given(rows)
def test_lines_written_in_columns_are_those_written_row_by_row(
    rows: list[dict[str, object]],
) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    sink = io.BytesIO()
    writer(sink, "ndjson", SCHEMA).write(table)
    assert b"".join(canonical(row) + b"\n" for row in plain(table)) == sink.getvalue()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3))))
def test_rows_are_put_in_the_order_of_their_keys(keys: list[tuple[int, int]]) -> None:
    table = pa.table({"hand_seq": [a for a, _ in keys], "seat": [b for _, b in keys]}).cast(
        pa.schema({"hand_seq": pa.int64(), "seat": pa.int32()})
    )
    found = ordered(table, ("hand_seq", "seat"))
    assert sorted(keys) == [*zip(*found.to_pydict().values(), strict=True)]


@given(st.lists(rows, min_size=1, max_size=4))
def test_a_parquet_file_holds_what_was_written_to_it(parts: list[list[dict[str, object]]]) -> None:
    tables = [pa.Table.from_pylist(part, SCHEMA).drop_columns("nobody") for part in parts]
    file = b"".join(_written(iter(tables), "parquet", "auditor", "players"))
    found = pq.read_table(io.BytesIO(file))
    assert pa.concat_tables(tables) == found.replace_schema_metadata()


def test_who_goes_away_leaves_nobody_at_work() -> None:
    """The table that was being made meanwhile is the last, and its maker is closed."""
    made: list[int] = []

    def tables() -> Iterator[pa.Table]:
        try:
            for number in range(100):
                made.append(number)
                yield pa.table({"number": [number]})
        finally:
            made.append(-1)

    chunks = _written(tables(), "ndjson", "public", "hands")
    assert b'{"number":0}\n' == next(chunks)
    chunks.close()
    assert made in ([0, 1, -1], [0, 1, 2, -1])
