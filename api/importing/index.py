"""Which files and hands a ledger has from imports: `private/imports`, blocks of hands in frames.

A block is durable before its hands are, and believed when they are there: so the file may say too
much after a crash, or beside an older copy of the ledger, and never too little. What it says means
something only under the ledger's secret. Where it is missing it is begun anew from what the ledger
says itself, which is less: its files, and the numbers that PokerStars gave to hands.

A hand that comes again is not added, and one that says otherwise is a conflict.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, msgpack

from api.importing.naming import HandDigest, HandDigester, Repeat, naming_of, unpacked_digests
from api.importing.spill import Chunk, digests_of, fetched
from api.importing.worker import Outcome
from api.viewpoints.match_records import OTHERWISE, REPEATED
from events.cards import UNKNOWN
from events.evolve import replay
from events.ledger import Append, Record
from events.match import SourceNoted
from events.notation import say
from events.types import HandStarted, HoleDealt
from store.folder.frames import Damaged, frame, frames, intact_after
from store.ledger import FileLedger
from store.log.hot import from_payload
from store.log.leaf import split
from store.proof.private import FOLDER as PRIVATE
from store.proof.private import Salted
from store.reader import Reader
from store.segments.runs import read
from store.sql.query import Query

_QUOTED = 200
_NONE = (0, 0, "", 0, "")


class CheckedChunk:
    """A chunk of a file, and which of its hands come again."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.digests = unpacked_digests(digests_of(chunk))
        self.again: dict[int, Repeat] = {}

    @property
    def first(self) -> str | None:
        """The first hand that is not another again."""
        match = split(self.chunk.first)[0]
        numbers = (digest.number for digest in self.digests if digest.number not in self.again)
        return next((f"{match}/{number}" for number in numbers), None)

    @cached_property
    def appends(self) -> tuple[Append, ...]:
        """The hands of the chunk, one append each."""
        hands = fetched(self.chunk)[1]
        return read(hands).appends() if self.chunk.as_run else from_payload(hands)

    @cached_property
    def records(self) -> dict[int, tuple[Record, ...]]:
        """The records of its hands by number."""
        return {split(append.stream)[1] or 0: append.events for append in self.appends}

    @property
    def new(self) -> tuple[Append, ...]:
        """The hands of the chunk that the ledger does not have yet."""
        return tuple(append for append in self.appends if split(append.stream)[1] not in self.again)


class Repeats:
    """What is kept of them beside the hands of their file: hands next to each other on one line,
    and of each that differs its whole record; nothing of the other match, which may be sealed when
    this one is open."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, str, int, str]] = []
        self._records: list[str] = []
        self.differ = False

    def add(self, part: CheckedChunk) -> None:
        """Note the repeated hands of one more chunk."""
        for number, one in sorted(part.again.items()):
            match, known = split(one.hand)
            first, count, was, begin, other = self._lines[-1] if self._lines else _NONE
            next_ = first + count, was, begin + count
            if not (other or one.differs) and (number, match, known) == next_:
                self._lines[-1] = (first, count + 1, was, begin, "")
                continue
            other = f"line {one.line}{OTHERWISE}" if one.differs else ""
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
        return SourceNoted(format, REPEATED, "\n".join(header), "\n".join(self._records))


FILE = "imports"
SIZE = 8  # bytes that a hand is found by, and as many of what it says
_UNKNOWN = bytes(SIZE)  # what a hand says, where only its number is known
_RECENT = 4_096  # hands are looked up one by one until so many are worth a sorted column
_ID = re.compile(r"line \d+\nid (.+)", re.DOTALL)
_OF_FILES = "SELECT match, footer FROM events WHERE type = 'SourceNoted' AND dialect = 'file'"
_LEFT_OUT = """
    SELECT match, footer FROM events WHERE type = 'SourceNoted' AND dialect = 'left out'
"""
_OF_HANDS = """
    SELECT match, dialect[6:] AS number, header FROM events
    WHERE type = 'SourceNoted' AND format = 'pokerstars' AND starts_with(dialect, 'hand ')
"""


class Block(Struct, frozen=True, array_like=True):
    """Hands of a file by number, with what each is found by and says, and who has imported them."""

    match: str
    sha256: str
    owner: str
    numbers: tuple[int, ...]
    found_by: bytes
    says: bytes


class Hit(NamedTuple):
    """A hand that is known, and whether it says the same; None where that is not known."""

    hand: str
    same: bool | None


class ImportIndex:
    """What one owner has imported into a ledger, and what he is about to."""

    def __init__(self, ledger: FileLedger, nonces: Salted | None, owner: str = "") -> None:
        self._ledger, self._nonces, self._owner = ledger, nonces, owner
        self._path = None if ledger.folder is None else ledger.folder / PRIVATE / FILE
        self._blocks: list[Block | tuple[int, int]] = []  # or where in the file
        self._there: dict[int, bool] = {}
        self._files: dict[str, str] = {}
        self._recent: dict[bytes, int] = {}
        self._columns: list[tuple[Any, Any]] = []  # what hands are found by in order, their blocks
        self._unwritten: list[Block] = []
        self._end = 0
        self._cached = lru_cache(8)(self._placed)
        if self._path is not None and self._path.exists():
            self._read(self._path.read_bytes())
        elif self._path is not None:
            for block in _of_before(ledger, nonces):
                self._add(block, there=False)

    def file(self, sha256: str) -> str | None:
        """What the match of this content is called, if it was begun."""
        return self._files.get(sha256)

    def left_out(self) -> set[str]:
        """The texts of hands that no record could be of, in this owner's matches."""
        if self._ledger.folder is None:
            return set()
        query = Query(Reader(self._ledger.folder).snapshot(), ())
        try:
            rows = query.ask(_LEFT_OUT).to_pylist()
        finally:
            query.close()
        mine = set(self._files.values())
        return {one["footer"] for one in rows if not self._owner or one["match"] in mine}

    def hits(self, match: str, digests: Sequence[HandDigest]) -> dict[int, Hit]:
        """Of some hands of a match those that are known, by number; before any other itself."""
        keys = np.frombuffer(b"".join(digest.found_by for digest in digests), dtype=np.uint64)
        found: dict[int, Hit] = {}
        for column, blocks in self._columns:
            begin = np.searchsorted(column, keys)
            end = np.searchsorted(column, keys, side="right")
            for at in np.flatnonzero(begin < end).tolist():
                for block in blocks[begin[at] : end[at]].tolist():
                    self._hit(block, match, digests[at], found)
        if self._recent:
            for digest in digests:
                if (block := self._recent.get(digest.found_by)) is not None:
                    self._hit(block, match, digest, found)
        return found

    def add(self, match: str, sha256: str, digests: Sequence[HandDigest]) -> None:
        """Hands that are going to be in the ledger, when `save` was called."""
        numbers = tuple(digest.number for digest in digests)
        found_by = b"".join(digest.found_by for digest in digests)
        says = b"".join(digest.says for digest in digests)
        self._add(Block(match, sha256, self._owner, numbers, found_by, says), there=True)

    def save(self) -> None:
        """Durable on return."""
        if self._path is None or not self._unwritten:
            return
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.truncate(self._end)
            file.seek(self._end)
            for number, block in enumerate(self._unwritten):
                file.write(frame(number, msgpack.encode(block)))
            file.flush()
            os.fsync(handle)
            self._end = file.tell()
        self._unwritten = []

    def _add(self, block: Block, *, there: bool) -> None:
        if there:
            self._there[len(self._blocks)] = True
        self._learn(block)
        self._blocks.append(block)
        self._unwritten.append(block)
        if len(self._recent) >= _RECENT:
            keys = np.frombuffer(b"".join(self._recent), dtype=np.uint64)
            self._merge(keys, np.array(list(self._recent.values()), dtype=np.uint32))
            self._recent = {}

    def _learn(self, block: Block) -> None:
        if block.owner == self._owner:
            self._files.setdefault(block.sha256, block.match)
            at = len(self._blocks)
            for place in range(0, len(block.found_by), SIZE):
                self._recent[block.found_by[place : place + SIZE]] = at

    def _merge(self, keys: Any, blocks: Any) -> None:
        """One more sorted column; with those before that are no longer than it becomes one."""
        while self._columns and len(self._columns[-1][0]) <= len(keys):
            column, others = self._columns.pop()
            keys, blocks = np.concatenate([column, keys]), np.concatenate([others, blocks])
        order = np.argsort(keys, kind="stable")
        self._columns.append((keys[order], blocks[order]))

    def _hit(self, at: int, match: str, digest: HandDigest, found: dict[int, Hit]) -> None:
        (block, places), own = self._cached(at), f"{match}/{digest.number}"
        if digest.number in found and found[digest.number].hand == own:
            return
        place = places[digest.found_by]
        says = block.says[place * SIZE : place * SIZE + SIZE]
        same = None if says == _UNKNOWN else says == digest.says
        if (same or digest.numbered) and self._is_there(at, block):
            found[digest.number] = Hit(f"{block.match}/{block.numbers[place]}", same)

    def _is_there(self, at: int, block: Block) -> bool:
        """Whether the hands of a block, which close together, are in the ledger."""
        if at not in self._there:
            self._there[at] = bool(self._ledger.read(f"{block.match}/{block.numbers[0]}"))
        return self._there[at]

    def _placed(self, at: int) -> tuple[Block, dict[bytes, int]]:
        """A block, and the place of each of its hands."""
        block = self._read_block(at)
        keys = (block.found_by[at : at + SIZE] for at in range(0, len(block.found_by), SIZE))
        return block, {key: place for place, key in enumerate(keys)}

    def _read_block(self, at: int) -> Block:
        block = self._blocks[at]
        if isinstance(block, Block):
            return block
        assert self._path is not None
        with self._path.open("rb") as file:
            file.seek(block[0])
            (one,) = frames(file.read(block[1] - block[0]))
        return msgpack.decode(one.payload, type=Block)

    def _read(self, data: bytes) -> None:
        """Every block; one that was not written to its end is as if it was not there."""
        keys: list[bytes] = []
        sizes: list[int] = []
        mine: list[int] = []
        for each in frames(data):
            block = msgpack.decode(each.payload, type=Block)
            if block.owner == self._owner:
                self._files.setdefault(block.sha256, block.match)
                keys.append(block.found_by)
                sizes.append(len(block.numbers))
                mine.append(len(self._blocks))
            self._blocks.append((self._end, each.end))
            self._end = each.end
        if self._end < len(data) and intact_after(data, self._end) is not None:
            raise Damaged(
                f"{self._path} is damaged at byte {self._end}: put it back from a copy; or take it"
                " away, and hands are known again by file and by PokerStars' numbers only"
            )
        if keys:
            blocks = np.repeat(np.array(mine, dtype=np.uint32), sizes)
            self._merge(np.frombuffer(b"".join(keys), dtype=np.uint64), blocks)


def _of_before(ledger: FileLedger, nonces: Salted | None) -> Iterator[Block]:
    """What a ledger says of imports that no block tells of: those of versions before."""
    if ledger.folder is None or not ledger.next_pos:
        return
    snapshot = Reader(ledger.folder).snapshot()
    query = Query(snapshot, ())
    try:
        files = query.ask(_OF_FILES).to_pylist()
        hands = query.ask(_OF_HANDS).to_pylist() if files else []
    finally:
        query.close()
    digester = HandDigester(naming_of(nonces), "pokerstars", "", "")
    numbered: dict[str, list[tuple[int, bytes]]] = {}
    for row in hands:
        if parsed := _ID.fullmatch(row["header"]):
            found_by = digester.numbered("pokerstars", parsed[1])
            numbered.setdefault(row["match"], []).append((int(row["number"]), found_by))
    for row in files:
        mine = numbered.get(row["match"], [])
        numbers, found_by = tuple(number for number, _ in mine), b"".join(key for _, key in mine)
        yield Block(row["match"], row["footer"], "", numbers, found_by, _UNKNOWN * len(mine))


def count(outcome: Outcome, part: CheckedChunk) -> None:
    """What a file's report says of them."""
    outcome.again += len(part.again)
    outcome.conflicts += [one for one in part.again.values() if one.differs]
    named = {number for numbers in outcome.named.values() for number in numbers}
    for number, one in part.again.items():
        if not outcome.elsewhere or number in named:
            outcome.elsewhere[number] = one.hand


def differs(known: Sequence[Record], new: Sequence[Record]) -> str:
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


def nets_of(append: Append) -> Iterator[tuple[str, int]]:
    """What each player of a hand has won in it."""
    end = replay(append.events)  # type: ignore[arg-type]
    start = end.start
    for player, was, now in zip(start.players, start.stacks, end.stacks, strict=True):
        yield player, now - was
