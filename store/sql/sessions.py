"""DuckDB sessions: one database in memory for each process, and a session for each question.

What an engine has read of a Parquet file's footer it keeps: of a large ledger that is half the time
of a short question. All questions of a process share one engine, so that its memory has one bound,
and what it keeps outlives a snapshot. It is locked before anybody asks: no statement changes a
setting. Strangers have processes of their own (`store.sql.untrusted_query`).
"""

import atexit
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    Engine = duckdb.DuckDBPyConnection


_engines: "dict[tuple[str, int], Engine]" = {}
_turn = threading.Lock()
warnings.filterwarnings("ignore", "Arrow output on a DB-API result", module=re.escape(__name__))


def fetch_table(con: "Engine", sql: str) -> "pa.Table":
    """Fetch the rows of a SELECT. A relation (`con.sql`) would be bound twice, which is a third of
    a short question's time; that its rows are copied once more, as DuckDB warns, is less."""
    return con.execute(sql).to_arrow_table()


def connect(memory: str, threads: int, **more: str) -> "Engine":
    """A DuckDB in memory, which loads and takes nothing that it is not given."""
    import duckdb  # as late as it is opened: some questions need none

    engine = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": memory,
            "threads": str(threads),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            "temp_directory": "",
            **more,
        },
    )
    engine.sql("SET GLOBAL TimeZone = 'UTC'")
    engine.sql("SET enable_progress_bar = false")  # it would be drawn into a server's output
    return engine


def shared_engine(memory: str, threads: int) -> "Engine":
    """The one engine of this process; a new one is locked."""
    with _turn:
        if (memory, threads) not in _engines:
            engine = connect(memory, threads)
            engine.sql("SET GLOBAL parquet_metadata_cache = true")
            engine.sql("SET lock_configuration = true")
            _engines[memory, threads] = engine
            atexit.register(engine.close)
        return _engines[memory, threads]


class Session:
    """A session of one question: no other sees its views, nor the tables behind them.

    `manifest_number` is of the manifest that its views were made of.
    """

    def __init__(self, engine: "Engine", manifest_number: int) -> None:
        self.manifest_number = manifest_number
        self.con = engine.cursor()
        self._registered: set[str] = set()
        self._created: set[str] = set()

    def register_tables(self, tables: "Mapping[str, pa.Table]") -> None:
        """Register these tables for the whole session."""
        for name, rows in tables.items():
            if name not in self._registered:
                self.con.register(name, rows)
                self._registered.add(name)

    @contextmanager
    def temporary_tables(self, tables: "Mapping[str, pa.Table]") -> Iterator[None]:
        """Register these tables until the block ends."""
        for name, rows in tables.items():
            self.con.register(name, rows)
        try:
            yield
        finally:
            for name in tables:
                self.con.unregister(name)

    def create_views(self, views: Mapping[str, str]) -> None:
        """Create a view for each of these SELECTs."""
        for name, select in views.items():
            if name not in self._created:
                self.con.sql(f'CREATE TEMP VIEW "{name}" AS {select}')
                self._created.add(name)

    def close(self) -> None:
        """Close the connection, which lets go of its tables."""
        self.con.close()
