"""`subprocess.Popen` for Pythons that run muckrake, forked from one that has imported it.

Such a process is real: its number, its signals, its pipes, what it exits with; it saves a second of
imports. The command is `[sys.executable, "-c", CODE, *WORDS]` or `[..., "-m", NAME, ...]`.
`tests/http/test_full_disk.py` starts a server and its jobs the long way, as a user does.
"""

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, forkserver
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple

import pytest

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        *("api.cli.play", "api.cli.serve", "api.jobs.work", "api.serving.app"),
        *("tests.processes", "tests.prepared", "tests.store.doomed"),
    ]
)


def begin_forks() -> None:
    """Start the process that others are forked from, which imports the modules above: a heavy page
    of an application in this process would start it with fewer."""
    forkserver.ensure_running()


class _Order(NamedTuple):
    """What a process is to be before it runs."""

    words: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    session: bool
    streams: dict[int, connection.Connection]


class Popen:
    """As `subprocess.Popen`, for a command that is a Python with `-c` or `-m`."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        stdin: int | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        env: dict[str, str] | None = None,
        text: bool = False,
        start_new_session: bool = False,
    ) -> None:
        python, *words = map(str, command)
        assert (python, words[0] in ("-c", "-m")) == (sys.executable, True), "start it by itself"
        assert stdin in (None, subprocess.DEVNULL), "it reads nothing"
        self._lock = threading.Lock()
        ours: dict[int, connection.Connection] = {}
        given: dict[int, connection.Connection] = {}
        for number, stream in ((1, stdout), (2, stderr)):
            if stream == subprocess.PIPE:
                ours[number], given[number] = FORKS.Pipe(duplex=False)
            elif stream is not None:
                given[number] = connection.Connection(_descriptor(stream), readable=False)
        environment = dict(os.environ if env is None else env)
        order = _Order(tuple(words), environment, os.getcwd(), start_new_session, given)
        self._process = FORKS.Process(target=_run, args=(order,), daemon=True)
        self._process.start()
        for one in given.values():
            one.close()
        assert self._process.pid is not None
        self.pid: int = self._process.pid
        self.stdout, self.stderr = (_opened(ours.get(number), text) for number in (1, 2))

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        with self._lock:
            return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        if not connection.wait([self._process.sentinel], timeout):
            raise subprocess.TimeoutExpired("a forked Python", timeout or 0.0)
        code = self.poll()
        assert code is not None
        return code

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        """All that it writes, up to its end; one of the streams is to be short."""
        said = tuple(one and one.read() for one in (self.stdout, self.stderr))
        self.wait(timeout)
        return said[0], said[1]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended since we looked
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> "Popen":
        return self

    def __exit__(self, *failure: object) -> None:
        for one in (self.stdout, self.stderr):
            if one is not None:
                one.close()
        self.wait()


@contextmanager
def forks_for(module: str) -> Iterator[None]:
    """What this module would start by `subprocess.Popen` is forked."""
    with pytest.MonkeyPatch.context() as patch:
        instead = SimpleNamespace(Popen=Popen, DEVNULL=subprocess.DEVNULL)
        patch.setattr(f"{module}.subprocess", instead)
        yield


def _descriptor(stream: int | IO[Any]) -> int:
    if isinstance(stream, int):
        assert stream == subprocess.DEVNULL
        return os.open(os.devnull, os.O_WRONLY)
    return os.dup(stream.fileno())


def _opened(end: connection.Connection | None, text: bool) -> IO[Any] | None:
    """Our end of a pipe as a file."""
    if end is None:
        return None
    with end:
        return os.fdopen(os.dup(end.fileno()), "r" if text else "rb")


def _run(order: _Order) -> None:
    """In the process: become what was ordered, and run it."""
    multiprocessing.current_process().daemon = False  # it may have children
    multiprocessing.process._parent_process = None  # type: ignore[attr-defined]  # nor is it one
    # A server may have started the process that all are forked from, and blocks Ctrl-C then.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if order.session:
        os.setsid()
    for number, stream in order.streams.items():
        with stream:
            os.dup2(stream.fileno(), number)
    os.environ.clear()
    os.environ.update(order.environment)
    os.chdir(order.folder)
    kind, what, *words = order.words
    sys.argv = [kind, *words]
    if kind == "-c":
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.modules.pop(what, None)
        runpy.run_module(what, run_name="__main__", alter_sys=True)
