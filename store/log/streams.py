"""Streams of the log in memory: open ones, and leaves: hands that ended, match records.

A leaf is a hand or one append of match records; nothing ever divides it. Streams, their versions,
and what has closed are counted from the frames by a `Tail`, of writer and readers alike. So are
positions and `hand_seq`: neither is stored.

The watermark tells other processes how far they may believe the log: what the writer has synced. It
is written after a sync and not synced itself: after a power loss it may tell of an earlier
state, never of a later one. So it also tells a torn end from one that had been durable.
"""

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, repeat
from typing import NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct

from events.evolve import replay
from events.ledger import Append, Appended, Record, Recorded, closes, is_match
from events.state import Hand
from events.types import HandStarted
from store.folder.disk import Disk
from store.folder.frames import Damaged
from store.folder.manifest import Manifest


class Leaf(Struct, frozen=True, dict=True):
    """A leaf of the tree: all events of a hand, or of one append of match records, in order.

    `known` is what the hand adds up to, if a caller has counted it already.
    """

    hand_seq: int
    recorded: tuple[Recorded, ...]
    known: Hand | None = None

    @property
    def stream(self) -> str:
        return self.recorded[0].stream

    @property
    def size(self) -> int:
        """The number of its events."""
        return len(self.recorded)

    @cached_property
    def by_kind(self) -> dict[type[Record], list[Recorded]]:
        """Its events of each kind in order: most who ask want one kind of them."""
        kinds: dict[type[Record], list[Recorded]] = {}
        for recorded in self.recorded:
            kind = type(recorded.event)
            if kind in kinds:
                kinds[kind].append(recorded)
            else:
                kinds[kind] = [recorded]
        return kinds

    @cached_property
    def hand(self) -> Hand | None:
        """The hand that the events add up to, replayed once; None for match records.

        A record that does not even add up (a seat that is not there) has none either: the ledger
        keeps what it was given, and an audit says what is wrong.
        """
        if self.known is not None:
            return self.known
        if is_match(self.stream) or not isinstance(self.recorded[0].event, HandStarted):
            return None
        try:
            return replay([recorded.event for recorded in self.recorded])  # type: ignore[misc]
        except (LookupError, TypeError, ValueError):
            return None


class SizedLeaf(Protocol):
    """A leaf of any form that has a number of events."""

    @property
    def size(self) -> int: ...


AnyLeaf = TypeVar("AnyLeaf", bound=SizedLeaf)


def split_stream(stream: str) -> tuple[str, int | None]:
    """A stream as its match and its number; a match's own stream has none."""
    match, slash, number = stream.partition("/")
    return match, int(number) if slash else None


class LogEntry(NamedTuple):
    """An append, and the position of its first event."""

    pos: int
    append: Append


@dataclass
class Stream:
    """One stream's appends in the hot log; `version` counts the `before` sealed ones too."""

    before: int = 0
    placed: list[LogEntry] = field(default_factory=list)
    closed: bool = False
    version: int = 0


class HotLeaf(NamedTuple):
    """A closed leaf in the hot log: a hand that has ended, or one append of match records."""

    hand_seq: int
    stream: str
    before: int
    placed: tuple[LogEntry, ...]

    @property
    def size(self) -> int:
        """The number of its events."""
        return sum(len(entry.append.events) for entry in self.placed)

    def recorded(self) -> tuple[Recorded, ...]:
        """Its events as the ledger holds them."""
        return _recorded(self.stream, self.before, self.placed)


class _Step(NamedTuple):
    """An append in order of position, and how many events its stream had before it."""

    pos: int
    before: int
    append: Append


class Tail:
    """The hot log in memory, frame by frame."""

    def __init__(self, manifest: Manifest) -> None:
        self.next_pos = manifest.next_pos
        self.next_seq = manifest.next_seq
        self.streams: dict[str, Stream] = {}
        self.closed: list[HotLeaf] = []
        self._steps: list[_Step] = []
        self._matches = dict(manifest.matches)
        self._sealed_pos = manifest.next_pos

    def add(self, pos: int, append: Append) -> Appended:
        """Count one append; one from before the last seal was carried over, and keeps its place."""
        if pos >= self._sealed_pos:
            if pos != self.next_pos:
                raise Damaged(f"position {self.next_pos} is missing: {append.stream} has {pos}")
            self.next_pos = pos + len(append.events)
        stream = self._stream(append.stream)
        before = stream.version
        if append.expected != before:
            raise Damaged(
                f"an append to {append.stream} follows {append.expected} events, and it has"
                f" {before}: one hand has one record"
            )
        if stream.closed and not is_match(append.stream):
            raise Damaged(f"{append.stream} has ended and goes on: one hand has one record")
        stream.placed.append(LogEntry(pos, append))
        stream.version = before + len(append.events)
        self._steps.append(_Step(pos, before, append))
        hand_seq = None
        if closes(append.stream, append.events):
            hand_seq = self._close(append.stream, stream, before)
        return Appended(append.stream, pos, stream.version, hand_seq)

    def add_all(self, calls: Iterable[Sequence[LogEntry]]) -> None:
        """Count the appends of calls that a log holds."""
        for call in calls:
            for placed in call:
                self.add(*placed)

    def version(self, stream: str) -> int | None:
        """The number of events of a stream; None if the hot log knows nothing of it."""
        if stream in self.streams:
            return self.streams[stream].version
        return self._matches.get(stream)

    def matches(self) -> dict[str, int]:
        """Every match's own stream with its number of events."""
        return dict(self._matches)

    def open(self) -> list[tuple[str, Stream]]:
        """Hands that have begun and not ended, in the order they began."""
        return [(name, stream) for name, stream in self.streams.items() if not stream.closed]

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """The events of a stream that the hot log holds."""
        one = self.streams.get(stream)
        return _recorded(stream, one.before, tuple(one.placed)) if one else ()

    def read_from(self, pos: int) -> list[Recorded]:
        """Events of the hot log from a position on; an open hand's lie where they were played."""
        first = bisect_right(self._steps, pos, key=lambda step: step.pos)
        events: list[Recorded] = []
        for step in self._steps[max(0, first - 1) :]:
            placed = LogEntry(step.pos, step.append)
            events += _recorded(step.append.stream, step.before, (placed,))
        return [event for event in events if event.pos >= pos]

    def since(self, pos: int) -> tuple[LogEntry, ...]:
        """Appends of the hot log that lie at a position or after it, in order."""
        first = bisect_left(self._steps, pos, key=lambda step: step.pos)
        return tuple(LogEntry(step.pos, step.append) for step in self._steps[first:])

    def begun_last(self, match: str, end: int) -> str | None:
        """The last hand of a match that began in the hot log, before a position."""
        begun = (step for step in reversed(self._steps) if step.before == 0 and step.pos < end)
        names = (step.append.stream for step in begun)
        return next((name for name in names if name.startswith(f"{match}/")), None)

    def _stream(self, name: str) -> Stream:
        if name not in self.streams:
            sealed = self._matches.get(name, 0)
            self.streams[name] = Stream(sealed, closed=is_match(name), version=sealed)
        return self.streams[name]

    def _close(self, name: str, stream: Stream, before: int) -> int:
        hand_seq = self.next_seq
        self.next_seq += 1
        if is_match(name):
            self._matches[name] = stream.version
            self.closed.append(HotLeaf(hand_seq, name, before, (stream.placed[-1],)))
        else:
            stream.closed = True
            self.closed.append(HotLeaf(hand_seq, name, 0, tuple(stream.placed)))
        return hand_seq


def _recorded(stream: str, before: int, placed: tuple[LogEntry, ...]) -> tuple[Recorded, ...]:
    found: list[Recorded] = []
    for pos, append in placed:
        index, at = count(before + len(found)), append.at
        found += map(Recorded, count(pos), repeat(stream), index, repeat(at), append.events)
    return tuple(found)


WATERMARK = "watermark"
_WIDTH = 96
_TRIES = 3


class Watermark(msgspec.Struct, frozen=True):
    """A log, and how many bytes of it are durable."""

    log: str
    size: int


def publish_watermark(disk: Disk, log: str, size: int) -> None:
    """Write how many bytes of a log are durable, in one piece of fixed width."""
    text = msgspec.json.encode(Watermark(log, size))
    disk.publish(WATERMARK, (b"%08x " % zlib.crc32(text) + text).ljust(_WIDTH))


def durable_size(mark: Watermark | None, now: Manifest) -> int:
    """The durable size of the manifest's log; read the watermark first, then the manifest."""
    if mark is None or mark.log != now.log:
        return now.log_size
    return max(mark.size, now.log_size)


def read_watermark(disk: Disk) -> Watermark | None:
    """Read the watermark; a read between two halves of a write is tried again."""
    for _ in range(_TRIES):
        try:
            checksum, _, text = disk.read(WATERMARK).rstrip().partition(b" ")
            if checksum == b"%08x" % zlib.crc32(text):
                return msgspec.json.decode(text, type=Watermark)
        except (FileNotFoundError, ValueError):
            pass
    return None
