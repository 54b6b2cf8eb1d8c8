"""A ledger in memory: what the real one promises, but for being there tomorrow."""

import threading
from collections.abc import Iterator

from events.ledger import Append, Appended, Recorded
from store.folder.manifest import Manifest
from store.log.admission import Admission
from store.log.hot_log import checked_payload
from store.log.streams import Tail


class MemoryLedger:
    """For tests and for looking at hands that nobody needs to keep."""

    def __init__(self) -> None:
        self._tail = Tail(Manifest(0, "", 0, 0, 0))
        self._admission = Admission(self._tail, {}, lambda stream: None)
        self._grown = threading.Condition()
        self._closed = False

    def append(self, *appends: Append) -> tuple[Appended, ...]:
        checked_payload(appends)  # what no disk could hold is refused here too
        with self._grown:
            answers = self._admission.admit(appends)
            self._grown.notify_all()
            return answers.answers

    def attest(self, match: str, first: int) -> bytes | None:
        """Nobody signs for what is in memory."""
        return None

    def read(self, stream: str) -> tuple[Recorded, ...]:
        with self._grown:
            return self._tail.read(stream)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        with self._grown:
            known = self._tail.read_from(pos)
        yield from known

    def follow(self, pos: int) -> Iterator[Recorded]:
        while True:
            with self._grown:
                while self._tail.next_pos <= pos and not self._closed:
                    self._grown.wait()
                new = self._tail.read_from(pos)
            if not new:
                return
            for one in new:
                pos = one.pos + 1
                yield one

    def close(self) -> None:
        """End every `follow`."""
        with self._grown:
            self._closed = True
            self._grown.notify_all()
