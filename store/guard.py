"""What a stranger's SQL may say: one SELECT over the views, as DuckDB's own parser spells it out.

The type of a statement is not enough: DuckDB 2 calls `WITH x AS (COPY ... TO 'file') SELECT 1` a
SELECT. So every part of its tree is looked at, and only what is known to be harmless passes.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
FUNCTIONS = {"range", "generate_series", "unnest", "json_each", "json_tree"}
# Macros that read DuckDB's own tables: what a view is made of is nobody's business.
TELLING = {"pg_get_viewdef", "pg_get_constraintdef", "format_type", "get_block_size"}


class Refused(Exception):
    """A question that is not answered: the sentence says what is wrong with it."""


def tables(con: "duckdb.DuckDBPyConnection", sql: str) -> set[str] | None:
    """The names of tables that a SELECT reads, in small letters; of anything else nobody knows."""
    import duckdb

    try:
        said = con.sql("SELECT json_serialize_sql($1::VARCHAR)", params=[sql]).fetchall()
    except duckdb.Error:
        return None
    tree = json.loads(said[0][0])
    parts = list(_parts(tree))
    if tree["error"] or any(part.get("type") == "SHOW_REF" for part in parts):
        return None
    return {part["table_name"].lower() for part in parts if part.get("type") == "BASE_TABLE"}


def checked(con: "duckdb.DuckDBPyConnection", sql: str, views: Sequence[str]) -> Any:
    """The one statement, if it only selects from these views; else refused in one sentence."""
    import duckdb

    found = con.extract_statements(sql)
    if len(found) != 1:
        raise Refused(f"one statement is answered, this is {len(found)}")
    if found[0].type != duckdb.StatementType.SELECT:
        raise Refused(f"{found[0].type.name} is refused: only SELECT is answered")
    said = con.sql("SELECT json_serialize_sql($1::VARCHAR)", params=[found[0].query]).fetchall()
    tree = json.loads(said[0][0])
    if tree["error"]:
        raise Refused(f"this statement is refused: {tree['error_message']}")
    for part, known in _known(tree, frozenset(views)):
        _check_part(part, known, views)
    return found[0]


def _check_part(part: dict[str, Any], known: frozenset[str], views: Sequence[str]) -> None:
    kind = part.get("type")
    if not isinstance(kind, str):
        return
    if kind.endswith("_NODE") and kind not in NODES:
        verb = kind.removesuffix("_NODE").removesuffix("_QUERY")
        raise Refused(f"{verb} is refused: only SELECT is answered")
    there = ", ".join(views)
    if kind == "TABLE_FUNCTION" and (name := part["function"]["function_name"]) not in FUNCTIONS:
        raise Refused(f"{name} is refused: there are only {there} to read")
    if kind == "FUNCTION" and part["function_name"].lower() in TELLING:
        raise Refused(f"{part['function_name']} is refused: there are only {there} to read")
    if kind == "SHOW_REF" and part["query"] is None and part["table_name"].lower() not in views:
        raise Refused(f"SHOW is refused: there are {there}; DESCRIBE tells their columns")
    if kind == "BASE_TABLE":
        name = ".".join(filter(None, (part.get("schema_name"), part["table_name"])))
        foreign = part.get("schema_name") or part.get("catalog_name")
        if foreign or name.lower() not in known:
            raise Refused(f"there is no table {name}: there are {there}")


@contextmanager
def in_a_sentence(memory: str, seconds: float) -> Iterator[None]:
    """What DuckDB says against a question."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise Refused(f"stopped: no answer within {seconds:g} s") from None
    except duckdb.OutOfMemoryException:
        raise Refused(f"stopped: the answer needs more memory than {memory}") from None
    except duckdb.ParserException as reason:
        words = "columns named like words of SQL (at, full, to, where) stand in double quotes"
        raise Refused(f"{_sentence(reason)}; {words}") from None
    except duckdb.Error as reason:
        raise Refused(_sentence(reason)) from None


def _sentence(reason: Exception) -> str:
    """DuckDB's first line; the rest draws arrows under the text."""
    return str(reason).strip().splitlines()[0]


Waiting = list[tuple[Any, frozenset[str]]]


def _known(tree: Any, views: frozenset[str]) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Every object in a tree of JSON, with the names that mean something there.

    A name given by WITH is known to what comes after it and to the statement that it belongs to;
    in its own query only to the second half of a recursion. Elsewhere the same word would be
    looked up among all that DuckDB has.
    """
    waiting: Waiting = [(tree, views)]
    while waiting:
        one, known = waiting.pop()
        if isinstance(one, list):
            waiting += [(each, known) for each in one]
        elif isinstance(one, dict):
            yield one, known
            waiting += _below(one, known)


def _below(one: dict[str, Any], known: frozenset[str]) -> Waiting:
    """What stands in an object, and what is known there."""
    below: Waiting = []
    for given in one.get("cte_map", {}).get("map", ()):
        below.append((given["value"], known))
        known |= {given["key"].lower()}
    for name, value in one.items():
        if one.get("type") == "RECURSIVE_CTE_NODE" and name == "right":
            below.append((value, known | {one["cte_name"].lower()}))
        elif name != "cte_map":
            below.append((value, known))
    return below


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object in a tree of JSON."""
    return (part for part, _ in _known(tree, frozenset()))
