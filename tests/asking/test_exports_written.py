"""Quick ways to write a table, each held against the slow and obvious one."""

import io
from collections.abc import Iterator
from datetime import UTC
from importlib import import_module

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.exporting.table_files import table_writer
from api.http.routes.exports import DATASETS, ExportRange, _file_chunks, sorted_rows, view_tables
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from engine.games import RULESETS
from store.reader import Snapshot
from store.sql.result_values import json_rows
from tests.asking.seen_ledgers import ledger_of, matches
from tests.profiles import sized

EXPORTS = import_module("api.http.routes.exports")  # not the router that the package calls so
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


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    played = matches(RULESETS[game] for game in ("auction-2024", "swap-2022"))
    return ledger_of(tmp_path_factory.mktemp("exported") / "ledger", played)


@given(rows)
def test_lines_written_in_columns_are_those_written_row_by_row(
    rows: list[dict[str, object]],
) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    sink = io.BytesIO()
    table_writer(sink, "ndjson", SCHEMA).write(table)
    assert b"".join(canonical(row) + b"\n" for row in json_rows(table)) == sink.getvalue()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3))))
def test_rows_are_put_in_the_order_of_their_keys(keys: list[tuple[int, int]]) -> None:
    table = pa.table({"hand_seq": [a for a, _ in keys], "seat": [b for _, b in keys]}).cast(
        pa.schema({"hand_seq": pa.int64(), "seat": pa.int32()})
    )
    found = sorted_rows(table, ("hand_seq", "seat"))
    assert sorted(keys) == [*zip(*found.to_pydict().values(), strict=True)]


@given(st.lists(rows, min_size=1, max_size=4))
def test_a_parquet_file_holds_what_was_written_to_it(parts: list[list[dict[str, object]]]) -> None:
    tables = [pa.Table.from_pylist(part, SCHEMA).drop_columns("nobody") for part in parts]
    file = b"".join(_file_chunks(iter(tables), "parquet", "auditor", "players"))
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

    chunks = _file_chunks(tables(), "ndjson", "public", "hands")
    assert b'{"number":0}\n' == next(chunks)
    chunks.close()
    assert made in ([0, 1, -1], [0, 1, 2, -1])


ALL, LATER = (0, 10**9), (40, 10**9)


@pytest.mark.ci
@pytest.mark.parametrize("span", [(3, 41), *sized((), ((7, 7),), ((7, 7), ALL, LATER))])
def test_parts_that_are_read_together_are_those_read_one_by_one(
    span: tuple[int, int], snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewed = LedgerView(snapshot, Viewer("public"))
    asked = ExportRange(None, span[0], min(span[1], snapshot.next_seq))
    monkeypatch.setattr(EXPORTS, "HANDS_AT_ONCE_ELSE", sized(8, 4))
    monkeypatch.setattr(EXPORTS, "HANDS_AT_ONCE", {"events": 2})
    for dataset in sized(DATASETS[1::3], DATASETS[::2], DATASETS):
        told = []
        for parts in (1, 3):
            monkeypatch.setattr(EXPORTS, "TABLES_AHEAD", parts)
            told.append([rows.to_pylist() for rows in view_tables(viewed, dataset, asked)])
        assert told[0] == told[1]
        assert [] == told[0][-1]
        assert all(told[0][:-1])
    viewed.close()
