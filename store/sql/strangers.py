"""SQL of strangers over one snapshot: one SELECT over the views, answered in a process of its own.

Three walls stand between a stranger and what is not his. The process that runs his statement is
given copies of what the views show him (`store.sql.copies`), and never a row as it was recorded. It
cannot open anything else, nor take more than so much (`store.sql.worker`). And before it is asked,
another one like it, which has no table at all, looks at the statement (`store.sql.guard`).
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from store.segments import rulesets
from store.sql.answers import plain
from store.sql.copies import Copies, copies
from store.sql.guard import Refused
from store.sql.parts import Moved, Part, write
from store.sql.query import SECONDS, Query
from store.sql.workers import Workers, workers
from store.tables.standard import STANDARD

VIEWS = ("events", *(one.name for one in STANDARD), rulesets.VIEW)
READ_S = 5.0  # to look at a statement
_KNOWN = 1_000  # statements whose words are remembered
_TYPES = 'SELECT typeof(COLUMNS(t.*)) FROM (SELECT 1) LEFT JOIN (FROM "{name}" LIMIT 0) t ON TRUE'

Named = dict[str, Any]  # `views`, and `words` if columns are named by words


class Strangers:
    """What somebody else's statements are answered with; threads may share it."""

    def __init__(
        self,
        query: Query,
        *,
        processes: Workers | None = None,
        tables: Copies | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.views = VIEWS
        self._query = query
        self._seconds = seconds
        self._workers = processes or workers()
        self._copies = tables or copies()
        self._turn = threading.Lock()
        self._columns: dict[str, dict[str, str]] = {}
        self._known: OrderedDict[str, Named] = OrderedDict()

    def ask(self, sql: str, rows_max: int | None = None, seconds: float | None = None) -> pa.Table:
        """The answer as an Arrow table; `Refused` if it may not be asked, or takes too much."""
        seconds = self._seconds if seconds is None else seconds
        named = self._named(sql)
        while True:
            with ExitStack() as stack:
                try:
                    files, views = self._shown(named, stack)
                except Moved:
                    continue
                order = {"views": views, "rows_max": rows_max}
                return _table(self._workers.ask(order, files, sql, seconds).pieces)

    def rows(self, sql: str, rows_max: int | None = None) -> list[dict[str, Any]]:
        """The same as JSON takes it."""
        return plain(self.ask(sql, rows_max))

    def _named(self, sql: str) -> Named:
        """The views and words of a statement that may be answered."""
        with self._turn:
            if sql in self._known:
                self._known.move_to_end(sql)
                return self._known[sql]
        order = {"views": {}, "names": list(self.views)}
        named = self._workers.ask(order, (), sql, READ_S).said
        with self._turn:
            self._known[sql] = named
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return named

    def _shown(self, named: Named, stack: ExitStack) -> tuple[list[int], dict[str, str]]:
        """Open files with all that a statement asks of the views, and the views over them."""
        files: list[int] = []
        views = {}
        for name in named["views"]:
            columns = self._columns_of(name)
            asked = _asked(columns, named["words"])
            tables = []
            for part in self._query.parts(name):
                self._query.check(part)
                make = partial(self._write, part)
                tables.append(f"part{len(files)}.rows")
                files.append(stack.enter_context(self._copies.of(part.digest, asked, make)))
            views[name] = _view(columns, asked, tables)
        return files, views

    def _write(self, part: Part, columns: Sequence[str], path: Path) -> None:
        with self._query.reading(part) as con:
            write(con, part, columns, path)

    def _columns_of(self, name: str) -> dict[str, str]:
        """A view's columns and their types in SQL."""
        with self._turn:
            if name not in self._columns:
                (self._columns[name],) = self._query.ask(_TYPES.format(name=name)).to_pylist()
            return self._columns[name]


def _asked(columns: Iterable[str], words: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that a statement can mean; one at least, for rows are counted by it."""
    every = tuple(columns)
    if words is None:
        return every
    return tuple(one for one in every if one.lower() in words) or every[:1]


def _view(columns: Mapping[str, str], asked: Sequence[str], tables: Sequence[str]) -> str:
    """All of a view's columns over its parts; of those that nobody asks for there are no values."""
    names = ", ".join(f'"{one}"' for one in asked)
    rows = " UNION ALL ".join(f"SELECT {names} FROM {table}" for table in tables)
    told = ", ".join(
        f'"{one}"' if one in asked else f'CAST(NULL AS {kind}) AS "{one}"'
        for one, kind in columns.items()
    )
    return f"SELECT {told} FROM ({rows})"


def _table(pieces: bytes) -> pa.Table:
    """What came back, believed only after a look: who made it is not trusted."""
    try:
        with pa.ipc.open_stream(pieces) as stream:
            rows = stream.read_all()
        rows.validate(full=True)
    except (pa.ArrowException, ValueError) as reason:
        raise Refused(f"this answer cannot be told: {reason}") from None
    return rows
