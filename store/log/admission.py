"""Admission of appends before they are written, and group commit of callers who wait.

Admission looks at expected versions, closed streams and repeats. Group commit: the caller who finds
nobody writing writes for all who wait by then. When he is done, everybody he wrote for goes on at
once, and the first of those who came meanwhile writes next. So a disk that takes long for a sync is
asked for few.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from events.ledger import Append, Appended, Conflict, closes, is_match
from events.types import HandStarted
from store.folder.manifest import ProducerAnswer
from store.log.hot_log import CALL_MAX, checked_appends, checked_payload
from store.log.streams import LogEntry, Tail


class AppendCall:
    """One caller's appends; `turn` opens when they are settled, or when the caller must write."""

    def __init__(self, appends: Sequence[Append], payload: bytes | None = None) -> None:
        self.appends = appends
        self.payload = checked_payload(appends) if payload is None else payload
        self.answer: tuple[Appended, ...] | None = None
        self.refusal: Exception | None = None
        self.turn = threading.Lock()
        self.turn.acquire()

    @property
    def settled(self) -> bool:
        return self.answer is not None or self.refusal is not None

    def answered(self) -> tuple[Appended, ...]:
        """The answer to the caller, or the refusal raised."""
        if self.refusal is not None:
            raise self.refusal
        assert self.answer is not None
        return self.answer


class GroupCommit:
    """The callers that wait, and the one that writes for all."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._waiting: list[AppendCall] = []
        self._writer: AppendCall | None = None

    def join(self, call: AppendCall) -> bool:
        """Wait with the others; whether it is this caller's turn to write at once."""
        with self._gate:
            self._waiting.append(call)
            if self._writer is None:
                self._writer = call
            return self._writer is call

    def group(self) -> tuple[AppendCall, ...]:
        """Take the callers that came first, as many as one frame should hold."""
        with self._gate:
            size = count = 0
            while count < len(self._waiting) and (count == 0 or size < CALL_MAX):
                size += len(self._waiting[count].payload)
                count += 1
            group, self._waiting = tuple(self._waiting[:count]), self._waiting[count:]
        return group

    def leave(self, call: AppendCall) -> None:
        """Served or interrupted: if it was his turn, it is now that of the first who waits."""
        with self._gate:
            if call in self._waiting:
                self._waiting.remove(call)
            if self._writer is call:
                self._writer = self._waiting[0] if self._waiting else None
                if self._writer is not None:
                    self._writer.turn.release()


class AdmittedCall(NamedTuple):
    """The answers to a call, and what of it is new and must be written."""

    answers: tuple[Appended, ...]
    placed: tuple[LogEntry, ...]


class Admission:
    """The gate before the log: it knows the tail, the sealed hands, and the producers' last words.

    `sealed` tells how many events a sealed hand has, or None if there is no such hand.
    """

    def __init__(
        self, tail: Tail, producers: dict[str, ProducerAnswer], sealed: Callable[[str], int | None]
    ) -> None:
        self.producers = producers
        self._tail = tail
        self._sealed = sealed

    def admit(self, appends: Sequence[Append]) -> AdmittedCall:
        """Admit all of these appends or none; each must find its stream as it expects it."""
        if not appends:
            return AdmittedCall((), ())
        if (repeat := self._repeat(appends)) is not None:
            return AdmittedCall(repeat, ())
        staged: dict[str, tuple[int, bool]] = {}
        for append in appends:
            self._check(append, staged)
        placed, answers = [], []
        for append in appends:
            pos = self._tail.next_pos
            placed.append(LogEntry(pos, append))
            answers.append(self._tail.add(pos, append))
        self.remember(appends[0], answers)
        return AdmittedCall(tuple(answers), tuple(placed))

    def check_closed(self, leaves: Iterable[tuple[str, int, int]]) -> None:
        """Leaves in order: each stream must have as many events as come before it in the leaf."""
        staged: dict[str, int] = {}
        for stream, first, events in leaves:
            version = staged[stream] if stream in staged else self._now(stream)[0]
            if version != first:
                raise _unexpected(stream, version, first)
            staged[stream] = first + events

    def remember(self, first: Append, answers: Sequence[Appended]) -> None:
        """Remember the answer to a producer, so that a retry gets the same."""
        if first.producer:
            self.producers[first.producer] = ProducerAnswer(
                first.sequence,
                tuple(answer.stream for answer in answers),
                tuple(answer.pos for answer in answers),
                tuple(answer.version for answer in answers),
                tuple(answer.hand_seq for answer in answers),
            )

    def _repeat(self, appends: Sequence[Append]) -> tuple[Appended, ...] | None:
        first = appends[0]
        if any((one.producer, one.sequence) != (first.producer, first.sequence) for one in appends):
            raise Conflict("the appends of one call have one producer and one sequence number")
        last = self.producers.get(first.producer)
        if not first.producer or last is None or first.sequence > last.sequence:
            return None
        if first.sequence < last.sequence:
            raise Conflict(
                f"{first.producer} is at {last.sequence}: {first.sequence} was answered before"
            )
        ends = tuple((one.stream, one.expected + len(one.events)) for one in appends)
        if ends != tuple(zip(last.streams, last.versions, strict=True)):
            raise Conflict(f"{first.producer} used {first.sequence} for other events before")
        earlier = zip(last.streams, last.pos, last.versions, last.hand_seqs, strict=True)
        return tuple(Appended(*one) for one in earlier)

    def _check(self, append: Append, staged: dict[str, tuple[int, bool]]) -> None:
        stream = append.stream
        if not append.events:
            raise Conflict(f"an append to {stream} holds no events")
        version, closed = staged[stream] if stream in staged else self._now(stream)
        if version != append.expected:
            raise _unexpected(stream, version, append.expected)
        if closed:
            raise Conflict(f"{stream} is closed: nothing can be added to it")
        check_start(append)
        ends = not is_match(stream) and closes(stream, append.events)
        staged[stream] = version + len(append.events), ends

    def _now(self, stream: str) -> tuple[int, bool]:
        known = self._tail.version(stream)
        if is_match(stream):
            return known or 0, False
        if known is not None:
            return known, self._tail.streams[stream].closed
        sealed = self._sealed(stream)
        return (0, False) if sealed is None else (sealed, True)


def _unexpected(stream: str, version: int, expected: int) -> Conflict:
    again = "read it again" if version else "it does not exist"
    return Conflict(f"{stream} has {version} events, not {expected}: {again}")


def check_start(append: Append) -> None:
    """A hand begins with its own HandStarted, and only there."""
    if is_match(append.stream):
        return
    first, starts = append.events[0], list(map(type, append.events)).count(HandStarted)
    if starts != (0 if append.expected else 1) or (starts and type(first) is not HandStarted):
        raise Conflict(f"{append.stream} begins with one HandStarted, and has no other")
    if isinstance(first, HandStarted) and first.hand != append.stream:
        raise Conflict(f"{append.stream} is not the hand that its start names: {first.hand}")


def decode_call(payload: bytes) -> AppendCall:
    """A call from its bytes, which therefore will be read as the same events again."""
    try:
        return AppendCall(checked_appends(payload), payload)
    except ValueError as reason:
        raise Conflict(f"these are no appends: {reason}") from None
