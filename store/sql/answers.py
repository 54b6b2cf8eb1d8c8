"""DuckDB in memory for several who ask at once: an engine, a session for each question, its answer.

What an engine has read of a Parquet file's footer it keeps: of a large ledger that is half the time
of a short question. All questions of a process share one engine, so that its memory has one bound,
and what it keeps outlives a snapshot. It is locked before anybody asks: no statement changes a
setting. Strangers have processes of their own (`store.sql.strangers`).

A stranger's SELECT may answer with names that differ and values that every format has. DuckDB knows
types that JSON, CSV, Arrow and Parquet do not, or that its own way into Arrow spoils: bits become
bytes, a time loses its zone, the largest number becomes -1. They are told as text.
"""

import atexit
import math
import re
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from store.sql.guard import Refused, folded

if TYPE_CHECKING:
    import duckdb

    Engine = duckdb.DuckDBPyConnection


_engines: "dict[tuple[str, int], Engine]" = {}
_turn = threading.Lock()
warnings.filterwarnings("ignore", "Arrow output on a DB-API result", module=re.escape(__name__))


def answer(con: "Engine", sql: str) -> "pa.Table":
    """What a SELECT finds. As a relation (`con.sql`) DuckDB would bind it twice, which is a third
    of a short question's time; that its rows are copied once more, as DuckDB warns, is less."""
    return con.execute(sql).to_arrow_table()


def connect(memory: str, threads: int, **more: str) -> "Engine":
    """A DuckDB in memory, which loads and takes nothing that it is not given."""
    import duckdb  # as late as it is opened: some questions need none

    engine = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": memory,
            "threads": str(threads),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            "temp_directory": "",
            **more,
        },
    )
    engine.sql("SET GLOBAL TimeZone = 'UTC'")
    engine.sql("SET enable_progress_bar = false")  # it would be drawn into a server's output
    return engine


def engine_of(memory: str, threads: int) -> "Engine":
    """The one engine of this process; a new one is locked."""
    with _turn:
        if (memory, threads) not in _engines:
            engine = connect(memory, threads)
            engine.sql("SET GLOBAL parquet_metadata_cache = true")
            engine.sql("SET lock_configuration = true")
            _engines[memory, threads] = engine
            atexit.register(engine.close)
        return _engines[memory, threads]


class Session:
    """One question's way into an engine: nobody else sees its views, nor the tables behind them.

    `number` is the manifest that its views were made of.
    """

    def __init__(self, engine: "Engine", number: int) -> None:
        self.number = number
        self.con = engine.cursor()
        self._lent: set[str] = set()
        self._shown: set[str] = set()

    def lend(self, tables: "Mapping[str, pa.Table]") -> None:
        """Tables under their names."""
        for name, rows in tables.items():
            if name not in self._lent:
                self.con.register(name, rows)
                self._lent.add(name)

    @contextmanager
    def lent(self, tables: "Mapping[str, pa.Table]") -> Iterator[None]:
        """Tables under their names, for one question."""
        for name, rows in tables.items():
            self.con.register(name, rows)
        try:
            yield
        finally:
            for name in tables:
                self.con.unregister(name)

    def show(self, views: Mapping[str, str]) -> None:
        """Views under their names, each a SELECT."""
        for name, select in views.items():
            if name not in self._shown:
                self.con.sql(f'CREATE TEMP VIEW "{name}" AS {select}')
                self._shown.add(name)

    def close(self) -> None:
        """Let go of the tables that the session was lent."""
        self.con.close()


DEPTH_MAX = 16  # lists in lists, or fields in fields, of one type
_AS_THEY_ARE = {
    *("boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger"),
    *("ubigint", "hugeint", "float", "double", "decimal", "varchar", "blob", "uuid", "null"),
    *("date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"),
    *("timestamp with time zone", "json"),
}
_DAYS = (-719_162, 2_932_896)  # 0001-01-01 and 9999-12-31, from 1970-01-01
_IN_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_DIGITS_MAX = 38
_INSTEAD = "in the column {}: CAST(... AS VARCHAR) tells it as text"


def tellable(relation: "duckdb.DuckDBPyRelation") -> "duckdb.DuckDBPyRelation":
    """The same rows under names that differ, other types as text; or `Refused`."""
    names = unique(relation.columns)
    types = [_cast_to(kind, 1) for kind in relation.types]
    if names == relation.columns and not any(types):
        return relation
    columns = (
        f"{f'CAST(#{place} AS {kind})' if kind else f'#{place}'} AS {_quoted(name)}"
        for place, (name, kind) in enumerate(zip(names, types, strict=True), start=1)
    )
    return relation.project(", ".join(columns))


def unique(names: Sequence[str]) -> list[str]:
    """The names, and `x_1` for a second `x`: small and capital letters are the same to DuckDB."""
    taken = {folded(name) for name in names}
    unique_names: list[str] = []
    met: set[str] = set()
    for name in names:
        number, new = 0, name
        while folded(new) in met or (number and folded(new) in taken):
            number += 1
            new = f"{name}_{number}"
        met.add(folded(new))
        unique_names.append(new)
    return unique_names


def in_range(rows: pa.Table) -> pa.Table:
    """The rows, if no value is beyond what any format has; or `Refused`."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        for chunk in column.chunks:
            for leaf in _leaves(chunk):
                _check(name, leaf)
    return rows


def plain_value(value: Any) -> Any:
    """A value as JSON takes it: whole numbers whole, moments in RFC 3339, bytes in hex."""
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case float():
            return value if math.isfinite(value) else None
        case bytes():
            return value.hex()
        case datetime():
            return value.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
        case date() | time():
            return value.isoformat()
        case dict():
            return {str(name): plain_value(part) for name, part in value.items()}
        case list() | tuple():
            return [plain_value(part) for part in value]
    return value


def _cast_to(kind: Any, depth: int) -> str | None:
    """The type in SQL that a type is told as; `None` if it is told as it is."""
    if depth > DEPTH_MAX:
        raise Refused(f"the answer is nested deeper than {DEPTH_MAX}: unnest it, or take a part")
    match kind.id:
        case "list" | "array":
            inner = _cast_to(kind.children[0][1], depth + 1)
            size = kind.children[1][1] if kind.id == "array" else ""
            return None if inner is None else f"{inner}[{size}]"
        case "struct" | "tuple" | "map":
            parts = kind.children
            inners = [_cast_to(part, depth + 1) for _, part in parts]
            if not any(inners):
                return None
            types = [inner or str(part) for inner, (_, part) in zip(inners, parts, strict=True)]
            if kind.id == "map":
                return f"MAP({types[0]}, {types[1]})"
            names = [name or f"element{place}" for place, (name, _) in enumerate(parts, start=1)]
            fields = (f"{_quoted(name)} {sql}" for name, sql in zip(names, types, strict=True))
            return f"STRUCT({', '.join(fields)})"
        case "timestamp_ns" if depth > 1:
            return "VARCHAR"  # in a list it would be a moment of Python's, which has microseconds
        case "null" if depth > 1:
            return "VARCHAR"  # DuckDB gives Arrow fewer of them than it says
        case "uhugeint":
            return f"DECIMAL({_DIGITS_MAX}, 0)"
    return None if kind.id in _AS_THEY_ARE else "VARCHAR"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _leaves(values: pa.Array) -> Iterator[pa.Array]:
    """Arrays of values that have no parts."""
    kind = values.type
    if pa.types.is_struct(kind):
        for part in values.flatten():
            yield from _leaves(part)
    elif pa.types.is_map(kind):
        yield from _leaves(values.keys)
        yield from _leaves(values.items)
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _leaves(values.flatten())
    else:
        yield values


def _check(name: str, values: pa.Array) -> None:
    """Refuse a value that a date, a time or a number of Arrow cannot hold."""
    kind = values.type
    if pa.types.is_decimal(kind):
        numbers = pc.min_max(values).as_py().values()
        if any(len(one.as_tuple().digits) > _DIGITS_MAX for one in numbers if one is not None):
            raise Refused(f"a number has more than {_DIGITS_MAX} digits {_INSTEAD.format(name)}")
    elif pa.types.is_date32(kind) or pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        bounds = pc.min_max(values.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64()))
        least, most = bounds["min"].as_py(), bounds["max"].as_py()
        if pa.types.is_date32(kind):
            low, high = _DAYS
        elif pa.types.is_time64(kind):
            low, high = 0, _IN_A_DAY[kind.unit] - 1
        else:
            day = _IN_A_DAY[kind.unit]
            endless = 2**63 - 1  # DuckDB's infinity, which in nanoseconds is a moment in 2262
            low = max(_DAYS[0] * day, 1 - endless)
            high = min((_DAYS[1] + 1) * day, endless) - 1
        if least is not None and not low <= least <= most <= high:
            raise Refused(f"a date or time is outside the years 1 to 9999 {_INSTEAD.format(name)}")


def plain(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON takes them; the names of their columns differ."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_timestamp(column.type):
            columns[name] = as_rfc_3339(column).to_pylist()
        elif any(is_plain(column.type) for is_plain in _PLAIN):
            columns[name] = column.to_pylist()
        else:
            columns[name] = [plain_value(value) for value in column.to_pylist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_rfc_3339(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times as text, to the second."""
    moments = times.cast(pa.timestamp("ms"), safe=False)
    return pc.strftime(moments, format="%Y-%m-%dT%H:%M:%SZ")


_PLAIN = (pa.types.is_integer, pa.types.is_string, pa.types.is_boolean, pa.types.is_null)
