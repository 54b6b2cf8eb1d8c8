"""The worker program for untrusted SQL: a process for each statement, locked before it reads it.

`python -I -m store.sql.worker MEMORY IDLE` is the parent of these processes. It has an empty DuckDB
that nobody asks, and one thread, so that each of them is a copy of it. Its standard input is a
socket to the server:

    t         a process, please: its number comes back, and a socket to it
    kNUMBER   end this one

A process reads two messages: the server's order, then somebody's statement. In between it opens the
tables that were made for the question (their files come with the order), gives up every call of
the system but those for computing (`seccomp.py`), and takes limits of memory and processor that
the system keeps. It answers in pieces of an Arrow stream, and one line of JSON in the end. When it
is dead, its parent writes `=SIGNAL`.
"""

import contextlib
import ctypes
import gc
import io
import json
import math
import os
import resource
import select
import signal
import socket
import sys
from itertools import chain
from typing import Any, NoReturn

import duckdb
import pyarrow as pa

from store.sql import seccomp
from store.sql.guard import Refused, checked_statement, refused_errors, syntax_tree
from store.sql.result_values import checked_values, portable_columns
from store.sql.sessions import connect
from store.sql.worker_pool import END, FILES, HEAD, PIECE, READY

SLACK = 256 << 20  # address space beyond what DuckDB may use, for an answer's rows and for stacks
SECONDS_MORE = 2.0  # of a process's own clock, for a server that does not end it
_PARENT_DEATH, _DUMPABLE = 1, 4
_PIECE = 1 << 20
_UNNAMED = {"STAR", "SHOW_REF", "POSITIONAL_REFERENCE", "PIVOT"}
_UNITS = {"MB": 10**6, "GB": 10**9}
_libc = ctypes.CDLL(None)


class ForkServer:
    """Forks worker processes and hands them to the server; a few wait, connected and idle."""

    def __init__(self, server: socket.socket, memory: str, idle: int) -> None:
        self._server = server
        self._memory = memory
        self._con = warm_connection(memory)
        self._most_idle = idle
        self._idle: list[tuple[int, socket.socket]] = []
        self._living: dict[int, socket.socket] = {}

    def run(self) -> None:
        """Serve orders until the server closes its end."""
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        if (threads := len(os.listdir("/proc/self/task"))) != 1:
            raise RuntimeError(f"a process with {threads} threads cannot be copied")
        gc.collect()
        gc.freeze()
        while True:
            while len(self._idle) < self._most_idle:
                self._fork()
            readable, _, _ = select.select([self._server.fileno(), woken], [], [])
            if woken in readable:
                os.read(woken, 4_096)
                self._bury()
            if self._server.fileno() in readable:
                order = self._server.recv(32)
                if not order:
                    break
                self._obey(order)
        for pid in self._living:
            os.kill(pid, signal.SIGKILL)

    def _obey(self, order: bytes) -> None:
        if order == b"t":
            if not self._idle:
                self._fork()
            pid, theirs = self._idle.pop(0)
            with theirs:
                socket.send_fds(self._server, [pid.to_bytes(8, "big")], [theirs.fileno()])
        elif (pid := int(order[1:])) in self._living:  # nobody else has its number yet
            os.kill(pid, signal.SIGKILL)

    def _fork(self) -> None:
        theirs, ours = socket.socketpair()
        pid = os.fork()
        if not pid:
            self._work(ours)
        self._idle.append((pid, theirs))
        self._living[pid] = ours

    def _work(self, ours: socket.socket) -> NoReturn:
        """The life of one process."""
        try:
            _libc.prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
            _libc.prctl(_DUMPABLE, 0, 0, 0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.dup2(ours.fileno(), 0, inheritable=False)
            os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
            _serve_statement(self._con, self._memory)
            os._exit(0)
        finally:
            os._exit(1)

    def _bury(self) -> None:
        """Tell the server by which signal each dead process died."""
        while self._living:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._living.pop(pid) as ours, contextlib.suppress(OSError):
                ours.settimeout(0)
                ours.send(b"=%d" % -min(0, os.waitstatus_to_exitcode(status)))
            self._idle = [idle for idle in self._idle if idle[0] != pid]


def warm_connection(memory: str) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection without threads, warmed up by one statement."""
    con = connect(memory, 1, async_threads="0")
    views_and_words(con, "SELECT 1", [])
    checked_values(portable_columns(con.sql("SELECT DATE '2024-01-01'")).to_arrow_table())
    return con


def _serve_statement(con: duckdb.DuckDBPyConnection, memory: str) -> None:
    """Read the order, lock this process, read the statement, send the answer."""
    order = json.loads(_read_message())
    handles: list[int] = []  # of open files, which come with bytes that mean nothing
    with socket.socket(fileno=os.dup(0)) as server:
        while len(handles) < order["files"]:
            size, more, _, _ = socket.recv_fds(server, 1, FILES)
            if not size:
                os._exit(0)
            handles += more
    for place, handle in enumerate(handles):
        con.execute(f"ATTACH '/proc/self/fd/{handle}' AS part{place} (READ_ONLY)")
    for name, select_ in order["views"].items():
        con.execute(f'CREATE TEMP VIEW "{name}" AS {select_}')
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    try:
        _set_limits(memory, order["seconds"])
        seccomp.lock()
    except (seccomp.SeccompUnavailable, OSError, ValueError) as why:
        _send(READY, {"refused": str(why)})
        return
    _send(READY, {})
    statement = _read_message().decode()
    try:
        with refused_errors(memory, order["seconds"]):
            if "names" in order:
                _send(END, views_and_words(con, statement, order["names"]))
            else:
                _send_rows(con, statement, order["rows_max"])
                _send(END, {})
    except Refused as reason:
        _send(END, {"refused": str(reason)})
    except (MemoryError, pa.ArrowMemoryError):
        _send(END, {"refused": f"stopped: the answer needs more memory than {memory}"})
    except RecursionError:
        _send(END, {"refused": "this statement is refused: it is nested too deeply"})
    except pa.ArrowException as reason:
        _send(END, {"refused": f"this answer cannot be told: {str(reason).splitlines()[0]}"})


def _send_rows(con: duckdb.DuckDBPyConnection, statement: str, rows_max: int | None) -> None:
    """Send the rows in pieces; refuse too many rows."""
    relation = con.sql(statement)
    if relation is None:
        raise Refused("only SELECT is answered")
    reader, rows = portable_columns(relation).to_arrow_reader(), 0
    with (
        io.BufferedWriter(_PieceWriter(), _PIECE) as file,
        pa.ipc.new_stream(file, reader.schema) as to,
    ):
        for batch in reader:
            rows += batch.num_rows
            if rows_max is not None and rows > rows_max:
                raise Refused(f"the answer has more than {rows_max} rows: add a LIMIT")
            to.write_table(checked_values(pa.Table.from_batches([batch])))


class _PieceWriter(io.RawIOBase):
    """A file object that sends what is written to the server, piece by piece."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        _send(PIECE, piece)
        return len(piece)


def views_and_words(con: duckdb.DuckDBPyConnection, sql: str, views: list[str]) -> dict[str, Any]:
    """The views that a statement names if it may be answered, and every word in it.

    `words` is None where columns are meant that it does not name: by a star, a place, a row.
    """
    checked_statement(con, sql, views)
    parts: list[dict[str, Any]] = []  # every object in the tree of the statement
    waiting = [syntax_tree(con, sql)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            parts.append(node)
        if isinstance(node, dict | list):
            waiting += node.values() if isinstance(node, dict) else node
    tables = [part for part in parts if part.get("type") in ("BASE_TABLE", "SHOW_REF")]
    rows = {str(part.get("alias", "")).lower() for part in parts}
    rows |= {part["table_name"].lower() for part in tables}
    names = [part["column_names"] for part in parts if part.get("type") == "COLUMN_REF"]
    values = [value for part in parts for value in part.values()]
    texts = chain.from_iterable(value if isinstance(value, list) else [value] for value in values)
    words = {text.lower() for text in texts if isinstance(text, str)}
    unnamed = (
        any(part.get("type") in _UNNAMED or part.get("ref_type") == "NATURAL" for part in parts)
        or any(not "".join(name).isascii() for name in names)
        or any(len(one) == 1 and one[0].lower() in rows for one in names)
    )
    return {
        "views": sorted({part["table_name"].lower() for part in tables} & set(views)),
        "words": None if unnamed else sorted(words),
    }


def _set_limits(memory: str, seconds: float) -> None:
    """Limit memory, processor time and clock, and forbid new files and processes."""
    with open("/proc/self/statm") as file:
        have = int(file.read().split()[0]) * resource.getpagesize()
    size = int(memory[:-2]) * _UNITS[memory[-2:]] + SLACK
    processor = math.ceil(seconds) + 1
    for kind, most in (
        (resource.RLIMIT_AS, have + size),
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + SECONDS_MORE)


def _read_message() -> bytes:
    """Read the next whole message; exit if the server is gone."""
    _, size = HEAD.unpack(_read_bytes(HEAD.size))
    return _read_bytes(size)


def _read_bytes(size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data


def _send(kind: bytes, content: Any) -> None:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    left = memoryview(HEAD.pack(kind, len(body)) + body)
    while left:
        left = left[os.write(0, left) :]


if __name__ == "__main__":
    ForkServer(socket.socket(fileno=os.dup(0)), sys.argv[1], int(sys.argv[2])).run()
