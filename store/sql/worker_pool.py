"""The pool of worker processes for untrusted SQL: each is taken, asked, timed and ended.

What a question takes of memory and time is its own process's (`store.sql.worker`), and that is used
once. At most so many are asked at the same time; a few wait, warm, for the next questions.
"""

import atexit
import contextlib
import json
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from store.sql.guard import Refused

HEAD = struct.Struct("!cQ")  # of a message: its kind, and how many bytes follow
ORDER, READY, STATEMENT, PIECE, END = b"o", b"r", b"s", b"p", b"e"
FILES = 200  # descriptors in one message; the system takes 253
MEMORY = "1GB"
AT_ONCE = 4  # questions; later ones wait for one of them
IDLE = 2
BYTES_MAX = 256 << 20  # of an answer
BEGIN_S = 30.0  # until a process has opened its tables and locked itself
_ENVIRONMENT = {  # one thread and no memory set aside: a process with threads does not fork
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


class WorkerReply(Struct, frozen=True):
    """A worker's reply to a statement, and the pieces of rows that came before it."""

    reply: dict[str, Any]
    pieces: bytes


class WorkerPool:
    """A pool of worker processes, started with the first question; threads may share it."""

    def __init__(self, memory: str = MEMORY, at_once: int = AT_ONCE, idle: int = IDLE) -> None:
        self._words = (memory, str(idle))
        self._places = threading.Semaphore(at_once)
        self._turn = threading.Lock()
        self._parent: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def ask(
        self, order: dict[str, Any], files: Sequence[int], sql: str, seconds: float
    ) -> WorkerReply:
        """A statement's answer by a process that has these files; `Refused` if it was stopped."""
        try:
            statement = sql.encode()
        except UnicodeEncodeError:
            raise Refused("this statement is refused: it is no text") from None
        with self._places, contextlib.closing(self._taken()) as worker:
            reply = worker.opened({**order, "seconds": seconds}, files)
            if "refused" in reply:
                raise Refused(f"SQL is not answered on this system: {reply['refused']}")
            answer = worker.ask(statement, seconds)
        if "refused" in answer.reply:
            raise Refused(answer.reply["refused"])
        return answer

    def close(self) -> None:
        """End them all."""
        with self._turn:
            if self._socket is not None and self._parent is not None:
                self._socket.close()
                self._parent.wait()
            self._socket = self._parent = None

    def _taken(self) -> "_Worker":
        with self._turn:
            for _ in range(2):
                if self._socket is None:
                    self._start()
                with contextlib.suppress(OSError):
                    assert self._socket is not None
                    self._socket.sendall(b"t")
                    sent, handles, _, _ = socket.recv_fds(self._socket, 8, 1)
                    if handles:
                        pid = int.from_bytes(sent, "big")
                        return _Worker(socket.socket(fileno=handles[0]), pid, self._kill)
                self._socket = None  # the parent itself was killed: another takes its place
        raise Refused("SQL is not answered here: no process for it can be started")

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._parent = subprocess.Popen(
                [sys.executable, "-I", "-m", f"{__package__}.worker", *self._words],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                start_new_session=True,
            )
        self._socket = ours

    def _kill(self, pid: int) -> None:
        with self._turn, contextlib.suppress(OSError):
            if self._socket is not None:
                self._socket.sendall(b"k%d" % pid)


class _Worker:
    """A worker process, for one question."""

    def __init__(self, sock: socket.socket, pid: int, kill: Callable[[int], None]) -> None:
        self._socket = sock
        self._pid = pid
        self._kill = kill
        self._ended = False
        self._until = 0.0

    def opened(self, order: dict[str, Any], files: Sequence[int]) -> dict[str, Any]:
        """The process's first reply, when it has opened these files and is locked."""
        body = json.dumps({**order, "files": len(files)}).encode()
        self._until = time.monotonic() + BEGIN_S
        with contextlib.suppress(ConnectionError):  # it died: what is read next tells how
            self._socket.sendall(HEAD.pack(ORDER, len(body)) + body)
            for start in range(0, len(files), FILES):
                socket.send_fds(self._socket, [b"f"], files[start : start + FILES])
        _, content = self._message(BEGIN_S)
        reply: dict[str, Any] = json.loads(content)
        return reply

    def ask(self, statement: bytes, seconds: float) -> WorkerReply:
        """The worker's reply to a statement."""
        self._until = time.monotonic() + seconds
        with contextlib.suppress(ConnectionError):
            self._socket.settimeout(seconds)
            self._socket.sendall(HEAD.pack(STATEMENT, len(statement)) + statement)
        pieces = bytearray()
        while True:
            kind, content = self._message(seconds)
            if kind == END:
                self._ended = True
                return WorkerReply(json.loads(content), bytes(pieces))
            pieces += content
            if len(pieces) > BYTES_MAX:
                raise Refused(f"the answer has more than {BYTES_MAX >> 20} MB: add a LIMIT")

    def close(self) -> None:
        """A process that has answered goes by itself; any other is ended."""
        if not self._ended:
            self._kill(self._pid)
        self._socket.close()

    def _message(self, seconds: float) -> tuple[bytes, bytes]:
        head = self._exactly(HEAD.size, seconds)
        kind, size = HEAD.unpack(head)
        if size > BYTES_MAX:
            raise Refused(f"the answer has more than {BYTES_MAX >> 20} MB: add a LIMIT")
        return kind, self._exactly(size, seconds)

    def _exactly(self, size: int, seconds: float) -> bytes:
        data = bytearray(size)
        view, have = memoryview(data), 0
        while have < size:
            try:
                left = self._until - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                self._socket.settimeout(left)
                count = self._socket.recv_into(view[have:])
            except TimeoutError:
                raise Refused(f"stopped: no answer within {seconds:g} s") from None
            except ConnectionError:
                count = 0
            have += count
            if not count:  # it is dead: its parent ends what it said by `=SIGNAL`
                self._ended = True
                _, dash, number = bytes(data[:have]).rpartition(b"=")
                if dash and number in (b"%d" % signal.SIGXCPU, b"%d" % signal.SIGALRM):
                    raise Refused(f"stopped: no answer within {seconds:g} s")
                why = f"signal {int(number)}" if dash and number.isdigit() else "it is gone"
                raise Refused(f"stopped: the answer needs more than its process may have ({why})")
        return bytes(data)


@cache
def shared_pool() -> WorkerPool:
    """The processes of this server or command."""
    pool = WorkerPool()
    atexit.register(pool.close)
    return pool
