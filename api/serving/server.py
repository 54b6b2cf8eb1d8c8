"""The server itself: one socket, one process or several that only read, and how they stop.

Told to stop, it lets streams end with a last word, finishes what is being answered, and goes. A
worker that dies is replaced; one socket is shared by all of them, so nobody notices.
"""

import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from multiprocessing import connection, get_context
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType

from fastapi import FastAPI

from api.http.connections import BACKLOG, LimitedServer
from api.http.ledger_service import LedgerService, Settings
from api.http.routes.stream import feeds_of
from api.jobs.jobs import Jobs
from api.serving.app import create_app, share_heaps
from dealer.worker import ctrl_c_blocked, end_with_parent, ignore_ctrl_c

INTERRUPTED = 130
GRACE_S = 10  # what is being answered may take so long when the server stops
DEATHS_MAX = 5  # workers that die within...
DEATHS_S = 30.0  # ... so long: then something is wrong that another worker will not mend


class PortTaken(OSError):
    """It cannot be listened there: somebody else does, or nobody may."""


def bound(host: str, port: int) -> socket.socket:
    """The socket that is listened at; 0 is any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so asyncio sends at once
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as reason:
        sock.close()
        if reason.errno == errno.EADDRINUSE:
            taken = f"{host}:{port} is taken: somebody listens there; --port 0 takes a free one"
            raise PortTaken(taken) from None
        why = (reason.strerror or str(reason)).lower()
        raise PortTaken(f"{host}:{port} cannot be listened at: {why}") from None
    return sock


def run(settings: Settings, sock: socket.socket, workers: int, log: Path | None) -> int:
    """Serve until told to stop; the exit code of a command."""
    try:
        if workers == 1:
            return _serve(settings, sock, log, (signal.SIGINT, signal.SIGTERM))
        return _Supervisor(settings, sock, workers, log).run()
    finally:
        Jobs(settings.folder).stop(os.getpid())


class Worker(LimitedServer):
    """The server of one process; who follows a stream is let go before anybody is waited for."""

    def __init__(self, app: FastAPI, signals: tuple[signal.Signals, ...] = ()) -> None:
        settings: Settings = app.state.service.settings
        super().__init__(app, settings.limits, fronted=settings.fronted, grace_s=GRACE_S)
        self._app = app
        self._signals = signals
        self.signals: list[int] = []

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        feeds_of(self._app).stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Told once it stops in order, told twice at once; none is raised again afterwards."""
        before = {one: signal.signal(one, self._signal) for one in self._signals}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _signal(self, number: int, frame: FrameType | None) -> None:
        self.signals.append(number)
        self.handle_exit(number, frame)


def _serve(
    settings: Settings, sock: socket.socket, log: Path | None, signals: tuple[signal.Signals, ...]
) -> int:
    share_heaps()
    with ExitStack() as files:
        if log is not None:  # what would go to stderr goes to the end of the file, line by line
            out = files.enter_context(log.open("a", buffering=1, encoding="utf-8"))
            files.enter_context(redirect_stderr(out))
        server = Worker(create_app(LedgerService(settings)), signals)
        server.run([sock])
    return INTERRUPTED if signal.SIGINT in server.signals else 0


# Several workers.


class _Supervisor:
    """Processes at one socket, started again if they die before they are stopped."""

    def __init__(self, settings: Settings, sock: socket.socket, count: int, log: Path | None):
        self._given = (settings, sock, log)
        self._context = get_context("spawn")
        self._count = count
        self._running: list[SpawnProcess] = []
        self._signals: list[int] = []

    def run(self) -> int:
        before = {one: signal.signal(one, self._signal) for one in (signal.SIGINT, signal.SIGTERM)}
        deaths: list[float] = []
        try:
            self._running = [self._worker() for _ in range(self._count)]
            while not self._signals and len(deaths) < DEATHS_MAX:
                connection.wait([process.sentinel for process in self._running], timeout=0.2)
                for dead in [process for process in self._running if not process.is_alive()]:
                    now = time.monotonic()
                    deaths = [*(then for then in deaths if now - then < DEATHS_S), now]
                    self._running.remove(dead)
                    if not self._signals and len(deaths) < DEATHS_MAX:
                        self._running.append(self._worker())
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)
        if not self._signals:
            print("muckrake: workers die as soon as they have started", file=sys.stderr)
            return 1
        return INTERRUPTED if signal.SIGINT in self._signals else 0

    def _worker(self) -> SpawnProcess:
        process = self._context.Process(target=_work, args=self._given)
        with ctrl_c_blocked():
            process.start()
        return process

    def _end(self) -> None:
        """Stop all workers; one that does not stop in time is killed."""
        for process in self._running:
            process.terminate()
        until = time.monotonic() + GRACE_S + 2
        for process in self._running:
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def _signal(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(number)


def _work(settings: Settings, sock: socket.socket, log: Path | None) -> None:
    """A worker: Ctrl-C is for the process that started it, and when that is gone, so is this."""
    ignore_ctrl_c()
    end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
    _serve(settings, sock, log, (signal.SIGTERM,))
    sys.stderr.flush()
    os._exit(0)  # its files are closed; DuckDB would complain of what else the interpreter drops
