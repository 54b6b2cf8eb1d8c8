"""Frames of the hot log: how a write is laid out in bytes, and how damage is told from an end.

    magic 4 | length 4 | checksum 4 | position 8 | payload

Length, position and payload are under the checksum; numbers are little-endian. One write is one
frame, and the next is written only when it has been synced. So a power loss can spoil the last
frame and no other: a log that ends in a bad one was torn, and what it held was never acknowledged.
A bad frame with a good one after it is damage: nothing is served past it, it is named by its place.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

MAGIC = b"\xf3mrL"  # cannot be part of a payload, which is UTF-8
_HEAD = struct.Struct("<4sIIQ")
_SUMMED = struct.Struct("<IQ")


class Frame(NamedTuple):
    """A payload, the position of its first event, and where in the file it ends."""

    pos: int
    payload: bytes
    end: int


class Damaged(Exception):
    """Bytes that were once good are not any more: the sentence names file, place and hand.

    `place` is the byte where it begins and `hand` the last stream that stands before it, if known.
    """

    def __init__(self, sentence: str, place: int | None = None, hand: str = "") -> None:
        super().__init__(sentence)
        self.place = place
        self.hand = hand


def frame(pos: int, payload: bytes) -> bytes:
    """The bytes of one frame."""
    return _HEAD.pack(MAGIC, len(payload), _checksum(pos, payload), pos) + payload


def frames(log: bytes, start: int = 0) -> Iterator[Frame]:
    """Intact frames from `start` on, up to the first that is not."""
    while (found := _frame_at(log, start)) is not None:
        yield found
        start = found.end


def intact_after(log: bytes, bad: int) -> int | None:
    """The place of an intact frame somewhere after a bad one: then it was no torn end."""
    place = log.find(MAGIC, bad + 1)
    while place >= 0:
        if _frame_at(log, place) is not None:
            return place
        place = log.find(MAGIC, place + 1)
    return None


def _frame_at(log: bytes, start: int) -> Frame | None:
    if len(log) - start < _HEAD.size:
        return None
    magic, length, checksum, pos = _HEAD.unpack_from(log, start)
    end = start + _HEAD.size + length
    if magic != MAGIC or end > len(log):
        return None
    payload = log[start + _HEAD.size : end]
    return Frame(pos, payload, end) if _checksum(pos, payload) == checksum else None


def _checksum(pos: int, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(_SUMMED.pack(len(payload), pos)))
