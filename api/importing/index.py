"""Which files and hands a ledger has from imports: `private/imports`, blocks of hands in frames.

A block is durable before its hands are, and believed when they are there: so the file may say too
much after a crash, or beside an older copy of the ledger, and never too little. What it says means
something only under the ledger's secret. Where it is missing it is begun anew from what the ledger
says itself, which is less: its files, and the numbers that PokerStars gave to hands.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, msgpack

from api.importing.naming import Mark, Marker, naming_of
from store.folder.frames import Damaged, frame, frames, intact_after
from store.ledger import FileLedger
from store.proof.nonces import Salted
from store.proof.private import FOLDER as PRIVATE
from store.reader import Reader
from store.sql.query import Query

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
            found = query.ask(_LEFT_OUT).to_pylist()
        finally:
            query.close()
        mine = set(self._files.values())
        return {one["footer"] for one in found if not self._owner or one["match"] in mine}

    def hits(self, match: str, marks: Sequence[Mark]) -> dict[int, Hit]:
        """Of some hands of a match those that are known, by number; before any other itself."""
        keys = np.frombuffer(b"".join(mark.found_by for mark in marks), dtype=np.uint64)
        found: dict[int, Hit] = {}
        for column, blocks in self._columns:
            begin = np.searchsorted(column, keys)
            end = np.searchsorted(column, keys, side="right")
            for at in np.flatnonzero(begin < end).tolist():
                for block in blocks[begin[at] : end[at]].tolist():
                    self._hit(block, match, marks[at], found)
        if self._recent:
            for mark in marks:
                if (block := self._recent.get(mark.found_by)) is not None:
                    self._hit(block, match, mark, found)
        return found

    def add(self, match: str, sha256: str, marks: Sequence[Mark]) -> None:
        """Hands that are going to be in the ledger, when `save` was called."""
        numbers = tuple(mark.number for mark in marks)
        found_by = b"".join(mark.found_by for mark in marks)
        says = b"".join(mark.says for mark in marks)
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

    def _hit(self, at: int, match: str, mark: Mark, found: dict[int, Hit]) -> None:
        (block, places), own = self._cached(at), f"{match}/{mark.number}"
        if mark.number in found and found[mark.number].hand == own:
            return
        place = places[mark.found_by]
        says = block.says[place * SIZE : place * SIZE + SIZE]
        same = None if says == _UNKNOWN else says == mark.says
        if (same or mark.numbered) and self._is_there(at, block):
            found[mark.number] = Hit(f"{block.match}/{block.numbers[place]}", same)

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
        for one in frames(data):
            block = msgpack.decode(one.payload, type=Block)
            if block.owner == self._owner:
                self._files.setdefault(block.sha256, block.match)
                keys.append(block.found_by)
                sizes.append(len(block.numbers))
                mine.append(len(self._blocks))
            self._blocks.append((self._end, one.end))
            self._end = one.end
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
    marker = Marker(naming_of(nonces), "pokerstars", "", "")
    numbered: dict[str, list[tuple[int, bytes]]] = {}
    for row in hands:
        if said := _ID.fullmatch(row["header"]):
            found_by = marker.numbered("pokerstars", said[1])
            numbered.setdefault(row["match"], []).append((int(row["number"]), found_by))
    for row in files:
        mine = numbered.get(row["match"], [])
        numbers, found_by = tuple(number for number, _ in mine), b"".join(key for _, key in mine)
        yield Block(row["match"], row["footer"], "", numbers, found_by, _UNKNOWN * len(mine))
