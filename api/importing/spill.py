"""Hands that wait on disk until their whole file has been read: bounded memory for any length.

A chunk is so many hands and what is noted beside them. Few hands wait in the bytes of the ledger's
log; many as a run, the columns of a segment, so that the one who writes need not touch them again.
"""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from api.importing.naming import HandDigest, HandDigester, packed_digests
from api.rules import start_of
from events.codec import decode_record, encode
from events.ledger import Append
from events.match import Match, SourceNoted
from events.types import Events
from formats.source import SourceHand
from store.log.hot import to_payload
from store.log.leaf import split
from store.proof.private import Salted
from store.segments.runs import Run, make_run, spelled

if TYPE_CHECKING:
    from store.columns.event_columns import EventColumns

CHUNK = 1_000  # hands at most
RUN = 100  # hands at least that are worth columns of their own
_EVENTS = 100_000  # of a chunk at most, if its hands are long


class DiskFull(OSError):
    """What waits cannot be written, wherever it was read from."""


class SpilledHand(Struct, frozen=True):
    """A hand's record, whether it is in event columns too, the note beside it, the hand as its
    source tells it, and its verdict (`code_of`), 0 if nobody asked."""

    record: Events
    in_columns: bool
    note: SourceNoted | None
    source: SourceHand
    verdict: int


class Chunk(Struct, frozen=True):
    """Where in which spool its marks, notes and hands lie, their checksum, its first hand's name,
    how many events its hands have, and what each player has won in them."""

    spill: str
    as_run: bool
    place: int
    notes: int
    size: int
    checksum: int
    hands: int
    first: str
    digests: int
    events: int
    nets: dict[str, int]


class SpillFile:
    """A file that is written chunk by chunk."""

    def __init__(self, path: Path, at: int, nonces: Salted | None) -> None:
        """`nonces` are of the ledger that its hands are for."""
        self.path = path
        self.at = at
        self.nonces = nonces
        path.unlink(missing_ok=True)  # who has fetched from a file of that name still has its bytes
        self._file = path.open("xb")
        self._hands: list[Append] = []
        self._others: list[Append] = []
        self._notes: list[bytes] = []
        self._events = 0
        self._columns: list[EventColumns] = []
        self._digests: list[HandDigest] = []
        self.digester: HandDigester

    @property
    def room(self) -> int:
        """How many hands may still come, if they are not long."""
        return CHUNK - len(self._hands)

    @property
    def full(self) -> bool:
        return len(self._hands) >= CHUNK or self._events >= _EVENTS

    def expect(self, hands: "EventColumns | None") -> None:
        """Hands that are added next, in columns already."""
        if hands is not None and len(hands.number):
            self._columns.append(hands)

    def add(self, kept: SpilledHand) -> None:
        """Add one more hand to the chunk in memory."""
        start = start_of(kept.record)
        self._hands.append(Append(start.hand, 0, kept.record, self.at))
        if not kept.in_columns:
            self._others.append(self._hands[-1])
        self._events += len(kept.record)
        self._digests.append(self.digester.of(kept.source)._replace(verdict=kept.verdict))
        if kept.note is not None:
            self._notes.append(encode(kept.note) + b"\n")

    def chunk(
        self,
        nets: dict[str, int],
        columns: "EventColumns | None" = None,
        digests: Iterable[HandDigest] = (),
    ) -> Chunk | None:
        """Write the chunk in memory, with hands that come as columns and their marks; the next hand
        begins another."""
        self._digests += digests
        if columns is not None and len(columns.number):
            run = make_run(self.nonces, self._hands, columns)
            events = self._events + len(columns.pos)
            first = run.leaves[0].stream
            return self._written(True, spelled(run), len(run.leaves), first, events, nets)
        if not self._hands:
            return None
        as_run = len(self._hands) >= RUN
        hands = spelled(self._run()) if as_run else to_payload(self._hands)
        first = self._hands[0].stream
        return self._written(as_run, hands, len(self._hands), first, self._events, nets)

    def _run(self) -> Run:
        """A run of what was gathered: with the columns that were expected, if just these hands are
        there, and all stand in the order of their numbers."""
        numbers = [split(hand.stream)[1] or 0 for hand in self._hands]
        others = {split(one.stream)[1] for one in self._others}
        mine = [number for number in numbers if number not in others]
        if [mine] != [column.number.tolist() for column in self._columns] or numbers != sorted(
            numbers
        ):
            return make_run(self.nonces, self._hands)
        return make_run(self.nonces, self._others, self._columns[0])

    def _written(
        self, as_run: bool, hands: Any, count: int, first: str, events: int, nets: dict[str, int]
    ) -> Chunk:
        notes, place = b"".join(self._notes), self._file.tell()
        digests = packed_digests(self._digests)
        with self._room_on_disk():
            self._file.write(digests)
            self._file.write(notes)
            self._file.write(hands)
        chunk = Chunk(
            str(self.path),
            as_run,
            place,
            len(notes),
            len(hands),
            zlib.crc32(hands),
            count,
            first,
            len(digests),
            events,
            nets,
        )
        self.drop()
        return chunk

    def begin(self, digester: HandDigester) -> None:
        """Another file, whose hands are marked so."""
        self.digester = digester
        self.drop()

    def drop(self) -> None:
        """Empty the chunk in memory."""
        self._hands, self._others, self._columns = [], [], []
        self._notes, self._events, self._digests = [], 0, []

    def close(self) -> None:
        with self._room_on_disk():
            self._file.close()

    @contextmanager
    def _room_on_disk(self) -> Iterator[None]:
        """A disk that is full is named; the folder of all that waits is beside the ledger."""
        try:
            yield
        except OSError as failure:
            if failure.errno not in (ENOSPC, EDQUOT):
                raise
            disk = self.path.parent.parent
            why = f"the disk of {disk} is full: what was read has no room there"
            raise DiskFull(why) from None


@contextmanager
def spill(path: Path, at: int, nonces: Salted | None) -> Iterator[SpillFile]:
    """A spool to write, complete on disk when it is left."""
    one = SpillFile(path, at, nonces)
    try:
        yield one
    finally:
        one.close()


def fetched(chunk: Chunk) -> tuple[tuple[Match, ...], Any]:
    """The notes of a chunk, and its hands: a run, which is not copied, or the appends of a call."""
    with pa.memory_map(chunk.spill) as file:
        file.seek(chunk.place + chunk.digests)
        notes, hands = file.read(chunk.notes), file.read_buffer(chunk.size)
    if zlib.crc32(hands) != chunk.checksum:
        raise OSError(f"{chunk.spill} is not what was written to it")
    records = tuple(decode_record(line) for line in notes.splitlines())
    return records, hands if chunk.as_run else hands.to_pybytes()


def digests_of(chunk: Chunk) -> bytes:
    """The marks of a chunk's hands, spelled."""
    with Path(chunk.spill).open("rb") as file:
        file.seek(chunk.place)
        return file.read(chunk.digests)
