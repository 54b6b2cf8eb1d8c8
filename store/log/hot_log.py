"""The hot log: calls as bytes, in frames, durable when written, and read again after a crash.

The payload of a frame is the calls of a group. Of a call it holds for each append a header line,
then its events' lines.
"""

import re
from collections.abc import Iterable, Sequence
from hmac import compare_digest
from itertools import groupby
from operator import attrgetter
from typing import Annotated, NamedTuple

import msgspec

from events.codec import encode_lines
from events.ledger import Append, Conflict, Record, is_match
from events.match import Match
from events.types import Event
from store.folder.disk import Disk, Output, create_anew
from store.folder.frames import Damaged, MarkChain, Marks, frame, frames, intact_after
from store.folder.manifest import Manifest
from store.log.streams import LogEntry, Watermark, durable_size

CALL_MAX = 1 << 26  # bytes
_STREAM = re.compile(r"[^/]+(/(0|[1-9][0-9]{0,8}))?")
_Whole = Annotated[int, msgspec.Meta(ge=-(2**53) + 1, le=2**53 - 1)]


class _Header(msgspec.Struct, frozen=True):
    """The header line of an append: all but its events."""

    at: _Whole
    events: _Whole
    expected: _Whole
    producer: str
    sequence: _Whole
    stream: str


_encoder = msgspec.json.Encoder(order="sorted")
_header_decoder = msgspec.json.Decoder(_Header)
_event_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_record_decoder: msgspec.json.Decoder[Match] = msgspec.json.Decoder(Match)


def checked_payload(appends: Sequence[Append]) -> bytes:
    """The bytes of a call; refused if they would not be read back as the same events.

    Structs do not check what they are made of: without this, a card that is none or a match record
    in a hand would be found out when the ledger is opened again, and then nobody could open it.
    """
    parts: list[bytes] = []
    for append in appends:
        check_stream(append)
        decoder = _record_decoder if is_match(append.stream) else _event_decoder
        try:
            header, events = _header(append), _events(append)
            _header_decoder.decode(header)
            same = decoder.decode_lines(events) == list(append.events)
        except (ValueError, TypeError, OverflowError, msgspec.EncodeError) as reason:
            why = f"an append to {append.stream!r} cannot be written: {reason}"
            raise Conflict(why) from None
        if not same:
            raise Conflict(f"an append to {append.stream!r} would not be read as it was written")
        parts += header, events
    payload = b"\n".join(parts)
    if len(payload) > CALL_MAX:
        raise Conflict(f"{len(payload)} bytes are too much for one call, {CALL_MAX} is the most")
    return payload


def to_payload(appends: Sequence[Append]) -> bytes:
    """The bytes of a call, unchecked: of appends that have been read from a log."""
    return b"\n".join(_header(append) + b"\n" + _events(append) for append in appends)


def from_payload(payload: bytes) -> tuple[Append, ...]:
    """The appends that a payload spells.

    A field that an older version did not know takes its default, as in a segment: so this asks
    for less than the codec, and the frame's checksum has vouched for the bytes.
    """
    lines = payload.split(b"\n")
    appends = []
    at = 0
    while at < len(lines):
        header = _header_decoder.decode(lines[at])
        first, at = at + 1, at + 1 + header.events
        if header.events < 1 or at > len(lines):
            raise ValueError(f"{header.events} events were to follow, {len(lines) - first} do")
        read = _record_decoder if is_match(header.stream) else _event_decoder
        events: tuple[Record, ...] = tuple(read.decode_lines(b"\n".join(lines[first:at])))
        if len(events) != header.events:
            raise ValueError(f"{header.events} events were to follow, {len(events)} do")
        appends.append(
            Append(
                header.stream, header.expected, events, header.at, header.producer, header.sequence
            )
        )
    return tuple(appends)


def checked_appends(payload: bytes) -> tuple[Append, ...]:
    """The appends of a call that comes as bytes; refused like those that come as events."""
    if len(payload) > CALL_MAX:
        raise Conflict(f"{len(payload)} bytes are too much for one call, {CALL_MAX} is the most")
    appends = from_payload(payload)
    for append in appends:
        check_stream(append)
    return appends


def check_stream(append: Append) -> None:
    if not _STREAM.fullmatch(append.stream):
        raise Conflict(f"{append.stream!r} is no stream: one is called MATCH or MATCH/NUMBER")


def _header(one: Append) -> bytes:
    return _encoder.encode(
        _Header(one.at, len(one.events), one.expected, one.producer, one.sequence, one.stream)
    )


def _events(append: Append) -> bytes:
    return encode_lines(append.events).removesuffix(b"\n")


FOLDER = "log"
LoggedCall = Sequence[LogEntry]


class LogContents(NamedTuple):
    """The contents of a log: calls in order, where the good part ends, how much was torn off."""

    calls: tuple[LoggedCall, ...]
    size: int
    torn: int


class HotLog:
    """The one file that is written to; after a failed write it is not written to again."""

    def __init__(
        self, path: str, output: Output, size: int, chain: MarkChain | None = None
    ) -> None:
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


def create(
    disk: Disk, path: str, carried: Sequence[LoggedCall], chain: MarkChain | None = None
) -> HotLog:
    """A new log that begins with these calls, of hands still open, durable as a whole.

    They keep their positions, which are not next to each other: each is a frame of its own. No
    manifest names this log before all of them are durable.
    """
    log = HotLog(path, create_anew(disk, path), 0, chain)
    log.write_frames((call[0].pos, to_payload([one.append for one in call])) for call in carried)
    disk.sync_folder(FOLDER)
    return log


def read(
    disk: Disk, path: str, start: int = 0, end: int | None = None, chain: MarkChain | None = None
) -> LogContents:
    """The calls of a log between two places; damage is named, a torn end is only counted.

    With the `chain` of its marks, from the log's beginning, a frame that does not bear its own is
    named, too.
    """
    data = disk.read(path, start, end)
    calls: list[LoggedCall] = []
    good = 0
    for found in frames(data):
        at, pos = start + good, found.pos
        if chain and not compare_digest(found.mark, chain.next(pos, found.payload)):
            raise mark_damage(path, at, calls)
        try:
            appends = from_payload(found.payload)
        except ValueError as reason:
            raise Damaged(f"{path} holds an unreadable append at byte {at}: {reason}", at) from None
        # a call is of one producer and sequence, and each append comes after the one before
        for _, call in groupby(appends, key=attrgetter("producer", "sequence")):
            placed = []
            for append in call:
                placed.append(LogEntry(pos, append))
                pos += len(append.events)
            calls.append(tuple(placed))
        good = found.end
    if good < len(data) and (later := intact_after(data, good)) is not None:
        why = f"an intact append follows at byte {start + later}"
        raise log_damage(path, start + good, calls, why)
    return LogContents(tuple(calls), start + good, len(data) - good)


def reopen(disk: Disk, path: str, recovered: LogContents, chain: MarkChain | None = None) -> HotLog:
    """The log again, its torn end cut off.

    Synced before anybody is served: a writer that was killed may have left whole frames that no
    disk has seen yet, and from now on they count.
    """
    output = disk.extend(path, recovered.size)
    output.sync()
    return HotLog(path, output, recovered.size, chain)


def last_append(calls: Sequence[LoggedCall]) -> str:
    """The last append that can be read before a damaged place, in words."""
    if not calls:
        return "before anything that can be read"
    pos, append = calls[-1][-1]
    return f"after {append.stream} (position {pos + len(append.events) - 1})"


def log_damage(path: str, place: int, calls: Sequence[LoggedCall], why: str) -> Damaged:
    """A log that is bad from this byte on, after these calls."""
    hand = calls[-1][-1].append.stream if calls else ""
    return Damaged(f"{path} is damaged at byte {place}, {last_append(calls)}: {why}", place, hand)


def mark_damage(path: str, place: int, calls: Sequence[LoggedCall]) -> Damaged:
    """An append that the owner of the key did not write in this place."""
    hand = calls[-1][-1].append.stream if calls else ""
    return Damaged(
        f"{path} holds an append at byte {place}, {last_append(calls)}, without the mark of"
        " private/log.key: this ledger's writer did not put it there, and nothing is signed",
        place,
        hand,
    )


class ReadyLedger(NamedTuple):
    """A ledger ready to be written, and what had to be dropped to make it so."""

    manifest: Manifest
    log: HotLog
    calls: tuple[LoggedCall, ...]
    notes: tuple[str, ...] = ()
    marks: Marks | None = None


def check_durable(mark: Watermark | None, now: Manifest, recovered: LogContents) -> None:
    """A torn end was never acknowledged; what the writer has called durable is not torn."""
    durable = durable_size(mark, now)
    if recovered.size < durable:
        why = f"{durable} bytes of it were durable"
        raise log_damage(now.log, recovered.size, recovered.calls, why)


def torn_note(path: str, recovered: LogContents) -> str:
    """The sentence about a torn end."""
    return (
        f"{path}: dropped the last {recovered.torn} bytes, from byte {recovered.size} on, "
        f"{last_append(recovered.calls)}: a write was cut short and never acknowledged"
    )
