"""The server: one socket, one or several processes that read, how they stop, and connections.

Told to stop, it lets streams end with a last word, finishes what is being answered, and goes. A
worker that dies is replaced; one socket is shared by all of them, so nobody notices.

uvicorn waits for ever for a head that does not come, and for a reader who does not read. Here each
connection has a time for its head, and another for taking what was written to it. When an address,
or the worker, holds as many as it may, the connection that has waited longest without a request
makes room for the newcomer; where all are being answered, the newcomer must come again.
"""

import asyncio
import errno
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from functools import partial
from multiprocessing import connection, get_context
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import h11
import msgspec
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.http.ledger_service import LedgerService, Settings
from api.http.limits import OUT_OF_DESCRIPTORS, PROXIES, Limits, client_network
from api.http.request_log import limit_heaps
from api.http.routes.stream import feeds_of
from api.jobs.jobs import Jobs
from api.problem import PROBLEM_JSON, PROBLEM_KINDS, Problem
from api.serving.app import create_app
from dealer.worker import ctrl_c_blocked, end_with_parent, ignore_ctrl_c

BACKLOG = 2_048  # newcomers that the kernel keeps for us
FILES_WANTED = 16_384  # descriptors: each connection is one, and so is each file that is read
CHECK_EVERY_S = 1.0  # no more often is it looked for who is too slow
INTERRUPTED_CODE = 130
GRACE_S = 10  # what is being answered may take so long when the server stops
DEATHS_MAX = 5  # workers that die within...
DEATHS_S = 30.0  # ... so long: then something is wrong that another worker will not mend


class PortUnavailable(OSError):
    """A port that cannot be listened at: it is taken, or not permitted."""


def listening_socket(host: str, port: int) -> socket.socket:
    """Open the socket that the server listens at; 0 is any free port."""
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
            raise PortUnavailable(taken) from None
        why = (reason.strerror or str(reason)).lower()
        raise PortUnavailable(f"{host}:{port} cannot be listened at: {why}") from None
    return sock


# The connections of a worker.


class Connection(H11Protocol):
    """One connection; a handler may cut it: `request.state.abort`."""

    def __init__(self, *given: Any, crowd: "Connections", **named: Any) -> None:
        super().__init__(*given, **named)
        self.crowd = crowd
        self.network = ""
        self.headless_since: float | None = time.monotonic()  # None: a request is being answered
        self._unread = 0  # bytes that were waiting for the reader when it was last looked
        self._read_until = 0.0  # by then he must have taken them

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": self.cut}
        self.network = client_network(self.client[0] if self.client else "")
        if not self.crowd.add(self):
            sentence = "as many connections are open as may be, and all are being answered"
            self._close_with(Problem("unavailable", sentence).after(5))

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_state()

    def on_response_complete(self) -> None:
        self.headless_since = time.monotonic()
        super().on_response_complete()
        self._update_state()

    @property
    def idle_since(self) -> float | None:
        """The time since when the client has asked for nothing and has taken all that was sent."""
        return None if self.transport.get_write_buffer_size() else self.headless_since

    def cut(self) -> None:
        """Reset the connection at once: what the kernel still holds for the client is dropped."""
        sock = self.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def check_deadlines(self, now: float, limits: Limits) -> None:
        """End a connection whose request head is late, cut one that does not take what was
        written."""
        since = self.headless_since
        if since is not None and now - since > limits.head_s and not self.transport.is_closing():
            sentence = f"the head of a request must come within {limits.head_s:g} seconds"
            self._close_with(Problem("too-slow", sentence) if self.conn.trailing_data[0] else None)
        unread = self.transport.get_write_buffer_size()
        if unread > self._unread or not unread:
            self._read_until = now + limits.stall_s
        else:
            earned = (self._unread - unread) / limits.min_bytes_per_second
            self._read_until = min(now + limits.stall_s, self._read_until + earned)
        self._unread = unread
        if unread and now > self._read_until:
            self.cut()

    def _update_state(self) -> None:
        """Note whether a request is being answered, or the head of one is waited for."""
        if not getattr(self.cycle, "response_complete", True):
            self.headless_since = None
        elif self.headless_since is None:
            self.headless_since = time.monotonic()

    def _close_with(self, problem: Problem | None) -> None:
        """Close the connection; send a problem, if a request was begun and no answer is being
        sent."""
        if problem is not None and self.conn.our_state is h11.IDLE:
            body = msgspec.json.encode(problem.document())
            headers = {"Content-Type": PROBLEM_JSON, "Content-Length": str(len(body))}
            headers |= {"Connection": "close", **problem.headers}
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            head = f"HTTP/1.1 {problem.status} {PROBLEM_KINDS[problem.kind].title}\r\n{lines}\r\n"
            self.transport.write(head.encode("ascii") + body)
        self.transport.close()


class Connections:
    """The connections of a worker."""

    def __init__(self, limits: Limits, *, fronted: bool, room: int) -> None:
        self.limits = limits
        self._fronted = fronted
        self._room = room
        self._all: dict[Connection, None] = {}  # in the order in which they came
        self._of: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection) -> bool:
        """Whether there is room for a connection, perhaps the room of an idle one."""
        his = self._of.get(connection.network, {})
        counted = not (
            self._fronted and connection.client is not None and connection.client[0] in PROXIES
        )
        if counted and len(his) >= self.limits.at_once and not _evict_idle(his):
            return False
        if len(self._all) >= self._room and not _evict_idle(self._all):
            return False
        self._all[connection] = None
        self._of.setdefault(connection.network, {})[connection] = None
        return True

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is gone."""
        self._all.pop(connection, None)
        his = self._of.get(connection.network, {})
        his.pop(connection, None)
        if not his:
            self._of.pop(connection.network, None)

    async def check_all(self) -> None:
        """Check every connection's deadlines, for as long as the server runs."""
        while True:
            await asyncio.sleep(min(CHECK_EVERY_S, self.limits.head_s / 4))
            now = time.monotonic()
            for one in list(self._all):
                one.check_deadlines(now, self.limits)


def _evict_idle(those: dict[Connection, None]) -> bool:
    """Cut the connection that has been idle longest; whether there was one."""
    idle = [(since, id(one), one) for one in those if (since := one.idle_since) is not None]
    if not idle:
        return False
    _, _, first = min(idle)
    first.crowd.remove(first)
    first.cut()
    return True


class LimitedServer(uvicorn.Server):
    """uvicorn's server with limited connections; no request becomes a web socket."""

    def __init__(self, app: Any, limits: Limits, *, fronted: bool = False, grace_s: int) -> None:
        room = DescriptorLimits.of_process()
        self._crowd = Connections(limits, fronted=fronted, room=room.connections)
        self._looking: asyncio.Task[None] | None = None
        config = uvicorn.Config(
            app,
            http=partial(Connection, crowd=self._crowd),  # type: ignore[arg-type]  # it makes one
            ws="none",
            log_config=None,
            log_level="critical",  # the log is ours
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=room.accepted,
            timeout_graceful_shutdown=grace_s,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        def handled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            """Without descriptors asyncio tries to accept again after a second: that is no news."""
            failure = context.get("exception")
            if not (isinstance(failure, OSError) and failure.errno in OUT_OF_DESCRIPTORS):
                loop.default_exception_handler(context)

        asyncio.get_running_loop().set_exception_handler(handled)
        await super().startup(sockets)
        for sock in sockets or ():
            sock.listen(BACKLOG)  # the kernel may keep more of them than are accepted at a time
        self._looking = asyncio.create_task(self._crowd.check_all())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await super().shutdown(sockets)


class DescriptorLimits(NamedTuple):
    """The descriptors of this process: for connections in all, and for newcomers at one moment."""

    connections: int
    accepted: int

    @classmethod
    def of_process(cls) -> "DescriptorLimits":
        """The limits of this process, raised as far as they may be; a quarter is left for the
        ledger's files.

        Newcomers are accepted before they are counted: half of that quarter at most at a time.
        """
        import resource  # which Windows has not: readers do without

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        kept = max(64, most // 4)
        return cls(max(16, most - kept), min(BACKLOG, kept // 2))


# One worker.


def run_server(settings: Settings, sock: socket.socket, workers: int, log: Path | None) -> int:
    """Serve until told to stop; the exit code of a command."""
    try:
        if workers == 1:
            return _run_one_process(settings, sock, log, (signal.SIGINT, signal.SIGTERM))
        return _Supervisor(settings, sock, workers, log).run()
    finally:
        Jobs(settings.folder).stop(os.getpid())


class Worker(LimitedServer):
    """The server of one process; followers of a stream are let go before other requests are
    waited for."""

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
        """Stop in order at the first signal, at once at the second; neither is raised again
        afterwards."""
        before = {one: signal.signal(one, self._signal) for one in self._signals}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _signal(self, number: int, frame: FrameType | None) -> None:
        self.signals.append(number)
        self.handle_exit(number, frame)


def _run_one_process(
    settings: Settings, sock: socket.socket, log: Path | None, signals: tuple[signal.Signals, ...]
) -> int:
    limit_heaps()
    with ExitStack() as files:
        if log is not None:  # what would go to stderr goes to the end of the file, line by line
            out = files.enter_context(log.open("a", buffering=1, encoding="utf-8"))
            files.enter_context(redirect_stderr(out))
        server = Worker(create_app(LedgerService(settings)), signals)
        server.run([sock])
    return INTERRUPTED_CODE if signal.SIGINT in server.signals else 0


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
        return INTERRUPTED_CODE if signal.SIGINT in self._signals else 0

    def _worker(self) -> SpawnProcess:
        process = self._context.Process(target=_run_worker, args=self._given)
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


def _run_worker(settings: Settings, sock: socket.socket, log: Path | None) -> None:
    """Run a worker: Ctrl-C is for the process that started it, and when that is gone, so is
    this."""
    ignore_ctrl_c()
    end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
    _run_one_process(settings, sock, log, (signal.SIGTERM,))
    sys.stderr.flush()
    os._exit(0)  # its files are closed; DuckDB would complain of what else the interpreter drops
