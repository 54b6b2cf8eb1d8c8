"""Untrusted SQL over one snapshot: one SELECT over the views, answered in a sandboxed process.

Three walls stand between a stranger and what is not his. The process that runs his statement is
given copies of what the views show him, and never a row as it was recorded. It cannot open anything
else, nor take more than so much (`store.sql.worker`). And before it is asked, another one like it,
which has no table at all, looks at the statement (`store.sql.guard`).

A copy is what a view shows of some rows, in a file that has no name any more. It is made once,
however many ask, in the columns that were asked for so far, and let go when all of them together
have become too large and nobody has asked for it lately. What tells files apart is what is in them
(`store.sql.views`): viewers who see the same share them.
"""

import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from msgspec import Struct

from store.sql.guard import Refused
from store.sql.query import SECONDS, Query
from store.sql.result_values import json_rows
from store.sql.views import PartMoved, ViewPart, write_copy
from store.sql.worker_pool import WorkerPool, shared_pool

KEPT_BYTES = 2 << 30
KEPT_FILES = 300  # each stays open, and a process may have some thousand

WriteCopy = Callable[[Sequence[str], Path], None]


class _Copy(Struct, frozen=True):
    """An open file with some columns of a part."""

    handle: int
    columns: tuple[str, ...]
    size: int


class CopyCache:
    """A cache of copies of view parts, in temporary files; threads may share it."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._most = most
        self._turn = threading.Lock()
        self._kept: OrderedDict[str, _Copy] = OrderedDict()
        self._making: dict[str, threading.Lock] = {}

    @contextmanager
    def of(self, digest: str, columns: Sequence[str], write: WriteCopy) -> Iterator[int]:
        """A file with at least these columns, open to be read; `write` makes what is not there."""
        handle = self._found(digest, columns)
        if handle is None:
            with self._turn:
                making = self._making.setdefault(digest, threading.Lock())
            with making:
                handle = self._found(digest, columns)
                if handle is None:
                    handle = self._made(digest, columns, write)
        try:
            yield handle
        finally:
            os.close(handle)

    @property
    def size(self) -> int:
        """The bytes that the copies take on the disk."""
        return sum(copy.size for copy in self._kept.values())

    def _found(self, digest: str, columns: Sequence[str]) -> int | None:
        with self._turn:
            known = self._kept.get(digest)
            if known is None or not set(columns) <= set(known.columns):
                return None
            self._kept.move_to_end(digest)
            return os.dup(known.handle)

    def _made(self, digest: str, columns: Sequence[str], write: WriteCopy) -> int:
        with self._turn:
            known = self._kept.get(digest)
        names = tuple(dict.fromkeys((*(known.columns if known else ()), *columns)))
        with tempfile.TemporaryDirectory(prefix="muckrake-sql-") as folder:
            path = Path(folder) / "rows"
            write(names, path)
            made = _Copy(os.open(path, os.O_RDONLY), names, path.stat().st_size)
        with self._turn:
            if replaced := self._kept.pop(digest, None):
                os.close(replaced.handle)
            self._kept[digest] = made
            self._making.pop(digest, None)
            handle = os.dup(made.handle)
            while len(self._kept) > 1 and (self.size > self._most or len(self._kept) > KEPT_FILES):
                os.close(self._kept.popitem(last=False)[1].handle)
        return handle


@cache
def copy_cache() -> CopyCache:
    """The cache of this process."""
    return CopyCache()


READ_S = 5.0  # to look at a statement
_KNOWN = 1_000  # statements whose words are remembered
_TYPES = 'SELECT typeof(COLUMNS(t.*)) FROM (SELECT 1) LEFT JOIN (FROM "{name}" LIMIT 0) t ON TRUE'

ViewsAndWords = dict[str, Any]  # `views`, and `words` if columns are named by words


class UntrustedQuery:
    """Answers untrusted statements over the views of a query; threads may share it."""

    def __init__(
        self,
        query: Query,
        *,
        processes: WorkerPool | None = None,
        tables: CopyCache | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.views = query.public
        self._query = query
        self._seconds = seconds
        self._workers = processes or shared_pool()
        self._copies = tables or copy_cache()
        self._turn = threading.Lock()
        self._columns: dict[str, dict[str, str]] = {}
        self._known: OrderedDict[str, ViewsAndWords] = OrderedDict()

    def ask(self, sql: str, rows_max: int | None = None, seconds: float | None = None) -> pa.Table:
        """The answer as an Arrow table; `Refused` if it may not be asked, or takes too much."""
        seconds = self._seconds if seconds is None else seconds
        named = self._named(sql)
        while True:
            with ExitStack() as stack:
                try:
                    files, views = self._shown(named, stack)
                except PartMoved:
                    continue
                order = {"views": views, "rows_max": rows_max}
                pieces = self._workers.ask(order, files, sql, seconds).pieces
                break
        try:  # believed only after a look: the process that made it is not trusted
            with pa.ipc.open_stream(pieces) as stream:
                rows = stream.read_all()
            rows.validate(full=True)
        except (pa.ArrowException, ValueError) as reason:
            raise Refused(f"this answer cannot be told: {reason}") from None
        return rows

    def rows(self, sql: str, rows_max: int | None = None) -> list[dict[str, Any]]:
        """The rows of an answer as JSON takes them."""
        return json_rows(self.ask(sql, rows_max))

    def _named(self, sql: str) -> ViewsAndWords:
        """The views and words of a statement that may be answered."""
        with self._turn:
            if sql in self._known:
                self._known.move_to_end(sql)
                return self._known[sql]
        order = {"views": {}, "names": list(self.views)}
        named = self._workers.ask(order, (), sql, READ_S).reply
        with self._turn:
            self._known[sql] = named
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return named

    def _shown(self, named: ViewsAndWords, stack: ExitStack) -> tuple[list[int], dict[str, str]]:
        """Open files with all that a statement asks of the views, and the views over them."""
        files: list[int] = []
        views, words = {}, named["words"]  # those that its columns can be among
        for name in named["views"]:
            columns = self._columns_of(name)
            chosen = tuple(column for column in columns if words is None or column.lower() in words)
            chosen = chosen or tuple(columns)[:1]  # rows are counted by it
            tables = []
            for part in self._query.parts(name):
                self._query.check(part)
                make = partial(self._write, part)
                tables.append(f"part{len(files)}.rows")
                files.append(stack.enter_context(self._copies.of(part.digest, chosen, make)))
            names = ", ".join(f'"{one}"' for one in chosen)
            rows = " UNION ALL ".join(f"SELECT {names} FROM {table}" for table in tables)
            every = ", ".join(
                f'"{one}"' if one in chosen else f'CAST(NULL AS {kind}) AS "{one}"'
                for one, kind in columns.items()
            )
            views[name] = f"SELECT {every} FROM ({rows})"
        return files, views

    def _write(self, part: ViewPart, columns: Sequence[str], path: Path) -> None:
        with self._query.reading(part) as con:
            write_copy(con, part, columns, path)

    def _columns_of(self, name: str) -> dict[str, str]:
        """A view's columns and their types in SQL."""
        with self._turn:
            if name not in self._columns:
                (self._columns[name],) = self._query.ask(_TYPES.format(name=name)).to_pylist()
            return self._columns[name]
