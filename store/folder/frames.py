"""Frames of the hot log: the bytes of a write, its checksum and mark, and damage in them.

    magic 4 | length 4 | checksum 4 | position 8 | mark 32 | payload

Length, position, mark and payload are under the checksum; numbers are little-endian. A frame of the
first version has another magic and no mark. One write is one frame, and the next is written only
when it has been synced. So a power loss can spoil the last
frame and no other: a log that ends in a bad one was torn, and what it held was never acknowledged.
A bad frame with a good one after it is damage: nothing is served past it, it is named by its place.

A mark is a MAC over what the writer of a ledger writes, under a key that only he has. Each frame of
the hot log bears one over its position, its payload and the mark before it, the first
one over where the log begins, which the manifest says. So no frame can be added, changed, moved,
left out between others, or brought from another log. The manifest bears one over all of it; it has
the digests of the segments and the root of the tree, so what is sealed is under it, too.
"""

import hmac
import secrets
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

MARK_BYTES = 32
_FRAME = b"muckrake/frame/v1\x00"
_LOG = b"muckrake/log/v1\x00"
_MANIFEST = b"muckrake/manifest/v1\x00"


class Marks(NamedTuple):
    """Makes marks under a ledger's key; `strict`: it has marks, and what bears none is refused."""

    key: bytes
    strict: bool = True

    def of_manifest(self, body: bytes) -> str:
        """The mark of a manifest."""
        return hmac.digest(self.key, _MANIFEST + body, "sha256").hex()

    def chain(self, begin: str, path: str) -> "MarkChain":
        """The marks of a log, from its beginning on."""
        return MarkChain(self.key, _LOG + bytes.fromhex(begin) + path.encode())


class MarkChain:
    """The marks of one log's frames, one after the other."""

    def __init__(self, key: bytes, begin: bytes) -> None:
        self._key = key
        self._last = hmac.digest(key, begin, "sha256")

    def next(self, pos: int, payload: bytes) -> bytes:
        """The mark of the next frame."""
        data = b"".join((_FRAME, self._last, pos.to_bytes(8, "little"), payload))
        self._last = hmac.digest(self._key, data, "sha256")
        return self._last


def random_log_begin() -> str:
    """A random beginning for a new log's marks, so that no two logs begin alike."""
    return secrets.token_hex(MARK_BYTES)


MAGIC = b"\xf3mrL"  # cannot be part of a payload, which is UTF-8
MARKED = b"\xf3mrM"  # as MAGIC, of a frame that bears a mark
_MAGIC_START = MAGIC[:3]
_HEAD = struct.Struct("<4sIIQ")
_SUMMED = struct.Struct("<IQ")


class Frame(NamedTuple):
    """A payload, the position of its first event, and where in the file it ends."""

    pos: int
    payload: bytes
    end: int
    mark: bytes


class Damaged(Exception):
    """Bytes that were once good are not any more: the sentence names file, place and hand.

    `place` is the byte where it begins and `hand` the last stream that stands before it, if known.
    """

    def __init__(self, sentence: str, place: int | None = None, hand: str = "") -> None:
        super().__init__(sentence)
        self.place = place
        self.hand = hand


def frame(pos: int, payload: bytes, mark: bytes = b"") -> bytes:
    """The bytes of one frame."""
    magic = MARKED if mark else MAGIC
    return _HEAD.pack(magic, len(payload), _checksum(pos, mark, payload), pos) + mark + payload


def frames(log: bytes, start: int = 0) -> Iterator[Frame]:
    """Intact frames from `start` on, up to the first that is not."""
    while (found := _frame_at(log, start)) is not None:
        yield found
        start = found.end


def intact_after(log: bytes, bad: int) -> int | None:
    """The place of an intact frame somewhere after a bad one: then it was no torn end."""
    place = log.find(_MAGIC_START, bad + 1)
    while place >= 0:
        if _frame_at(log, place) is not None:
            return place
        place = log.find(_MAGIC_START, place + 1)
    return None


def _frame_at(log: bytes, start: int) -> Frame | None:
    if len(log) - start < _HEAD.size:
        return None
    magic, length, checksum, pos = _HEAD.unpack_from(log, start)
    begin = start + _HEAD.size + (MARK_BYTES if magic == MARKED else 0)
    end = begin + length
    if magic not in (MAGIC, MARKED) or end > len(log):
        return None
    mark, payload = log[start + _HEAD.size : begin], log[begin:end]
    return Frame(pos, payload, end, mark) if _checksum(pos, mark, payload) == checksum else None


def _checksum(pos: int, mark: bytes, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(mark, zlib.crc32(_SUMMED.pack(len(payload), pos))))
