"""Spill a file's hands to disk until the whole file has been read: memory stays bounded.

A chunk is so many hands and what is noted beside them. Few hands wait in the bytes of the ledger's
log; many as a staged batch, the columns of a segment, which the writer need not touch again.
A hand that comes again is not added, and one that says otherwise is a conflict.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from api.auditing.record import start_of
from api.importing.index import HandDigest, HandDigester, Repeat, packed_digests, unpacked_digests
from api.viewpoints.hand_selection import CONFLICT_SUFFIX, REPEATED_NOTE
from events.cards import UNKNOWN
from events.codec import decode_record, encode
from events.ledger import Append, Record
from events.match import Match, SourceNoted
from events.notation import say
from events.types import Events, HandStarted, HoleDealt
from formats.source import SourceHand
from store.log.hot_log import from_payload, to_payload
from store.log.streams import split_stream
from store.proof.ledger_secrets import SaltedSecret
from store.segments.staged_batches import StagedBatch, decode_batch, encode_batch, make_batch

if TYPE_CHECKING:
    from store.columns.event_columns import EventColumns

CHUNK_HANDS = 1_000  # hands at most
BATCH_HANDS = 100  # hands at least that are worth columns of their own
_EVENTS = 100_000  # of a chunk at most, if its hands are long
_QUOTED = 200  # letters of an event
_NONE = (0, 0, "", 0, "")


class DiskFull(OSError):
    """The disk has no room for the hands that wait."""


class SpilledHand(Struct, frozen=True):
    """A hand's record, whether it is in event columns too, the note beside it, the hand as its
    source tells it, and its verdict (`verdict_code`), 0 if nobody asked."""

    record: Events
    in_columns: bool
    note: SourceNoted | None
    source: SourceHand
    verdict: int


class SpilledChunk(Struct, frozen=True):
    """The place of a chunk in a spill file: its digests, notes and hands, their checksum, its first
    hand, the number of its events, and the players' nets in it."""

    spill: str
    as_batch: bool
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

    def __init__(self, path: Path, at: int, nonces: SaltedSecret | None) -> None:
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
        """The number of hands that the chunk still has room for, if they are not long."""
        return CHUNK_HANDS - len(self._hands)

    @property
    def full(self) -> bool:
        return len(self._hands) >= CHUNK_HANDS or self._events >= _EVENTS

    def add_columns(self, hands: "EventColumns | None") -> None:
        """Register the columns of the hands that `add` is given next."""
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

    def write_chunk(
        self,
        nets: dict[str, int],
        columns: "EventColumns | None" = None,
        digests: Iterable[HandDigest] = (),
    ) -> SpilledChunk | None:
        """Write the chunk in memory, with hands that come as columns and their digests."""
        self._digests += digests
        if columns is not None and len(columns.number):
            batch = make_batch(self.nonces, self._hands, columns)
            events = self._events + len(columns.pos)
            first = batch.leaves[0].stream
            return self._append_chunk(
                True, encode_batch(batch), len(batch.leaves), first, events, nets
            )
        if not self._hands:
            return None
        as_batch = len(self._hands) >= BATCH_HANDS
        hands = encode_batch(self._batch()) if as_batch else to_payload(self._hands)
        first = self._hands[0].stream
        return self._append_chunk(as_batch, hands, len(self._hands), first, self._events, nets)

    def _batch(self) -> StagedBatch:
        """The gathered hands as a batch: with the columns that were registered, if just these hands
        are there, and all stand in the order of their numbers."""
        numbers = [split_stream(hand.stream)[1] or 0 for hand in self._hands]
        others = {split_stream(one.stream)[1] for one in self._others}
        mine = [number for number in numbers if number not in others]
        if [mine] != [column.number.tolist() for column in self._columns] or numbers != sorted(
            numbers
        ):
            return make_batch(self.nonces, self._hands)
        return make_batch(self.nonces, self._others, self._columns[0])

    def _append_chunk(
        self, as_batch: bool, hands: Any, count: int, first: str, events: int, nets: dict[str, int]
    ) -> SpilledChunk:
        notes, place = b"".join(self._notes), self._file.tell()
        digests = packed_digests(self._digests)
        with self._room_on_disk():
            self._file.write(digests)
            self._file.write(notes)
            self._file.write(hands)
        chunk = SpilledChunk(
            str(self.path),
            as_batch,
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
        """Start on another source file; `digester` makes the digests of its hands."""
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
def open_spill(path: Path, at: int, nonces: SaltedSecret | None) -> Iterator[SpillFile]:
    """A spill file to write; it is complete on disk when the context ends."""
    one = SpillFile(path, at, nonces)
    try:
        yield one
    finally:
        one.close()


def read_chunk(chunk: SpilledChunk) -> tuple[tuple[Match, ...], Any]:
    """A chunk's notes, and its hands: a batch, which is not copied, or the appends of a call."""
    with pa.memory_map(chunk.spill) as file:
        file.seek(chunk.place + chunk.digests)
        notes, hands = file.read(chunk.notes), file.read_buffer(chunk.size)
    if zlib.crc32(hands) != chunk.checksum:
        raise OSError(f"{chunk.spill} is not what was written to it")
    records = tuple(decode_record(line) for line in notes.splitlines())
    return records, hands if chunk.as_batch else hands.to_pybytes()


def packed_digests_of(chunk: SpilledChunk) -> bytes:
    """The packed digests of a chunk's hands, as they stand in the spill file."""
    with Path(chunk.spill).open("rb") as file:
        file.seek(chunk.place)
        return file.read(chunk.digests)


class CheckedChunk:
    """A chunk of a file, and which of its hands come again."""

    def __init__(self, chunk: SpilledChunk) -> None:
        self.chunk = chunk
        self.digests = unpacked_digests(packed_digests_of(chunk))
        self.again: dict[int, Repeat] = {}

    @property
    def first(self) -> str | None:
        """The first hand that is not another again."""
        match = split_stream(self.chunk.first)[0]
        numbers = (digest.number for digest in self.digests if digest.number not in self.again)
        return next((f"{match}/{number}" for number in numbers), None)

    @cached_property
    def appends(self) -> tuple[Append, ...]:
        """The hands of the chunk, one append each."""
        hands = read_chunk(self.chunk)[1]
        return decode_batch(hands).appends() if self.chunk.as_batch else from_payload(hands)

    @cached_property
    def records(self) -> dict[int, tuple[Record, ...]]:
        """The records of its hands by number."""
        return {split_stream(append.stream)[1] or 0: append.events for append in self.appends}

    @property
    def new(self) -> tuple[Append, ...]:
        """The hands of the chunk that the ledger does not have yet."""
        return tuple(
            append for append in self.appends if split_stream(append.stream)[1] not in self.again
        )


class RepeatNotes:
    """Notes of a file's repeated hands: ranges on one line each, and the whole record of each that
    differs; nothing of the other match, which may be sealed when this one is open."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, str, int, str]] = []
        self._records: list[str] = []
        self.differ = False

    def add(self, part: CheckedChunk) -> None:
        """Note the repeated hands of one more chunk."""
        for number, one in sorted(part.again.items()):
            match, known = split_stream(one.hand)
            first, count, was, begin, other = self._lines[-1] if self._lines else _NONE
            next_ = first + count, was, begin + count
            if not (other or one.differs) and (number, match, known) == next_:
                self._lines[-1] = (first, count + 1, was, begin, "")
                continue
            other = f"line {one.line}{CONFLICT_SUFFIX}" if one.differs else ""
            self._lines.append((number, 1, match, known or 0, other))
            if one.differs:
                self.differ = True
                self._records += [f"hand {number}", *map(say, part.records[number]), ""]

    def note(self, format: str) -> SourceNoted:
        """All repeated hands as one note of their match."""
        header = []
        for number, count, match, known, other in self._lines:
            if other:
                header.append(f"hand {number} is {match}/{known}, {other}")
            else:
                last = f"..{number + count - 1}", f"..{known + count - 1}"
                end, there = last if count > 1 else ("", "")
                header.append(f"hand {number}{end} is {match}/{known}{there}")
        return SourceNoted(format, REPEATED_NOTE, "\n".join(header), "\n".join(self._records))


def first_difference(known: Sequence[Record], new: Sequence[Record]) -> str:
    """The first thing in which two records of one hand contradict each other; nothing if they do
    not: a card that only one of them knows is no contradiction."""
    for one, other in zip_longest(known, new):
        if one != other and not _compatible(one, other):
            return f"it says {_described(other)}, where {_described(one)} is in the ledger"
    return ""


def _compatible(one: Record | None, other: Record | None) -> bool:
    if isinstance(one, HandStarted) and isinstance(other, HandStarted):
        seated = one.players, one.stacks, one.button
        return seated == (other.players, other.stacks, other.button)
    if not (isinstance(one, HoleDealt) and isinstance(other, HoleDealt)):
        return False
    pairs = zip_longest(one.cards, other.cards)
    return one.seat == other.seat and all(a == b or UNKNOWN in (a, b) for a, b in pairs)


def _described(event: Record | None) -> str:
    return "nothing more" if event is None else repr(say(event)[:_QUOTED])
