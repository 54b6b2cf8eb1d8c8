"""Events and match records as canonical bytes, and back: one JSON object on one line.

Canonical means: keys sorted, no spaces, every field present (one that is younger than its event
is left out where it has its default), UTF-8, whole numbers only (the form of RFC 8785 for such
values). Bytes that say the same in another form are refused, so an
event has one spelling and a digest of the bytes is a digest of the event.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from events.match import Match
from events.types import Event, Events

T = TypeVar("T")

_encoder = msgspec.json.Encoder(order="sorted")
_event_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_record_decoder: msgspec.json.Decoder[Match] = msgspec.json.Decoder(Match)


class Unreadable(ValueError):
    """Bytes or a line that are no event; the sentence says which field and why."""


def encode(record: Event | Match) -> bytes:
    """The canonical bytes of one event or match record."""
    return _encoder.encode(record)


def encode_lines(records: Sequence[Event | Match]) -> bytes:
    """Many at once, each ended by a newline."""
    return _encoder.encode_lines(records)


def encode_hand(events: Iterable[Event]) -> bytes:
    """A hand as canonical lines, each ended by a newline."""
    return b"".join(encode(event) + b"\n" for event in events)


def decode(line: bytes) -> Event:
    """The event that these bytes spell, or one sentence naming the field that is wrong."""
    return _strict(line, _event_decoder)


def decode_record(line: bytes) -> Match:
    """The match record that these bytes spell, or one sentence naming the field that is wrong."""
    return _strict(line, _record_decoder)


def decode_hand(text: bytes) -> Events:
    """Decode the events of a hand from its lines; a bad line is refused by its number."""
    events = []
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            events.append(decode(line))
        except Unreadable as reason:
            raise Unreadable(f"line {number}: {reason}") from None
    return tuple(events)


def _strict(line: bytes, decoder: "msgspec.json.Decoder[T]") -> T:
    try:
        record = decoder.decode(line)
    except msgspec.MsgspecError as reason:
        raise Unreadable(str(reason)) from None
    if _encoder.encode(record) != line:
        raise Unreadable("not in canonical form: keys sorted, no spaces, each field once")
    return record
