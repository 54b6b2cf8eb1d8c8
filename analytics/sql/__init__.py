"""SQL of statistics: filters of hands, the SQL files, and what they are run on.

A file is one question, and reads `filtered`: the rows that filters leave, of facts one a player and
hand (`facts_sql`). `part` is what the answer is divided by, so that one file serves the whole and
its parts. A file is run on a ledger's views (`JoinedViews`) or on Arrow tables (`ArrowTables`).

Amounts of filtered hands are chips, dollars, euros or pounds. Those of one currency add up exactly,
half chips to chips and cents to dollars. Those of several have no sum and no mean: a question that
asks for one is refused.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pyarrow as pa
from msgspec import Struct

from engine.policies import money, per_chip
from store.sql.query import Query
from store.sql.result_values import json_rows
from store.sql.sessions import fetch_table

if TYPE_CHECKING:
    import duckdb

By = Literal["position", "game", "match", "opponent", "window"]
WINDOW = 100
UNTAGGED = "untagged"  # the part of matches that say nothing of a player


class HandFilters(Struct, frozen=True, kw_only=True):
    """Which players' hands a question is about; a filter that is None leaves out nothing.

    `vs`: hands in which this player was dealt in, too. `hands`: first and last number within
    its match. `before`: as of a place in the order in which hands closed. `others`: everybody
    but `player`, counted as if they were one. `tagged`: what a tag says of him in each match that
    he is tagged in, by his name there (in the column `own_name`), which is then what the answer is
    divided by.
    """

    player: str | None = None
    vs: str | None = None
    positions: tuple[str, ...] = ()
    game: str | None = None
    match: str | None = None
    hands: tuple[int, int] | None = None
    before: int | None = None
    by: By | None = None
    others: bool = False
    tagged: tuple[tuple[str, str, str], ...] = ()
    own_name: str = "player"


def facts_sql(filters: HandFilters, known: str = "coalesce(cards, shown)") -> str:
    """The SELECT of `filtered`; `known` is the class of hole cards that the viewer may see."""
    part = _PART_SQL[filters.by] if filters.by else "''"
    if filters.tagged:
        cases = " ".join(
            f"WHEN f.match = {quoted(match)} AND f.{filters.own_name} = {quoted(name)}"
            f" THEN {quoted(value)}"
            for match, name, value in filters.tagged
        )
        part = f"CASE {cases} ELSE {quoted(UNTAGGED)} END"
    terms = [*player_terms(filters, "f."), *hand_terms(filters, "f.")]
    if filters.positions:
        terms.append(f"f.position IN ({', '.join(map(quoted, filters.positions))})")
    source = "facts f"
    if filters.by == "opponent":
        source += " JOIN facts o ON f.hand_seq = o.hand_seq AND f.seat <> o.seat"
    known = known.replace("cards", "f.cards").replace("shown", "f.shown")
    every = "f.* REPLACE ('' AS player)" if filters.others else "f.*"
    return f"SELECT {every}, {part} AS part, {known} AS class FROM {source}{where(terms)}"


def player_terms(filters: HandFilters, of: str = "") -> list[str]:
    """The conditions on players, in a table with a row for each player and hand."""
    terms = []
    if filters.player is not None:
        terms.append(f"{of}player {'<>' if filters.others else '='} {quoted(filters.player)}")
    if filters.vs is not None:
        terms.append(f"{of}player <> {quoted(filters.vs)}")
    return terms


def hand_terms(filters: HandFilters, of: str = "") -> list[str]:
    """The conditions on hands, in any table that names their match, number and game."""
    terms = []
    for column, value in (("game", filters.game), ("match", filters.match)):
        if value is not None:
            terms.append(f"{of}{column} = {quoted(value)}")
    if filters.vs is not None:
        with_him = f"SELECT hand_seq FROM facts WHERE player = {quoted(filters.vs)}"
        terms.append(f"{of}hand_seq IN ({with_him})")
    if filters.hands is not None:
        terms.append(f"{of}number BETWEEN {filters.hands[0]} AND {filters.hands[1]}")
    if filters.before is not None:
        terms.append(f"{of}hand_seq < {filters.before}")
    return terms


def where(terms: Sequence[str]) -> str:
    """The WHERE clause of these conditions; empty without any."""
    return f" WHERE {' AND '.join(terms)}" if terms else ""


def quoted(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


_PART_SQL: dict[By, str] = {
    "position": "f.position",
    "game": "f.game",
    "match": "f.match",
    "opponent": "o.player",
    "window": f"CAST(f.number - (f.number - 1) % {WINDOW} AS STRING)",
}


def natural_key(part: str) -> tuple[int, str]:
    """The sort key of a part: windows by their first hand, anything else by its letters."""
    return (int(part), "") if part.isdigit() else (0, part)


PartCurrencies = dict[tuple[str, str], str | None]


class RowsWithUnits(Protocol):
    """What answers SQL with rows, and the units that their amounts may count in."""

    @property
    def units(self) -> set[str]: ...

    def rows(self, sql: str) -> list[dict[str, Any]]: ...


def currencies(units: Iterable[str]) -> list[str]:
    """The currencies of these units."""
    return sorted(set(map(money, units)))


def currencies_of(facts: RowsWithUnits, rows: str) -> list[str]:
    """The currencies of rows with a `unit`, which are read only if there can be several."""
    known = currencies(facts.units)
    if len(known) < 2:
        return known
    found = facts.rows(f"SELECT DISTINCT unit FROM ({rows}) WHERE unit IS NOT NULL")
    return currencies(row["unit"] for row in found)


def currencies_by_part(facts: RowsWithUnits, filters: HandFilters) -> PartCurrencies:
    """The currency of each player's part; None where there are several."""
    rows = f"FROM ({facts_sql(filters, 'NULL')}) WHERE unit IS NOT NULL"
    parts: PartCurrencies = {}
    for row in facts.rows(f"SELECT DISTINCT player, part, unit {rows}"):
        key, unit = (row["player"], row["part"]), money(row["unit"])
        parts[key] = unit if parts.get(key, unit) == unit else None
    return parts


def amount_sql(amount: str, units: Iterable[str]) -> str:
    """The SQL of an amount of rows with a `unit`, in their currency."""
    parts = {unit: str(per_chip(unit)) for unit in sorted(units) if per_chip(unit) != 1}
    return f"CAST({amount} AS DOUBLE) / {_case_sql('unit', parts, '1')}" if parts else amount


def currency_sql(units: Iterable[str], unit: str = "unit") -> str:
    """The SQL of the currency of rows with a `unit`."""
    return _case_sql(unit, {one: quoted(money(one)) for one in sorted(units)}, unit)


def _case_sql(unit: str, cases: Mapping[str, str], otherwise: str) -> str:
    branches = " ".join(f"WHEN {quoted(one)} THEN {what}" for one, what in cases.items())
    return f"CASE {unit} {branches} ELSE {otherwise} END"


SQL_FOLDER = Path(__file__).parent


class FactSource(Protocol):
    """What runs SQL over the view `facts`: a ledger's query, or one player's facts."""

    def ask(self, sql: str) -> pa.Table:
        """The answer of this SQL as a table."""
        ...

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer of this SQL as plain rows."""
        ...


class SqlFileSource(Protocol):
    """What runs SQL files over its tables: `JoinedViews` or `ArrowTables`."""

    def ask(self, file: str, filtered: str) -> list[dict[str, Any]]:
        """The rows that a SQL file answers; `filtered` is the SELECT that it reads."""
        ...

    def arrow(self, sql: str, filtered: str) -> pa.Table:
        """The answer of SQL that reads `filtered`, as a table."""
        ...

    def close(self) -> None:
        """Release the tables."""
        ...


class JoinedViews:
    """SQL files run on a ledger's own views, joined with small tables in memory.

    `views` are SELECTs, `tables` what they may name besides the ledger's views. So a question about
    a million hands moves none of them.
    """

    def __init__(
        self, query: Query, views: Mapping[str, str], tables: Mapping[str, pa.Table]
    ) -> None:
        self._query = query
        self._views = dict(views)
        self._tables = dict(tables)

    def ask(self, file: str, filtered: str) -> list[dict[str, Any]]:
        """The rows that a SQL file answers; `filtered` is the SELECT that it reads."""
        return json_rows(self.arrow(sql_text(file), filtered))

    def arrow(self, sql: str, filtered: str) -> pa.Table:
        """The answer of SQL that reads `filtered`, as a table."""
        return self.table(f"SELECT * FROM (\n{sql})", filtered=filtered)

    def table(self, sql: str, **views: str) -> pa.Table:
        """The answer of any SQL as a table."""
        every = {**self._views, **views}
        named = ", ".join(f"{name} AS ({select})" for name, select in every.items())
        return self._query.ask(f"WITH {named} {sql}", also=self._tables)

    def close(self) -> None:
        """Nothing: the caller closes the ledger's query."""


class ArrowTables:
    """SQL files run on Arrow tables by name, in a DuckDB in memory that sees no others."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self._con = _memory_database(os.getpid()).cursor()
        self._con.sql("SET TimeZone = 'UTC'")
        for name, rows in tables.items():
            self._con.register(name, rows)

    def close(self) -> None:
        """Release the tables."""
        self._con.close()

    def ask(self, file: str, filtered: str) -> list[dict[str, Any]]:
        """The rows that a SQL file answers; `filtered` is the SELECT that it reads."""
        return json_rows(self.file_table(file, filtered))

    def file_table(self, file: str, filtered: str) -> pa.Table:
        """The answer of a SQL file as a table."""
        return self.arrow(sql_text(file), filtered)

    def arrow(self, sql: str, filtered: str) -> pa.Table:
        """The answer of SQL that reads `filtered`, as a table."""
        return self.table(f"WITH filtered AS ({filtered}) SELECT * FROM (\n{sql})")

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer of any SQL as plain rows."""
        return json_rows(self.table(sql))

    def table(self, sql: str) -> pa.Table:
        """The answer of any SQL as a table."""
        return fetch_table(self._con, sql)


@cache
def _memory_database(process: int) -> "duckdb.DuckDBPyConnection":
    """The process's DuckDB in memory: to open another takes longer than many a question."""
    import duckdb

    return duckdb.connect(":memory:", config={"threads": "2"})


def file_sql(file: str, filtered: str) -> str:
    """The SQL of a file, with the SELECT that it reads as `filtered`."""
    return f"WITH filtered AS ({filtered}) SELECT * FROM (\n{sql_text(file)})"


@cache
def sql_text(file: str) -> str:
    """The text of a SQL file."""
    return (SQL_FOLDER / f"{file}.sql").read_text("utf-8")
