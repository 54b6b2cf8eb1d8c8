"""What a bot prints: read to the end so that it never waits, kept only as far as it is of use."""

import os
import threading
from typing import IO

_CHUNK = 65_536
_TAIL = 4_096


class Output:
    """The first bytes of what was printed, for the player's log, and always the last ones."""

    def __init__(self, log_bytes: int, most_bytes: int) -> None:
        self._log_bytes = log_bytes
        self._left = most_bytes  # whoever prints for ever would keep us from everything else
        self._head = bytearray()
        self._tail = b""
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def drain(self, pipe: IO[bytes]) -> None:
        """Read this pipe until nobody holds its other end, in a thread of its own."""
        thread = threading.Thread(target=self._drain, args=(pipe,), daemon=True)
        thread.start()
        self._threads.append(thread)

    def add(self, text: str) -> None:
        """A remark of ours among what the bot printed."""
        self._keep(text.encode())

    def wait(self, seconds: float) -> None:
        """Wait until all is read, at most so long; output after that is dropped."""
        for thread in self._threads:
            thread.join(seconds)

    @property
    def overflowed(self) -> bool:
        """Whether it printed so much that nobody reads any more."""
        return self._left < 0

    @property
    def log(self) -> bytes:
        """The player's log."""
        with self._lock:
            return bytes(self._head)

    @property
    def last_lines(self) -> tuple[str, ...]:
        """How it ended: a program that breaks down says so last."""
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
