"""Which facts a question is asked of: filters as one SQL table, `chosen`, that every file reads.

The files lie beside this one, a question each; `text_of` has them. `part` is what the answer is
divided by, so that one file serves the whole and its parts. Every row is one player's hand.

The amounts of chosen hands are chips, dollars, euros or pounds. Those of one money add up exactly,
half chips to chips and cents to dollars. Those of several have no sum, and no mean: what asks for
one is told so.

A file may also be asked of tables that were made on the way (`Tables`, `JoinedViews`): rows in,
rows out.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pyarrow as pa
from msgspec import Struct

from engine.policies import money, per_chip
from store.sql.answers import answer, plain
from store.sql.query import Query

if TYPE_CHECKING:
    import duckdb


By = Literal["position", "game", "match", "opponent", "window"]
WINDOW = 100
UNTAGGED = "untagged"  # the part of matches that say nothing of a player


class Chosen(Struct, frozen=True, kw_only=True):
    """Filters, each left out where it is None.

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


def table(chosen: Chosen, known: str = "coalesce(cards, shown)") -> str:
    """The SELECT behind `chosen`; `known` is the class of hole cards that the asker may see."""
    part = _PARTS[chosen.by] if chosen.by else "''"
    if chosen.tagged:
        cases = " ".join(
            f"WHEN f.match = {quoted(match)} AND f.{chosen.own_name} = {quoted(name)}"
            f" THEN {quoted(value)}"
            for match, name, value in chosen.tagged
        )
        part = f"CASE {cases} ELSE {quoted(UNTAGGED)} END"
    terms = [*players_of(chosen, "f."), *hands_of(chosen, "f.")]
    if chosen.positions:
        terms.append(f"f.position IN ({', '.join(map(quoted, chosen.positions))})")
    source = "facts f"
    if chosen.by == "opponent":
        source += " JOIN facts o ON f.hand_seq = o.hand_seq AND f.seat <> o.seat"
    known = known.replace("cards", "f.cards").replace("shown", "f.shown")
    every = "f.* REPLACE ('' AS player)" if chosen.others else "f.*"
    return f"SELECT {every}, {part} AS part, {known} AS class FROM {source}{where(terms)}"


def players_of(chosen: Chosen, of: str = "") -> list[str]:
    """Conditions on whose rows count, in a table that has one for each player and hand."""
    terms = []
    if chosen.player is not None:
        terms.append(f"{of}player {'<>' if chosen.others else '='} {quoted(chosen.player)}")
    if chosen.vs is not None:
        terms.append(f"{of}player <> {quoted(chosen.vs)}")
    return terms


def hands_of(chosen: Chosen, of: str = "") -> list[str]:
    """Conditions on the hands that count, in any table that names their match, number and game."""
    terms = []
    for column, value in (("game", chosen.game), ("match", chosen.match)):
        if value is not None:
            terms.append(f"{of}{column} = {quoted(value)}")
    if chosen.vs is not None:
        with_him = f"SELECT hand_seq FROM facts WHERE player = {quoted(chosen.vs)}"
        terms.append(f"{of}hand_seq IN ({with_him})")
    if chosen.hands is not None:
        terms.append(f"{of}number BETWEEN {chosen.hands[0]} AND {chosen.hands[1]}")
    if chosen.before is not None:
        terms.append(f"{of}hand_seq < {chosen.before}")
    return terms


def where(terms: Sequence[str]) -> str:
    """All these conditions as a clause; nothing where there is none."""
    return f" WHERE {' AND '.join(terms)}" if terms else ""


def quoted(text: str) -> str:
    """Text as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"


_PARTS: dict[By, str] = {
    "position": "f.position",
    "game": "f.game",
    "match": "f.match",
    "opponent": "o.player",
    "window": f"CAST(f.number - (f.number - 1) % {WINDOW} AS STRING)",
}


def natural(part: str) -> tuple[int, str]:
    """Windows by their first hand, anything else by its letters."""
    return (int(part), "") if part.isdigit() else (0, part)


Parts = dict[tuple[str, str], str | None]


class Counted(Protocol):
    """Rows in SQL, and the units that their amounts may count in."""

    @property
    def units(self) -> set[str]: ...

    def rows(self, sql: str) -> list[dict[str, Any]]: ...


def moneys(units: Iterable[str]) -> list[str]:
    """What is played for where amounts count in these units."""
    return sorted(set(map(money, units)))


def moneys_of(facts: Counted, rows: str) -> list[str]:
    """What rows with a `unit` were played for; they are looked at only if that can differ."""
    known = moneys(facts.units)
    if len(known) < 2:
        return known
    found = facts.rows(f"SELECT DISTINCT unit FROM ({rows}) WHERE unit IS NOT NULL")
    return moneys(row["unit"] for row in found)


def by_part(facts: Counted, chosen: Chosen) -> Parts:
    """What each player's part was played for; None where that is several, of all if it is one."""
    rows = facts.rows(
        f"SELECT DISTINCT player, part, unit FROM ({table(chosen, 'NULL')}) WHERE unit IS NOT NULL"
    )
    parts: Parts = {}
    for row in rows:
        key, unit = (row["player"], row["part"]), money(row["unit"])
        parts[key] = unit if parts.get(key, unit) == unit else None
    return parts


def in_money(amount: str, units: Iterable[str]) -> str:
    """An amount of rows with a `unit`, in SQL: how much of their money it is."""
    parts = {unit: str(per_chip(unit)) for unit in sorted(units) if per_chip(unit) != 1}
    return f"CAST({amount} AS DOUBLE) / {_case('unit', parts, '1')}" if parts else amount


def money_in(units: Iterable[str], unit: str = "unit") -> str:
    """What rows with a `unit` are played for, in SQL."""
    return _case(unit, {one: quoted(money(one)) for one in sorted(units)}, unit)


def _case(unit: str, cases: Mapping[str, str], otherwise: str) -> str:
    branches = " ".join(f"WHEN {quoted(one)} THEN {what}" for one, what in cases.items())
    return f"CASE {unit} {branches} ELSE {otherwise} END"


SQL = Path(__file__).parent


class Facts(Protocol):
    """Where facts are asked for in SQL, as the view `facts`: a ledger's, or others like them."""

    def ask(self, sql: str) -> pa.Table:
        """The answer as a table."""
        ...

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as plain values."""
        ...


class Source(Protocol):
    """Whatever has the tables that a file is asked of."""

    def ask(self, file: str, chosen: str) -> list[dict[str, Any]]:
        """The answer of a SQL file; `chosen` is the SELECT that it reads."""
        ...

    def arrow(self, sql: str, chosen: str) -> pa.Table:
        """The answer to a question that is put like those of the files."""
        ...

    def close(self) -> None:
        """Let go of them."""
        ...


class JoinedViews:
    """A ledger's own views under other names, joined with small tables that were made on the way.

    `views` are SELECTs, `tables` what they may name besides the ledger's views. So a question about
    a million hands moves none of them.
    """

    def __init__(
        self, query: Query, views: Mapping[str, str], tables: Mapping[str, pa.Table]
    ) -> None:
        self._query = query
        self._views = dict(views)
        self._tables = dict(tables)

    def ask(self, file: str, chosen: str) -> list[dict[str, Any]]:
        """The answer of a SQL file; `chosen` is the SELECT that it reads."""
        return plain(self.arrow(text_of(file), chosen))

    def arrow(self, sql: str, chosen: str) -> pa.Table:
        """The answer to a question that is put like those of the files."""
        return self.table(f"SELECT * FROM (\n{sql})", chosen=chosen)

    def table(self, sql: str, **views: str) -> pa.Table:
        """Any question's answer as a table."""
        every = {**self._views, **views}
        named = ", ".join(f"{name} AS ({select})" for name, select in every.items())
        return self._query.ask(f"WITH {named} {sql}", also=self._tables)

    def close(self) -> None:
        """The ledger's views are somebody else's."""


class Tables:
    """Tables by name, which no other connection to the DuckDB in memory sees."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self._con = _database(os.getpid()).cursor()
        self._con.sql("SET TimeZone = 'UTC'")
        for name, rows in tables.items():
            self._con.register(name, rows)

    def close(self) -> None:
        """Let go of them."""
        self._con.close()

    def ask(self, file: str, chosen: str) -> list[dict[str, Any]]:
        """The answer of a SQL file; `chosen` is the SELECT that it reads."""
        return plain(self.table_of(file, chosen))

    def table_of(self, file: str, chosen: str) -> pa.Table:
        """The same as a table."""
        return self.arrow(text_of(file), chosen)

    def arrow(self, sql: str, chosen: str) -> pa.Table:
        """The answer to a question that is put like those of the files."""
        return self.table(f"WITH chosen AS ({chosen}) SELECT * FROM (\n{sql})")

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Any question's answer."""
        return plain(self.table(sql))

    def table(self, sql: str) -> pa.Table:
        """The same as a table."""
        return answer(self._con, sql)


@cache
def _database(process: int) -> "duckdb.DuckDBPyConnection":
    """One a process: to open another takes longer than many a question."""
    import duckdb

    return duckdb.connect(":memory:", config={"threads": "2"})


@cache
def text_of(file: str) -> str:
    """The SQL of one question."""
    return (SQL / f"{file}.sql").read_text("utf-8")
