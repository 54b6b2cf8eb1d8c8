"""The hot log: calls in frames, durable when written, and what they add up to since the last seal.

The watermark tells other processes how far they may believe the log: what the writer has synced. It
is written after a sync and not synced itself: after a power loss it may tell of an earlier
state, never of a later one. So it also tells a torn end from one that had been durable.

Streams, their versions, and what has closed are counted from the frames by a `Tail`, of writer and
readers alike. So are positions and `hand_seq`: neither is stored.
"""

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from itertools import count, groupby, repeat
from operator import attrgetter
from typing import NamedTuple

import msgspec

from events.ledger import Append, Appended, Recorded, closes, is_match
from store.folder.disk import Disk, Output
from store.folder.frames import Chain, Damaged, Marks, frame, frames, intact_after
from store.folder.manifest import Manifest
from store.log.batch import from_payload, to_payload


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


FOLDER = "log"
Placing = Sequence[Placed]


class Recovered(NamedTuple):
    """What a log holds: its calls in order, where the good part ends, how much was torn off."""

    calls: tuple[Placing, ...]
    size: int
    torn: int


class HotLog:
    """The one file that is written to; after a failed write it is not written to again."""

    def __init__(self, path: str, output: Output, size: int, chain: Chain | None = None) -> None:
        self.path = path
        self.size = size
        self._output = output
        self._chain = chain

    def write(self, pos: int, payloads: Sequence[bytes]) -> None:
        """The calls of a group, durable on return: one frame, one write, one sync."""
        self.write_frames([(pos, b"\n".join(payloads))])

    def write_frames(self, each: Iterable[tuple[int, bytes]]) -> None:
        """Positions and payloads, a frame for each, durable on return."""
        chain = self._chain
        data = b"".join(
            frame(pos, payload, chain.next(pos, payload) if chain else b"") for pos, payload in each
        )
        self._output.write(data)
        self._output.sync()
        self.size += len(data)

    def close(self) -> None:
        self._output.close()


def path_of(number: int) -> str:
    """The log that begins with this manifest."""
    return f"{FOLDER}/{number:08}.log"


def create(disk: Disk, path: str, carried: Sequence[Placing], chain: Chain | None = None) -> HotLog:
    """A new log that begins with these calls, of hands still open, durable as a whole.

    They keep their positions, which are not next to each other: each is a frame of its own. No
    manifest names this log before all of them are durable.
    """
    if path.removeprefix(f"{FOLDER}/") in disk.names(FOLDER):
        disk.remove(path)  # left by a crash before any manifest named it
    log = HotLog(path, disk.create(path), 0, chain)
    log.write_frames((call[0].pos, to_payload([one.append for one in call])) for call in carried)
    disk.sync_folder(FOLDER)
    return log


def read(
    disk: Disk, path: str, start: int = 0, end: int | None = None, chain: Chain | None = None
) -> Recovered:
    """The calls of a log between two places; damage is named, a torn end is only counted.

    With the `chain` of its marks, from the log's beginning, a frame that does not bear its own is
    named, too.
    """
    data = disk.read(path, start, end)
    calls: list[Placing] = []
    good = 0
    for found in frames(data):
        at, pos = start + good, found.pos
        if chain and not compare_digest(found.mark, chain.next(pos, found.payload)):
            raise unmarked(path, at, calls)
        try:
            appends = from_payload(found.payload)
        except ValueError as reason:
            raise Damaged(f"{path} holds an unreadable append at byte {at}: {reason}", at) from None
        # a call is of one producer and sequence, and each append comes after the one before
        for _, call in groupby(appends, key=attrgetter("producer", "sequence")):
            placed = []
            for append in call:
                placed.append(Placed(pos, append))
                pos += len(append.events)
            calls.append(tuple(placed))
        good = found.end
    if good < len(data) and (later := intact_after(data, good)) is not None:
        why = f"an intact append follows at byte {start + later}"
        raise damaged(path, start + good, calls, why)
    return Recovered(tuple(calls), start + good, len(data) - good)


def reopen(disk: Disk, path: str, recovered: Recovered, chain: Chain | None = None) -> HotLog:
    """The log again, its torn end cut off.

    Synced before anybody is served: a writer that was killed may have left whole frames that no
    disk has seen yet, and from now on they count.
    """
    output = disk.extend(path, recovered.size)
    output.sync()
    return HotLog(path, output, recovered.size, chain)


def after(calls: Sequence[Placing]) -> str:
    """Where in the record a place in the file is: by the last append that can be read before it."""
    if not calls:
        return "before anything that can be read"
    pos, append = calls[-1][-1]
    return f"after {append.stream} (position {pos + len(append.events) - 1})"


def damaged(path: str, place: int, calls: Sequence[Placing], why: str) -> Damaged:
    """A log that is bad from this byte on, after these calls."""
    hand = calls[-1][-1].append.stream if calls else ""
    return Damaged(f"{path} is damaged at byte {place}, {after(calls)}: {why}", place, hand)


def unmarked(path: str, place: int, calls: Sequence[Placing]) -> Damaged:
    """An append that the owner of the key did not write in this place."""
    hand = calls[-1][-1].append.stream if calls else ""
    return Damaged(
        f"{path} holds an append at byte {place}, {after(calls)}, without the mark of"
        " private/log.key: this ledger's writer did not put it there, and nothing is signed",
        place,
        hand,
    )


WATERMARK = "watermark"
_WIDTH = 96
_TRIES = 3


class Watermark(msgspec.Struct, frozen=True):
    """A log, and how many bytes of it are durable."""

    log: str
    size: int


def publish_mark(disk: Disk, log: str, size: int) -> None:
    """So many bytes of this log are durable; written in one piece of fixed width."""
    text = msgspec.json.encode(Watermark(log, size))
    disk.publish(WATERMARK, (b"%08x " % zlib.crc32(text) + text).ljust(_WIDTH))


def durable_size(mark: Watermark | None, now: Manifest) -> int:
    """How many bytes of the manifest's log are durable; read the mark first, then the manifest."""
    if mark is None or mark.log != now.log:
        return now.log_size
    return max(mark.size, now.log_size)


def last_mark(disk: Disk) -> Watermark | None:
    """What the writer said last; a read between two halves of a write is tried again."""
    for _ in range(_TRIES):
        try:
            checksum, _, text = disk.read(WATERMARK).rstrip().partition(b" ")
            if checksum == b"%08x" % zlib.crc32(text):
                return msgspec.json.decode(text, type=Watermark)
        except (FileNotFoundError, ValueError):
            pass
    return None


class ReadyLedger(NamedTuple):
    """A ledger ready to be written, and what had to be dropped to make it so."""

    manifest: Manifest
    log: HotLog
    calls: tuple[Placing, ...]
    notes: tuple[str, ...] = ()
    marks: Marks | None = None


def durable_bytes_are_there(mark: Watermark | None, now: Manifest, recovered: Recovered) -> None:
    """A torn end was never acknowledged; what the writer has called durable is not torn."""
    durable = durable_size(mark, now)
    if recovered.size < durable:
        why = f"{durable} bytes of it were durable"
        raise damaged(now.log, recovered.size, recovered.calls, why)


def torn(path: str, recovered: Recovered) -> str:
    """What is said of a torn end."""
    return (
        f"{path}: dropped the last {recovered.torn} bytes, from byte {recovered.size} on, "
        f"{after(recovered.calls)}: a write was cut short and never acknowledged"
    )
