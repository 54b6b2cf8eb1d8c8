"""What the hot log adds up to: streams since the last seal, their versions, and what has closed.

Positions and `hand_seq` are counted from the frames, by writer and readers alike: neither is
stored.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import NamedTuple

from events.ledger import Append, Appended, Recorded, closes, is_match
from store.folder.frames import Damaged
from store.folder.manifest import Manifest


class Placed(NamedTuple):
    """An append, and the position of its first event."""

    pos: int
    append: Append


@dataclass
class Stream:
    """One stream's appends in the hot log; `version` counts the `before` sealed ones too."""

    before: int = 0
    placed: list[Placed] = field(default_factory=list)
    closed: bool = False
    version: int = 0


class Closed(NamedTuple):
    """A hand that has ended, or one append of match records: a leaf, a unit of sealing."""

    hand_seq: int
    stream: str
    before: int
    placed: tuple[Placed, ...]

    @property
    def size(self) -> int:
        """How many events it has."""
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
        self.closed: list[Closed] = []
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
        stream.placed.append(Placed(pos, append))
        stream.version = before + len(append.events)
        self._steps.append(_Step(pos, before, append))
        hand_seq = None
        if closes(append.stream, append.events):
            hand_seq = self._close(append.stream, stream, before)
        return Appended(append.stream, pos, stream.version, hand_seq)

    def add_all(self, calls: Iterable[Sequence[Placed]]) -> None:
        """Count the appends of calls that a log holds."""
        for call in calls:
            for placed in call:
                self.add(*placed)

    def version(self, stream: str) -> int | None:
        """How many events a stream has; None if the hot log knows nothing of it."""
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
        """What the hot log holds of a stream."""
        one = self.streams.get(stream)
        return _recorded(stream, one.before, tuple(one.placed)) if one else ()

    def read_from(self, pos: int) -> list[Recorded]:
        """Events of the hot log from a position on; an open hand's lie where they were played."""
        first = bisect_right(self._steps, pos, key=lambda step: step.pos)
        events: list[Recorded] = []
        for step in self._steps[max(0, first - 1) :]:
            placed = Placed(step.pos, step.append)
            events += _recorded(step.append.stream, step.before, (placed,))
        return [event for event in events if event.pos >= pos]

    def since(self, pos: int) -> tuple[Placed, ...]:
        """Appends of the hot log that lie at a position or after it, in order."""
        first = bisect_left(self._steps, pos, key=lambda step: step.pos)
        return tuple(Placed(step.pos, step.append) for step in self._steps[first:])

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
            self.closed.append(Closed(hand_seq, name, before, (stream.placed[-1],)))
        else:
            stream.closed = True
            self.closed.append(Closed(hand_seq, name, 0, tuple(stream.placed)))
        return hand_seq


def _recorded(stream: str, before: int, placed: tuple[Placed, ...]) -> tuple[Recorded, ...]:
    found: list[Recorded] = []
    for pos, append in placed:
        index, at = count(before + len(found)), append.at
        found += map(Recorded, count(pos), repeat(stream), index, repeat(at), append.events)
    return tuple(found)
