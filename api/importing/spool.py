"""Hands that wait on disk until their whole file has been read: bounded memory for any length.

A chunk is so many hands and what is noted beside them, already in the bytes of the ledger's log.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from events.codec import decode_record, encode
from events.ledger import Append
from events.types import Events, HandStarted, Match, SourceNoted
from store.batch import to_payload

CHUNK = 1_000  # hands at most, which one call appends
_BYTES = 1 << 24  # ... and so many bytes, if they are long


class Kept(Struct, frozen=True):
    """A hand's record and the note beside it."""

    record: Events
    note: SourceNoted | None


class Chunk(Struct, frozen=True):
    """Where in the spool its notes and hands lie, their checksum, and its first hand's name."""

    place: int
    notes: int
    size: int
    checksum: int
    hands: int
    first: str


class Spool:
    """A file that is written chunk by chunk."""

    def __init__(self, path: Path, at: int) -> None:
        self.path = path
        self._at = at
        self._file = path.open("wb")
        self._hands: list[bytes] = []
        self._notes: list[bytes] = []
        self._size, self._first = 0, ""

    @property
    def full(self) -> bool:
        return len(self._hands) >= CHUNK or self._size >= _BYTES

    def add(self, kept: Kept) -> None:
        """One more hand for the chunk that is gathered."""
        start = kept.record[0]
        assert isinstance(start, HandStarted)
        self._first = self._first or start.hand
        self._hands.append(to_payload((Append(start.hand, 0, kept.record, self._at),)))
        self._size += len(self._hands[-1])
        if kept.note is not None:
            self._notes.append(encode(kept.note) + b"\n")

    def chunk(self) -> Chunk | None:
        """What was gathered, written; the next hand begins another."""
        if not self._hands:
            return None
        notes, hands = b"".join(self._notes), b"\n".join(self._hands)
        place = self._file.tell()
        self._file.write(notes)
        self._file.write(hands)
        chunk = Chunk(
            place, len(notes), len(hands), zlib.crc32(hands), len(self._hands), self._first
        )
        self.drop()
        return chunk

    def drop(self) -> None:
        """Forget what was gathered."""
        self._hands, self._notes = [], []
        self._size, self._first = 0, ""

    def close(self) -> None:
        self._file.close()


@contextmanager
def spool(path: Path, at: int) -> Iterator[Spool]:
    """A spool to write, complete on disk when it is left."""
    one = Spool(path, at)
    try:
        yield one
    finally:
        one.close()


def fetched(path: Path, chunk: Chunk) -> tuple[tuple[Match, ...], bytes]:
    """The notes of a chunk, and its hands as the bytes of a call."""
    with path.open("rb") as file:
        file.seek(chunk.place)
        notes, hands = file.read(chunk.notes), file.read(chunk.size)
    if zlib.crc32(hands) != chunk.checksum:
        raise OSError(f"{path} is not what was written to it")
    return tuple(decode_record(line) for line in notes.splitlines()), hands
