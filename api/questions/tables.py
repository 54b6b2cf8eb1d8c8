"""The rows of a question's table as Arrow has them, out of which every file is written."""

from collections.abc import Sequence
from typing import Any, Literal, get_origin

import msgspec
import pyarrow as pa

from api.questions.question import Table, fields

TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def plain_rows(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows as JSON has them."""
    found: list[dict[str, Any]] = msgspec.to_builtins(rows)
    return found


def arrow(table: Table, answer: Any) -> pa.Table:
    """The rows of a table; what has parts in JSON is text in JSON."""
    schema, parts = _schema(table)
    rows = plain_rows(table.rows(answer))
    for row in rows:
        row |= {name: msgspec.json.encode(row[name]).decode() for name in parts}
    return pa.Table.from_pylist(rows, schema)


def _schema(table: Table) -> tuple[pa.Schema, list[str]]:
    types, parts = {}, []
    for one in fields(table.row):
        kind = str if get_origin(one.type) is Literal else one.type
        if kind not in TYPES:
            parts.append(one.name)
        types[one.name] = TYPES.get(kind, pa.string())
    return pa.schema(types), parts
