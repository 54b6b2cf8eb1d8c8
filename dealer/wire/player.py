"""One bot in one match: built, started and connected; asked line by line, against its clock.

One socket is between the match and a bot: a line out, a line back, bounded in time and size.
"""

import signal
import socket
import struct
import time
from typing import Protocol

from msgspec import Struct

from dealer.wire.process import BotOutput, BotProcess, NoSandbox
from dealer.wire.program import BotProgram, Limits
from dealer.wire.sandbox import Sandbox, SandboxKind
from events.types import FaultKind

HOST = "127.0.0.1"  # nobody from outside plays along
_RAW_MAX = 1_024  # characters of a bad reply that are kept
_OWN_SIGNALS = ("SEGV", "BUS", "FPE", "ILL", "ABRT", "SYS", "TRAP", "PIPE", "XFSZ")  # signals
_SIGNALS = {number.value: number.name for number in signal.Signals}
_CHUNK = 65_536
_LAST_CALL_S = 1.0  # a program that exits before it connects may have left another one to do it


class Reply(Struct, frozen=True, gc=False):
    """A bot's reply: its text, or why it could not be used."""

    text: str
    fault: FaultKind | None = None


class Conduct(Struct, frozen=True):
    """A bot's conduct in one leg of a match, which `lasted` from its first question to its last."""

    questions_asked: int
    clock_left: float
    slowest: float
    lasted: float
    silenced_because: str | None
    build_failure: str | None
    notes: tuple[str, ...]
    exit: int | None
    last_lines: tuple[str, ...]
    log: bytes
    isolation: SandboxKind
    isolation_failures: tuple[str, ...]  # why better means did not work


class LineAnswerer(Protocol):
    """Answers the lines for a seat: a bot's process, or in tests a list of lines."""

    def ask(self, clauses: str) -> Reply | None:
        """The reply to a line; None from a bot that is not asked any more."""
        ...


class WirePlayer:
    """A bot's process, its connection and its clock.

    A bot is asked until it is late or its connection breaks, and never again after that: then
    `silenced_because` says why. `build_failure` says why its build failed. `slowest` is the
    longest that a reply took.
    """

    def __init__(self, program: BotProgram, limits: Limits, sandbox: Sandbox) -> None:
        self.program = program
        self.sandbox = sandbox
        self.output = BotOutput(limits.log_bytes, limits.output_bytes)
        self.clock = limits.clock
        self.questions_asked = 0
        self.slowest = 0.0
        self.silenced_because: str | None = "it never connected"
        self.build_failure: str | None = None
        self.exit: int | None = None
        self.notes: list[str] = []
        self._limits = limits
        self._first: float | None = None  # when it was asked
        self._latest = 0.0
        self._process: BotProcess | None = None
        self._connection: Connection | None = None

    # Before the match.

    def start(self) -> None:
        """Build the bot, run it, wait until it connects; a failure is noted, no more."""
        if self.program.build:
            self._build()
            self.build_failure = self.notes[0] if self.notes else None
        try:
            listener = socket.create_server((HOST, 0), backlog=16)
        except OSError as why:
            self._note(f"no port for it to connect to: {why}")
            return
        with listener:
            port = str(listener.getsockname()[1])
            self._process = self._run((*self.program.run, port), "run")
            link = self._accept(listener) if self._process else None
        if link is not None:
            self._connection = Connection(link, self._limits.line_bytes)
            self.silenced_because = None

    def _build(self) -> None:
        """Build the bot; after a failure it is run all the same: there may be an older program."""
        building = self._run(self.program.build, "build")
        if building is None:
            return
        in_time = building.wait(self._limits.build)
        code = building.end()
        if not in_time:
            self._note(f"its build took longer than {self._limits.build:g} s and was ended")
        elif building.ended_because:
            self._note(f"its build was ended: {building.ended_because}")
        elif code:
            self._note(f"its build failed with exit code {code}")

    def _run(self, words: tuple[str, ...], command: str) -> BotProcess | None:
        try:
            return self.sandbox.start(words, self.output)
        except (OSError, NoSandbox) as why:
            self._note(f"its {command} command cannot be started: {why}")
            return None

    def _accept(self, listener: socket.socket) -> socket.socket | None:
        """Accept one connection within the limit; give up sooner if the bot has exited."""
        assert self._process is not None
        deadline = time.monotonic() + self._limits.connect
        left, strangers = False, 0
        while (now := time.monotonic()) < deadline:
            listener.settimeout(min(0.05, deadline - now))
            try:
                link = listener.accept()[0]
            except TimeoutError:
                pass
            else:
                if self.sandbox.means == "none" or self._process.holds(link):
                    return link
                link.close()
                if not strangers:
                    self._note("somebody else connected to its port, and was not let in")
                strangers += 1
            if not left and self._process.has_exited:
                left, deadline = True, min(deadline, now + _LAST_CALL_S)
        gone = "it exited before it connected"
        self._note(gone if left else f"it did not connect within {self._limits.connect:g} s")
        return None

    # During the match.

    @property
    def processes(self) -> list[int]:
        """The processes of the bot; none, if it was never started or is over."""
        return self._process.pids if self._process else []

    def ask(self, clauses: str) -> Reply | None:
        """Send one line and take its reply; the bot's clock runs meanwhile."""
        link = self._connection
        if link is None or self.silenced_because is not None:
            return None
        self.questions_asked += 1
        line = f"T{self.clock:.3f} {clauses}\n".encode()
        begun = time.perf_counter()
        if self._first is None:
            self._first = begun
        try:
            raw = link.ask(line, min(self._limits.reply, self.clock))
        except TimeoutError:
            self._spend(begun, time.perf_counter())
            return self._late("")
        except OverlongLine as flood:
            self._spend(begun, link.arrived)
            self._hang_up("it wrote without an end of line")
            return Reply(_text(flood.head), "malformed")
        except OSError:
            self._hang_up("its connection broke")
            return Reply("", "disconnected")
        self._spend(begun, link.arrived)
        if self.clock <= 0:
            return self._late(_text(raw))
        try:
            return Reply(_short(raw.decode().strip()))
        except UnicodeDecodeError:
            return Reply(_text(raw), "malformed")

    def _spend(self, begun: float, arrived: float) -> None:
        self._latest, took = arrived, arrived - begun
        self.clock -= took
        if took > self.slowest:
            self.slowest = took

    def _late(self, text: str) -> Reply:
        """Set the bot's clock to zero for good, even if only this reply took too long."""
        if self._process is not None and self._process.is_stopped:
            self._note(f"its process was stopped by a signal when it was late; {self._sender()}")
        spent = self.clock <= 0
        self.silenced_because = "its clock ran out" if spent else "it took too long for one reply"
        self.clock = 0.0
        return Reply(text, "late")

    def _hang_up(self, why: str) -> None:
        self.silenced_because = why
        assert self._connection is not None
        self._connection.close()
        self._connection = None

    # After the match.

    def dismiss(self) -> None:
        """Tell the bot that the match is over."""
        if self._connection is not None:
            try:
                self._connection.send(b"Q\n", self._limits.reply)
            except OSError:
                self._note("its connection was broken at the end")
            self._connection.close()
            self._connection = None

    def leave(self, deadline: float) -> None:
        """Give the bot until the deadline to exit by itself."""
        if self._process and not self._process.wait(max(0.0, deadline - time.monotonic())):
            self._note(f"it did not exit within {self._limits.quit:g} s of the end, and was ended")

    def end(self) -> None:
        """End the bot's process and remove its files."""
        if self._process is not None:
            self.exit = self._process.end()
            code = self.exit or 0
            if why := self._process.ended_because:
                self._note(f"it was ended: {why}")
            elif name := _SIGNALS.get(-code if code < 0 else code - 128):
                sent = f"{name}, as a program is that fails by itself"
                if name.removeprefix("SIG") not in _OWN_SIGNALS:
                    system = "; the system sends it when memory runs out" * (name == "SIGKILL")
                    sent = f"{name}, which muckrake did not send{system}; {self._sender()}"
                ended = "it was ended"
                if code > 0:  # a shell says 128 more than the number of the signal
                    ended = f"its exit code {code} is a shell's for a program ended"
                self._note(f"{ended} by {sent}")
            self._process = None
        if self.output.overflowed:
            self._note(
                f"it printed more than {self._limits.output_bytes >> 20} MB: no more is read"
            )
        if self._connection is not None:
            self._hang_up("the match was over")
        self.sandbox.clear()

    def _sender(self) -> str:
        """The possible senders of a signal to the bot: the system keeps only who is permitted."""
        if self.sandbox.means == "none":
            return "its rival may have sent it, like any program of yours: nothing says who did"
        return "its rival cannot have sent it, because they are kept apart"

    def conduct(self) -> Conduct:
        """The bot's conduct in this leg, once it is over."""
        return Conduct(
            self.questions_asked,
            self.clock,
            self.slowest,
            self._latest - (self._first or self._latest),
            self.silenced_because,
            self.build_failure,
            tuple(self.notes),
            self.exit,
            self.output.last_lines,
            self.output.log,
            self.sandbox.means,
            tuple(self.sandbox.reasons),
        )

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.output.add(f"muckrake: {sentence}\n")


def _text(raw: bytes) -> str:
    """A useless reply as it is kept: with a mark where bytes are no text."""
    return _short(raw.decode("utf-8", "replace").strip())


def _short(text: str) -> str:
    return text if len(text) <= _RAW_MAX else f"{text[:_RAW_MAX]}…"


# The connection.


class OverlongLine(Exception):
    """A line is longer than what is read of one; `head` is how the line began."""

    def __init__(self, head: bytes) -> None:
        super().__init__(f"more than {len(head)} bytes without an end of line")
        self.head = head


class Connection:
    """Text lines over a socket; lines that nobody asked for wait, and are the next replies.

    Nothing is read before it is needed, so a bot that writes without end fills its own buffers
    and stops there. The kernel keeps the time: a socket with a timeout of Python's own is polled
    before every word.
    """

    def __init__(self, link: socket.socket, line_bytes: int) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setblocking(True)
        self._link = link
        self._line_bytes = line_bytes
        self._held = b""
        self._timeout: float | None = None
        self.arrived = 0.0

    def ask(self, line: bytes, seconds: float) -> bytes:
        """The reply to a line, without its end; nothing if the other side has closed.

        `arrived` is when it came. TimeoutError after so many seconds, however the bytes trickle in;
        OSError if the connection is broken.
        """
        self.arrived = time.perf_counter()
        deadline = self.arrived + seconds
        try:
            self._put(line, deadline, seconds)
            reply = self._line() if self._held else None
            while reply is None:
                if len(self._held) > self._line_bytes:
                    raise OverlongLine(self._held[: self._line_bytes])
                chunk = self._link.recv(_CHUNK)
                self.arrived = time.perf_counter()
                self._held += chunk
                if not chunk:
                    reply, self._held = self._held, b""
                elif (reply := self._line()) is None and b"\n" not in chunk:
                    self._allow(deadline - time.perf_counter())
        except BlockingIOError:
            raise TimeoutError from None
        return reply

    def send(self, line: bytes, seconds: float) -> None:
        """Send a line that is not answered."""
        try:
            self._put(line, time.perf_counter() + seconds, seconds)
        except BlockingIOError:
            raise TimeoutError from None

    def close(self) -> None:
        """Close both directions now."""
        self._link.close()

    def _put(self, line: bytes, deadline: float, seconds: float) -> None:
        if seconds != self._timeout:
            self._allow(seconds)
        while (sent := self._link.send(line)) < len(line):
            line = line[sent:]
            self._allow(deadline - time.perf_counter())

    def _allow(self, seconds: float) -> None:
        """Set the socket's timeout; with no time left, raise TimeoutError, because 0 would mean to
        wait for ever."""
        if seconds <= 0:
            raise TimeoutError
        micros = max(1, int(seconds * 1_000_000))
        wait = struct.pack("ll", *divmod(micros, 1_000_000))
        self._link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
        self._link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, wait)
        self._timeout = seconds

    def _line(self) -> bytes | None:
        """The next whole line: they end as Python's text streams read them."""
        line, newline, rest = self._held.partition(b"\n")
        if b"\r" in line:
            return self._other_end()
        if not newline:
            return None
        self._held = rest
        return line

    def _other_end(self) -> bytes | None:
        """A carriage return ends a line too, once it is known that no newline follows it."""
        held = self._held
        ends = [place for place in (held.find(b"\n"), held.find(b"\r")) if place >= 0]
        end = min(ends)
        if held[end : end + 1] == b"\r" and end + 1 == len(held):
            return None
        after = end + 2 if held[end : end + 2] == b"\r\n" else end + 1
        self._held = held[after:]
        return held[:end]
