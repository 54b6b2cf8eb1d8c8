"""Tables made for strangers: what a view shows of some rows, in a file that has no name any more.

A file is made once, however many ask, in the columns that were asked for so far, and let go when
all of them together have become too large and nobody has asked for it lately. What tells files
apart is what is in them (`store.sql.parts`): whoever sees the same, shares them.
"""

import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from msgspec import Struct

KEPT_BYTES = 2 << 30
KEPT_FILES = 300  # each stays open, and a process may have some thousand

Write = Callable[[Sequence[str], Path], None]


class _Copy(Struct, frozen=True):
    """An open file with some columns of a part."""

    handle: int
    columns: tuple[str, ...]
    size: int


class Copies:
    """The files of one process, in its folder for temporary ones; threads may share them."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._most = most
        self._turn = threading.Lock()
        self._kept: OrderedDict[str, _Copy] = OrderedDict()
        self._making: dict[str, threading.Lock] = {}

    @contextmanager
    def of(self, digest: str, columns: Sequence[str], write: Write) -> Iterator[int]:
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
        """What they take of the disk."""
        return sum(one.size for one in self._kept.values())

    def _found(self, digest: str, columns: Sequence[str]) -> int | None:
        with self._turn:
            known = self._kept.get(digest)
            if known is None or not set(columns) <= set(known.columns):
                return None
            self._kept.move_to_end(digest)
            return os.dup(known.handle)

    def _made(self, digest: str, columns: Sequence[str], write: Write) -> int:
        with self._turn:
            known = self._kept.get(digest)
        wanted = tuple(dict.fromkeys((*(known.columns if known else ()), *columns)))
        with tempfile.TemporaryDirectory(prefix="muckrake-sql-") as folder:
            path = Path(folder) / "rows"
            write(wanted, path)
            made = _Copy(os.open(path, os.O_RDONLY), wanted, path.stat().st_size)
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
def copies() -> Copies:
    """Those of this process."""
    return Copies()
