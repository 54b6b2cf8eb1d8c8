"""Questions to tables that were made on the way: rows in, one SQL file asked, rows out.

The files are those of `analytics/sql/`. Each reads `chosen`, which is made here from one table by
a filter and a column `part`, so that one file answers for the whole and for its parts.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from analytics.ask import text_of
from store.query import plain


class Tables:
    """Tables by name in an in-memory DuckDB of their own."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        import duckdb

        self._con = duckdb.connect(":memory:", config={"threads": "2"})
        self._con.sql("SET TimeZone = 'UTC'")
        for name, rows in tables.items():
            self._con.register(name, rows)

    def close(self) -> None:
        """Let go of them."""
        self._con.close()

    def ask(self, file: str, chosen: str) -> list[dict[str, Any]]:
        """One file's answer; `chosen` is the SELECT that it reads."""
        return self.rows(f"WITH chosen AS ({chosen}) SELECT * FROM (\n{text_of(file)})")

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Any question's answer."""
        return plain(self._con.sql(sql).to_arrow_table())
