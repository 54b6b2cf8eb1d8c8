"""A program that we started, with all it started in turn: begun in a group of its own, ended whole.

Only what we started is ever ended: the group that the program leads, and, where the system tells
(Linux), whoever left that group but still carries the mark we gave it in its environment.
"""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dealer.wire.output import Output

_MARK = "MUCKRAKE_BOT"
_PROC = Path("/proc")
_SWEEPS = 50  # who starts others faster than that is not caught by looking
_LAST_WORDS_S = 1.0


class Process:
    """One program under way; `end` leaves nothing of it behind."""

    def __init__(self, words: tuple[str, ...], folder: Path, output: Output) -> None:
        self._mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._running = subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, _MARK: self._mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._output = output
        assert self._running.stdout is not None
        output.drain(self._running.stdout)

    @property
    def has_exited(self) -> bool:
        """Whether it is over; until `end`, its number stays taken, so nobody else can have it."""
        if self._running.returncode is not None:
            return True
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._running.poll() is not None
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._running.pid, look) is not None

    def wait(self, seconds: float) -> bool:
        """Whether it is over within so many seconds."""
        deadline = time.monotonic() + seconds
        pause = 0.001
        while not self.has_exited:
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return True

    def end(self) -> int | None:
        """Kill what is left of it, the programs it started too; its exit code, if it gave one."""
        exited = self.has_exited
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._running.pid, signal.SIGKILL)
        sweep(self._mark)
        self._output.wait(_LAST_WORDS_S)
        try:
            code = self._running.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:  # the system holds it, in some device perhaps
            return None
        return code if exited else None


def sweep(mark: str) -> None:
    """End every process whose mark begins so, until there is none."""
    for _ in range(_SWEEPS):
        if not sum(_killed(pid, mark) for pid in _everybody()):
            break
        time.sleep(0.002)


def _everybody() -> Iterator[int]:
    """The numbers of all processes, where the system lists them."""
    if not (_PROC / "self/environ").exists():
        return
    yield from (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())


def _killed(pid: int, mark: str) -> bool:
    """End this process if it carries the mark; its handle is taken first, so it is the same."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if f"{_MARK}={mark}".encode() not in (_PROC / str(pid) / "environ").read_bytes():
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
