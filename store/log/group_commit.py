"""Group commit: the caller who finds nobody writing writes for all who wait by then.

When he is done, everybody he wrote for goes on at once, and the first of those who came meanwhile
writes next. So a disk that takes long for a sync is asked for few.
"""

import threading
from collections.abc import Sequence

from events.ledger import Append, Appended, Conflict
from store.log.batch import CALL_MAX, checked, spelled


class Call:
    """One caller's appends; `turn` opens when they are settled, or when it is his turn to write."""

    def __init__(self, appends: Sequence[Append], payload: bytes | None = None) -> None:
        self.appends = appends
        self.payload = spelled(appends) if payload is None else payload
        self.answer: tuple[Appended, ...] | None = None
        self.refusal: Exception | None = None
        self.turn = threading.Lock()
        self.turn.acquire()

    @property
    def settled(self) -> bool:
        return self.answer is not None or self.refusal is not None

    def answered(self) -> tuple[Appended, ...]:
        """What the caller is told."""
        if self.refusal is not None:
            raise self.refusal
        assert self.answer is not None
        return self.answer


def read_call(payload: bytes) -> Call:
    """A call from its bytes, which therefore will be read as the same events again."""
    try:
        return Call(checked(payload), payload)
    except ValueError as reason:
        raise Conflict(f"these are no appends: {reason}") from None


class GroupCommit:
    """Who waits, and who writes."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._waiting: list[Call] = []
        self._writer: Call | None = None

    def join(self, call: Call) -> bool:
        """Wait with the others; whether it is this caller's turn to write at once."""
        with self._gate:
            self._waiting.append(call)
            if self._writer is None:
                self._writer = call
            return self._writer is call

    def group(self) -> tuple[Call, ...]:
        """Those who came first, as many as one frame should hold; they wait no more."""
        with self._gate:
            size = count = 0
            while count < len(self._waiting) and (count == 0 or size < CALL_MAX):
                size += len(self._waiting[count].payload)
                count += 1
            group, self._waiting = tuple(self._waiting[:count]), self._waiting[count:]
        return group

    def leave(self, call: Call) -> None:
        """Served or interrupted: if it was his turn, it is now that of the first who waits."""
        with self._gate:
            if call in self._waiting:
                self._waiting.remove(call)
            if self._writer is call:
                self._writer = self._waiting[0] if self._waiting else None
                if self._writer is not None:
                    self._writer.turn.release()
