"""The rows of a question's table as Arrow has them, out of which every file is written."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import pyarrow as pa

from api.questions.question import Table, fields

TYPES = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    list[str]: pa.list_(pa.string()),
    list[int]: pa.list_(pa.int64()),
}


def plain_rows(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows as JSON has them."""
    found: list[dict[str, Any]] = msgspec.to_builtins(rows)
    return found


def arrow(table: Table, answer: Any, *, flat: bool = False) -> pa.Table:
    """The rows of a table; what has parts in JSON is text in JSON, lists too if it must be flat."""
    schema, parts = _schema(table, flat)
    rows = plain_rows(table.rows(answer))
    for row in rows:
        row |= {name: msgspec.json.encode(row[name]).decode() for name in parts}
    return pa.Table.from_pylist(rows, schema)


def _words(kind: Any) -> Any:
    """A type as it is written: text is text whatever its pattern or choices, also in a list."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) is list:
        return list[_words(get_args(kind)[0])]  # type: ignore[misc]
    return str if get_origin(kind) is Literal else kind


def _schema(table: Table, flat: bool) -> tuple[pa.Schema, list[str]]:
    types, parts = {}, []
    for one in fields(table.row):
        kind = _words(one.type)
        if kind not in TYPES or (flat and get_origin(kind) is list):
            parts.append(one.name)
        types[one.name] = pa.string() if one.name in parts else TYPES[kind]
    return pa.schema(types), parts
