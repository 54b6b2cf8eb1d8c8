"""SQL over one snapshot: an in-memory DuckDB per reader, with a view for each table of the ledger.

A stranger's SQL may read the views and nothing else, write nothing, and take only so much memory
and time. Two walls stand, each enough alone. DuckDB is opened without access to any file: the
segments are handed to it as Arrow datasets. And before a statement runs, `guard` looks at it.

Our own SQL (`ours=True`) is not looked at, and DuckDB opens the segments itself, about four times
faster on a scan.

Whoever tells less than everything (`api.asking.redacted`) overrides `told` and `untold`. Nothing
promises that DuckDB tries our conditions before a stranger's, whose error would tell what they met:
so rows are withheld from him before DuckDB gets any. What a view is made of has names that nobody
can guess.

A view is made when a statement first names it: so a question about matches decodes no events of
the hot log. Before DuckDB reads a file its digest is compared, once as long as the file is the
same: what DuckDB makes of damage is anybody's guess.
"""

import math
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from store import layout
from store.columns import leaves_of, table
from store.files import files_of
from store.frames import Damaged
from store.guard import Refused, checked, tables
from store.leaf import Leaf
from store.manifest import Segment
from store.projection import Projection
from store.projections import STANDARD
from store.reader import Snapshot

SECONDS = 30.0
MEMORY = "1GB"
THREADS = 2
HAND = "hand_seq, match || '/' || number AS hand, * EXCLUDE (hand_seq)"


class Query:
    """The views `events` and one per projection, as of a snapshot; threads take turns."""

    def __init__(
        self,
        snapshot: Snapshot,
        projections: Sequence[Projection] = STANDARD,
        *,
        ours: bool = False,
        memory: str = MEMORY,
        threads: int = THREADS,
        seconds: float = SECONDS,
    ) -> None:
        self.snapshot = snapshot
        self.views = ("events", *(one.name for one in projections))
        self._projections = tuple(projections)
        self._ours = ours
        self._settings = {"memory_limit": memory, "threads": str(threads)}
        self._seconds = seconds
        self._turn = threading.RLock()
        self._files = files_of(snapshot.live.disk)
        self._open()

    def ask(
        self,
        sql: str,
        rows_max: int | None = None,
        seconds: float | None = None,
        also: Mapping[str, pa.Table] | None = None,
    ) -> pa.Table:
        """The answer as an Arrow table; refused if it has more rows, or takes longer.

        `also` are tables that this one question may name besides the views.
        """
        seconds = self._seconds if seconds is None else seconds
        with self._turn, _in_a_sentence(self._settings["memory_limit"], seconds):
            while True:
                try:
                    self._show(sql)
                    with self._lent(also or {}):
                        return self._answer(sql, rows_max, seconds)
                except (duckdb.Error, OSError, Damaged):
                    if not self._retired():
                        raise
                self._con.close()
                self._open()

    def rows(self, sql: str, rows_max: int | None = None) -> list[dict[str, Any]]:
        """The answer as JSON takes it: times in RFC 3339, whole numbers whole."""
        return plain(self.ask(sql, rows_max))

    def ready(self, view: str) -> None:
        """For whoever begins to tell before he asks: what is wrong with a view is found now."""
        self.ask(f'SELECT 1 FROM "{view}" LIMIT 0')

    def close(self) -> None:
        """Let go of files and memory."""
        self._con.close()

    def told(self, name: str, rows: str) -> str:
        """The SELECT behind a view, over the SELECT of all its rows."""
        return rows

    def untold(self, name: str) -> pc.Expression | None:
        """Which rows of a view's tables a stranger must never meet."""
        return None

    def beside(self, rows: pa.Table | ds.Dataset) -> str:
        """A table that a view may read and no statement can name."""
        name = f"_{secrets.token_hex(16)}"
        self._con.register(name, rows)
        return name

    @contextmanager
    def _lent(self, tables: Mapping[str, pa.Table]) -> Iterator[None]:
        """Tables under their names, for one question of our own."""
        assert self._ours or not tables
        for name, rows in tables.items():
            self._con.register(name, rows)
        try:
            yield
        finally:
            for name in tables:
                self._con.unregister(name)

    def _answer(self, sql: str, rows_max: int | None, seconds: float) -> pa.Table:
        timer = threading.Timer(seconds, lambda: self._con.interrupt())
        timer.start()
        try:
            relation = self._con.sql(sql if self._ours else checked(self._con, sql, self.views))
            if rows_max is None:
                return relation.to_arrow_table()
            return _at_most(rows_max, relation.to_arrow_reader())
        finally:
            timer.cancel()

    def _open(self) -> None:
        """A DuckDB of our own, locked, and what its views will be made of."""
        live = self.snapshot.live
        self._number = live.number
        self._parts = self.snapshot.parts()
        self._shown: dict[str, tuple[Segment, ...]] = {}
        self._con = duckdb.connect(
            ":memory:",
            config={
                **self._settings,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "temp_directory": "",
            },
        )
        self._con.sql("SET TimeZone = 'UTC'")
        if not self._ours:
            self._con.sql("SET enable_external_access = false")
        self._con.sql("SET lock_configuration = true")

    def _show(self, sql: str) -> None:
        """The views that a statement names; each of their files is as it was sealed."""
        named = tables(self._con, sql)
        for name in self.views:
            if named is None or name in named:
                if name not in self._shown:
                    self._shown[name] = self._made(name)
                for segment in self._shown[name]:
                    self._files.check(segment, name)

    def _made(self, name: str) -> tuple[Segment, ...]:
        """A view; which segments have a file of their own for it."""
        live = self.snapshot.live
        segments, closed = self._parts
        hot = [Leaf(one.hand_seq, one.recorded()) for one in closed]
        if name == "events":
            have = tuple(it for it in segments if it.schema == layout.SCHEMA_VERSION)
            made = [rows for it in segments if it not in have for rows in live.events(it)]
            made.append(table(hot) if hot else layout.schema().empty_table())
        else:
            (one,) = (it for it in self._projections if it.name == name)
            have = tuple(it for it in segments if it.projections.get(name) == one.version)
            lack = [it for it in segments if it not in have]
            made = [one.build(leaves_of(rows)) for it in lack for rows in live.events(it)]
            made.append(one.build(hot))
        for segment in have:
            self._files.check(segment, name)  # binding a view reads footers
        later = any(it.last_seq >= self.snapshot.next_seq for it in segments)
        self._view(name, have, made, self.snapshot.next_seq if later else None)
        return have

    def _view(
        self, name: str, segments: Sequence[Segment], tables: Sequence[pa.Table], until: int | None
    ) -> None:
        """Sealed and hot rows under one name; in which order they come is for ORDER BY to say."""
        folder = self.snapshot.live.folder
        files = [folder / one.files[name] for one in segments]
        keep = None if self._ours else self._stranger_s(name, until)
        parts = [self._sealed(files, tables[-1].schema, keep)] if files else []
        parts += [self.beside(rows if keep is None else rows.filter(keep)) for rows in tables]
        all_rows = " UNION ALL BY NAME ".join(f"SELECT * FROM {part}" for part in parts)
        only = [] if until is None else [f"hand_seq < {until}"]
        only += ["number IS NOT NULL"] if name == "hands" else []
        where = f"WHERE {' AND '.join(only)}" if only else ""
        columns = layout.view() if name == "events" else HAND
        rows = f"SELECT {columns} FROM ({all_rows}) {where}"
        self._con.sql(f'CREATE TEMP VIEW "{name}" AS {self.told(name, rows)}')

    def _stranger_s(self, name: str, until: int | None) -> pc.Expression | None:
        """The rows of a view's tables that somebody else's conditions may be tried on."""
        untold = self.untold(name)
        keep = None if untold is None else ~untold
        if until is not None:
            early = pc.field("hand_seq") < until
            keep = early if keep is None else keep & early
        return keep

    def _sealed(self, files: Sequence[Path], schema: pa.Schema, keep: pc.Expression | None) -> str:
        if self._ours:
            listed = ", ".join("'" + str(one).replace("'", "''") + "'" for one in files)
            return f"read_parquet([{listed}], union_by_name = true)"
        rows = ds.dataset([str(one) for one in files], schema=schema)
        return self.beside(rows if keep is None else rows.filter(keep))

    def _retired(self) -> bool:
        """Whether segments went away under us: the snapshot then lives in newer files."""
        live = self.snapshot.live
        named = (live.folder / it for one in self._parts.segments for it in one.files.values())
        gone = [path for path in named if not path.exists()]
        if gone:
            live.retired(self._number, FileNotFoundError(2, "gone", str(gone[0])))
        return bool(gone)


def _at_most(rows_max: int, reader: pa.RecordBatchReader) -> pa.Table:
    """All rows, or a refusal before there are too many."""
    batches, rows = [], 0
    for batch in reader:
        batches.append(batch)
        rows += batch.num_rows
        if rows > rows_max:
            reader.close()
            raise Refused(f"the answer has more than {rows_max} rows: add a LIMIT")
    return pa.Table.from_batches(batches, reader.schema)


@contextmanager
def _in_a_sentence(memory: str, seconds: float) -> Iterator[None]:
    """What DuckDB says against a question."""
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


def plain(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON takes them; of columns with the same name the last one stays."""
    told = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_timestamp(column.type):
            moment = column.cast(pa.timestamp("ms"), safe=False)
            told[name] = pc.strftime(moment, format="%Y-%m-%dT%H:%M:%SZ").to_pylist()
        elif any(is_plain(column.type) for is_plain in _PLAIN):
            told[name] = column.to_pylist()
        else:
            told[name] = [_plain(value) for value in column.to_pylist()]
    return [dict(zip(told, row, strict=True)) for row in zip(*told.values(), strict=True)]


_PLAIN = (pa.types.is_integer, pa.types.is_string, pa.types.is_boolean, pa.types.is_null)


def _plain(value: Any) -> Any:
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case float():
            return value if math.isfinite(value) else None
        case bytes():
            return value.hex()
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case dict():
            return {str(name): _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
    return value


def _sentence(reason: Exception) -> str:
    """DuckDB's first line; the rest draws arrows under the text."""
    return str(reason).strip().splitlines()[0]
