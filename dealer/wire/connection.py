"""A line out, a line back: the one socket between the match and a bot, bounded in time and size."""

import socket
import time

_CHUNK = 65_536


class Overlong(Exception):
    """So much came without an end of line that no more of it is read; `head` is how it began."""

    def __init__(self, head: bytes) -> None:
        super().__init__(f"more than {len(head)} bytes without an end of line")
        self.head = head


class Connection:
    """Text lines over a socket; lines that nobody asked for wait, and are the next replies.

    Nothing is read before it is needed, so a bot that writes without end fills its own buffers
    and stops there.
    """

    def __init__(self, link: socket.socket, line_bytes: int) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._link = link
        self._line_bytes = line_bytes
        self._held = b""
        self._timeout: float | None = None

    def ask(self, line: bytes, seconds: float) -> bytes:
        """The reply to a line, without its end; nothing if the other side has closed.

        TimeoutError after so many seconds, however the bytes trickle in; OSError if the
        connection is broken.
        """
        deadline = time.perf_counter() + seconds
        self._allow(seconds)
        self._link.sendall(line)
        while (reply := self._line()) is None:
            if len(self._held) > self._line_bytes:
                raise Overlong(self._held[: self._line_bytes])
            chunk = self._link.recv(_CHUNK)
            if not chunk:
                rest, self._held = self._held, b""
                return rest
            self._held += chunk
            if b"\n" not in chunk:
                self._allow(deadline - time.perf_counter())
        return reply

    def send(self, line: bytes, seconds: float) -> None:
        """A line that is not answered."""
        self._allow(seconds)
        self._link.sendall(line)

    def close(self) -> None:
        """Both directions, now."""
        self._link.close()

    def _allow(self, seconds: float) -> None:
        """The next wait; no time at all is too late, not for ever."""
        if seconds <= 0:
            raise TimeoutError
        if seconds != self._timeout:
            self._link.settimeout(seconds)
            self._timeout = seconds

    def _line(self) -> bytes | None:
        """The next whole line: they end as Python's text streams read them."""
        held = self._held
        if b"\r" in held:
            return self._other_end()
        end = held.find(b"\n")
        if end < 0:
            return None
        self._held = held[end + 1 :]
        return held[:end]

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
