"""What a stranger's SQL may say: one SELECT over the views, as DuckDB's own parser spells it out.

The type of a statement is not enough: DuckDB 2 calls `WITH x AS (COPY ... TO 'file') SELECT 1` a
SELECT. So every part of its tree is looked at, and only what is known to be harmless passes.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
FUNCTIONS = {"range", "generate_series", "unnest", "json_each", "json_tree"}


class Refused(Exception):
    """A question that is not answered: the sentence says what is wrong with it."""


def tables(con: duckdb.DuckDBPyConnection, sql: str) -> set[str] | None:
    """The names of tables that a SELECT reads, in small letters; of anything else nobody knows."""
    try:
        said = con.sql("SELECT json_serialize_sql($1::VARCHAR)", params=[sql]).fetchall()
    except duckdb.Error:
        return None
    tree = json.loads(said[0][0])
    parts = list(_parts(tree))
    if tree["error"] or any(part.get("type") == "SHOW_REF" for part in parts):
        return None
    return {part["table_name"].lower() for part in parts if part.get("type") == "BASE_TABLE"}


def checked(con: duckdb.DuckDBPyConnection, sql: str, views: Sequence[str]) -> Any:
    """The one statement, if it only selects from these views; else refused in one sentence."""
    found = con.extract_statements(sql)
    if len(found) != 1:
        raise Refused(f"one statement is answered, this is {len(found)}")
    if found[0].type != duckdb.StatementType.SELECT:
        raise Refused(f"{found[0].type.name} is refused: only SELECT is answered")
    said = con.sql("SELECT json_serialize_sql($1::VARCHAR)", params=[found[0].query]).fetchall()
    tree = json.loads(said[0][0])
    if tree["error"]:
        raise Refused(f"this statement is refused: {tree['error_message']}")
    parts = list(_parts(tree))
    known = {*views, *(one["key"] for one in parts if {"key", "value"} == one.keys())}
    for part in parts:
        _check_part(part, {name.lower() for name in known}, views)
    return found[0]


def _check_part(part: dict[str, Any], known: set[str], views: Sequence[str]) -> None:
    kind = part.get("type")
    if not isinstance(kind, str):
        return
    if kind.endswith("_NODE") and kind not in NODES:
        verb = kind.removesuffix("_NODE").removesuffix("_QUERY")
        raise Refused(f"{verb} is refused: only SELECT is answered")
    if kind == "TABLE_FUNCTION" and (name := part["function"]["function_name"]) not in FUNCTIONS:
        raise Refused(f"{name} is refused: there are only {', '.join(views)} to read")
    if kind == "BASE_TABLE":
        name = ".".join(filter(None, (part.get("schema_name"), part["table_name"])))
        if name.lower() not in known or part.get("catalog_name"):
            raise Refused(f"there is no table {name}: there are {', '.join(views)}")


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object in a tree of JSON."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
