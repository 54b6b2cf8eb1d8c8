"""What a stranger's SQL may say: one SELECT over the views, as DuckDB's own parser spells it out.

The type of a statement is not enough: DuckDB 2 calls `WITH x AS (COPY ... TO 'file') SELECT 1` a
SELECT. So every part of its tree is looked at, and only what `sql_names.toml` allows passes: parts
of a statement, functions, types and collations. Small and capital letters are told apart as DuckDB
does, in ASCII alone.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import duckdb

_LIST = Path(__file__).with_name("sql_names.toml")
_AGGREGATES_LISTS = {"aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"}
_TOO_DEEP = "expression depth limit"  # in what DuckDB says
_DEEP = "this statement is nested deeper than anybody reads: write it flatter"


class AllowedNames(NamedTuple):
    """The names of `sql_names.toml` in small letters; parts of statements as DuckDB has them."""

    functions: frozenset[str]
    tables: frozenset[str]
    types: frozenset[str]
    collations: frozenset[str]
    parts: frozenset[str]
    bare: frozenset[str]  # functions that are called without parentheses
    refused: tuple[tuple[str, str], ...]  # a pattern and the reason why

    def reason(self, name: str) -> str | None:
        """Why a name is refused; `None` if no list has it."""
        return next((why for pattern, why in self.refused if fnmatchcase(name, pattern)), None)


@cache
def allowed_names() -> AllowedNames:
    """The list of names, read once."""
    toml = tomllib.loads(_LIST.read_text(encoding="utf-8"))
    functions = _words(toml["allowed"].values())
    tables = _words(toml["allowed_tables"].values())
    return AllowedNames(
        functions | tables,  # a row's place may hold `unnest`, too
        tables,
        _words(toml["allowed_types"].values()),
        _words(toml["allowed_collations"].values()),
        frozenset(" ".join(toml["allowed_parts"].values()).split()),
        _words(toml["without_parentheses"].values()),
        tuple((one, it["reason"]) for it in toml["refused"] for one in shlex.split(it["names"])),
    )


def lower_ascii(name: str) -> str:
    """A name as DuckDB compares it: capital letters of ASCII are small ones, and no others."""
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(lower_ascii(word) for text in texts for word in shlex.split(text))


class Refused(Exception):
    """A question that is not answered: the sentence says what is wrong with it."""


def syntax_tree(con: "duckdb.DuckDBPyConnection", sql: str) -> Any:
    """DuckDB's syntax tree of a statement; `RecursionError` if it is too deep."""
    rows = con.sql("SELECT json_serialize_sql($1::VARCHAR)", params=[sql]).fetchall()
    return json.loads(rows[0][0])


def table_names(con: "duckdb.DuckDBPyConnection", sql: str) -> set[str] | None:
    """The names of the tables that a SELECT reads, in small letters; None for anything else."""
    import duckdb

    try:
        tree = syntax_tree(con, sql)
    except (duckdb.Error, RecursionError):
        return None
    parts = [part for part, _ in _known(tree, frozenset())]
    if tree["error"] or any(part.get("type") == "SHOW_REF" for part in parts):
        return None
    return {lower_ascii(part["table_name"]) for part in parts if part.get("type") == "BASE_TABLE"}


def checked_statement(con: "duckdb.DuckDBPyConnection", sql: str, views: Sequence[str]) -> Any:
    """The one statement, if it only selects from these views; else refused in one sentence."""
    import duckdb

    statements = con.extract_statements(sql)
    if len(statements) != 1:
        raise Refused(f"one statement is answered, this is {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise Refused(f"{statements[0].type.name} is refused: only SELECT is answered")
    try:
        tree = syntax_tree(con, statements[0].query)
    except RecursionError:
        raise Refused(_DEEP) from None
    if tree["error"]:
        raise Refused(f"this statement is refused: {tree['error_message']}")
    for part, known in _known(tree, frozenset(views)):
        _check_part(part, known, views)
    return statements[0]


def _check_part(part: dict[str, Any], known: frozenset[str], views: Sequence[str]) -> None:
    """Refuse a part of a statement that is not allowed, or that names what is not."""
    kind = part.get("class") or part.get("type")
    if not isinstance(kind, str):
        return
    if kind not in allowed_names().parts:
        verb = kind.removesuffix("_NODE").removesuffix("_QUERY")
        raise Refused(f"{verb} is refused: only SELECT is answered")
    match kind:
        case "TABLE_FUNCTION":
            _check_name(part["function"]["function_name"], allowed_names().tables, "table function")
        case "FUNCTION" | "WINDOW":
            _check_name(part["function_name"], allowed_names().functions, "function")
            _check_call(part)
        case "TYPE":
            _check_name(part["type_name"], allowed_names().types, "type")
        case "COLLATE":
            for name in part["collation"].split("."):
                _check_name(name, allowed_names().collations, "collation")
        case "COLUMN_REF" if len(part["column_names"]) == 1:
            # DuckDB would call it as a function if no column has this name
            (name,) = part["column_names"]
            small = lower_ascii(name)
            if small in allowed_names().bare and small not in allowed_names().functions:
                reason = allowed_names().reason(small)
                raise Refused(f"{name} is refused: {reason}; a column of that name is table.{name}")
        case "SHOW_REF" if part["query"] is None:
            if lower_ascii(part["table_name"]) not in views:
                raise Refused(
                    f"SHOW is refused: there are {', '.join(views)}; DESCRIBE tells their columns"
                )
        case "BASE_TABLE":
            name = ".".join(filter(None, (part.get("schema_name"), part["table_name"])))
            foreign = part.get("schema_name") or part.get("catalog_name")
            if foreign or lower_ascii(name) not in known:
                raise Refused(f"there is no table {name}: there are {', '.join(views)}")


def _check_name(name: str, allowed: frozenset[str], kind: str) -> None:
    """Refuse a name that is not allowed: with the reason, or what it might have meant."""
    small = lower_ascii(name)
    if small in allowed:
        return
    why = allowed_names().reason(small)
    if why is not None:
        raise Refused(f"{name} is refused: {why}")
    like = ", ".join(get_close_matches(small, sorted(allowed), 3))
    raise Refused(f"there is no {kind} {name}" + (f": perhaps {like}" if like else ""))


def _check_call(part: dict[str, Any]) -> None:
    """Refuse half-made sums, and an aggregate that is named in a text, if it would be by name."""
    if part.get("export_state"):
        raise Refused(f"EXPORT_STATE is refused: {allowed_names().reason('finalize')}")
    if lower_ascii(part["function_name"]) not in _AGGREGATES_LISTS:
        return
    name_at = 1 if len(part["qualified_name"]["path"]) == 1 else 0  # a_list.list_aggr('sum')
    arguments = [argument["expression"] for argument in part["arguments"]]
    literal = arguments[name_at].get("literal") if len(arguments) > name_at else None
    if literal is None or literal["kind"] != "STRING":
        call = part["function_name"]
        raise Refused(f"{call} is refused here: it is {call}(list, 'aggregate'), the name a text")
    _check_name(literal["text"], allowed_names().functions, "function")


@contextmanager
def refused_errors(memory: str, seconds: float) -> Iterator[None]:
    """Turn what DuckDB raises into `Refused`, in one sentence."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise Refused(f"stopped: no answer within {seconds:g} s") from None
    except duckdb.OutOfMemoryException:
        raise Refused(f"stopped: the answer needs more memory than {memory}") from None
    except duckdb.ParserException as reason:
        if _TOO_DEEP in str(reason):
            raise Refused(_DEEP) from None
        words = "columns named like words of SQL (at, full, to, where) stand in double quotes"
        raise Refused(f"{_sentence(reason)}; {words}") from None
    except duckdb.Error as reason:
        raise Refused(_DEEP if _TOO_DEEP in str(reason) else _sentence(reason)) from None


def _sentence(reason: Exception) -> str:
    """DuckDB's first line; the rest draws arrows under the text."""
    return str(reason).strip().splitlines()[0]


def _known(tree: Any, views: frozenset[str]) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Every object in a tree of JSON, with the names that mean something there.

    A name given by WITH is known to what comes after it and to the statement that it belongs to;
    in its own query only to the second half of a recursion. Elsewhere the same word would be
    looked up among all that DuckDB has.
    """
    waiting: list[tuple[Any, frozenset[str]]] = [(tree, views)]
    while waiting:
        node, known = waiting.pop()
        if isinstance(node, list):
            waiting += [(each, known) for each in node]
        elif isinstance(node, dict):
            yield node, known
            for table in node.get("cte_map", {}).get("map", ()):
                waiting.append((table["value"], known))
                known |= {lower_ascii(table["key"])}
            for name, value in node.items():
                if node.get("type") == "RECURSIVE_CTE_NODE" and name == "right":
                    waiting.append((value, known | {lower_ascii(node["cte_name"])}))
                elif name != "cte_map":
                    waiting.append((value, known))


# Texts, numbers and comments; what stands in double quotes is a name.
_LITERALS = re.compile(r"""("[^"]*")|(?:'[^']*')+|--[^\n]*|/\*.*?\*/|\d+""", re.DOTALL)
SHAPES = 1_000  # of statements whose tables are remembered
_named: dict[str, set[str] | None] = {}


def known_table_names(con: "duckdb.DuckDBPyConnection", sql: str) -> set[str] | None:
    """The tables that a statement of ours names; those that differ in numbers, texts and comments
    alone name the same.

    The whole process remembers: a parser's answer depends on no ledger, and takes as long as many a
    question.
    """
    shape = _LITERALS.sub(r"\g<1>0", sql)
    try:
        return _named[shape]
    except KeyError:
        if len(_named) >= SHAPES:
            _named.clear()
        _named[shape] = tables_named = table_names(con, sql)
        return tables_named
