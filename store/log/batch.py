"""One call's appends as bytes: for each a header line, then its events' lines."""

import re
from collections.abc import Sequence
from typing import Annotated

import msgspec

from events.codec import encode_lines
from events.ledger import Append, Conflict, Record, is_match
from events.match import Match
from events.types import Event

CALL_MAX = 1 << 26  # bytes
_STREAM = re.compile(r"[^/]+(/(0|[1-9][0-9]{0,8}))?")
_Whole = Annotated[int, msgspec.Meta(ge=-(2**53) + 1, le=2**53 - 1)]


class _Header(msgspec.Struct, frozen=True):
    """What an append says besides its events."""

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


def spelled(appends: Sequence[Append]) -> bytes:
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
                header.stream,
                header.expected,
                events,
                header.at,
                header.producer,
                header.sequence,
            )
        )
    return tuple(appends)


def checked(payload: bytes) -> tuple[Append, ...]:
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
