"""A line out, a line back: the one socket between the match and a bot, bounded in time and size."""

import socket
import struct
import time

_CHUNK = 65_536


class Overlong(Exception):
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
                    raise Overlong(self._held[: self._line_bytes])
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
        """The next wait; no time at all is too late, not for ever."""
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
