"""Values of an answer as JSON has them, and what a SELECT may return in any format.

DuckDB knows types that JSON, CSV, Arrow and Parquet do not, or that its own way into Arrow spoils:
bits become bytes, a time loses its zone, the largest number becomes -1. They are told as text.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from store.sql.guard import Refused, lower_ascii

if TYPE_CHECKING:
    import duckdb

DEPTH_MAX = 16  # lists in lists, or fields in fields, of one type
_PORTABLE_TYPES = {
    *("boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger"),
    *("ubigint", "hugeint", "float", "double", "decimal", "varchar", "blob", "uuid", "null"),
    *("date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"),
    *("timestamp with time zone", "json"),
}
_DAYS = (-719_162, 2_932_896)  # 0001-01-01 and 9999-12-31, from 1970-01-01
_IN_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_DIGITS_MAX = 38
_USE_TEXT = "in the column {}: CAST(... AS VARCHAR) tells it as text"


def portable_columns(relation: "duckdb.DuckDBPyRelation") -> "duckdb.DuckDBPyRelation":
    """Rename columns so that names differ, and cast types without a common form to text."""
    names = distinct_names(relation.columns)
    types = [_cast_to(kind, 1) for kind in relation.types]
    if names == relation.columns and not any(types):
        return relation
    columns = (
        f"{f'CAST(#{place} AS {kind})' if kind else f'#{place}'} AS {_quoted(name)}"
        for place, (name, kind) in enumerate(zip(names, types, strict=True), start=1)
    )
    return relation.project(", ".join(columns))


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, and `x_1` for a second `x`: small and capital letters are the same to DuckDB."""
    taken = {lower_ascii(name) for name in names}
    unique_names: list[str] = []
    met: set[str] = set()
    for name in names:
        number, new = 0, name
        while lower_ascii(new) in met or (number and lower_ascii(new) in taken):
            number += 1
            new = f"{name}_{number}"
        met.add(lower_ascii(new))
        unique_names.append(new)
    return unique_names


def checked_values(rows: pa.Table) -> pa.Table:
    """Return the rows, or `Refused` if a value is beyond what every format has."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        for chunk in column.chunks:
            for leaf in _flat_arrays(chunk):
                _check_range(name, leaf)
    return rows


def json_value(value: Any) -> Any:
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
            return {str(name): json_value(part) for name, part in value.items()}
        case list() | tuple():
            return [json_value(part) for part in value]
    return value


def _cast_to(kind: Any, depth: int) -> str | None:
    """The SQL type to cast a type to; None if it stays as it is."""
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
    return None if kind.id in _PORTABLE_TYPES else "VARCHAR"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _flat_arrays(values: pa.Array) -> Iterator[pa.Array]:
    """Arrays of values that have no parts."""
    kind = values.type
    if pa.types.is_struct(kind):
        for part in values.flatten():
            yield from _flat_arrays(part)
    elif pa.types.is_map(kind):
        yield from _flat_arrays(values.keys)
        yield from _flat_arrays(values.items)
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _flat_arrays(values.flatten())
    else:
        yield values


def _check_range(name: str, values: pa.Array) -> None:
    """Refuse a value that a date, a time or a number of Arrow cannot hold."""
    kind = values.type
    if pa.types.is_decimal(kind):
        numbers = pc.min_max(values).as_py().values()
        if any(len(one.as_tuple().digits) > _DIGITS_MAX for one in numbers if one is not None):
            raise Refused(f"a number has more than {_DIGITS_MAX} digits {_USE_TEXT.format(name)}")
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
            raise Refused(f"a date or time is outside the years 1 to 9999 {_USE_TEXT.format(name)}")


def json_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON takes them; the names of their columns differ."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_timestamp(column.type):
            columns[name] = as_rfc_3339(column).to_pylist()
        elif any(is_plain(column.type) for is_plain in _JSON_TYPES):
            columns[name] = column.to_pylist()
        else:
            columns[name] = [json_value(value) for value in column.to_pylist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_rfc_3339(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times as text, to the second."""
    moments = times.cast(pa.timestamp("ms"), safe=False)
    return pc.strftime(moments, format="%Y-%m-%dT%H:%M:%SZ")


_JSON_TYPES = (pa.types.is_integer, pa.types.is_string, pa.types.is_boolean, pa.types.is_null)
