"""A program that we started, with all it started in turn: begun by the launcher, ended whole.

Only what we started is ever ended: what descends from the launcher, and, where the system tells
(Linux), every process that still carries our mark in its environment.

What a program prints is read to the end so that it never waits, and kept only as far as it is of
use.

A match and its quick bots share one processor: to wake another takes longer than they think. One of
the three works at a time and the others sleep, so one processor is enough. A bot with threads, or
with processors that it chose, is left alone.
"""

import marshal
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from dealer.wire import launcher
from dealer.wire.launcher import descendants
from events.state import Finished

_CHUNK = 65_536
_TAIL = 4_096


class BotOutput:
    """The first bytes of what was printed, for the player's log, and always the last ones."""

    def __init__(self, log_bytes: int, most_bytes: int) -> None:
        self._log_bytes = log_bytes
        self._left = most_bytes  # a program that prints for ever would keep us from all else
        self._head = bytearray()
        self._tail = b""
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def drain(self, pipe: IO[bytes]) -> None:
        """Read a pipe until nobody holds its other end, in a thread of its own."""
        thread = threading.Thread(target=self._drain, args=(pipe,), daemon=True)
        thread.start()
        self._threads.append(thread)

    def add(self, text: str) -> None:
        """Add a remark of the match to the bot's output."""
        self._keep(text.encode())

    def wait(self, seconds: float) -> None:
        """Wait until all is read, at most so long; output after that is dropped."""
        for thread in self._threads:
            thread.join(seconds)

    @property
    def overflowed(self) -> bool:
        """Whether the program printed so much that nobody reads any more."""
        return self._left < 0

    @property
    def log(self) -> bytes:
        """The player's log."""
        with self._lock:
            return bytes(self._head)

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last lines of the output: a program that breaks down says so there."""
        with self._lock:
            text = self._tail.decode("utf-8", "replace")
        return tuple(text.splitlines()[-12:])

    def _drain(self, pipe: IO[bytes]) -> None:
        with pipe:
            while self._left >= 0 and (chunk := os.read(pipe.fileno(), _CHUNK)):
                self._keep(chunk)
                self._left -= len(chunk)

    def _keep(self, chunk: bytes) -> None:
        with self._lock:
            room = self._log_bytes - len(self._head)
            if room > 0:
                self._head += chunk[:room]
            self._tail = (self._tail + chunk)[-_TAIL:]


_MARK = "MUCKRAKE_BOT"
# Imported, it need not be compiled each time; its folder comes after all others.
_LAUNCH = "import sys; sys.path.append(sys.argv[1]); import launcher; launcher.main()"
_ALONE = ("-I", "-S", "-B", "-c", _LAUNCH)
_PROC = Path("/proc")
_SWEEPS = 50  # a program that starts others faster than that is not caught by looking
_LAST_WORDS_S = 1.0
_ENTRY_S = 30.0  # for entering a sandbox
_END_S = 5.0


class NoSandbox(Exception):
    """The sandbox could not be entered, and nothing was started; the reason why."""


class BotProcess:
    """A running program; `end` leaves nothing of it behind."""

    def __init__(self, order: dict[str, Any], output: BotOutput) -> None:
        """Start the program as ordered: NoSandbox, or OSError if there is no such command."""
        self._mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._received = b""
        self._exited = False
        self._code: int | None = None
        self.ended_because: str | None = None
        if not order["namespaces"]:  # there all end with the first process, and no mark is needed
            order["env"] = {**order["env"], _MARK: self._mark}
        self._link, theirs = socket.socketpair()
        with theirs:
            self._launcher = subprocess.Popen(
                [sys.executable, *_ALONE, os.path.dirname(launcher.__file__)],
                cwd="/",
                env={_MARK: self._mark},
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._output = output
        assert self._launcher.stdout is not None
        output.drain(self._launcher.stdout)
        try:
            self._entered(marshal.dumps(order))
        except BaseException:
            self.end()
            raise

    def _entered(self, order: bytes) -> None:
        self._link.settimeout(_ENTRY_S)
        try:
            self._link.sendall(order)
            while b"\n" not in self._received:
                chunk = self._link.recv(4_096)
                if not chunk:
                    raise NoSandbox("its launcher ended at once")
                self._received += chunk
        except TimeoutError:
            raise NoSandbox(f"its launcher said nothing for {_ENTRY_S:g} s") from None
        except OSError as why:
            raise NoSandbox(f"its launcher ended at once: {why.strerror}") from None
        first, self._received = self._received.split(b"\n", 1)
        self._link.setblocking(False)
        if first.startswith(b"-"):
            raise NoSandbox(first[1:].decode("utf-8", "replace"))
        if first.startswith(b"!"):
            number = int(first[1:])
            raise OSError(number, os.strerror(number))

    @property
    def has_exited(self) -> bool:
        """Whether the program's first process is over; what that has started may go on."""
        if not self._exited:
            self._listen()
        return self._exited

    def _listen(self) -> None:
        """Read what the launcher has written meanwhile."""
        with suppress(OSError):
            while chunk := self._link.recv(4_096):
                self._received += chunk
            self._exited = True
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            self._exited = True
            if line.startswith(b"="):
                self._code = int(line[1:])
            elif line.startswith(b"*"):
                self.ended_because = line[1:].decode("utf-8", "replace")

    def wait(self, seconds: float) -> bool:
        """Whether the program is over within so many seconds."""
        deadline = time.monotonic() + seconds
        poller = select.poll()
        poller.register(self._link, select.POLLIN)
        while not self.has_exited:
            left = deadline - time.monotonic()
            if left < 0:
                return False
            poller.poll(1_000 * left)
        return True

    @property
    def pids(self) -> list[int]:
        """The program and all that it has started, as far as the system lists them."""
        return descendants(self._launcher.pid)

    @property
    def is_stopped(self) -> bool:
        """Whether a process of the program was stopped by a signal and has not been continued."""
        for pid in self.pids:
            with suppress(OSError, IndexError):
                if (_PROC / str(pid) / "stat").read_text().rpartition(") ")[2][0] == "T":
                    return True
        return False

    def holds(self, link: socket.socket) -> bool:
        """Whether the program has the connection's other end; yes, where the system does not tell.

        A port is open to all: another bot may find it, and be quicker.
        """
        # The system's number for the socket of these two addresses. Those just closed stand there,
        # too: thousands, which take milliseconds to read.
        ends = (_hex_address(link.getpeername()), _hex_address(link.getsockname()))
        inode: str | None = None
        for table in ("net/tcp", "net/tcp6"):
            with suppress(OSError), (_PROC / table).open() as rows:
                for words in map(str.split, rows):
                    if all(map(str.endswith, words[1:3], ends)):
                        inode = words[9]
                        break
            if inode is not None:
                break
        else:
            return True
        for pid in self.pids:
            try:
                handles = list((_PROC / str(pid) / "fd").iterdir())
            except OSError:  # it has gone meanwhile, or is the launcher's own
                continue
            for handle in handles:
                with suppress(OSError):
                    if os.readlink(handle) == f"socket:[{inode}]":
                        return True
        return False

    def end(self) -> int | None:
        """Kill the program and those that it started; return its exit code, if it gave one."""
        self._listen()
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_WR)  # for the launcher this is the word to end it all
            self._link.settimeout(_END_S)
            while self._link.recv(4_096):  # until it is gone: to wait for a process is to look
                pass
        self._link.close()
        try:
            self._launcher.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:  # the system holds it, in some device perhaps
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._launcher.pid, signal.SIGKILL)
        end_marked(self._mark)
        self._output.wait(_LAST_WORDS_S)
        with suppress(subprocess.TimeoutExpired):
            self._launcher.wait(_LAST_WORDS_S)
        return self._code


def _hex_address(address: tuple[str, int]) -> str:
    """An address as it stands in the table of connections, there perhaps as a longer one."""
    host, port = address
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"


def end_marked(mark: str) -> None:
    """End every process whose mark begins so, until there is none."""
    for _ in range(_SWEEPS):
        if not (_PROC / "self/environ").exists():  # the system does not list processes
            break
        pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
        if not sum(_kill(pid, mark) for pid in pids):
            break
        time.sleep(0.002)


def _kill(pid: int, mark: str) -> bool:
    """End a process if it carries the mark; its handle is taken first, so it is the same."""
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


# One processor for the match and its bots.

LOOK_HANDS = 20  # after so many it is looked at again whether one processor is enough
QUICK_S = 0.000_3  # for a reply: a slower bot thinks, and may want to do it on many processors


class RunningBot(Protocol):
    """A bot: how often it was asked, what is left of its clock, the processes that it runs in."""

    questions_asked: int
    clock: float

    @property
    def processes(self) -> list[int]: ...


class BotUsage(NamedTuple):
    """How often bots were asked so far, what is left of their clocks, the nanoseconds in which this
    process has run, and those in which it waited for a processor that others had."""

    questions_asked: int
    clocks: float
    ran: int
    waited: int


def on_one_processor(
    hands: Iterable[Finished], bots: tuple[RunningBot, RunningBot]
) -> Generator[Finished]:
    """Play these hands with all bots on one processor while that is faster; free all at the end.

    It is looked again and again: a bot may begin to think, others may want the processor.
    """
    if sys.platform != "linux" or not (_PROC / "self/schedstat").exists():
        yield from hands
        return
    everywhere = os.sched_getaffinity(0)
    then, together = _used(bots), False
    try:
        for number, hand in enumerate(hands, 1):
            if number % LOOK_HANDS == 0:
                now = _used(bots)
                better = len(everywhere) > 1 and fits_one_processor(then, now)
                if better and not together:
                    together = _gathered(bots, everywhere)
                elif together and not better:
                    _spread(bots, everywhere)
                    together = False
                then = now
            yield hand
    finally:
        if together:
            _spread(bots, everywhere)


def fits_one_processor(then: BotUsage, now: BotUsage) -> bool:
    """Whether one processor is enough: bots reply at once, and nobody else is in the way."""
    asked, crowd = now.questions_asked - then.questions_asked, now.waited - then.waited
    return then.clocks - now.clocks < asked * QUICK_S and crowd < now.ran - then.ran


def _used(bots: tuple[RunningBot, RunningBot]) -> BotUsage:
    ran, waited, _ = (_PROC / "self/schedstat").read_text().split()
    asked, clocks = sum(bot.questions_asked for bot in bots), sum(bot.clock for bot in bots)
    return BotUsage(asked, clocks, int(ran), int(waited))


def _gathered(bots: tuple[RunningBot, RunningBot], everywhere: set[int]) -> bool:
    """Put all bots on the processor of this process, unless a bot is to be left alone."""
    each = [bot.processes for bot in bots]
    if not all(each):  # a bot is over, or the system does not list what runs
        return False
    processes = [process for of_bot in each for process in of_bot]
    try:
        for process in processes:
            if len(_threads(process)) > 1 or os.sched_getaffinity(process) != everywhere:
                return False
        here = {int((_PROC / "self/stat").read_text().rpartition(") ")[2].split()[36])}
        for process in (0, *processes):
            os.sched_setaffinity(process, here)
    except OSError:  # a process has just ended, or is not ours to move
        _spread(bots, everywhere)
        return False
    return True


def _spread(bots: tuple[RunningBot, RunningBot], everywhere: set[int]) -> None:
    """Let all processes run on all processors, those that a bot has started meanwhile, too."""
    for process in (0, *(process for bot in bots for process in bot.processes)):
        with suppress(OSError):
            for thread in _threads(process):
                os.sched_setaffinity(thread, everywhere)


def _threads(process: int) -> list[int]:
    return [int(name) for name in os.listdir(_PROC / str(process or "self") / "task")]
