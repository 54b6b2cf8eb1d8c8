"""Questions to tables that were made on the way: rows in, one SQL file asked, rows out.

The files are those of `analytics/sql/`. Each reads `chosen`, which is made here from one table by
a filter and a column `part`, so that one file answers for the whole and for its parts.
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from store.sql.answers import plain
from store.sql.query import Query
from store.sql.sessions import answer

if TYPE_CHECKING:
    import duckdb


SQL = Path(__file__).parent


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
