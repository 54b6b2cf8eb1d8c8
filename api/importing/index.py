"""Name the match of an import, and recognize hands that were imported before, by digests.

Names and marks are digests under a secret of the ledger: the same content has the same name in one
ledger and another in any other, so nobody without the secret finds a sealed file by trying. Ledgers
of before named by the plain digest, and keep that.

`private/imports` are blocks of hands in frames. A block is durable before its hands are, and
believed when they are there: so the file may say too much after a crash, or beside an older copy of
the ledger, and never too little. What it says means something only under the ledger's secret. Where
it is missing it is begun anew from what the ledger says itself, which is less: its files, and the
numbers that PokerStars gave to hands.
"""

import hmac
import os
import re
import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct, msgpack

from formats.source import SourceHand
from store.folder.frames import Damaged, frame, frames, intact_after
from store.proof.ledger_secrets import FOLDER as PRIVATE
from store.proof.ledger_secrets import SaltedSecret
from store.reader import Reader

if TYPE_CHECKING:
    from store.ledger import FileLedger

ID_DIGITS = 12  # hex digits of a match's name
_SECRET = b"muckrake/import/secret/v1\x00"
_NAME = b"muckrake/import/name/v1\x00"


class MatchNaming(NamedTuple):
    """The secret that names are made with: another for each owner who may not see everything, so
    that none finds out by importing what others have imported."""

    secret: bytes
    owner: str = ""

    def name(self, sha256: str) -> str:
        """The match of a file with this digest."""
        return hmac.digest(self.secret, _NAME + sha256.encode(), "sha256").hex()[:ID_DIGITS]

    def names(self, sha256: str) -> tuple[str, ...]:
        """All that it may be called in a ledger of any age."""
        return (self.name(sha256),) if self.owner else (self.name(sha256), sha256[:ID_DIGITS])


def naming_of(nonces: SaltedSecret | None, owner: str = "") -> MatchNaming:
    """The naming of an owner's imports in a ledger; an owner who may see everything has none."""
    secret = b"" if nonces is None else nonces.secret
    return MatchNaming(hmac.digest(secret, _SECRET + owner.encode(), "sha256"), owner)


class HandDigest(NamedTuple):
    """The digest by which a hand is recognized: its number and line in the file, eight bytes to
    find it by, eight of its text; `numbered` if its site's number finds it; and its verdict
    (`verdict_code`), 0 if it was not audited."""

    number: int
    line: int
    found_by: bytes
    says: bytes
    numbered: bool
    verdict: int = 0


class HandVerdicts(NamedTuple):
    """Hands of a match by number, each with its verdict as `verdict_code` has it."""

    numbers: "array[int]"
    codes: bytearray


class Repeat(Struct, frozen=True):
    """A hand of a file that is in the ledger, as which, and where it says otherwise than that."""

    number: int
    line: int
    hand: str
    differs: str = ""


class HandDigester:
    """Makes the digests of one file's hands; a hand without a text is its place in that file."""

    def __init__(self, naming: MatchNaming, format: str, place: str, sha256: str) -> None:
        self._key, self._format = naming.secret, format
        self._place = self._begun(b"placed", f"{format}\n{place}\n")
        self._file = self._begun(b"in a file", f"{sha256}\n")

    def of(self, hand: SourceHand) -> HandDigest:
        """The digest of a hand: by its site's number, else by its whole text and place."""
        if not hand.text:
            return self._whole(self._file, hand.number, hand.line, str(hand.number))
        if not hand.site:
            return self._whole(self._place, hand.number, hand.line, hand.text)
        found_by = self.numbered(hand.site, hand.source_id)
        says = self._begun(b"says", hand.text).digest()[:8]
        return HandDigest(hand.number, hand.line, found_by, says, True)

    def numbered(self, site: str, number: str) -> bytes:
        """The bytes that find a hand by its site's number."""
        return bytes(self._begun(b"numbered", f"{self._format}\n{site}\n{number}").digest()[:8])

    def of_texts(
        self, numbers: Iterable[int], texts: Iterable[str], verdicts: Iterable[int]
    ) -> Iterator[HandDigest]:
        """The digests of hands without a number of their site."""
        for number, text, verdict in zip(numbers, texts, verdicts, strict=True):
            yield self._whole(self._place, number, 0, text)._replace(verdict=verdict)

    def _whole(self, begun: Any, number: int, line: int, text: str) -> HandDigest:
        found = begun.copy()
        found.update(text.encode("utf-8", "surrogatepass"))
        digest = found.digest()
        return HandDigest(number, line, digest[:8], digest[8:], False)

    def _begun(self, purpose: bytes, text: str) -> Any:
        found = blake2b(key=self._key, person=purpose, digest_size=16)
        found.update(text.encode("utf-8", "surrogatepass"))
        return found


_DIGEST = struct.Struct("<II8s8s?B")


def packed_digests(digests: Iterable[HandDigest]) -> bytes:
    """Pack digests as bytes, for another process."""
    return b"".join(starmap(_DIGEST.pack, digests))


def unpacked_digests(spelled: bytes) -> list[HandDigest]:
    """Unpack digests from bytes, in the order of their numbers."""
    return sorted(starmap(HandDigest, _DIGEST.iter_unpack(spelled)))


INDEX_FILE = "imports"
DIGEST_BYTES = 8  # bytes that a hand is found by, and as many of what it says
_UNKNOWN = bytes(DIGEST_BYTES)  # what a hand says, where only its number is known
_RECENT = 4_096  # hands are looked up one by one until so many are worth a sorted column
_ID = re.compile(r"line \d+\nid (.+)", re.DOTALL)
_FILES_SQL = "SELECT match, footer FROM events WHERE type = 'SourceNoted' AND dialect = 'file'"
_LEFT_OUT_SQL = """
    SELECT match, footer FROM events WHERE type = 'SourceNoted' AND dialect = 'left out'
"""
_HANDS_SQL = """
    SELECT match, dialect[6:] AS number, header FROM events
    WHERE type = 'SourceNoted' AND format = 'pokerstars' AND starts_with(dialect, 'hand ')
"""


class HandBlock(Struct, frozen=True, array_like=True):
    """Hands of a file by number, with what each is found by and says, and who has imported them."""

    match: str
    sha256: str
    owner: str
    numbers: tuple[int, ...]
    found_by: bytes
    says: bytes


class KnownHand(NamedTuple):
    """A hand that is known, and whether it says the same; None where that is not known."""

    hand: str
    same: bool | None


class ImportIndex:
    """The index of the hands that one owner has imported into a ledger, or is about to."""

    def __init__(self, ledger: "FileLedger", nonces: SaltedSecret | None, owner: str = "") -> None:
        self._ledger, self._nonces, self._owner = ledger, nonces, owner
        self._path = None if ledger.folder is None else ledger.folder / PRIVATE / INDEX_FILE
        self._blocks: list[HandBlock | tuple[int, int]] = []  # or where in the file
        self._there: dict[int, bool] = {}
        self._files: dict[str, str] = {}
        self._recent: dict[bytes, int] = {}
        self._columns: list[tuple[Any, Any]] = []  # what hands are found by in order, their blocks
        self._unwritten: list[HandBlock] = []
        self._end = 0
        self._cached = lru_cache(8)(self._placed)
        if self._path is not None and self._path.exists():
            self._read(self._path.read_bytes())
        elif self._path is not None:
            for block in _blocks_of_views(ledger, nonces):
                self._add(block, there=False)

    def file(self, sha256: str) -> str | None:
        """The match of a file with this digest, if one was begun."""
        return self._files.get(sha256)

    def left_out(self) -> set[str]:
        """The texts of hands that no record could be of, in this owner's matches."""
        if self._ledger.folder is None:
            return set()
        rows = _rows(self._ledger.folder, _LEFT_OUT_SQL)
        mine = set(self._files.values())
        return {one["footer"] for one in rows if not self._owner or one["match"] in mine}

    def hits(self, match: str, digests: Sequence[HandDigest]) -> dict[int, KnownHand]:
        """The known hands among these of a match, by number; its own before any other."""
        keys = np.frombuffer(b"".join(digest.found_by for digest in digests), dtype=np.uint64)
        found: dict[int, KnownHand] = {}
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
        self._add(HandBlock(match, sha256, self._owner, numbers, found_by, says), there=True)

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

    def _add(self, block: HandBlock, *, there: bool) -> None:
        if there:
            self._there[len(self._blocks)] = True
        self._learn(block)
        self._blocks.append(block)
        self._unwritten.append(block)
        if len(self._recent) >= _RECENT:
            keys = np.frombuffer(b"".join(self._recent), dtype=np.uint64)
            self._merge(keys, np.array(list(self._recent.values()), dtype=np.uint32))
            self._recent = {}

    def _learn(self, block: HandBlock) -> None:
        if block.owner == self._owner:
            self._files.setdefault(block.sha256, block.match)
            at = len(self._blocks)
            for place in range(0, len(block.found_by), DIGEST_BYTES):
                self._recent[block.found_by[place : place + DIGEST_BYTES]] = at

    def _merge(self, keys: Any, blocks: Any) -> None:
        """Add a sorted column, merged with those before that are no longer."""
        while self._columns and len(self._columns[-1][0]) <= len(keys):
            column, others = self._columns.pop()
            keys, blocks = np.concatenate([column, keys]), np.concatenate([others, blocks])
        order = np.argsort(keys, kind="stable")
        self._columns.append((keys[order], blocks[order]))

    def _hit(self, at: int, match: str, digest: HandDigest, found: dict[int, KnownHand]) -> None:
        (block, places), own = self._cached(at), f"{match}/{digest.number}"
        if digest.number in found and found[digest.number].hand == own:
            return
        place = places[digest.found_by]
        says = block.says[place * DIGEST_BYTES : place * DIGEST_BYTES + DIGEST_BYTES]
        same = None if says == _UNKNOWN else says == digest.says
        if (same or digest.numbered) and self._is_there(at, block):
            found[digest.number] = KnownHand(f"{block.match}/{block.numbers[place]}", same)

    def _is_there(self, at: int, block: HandBlock) -> bool:
        """Whether the hands of a block, which close together, are in the ledger."""
        if at not in self._there:
            self._there[at] = bool(self._ledger.read(f"{block.match}/{block.numbers[0]}"))
        return self._there[at]

    def _placed(self, at: int) -> tuple[HandBlock, dict[bytes, int]]:
        """A block, and the place of each of its hands."""
        block = self._read_block(at)
        keys = (
            block.found_by[at : at + DIGEST_BYTES]
            for at in range(0, len(block.found_by), DIGEST_BYTES)
        )
        return block, {key: place for place, key in enumerate(keys)}

    def _read_block(self, at: int) -> HandBlock:
        block = self._blocks[at]
        if isinstance(block, HandBlock):
            return block
        assert self._path is not None
        with self._path.open("rb") as file:
            file.seek(block[0])
            (one,) = frames(file.read(block[1] - block[0]))
        return msgpack.decode(one.payload, type=HandBlock)

    def _read(self, data: bytes) -> None:
        """Every block; one that was not written to its end is as if it was not there."""
        keys: list[bytes] = []
        sizes: list[int] = []
        mine: list[int] = []
        for each in frames(data):
            block = msgpack.decode(each.payload, type=HandBlock)
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


def _rows(folder: Path, question: str) -> list[dict[str, Any]]:
    """The rows that a query of a ledger's own views returns."""
    from store.sql.query import Query  # a process that only reads files asks nothing

    query = Query(Reader(folder).snapshot(), ())
    try:
        rows: list[dict[str, Any]] = query.ask(question).to_pylist()
    finally:
        query.close()
    return rows


def _blocks_of_views(ledger: "FileLedger", nonces: SaltedSecret | None) -> Iterator[HandBlock]:
    """The imports of earlier versions, from the views of a ledger that has no index yet."""
    if ledger.folder is None or not ledger.next_pos:
        return
    files = _rows(ledger.folder, _FILES_SQL)
    hands = _rows(ledger.folder, _HANDS_SQL) if files else []
    digester = HandDigester(naming_of(nonces), "pokerstars", "", "")
    numbered: dict[str, list[tuple[int, bytes]]] = {}
    for row in hands:
        if parsed := _ID.fullmatch(row["header"]):
            found_by = digester.numbered("pokerstars", parsed[1])
            numbered.setdefault(row["match"], []).append((int(row["number"]), found_by))
    for row in files:
        mine = numbered.get(row["match"], [])
        numbers, found_by = tuple(number for number, _ in mine), b"".join(key for _, key in mine)
        yield HandBlock(row["match"], row["footer"], "", numbers, found_by, _UNKNOWN * len(mine))
