"""The index of an archive, and `pull`: a ledger made of what it names.

    archive.json            the index: small files as they are, of others the objects they are in
    segments/*.parquet      sealed files, under the names that they have in the ledger
    tree/LEVEL-AT-SHA256    4 MiB of a level of the tree; only the last one of a level ever changes
    log/*                   hands that were open at that moment, if they are too many for the index

It says which objects are the files of a ledger, as of one moment of sealing. An object never
changes: its name holds its digest. So the one who replaces the index replaces all at once, and a
reader of the old one still finds what it names.

A ledger is pulled into a new folder, or into one that was pulled before. Every object's digest is
compared as it comes, and that of each sealed file with the manifest's. The manifest is replaced
last, so a reader of the folder sees the old ledger or the new one, and a pull that was cut short is
gone on with: a file that has the right digest is not fetched again.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from store.archive.object_storage import ObjectStorage
from store.folder import manifest
from store.folder.disk import Lock, Output, RealDisk, create_anew, make_durable_folder, replace_file
from store.folder.frames import Damaged
from store.folder.manifest import Manifest
from store.proof.ledger_secrets import FOLDER as PRIVATE
from store.proof.tree import Refuted, frontier
from store.proof.tree_file import TreeFiles

PATH = "archive.json"
VERSION = 1
_NAMED = re.compile(
    r"(?:manifest\.json|keys|witnesses|rollbacks"
    r"|(?:log|segments|tree|rulesets|published|before|replaced)/(?!\.{1,2}$)[^/\0]+)"
)


class FilePart(Struct, frozen=True):
    """An object that holds some bytes of a file."""

    object: str
    size: int
    sha256: str


class ArchivedFile(Struct, frozen=True, omit_defaults=True):
    """A file of a ledger: its bytes, or the objects that they are in, one after the other."""

    data: bytes = b""
    parts: tuple[FilePart, ...] = ()

    @property
    def size(self) -> int:
        return len(self.data) + sum(part.size for part in self.parts)


class Index(Struct, frozen=True):
    """Every file of an archived ledger, by its path."""

    files: dict[str, ArchivedFile]
    version: int = VERSION


class _Sealed(Struct, frozen=True):
    archive: msgspec.Raw
    sha256: str


class _Version(Struct):
    version: int


_encoder = msgspec.json.Encoder(order="sorted")


def encode(index: Index) -> bytes:
    """An index as it is stored: a digest tells damage from truth."""
    body = _encoder.encode(index)
    return _encoder.encode(_Sealed(msgspec.Raw(body), hashlib.sha256(body).hexdigest()))


def decode(data: bytes, url: str) -> Index:
    """The index that was stored; its writer can name no file but a ledger's."""
    where = f"{url}/{PATH}"
    try:
        sealed = msgspec.json.decode(data, type=_Sealed)
        if hashlib.sha256(sealed.archive).hexdigest() != sealed.sha256:
            raise Damaged(f"{where} does not have the digest it was written with")
        version = msgspec.json.decode(sealed.archive, type=_Version).version
        if version != VERSION:
            why = f"{where} is of version {version}, and this program reads {VERSION}"
            raise Damaged(f"{why}: a newer muckrake reads it")
        index = msgspec.json.decode(sealed.archive, type=Index)
    except ValueError as reason:
        raise Damaged(f"{where} cannot be read: {reason}") from None
    for path, file in index.files.items():
        for name in (path, *(part.object for part in file.parts)):
            if not _NAMED.fullmatch(name):
                raise Damaged(f"{where} names {name!r}, which no file of a ledger is called")
        if any(part.size < 0 for part in file.parts):
            raise Damaged(f"{where} names an object of fewer than no bytes in {path}")
    if manifest.PATH not in index.files:
        raise Damaged(f"{where} names no {manifest.PATH}: nothing says what the ledger is")
    return index


def folder_names(files: Mapping[str, ArchivedFile], folder: str) -> list[str]:
    """The names of the files in a folder of the ledger."""
    start = f"{folder}/" if folder else ""
    below = (path.removeprefix(start) for path in files if path.startswith(start))
    return sorted({path.split("/")[0] for path in below})


def read_file(
    file: ArchivedFile, start: int, end: int | None, fetch: Callable[[FilePart, int, int], bytes]
) -> bytes:
    """Bytes of a file; `fetch` gives those that lie in an object."""
    if not file.parts:
        return file.data[start:end]
    end = file.size if end is None else min(end, file.size)
    found, at = [], 0
    for part in file.parts:
        first, last = max(start, at), min(end, at + part.size)
        if first < last:
            found.append(fetch(part, first - at, last - at))
        at += part.size
    return b"".join(found)


class IndexedFiles:
    """A read-only disk of an index's files, straight from their objects."""

    def __init__(self, storage: ObjectStorage, index: Index) -> None:
        self._storage = storage
        self._files = index.files

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        if path not in self._files:
            raise FileNotFoundError(2, "no such file", path)

        def fetch(part: FilePart, first: int, last: int) -> bytes:
            return self._storage.range(part.object, first, last)

        return read_file(self._files[path], start, end, fetch)

    def names(self, folder: str) -> list[str]:
        return folder_names(self._files, folder)


_AT_ONCE = 1 << 23  # bytes that are asked for in one request


class NoArchive(Exception):
    """There is no archive at this URL."""


class PullResult(Struct, frozen=True):
    """The result of a pull: what the folder holds now, and what was fetched."""

    folder: str
    closed: int
    segments: int
    fetched: int
    fetched_bytes: int


def index_of(storage: ObjectStorage) -> Index:
    """The index of an archive; `NoArchive` if there is none."""
    answer = storage.get(PATH)
    if answer is None:
        raise NoArchive(f"there is no archive at {storage.url}: muckrake push makes one")
    return decode(answer[0], storage.url)


def pull(
    storage: ObjectStorage, folder: Path, watch: Callable[[Collection[Any]], Iterable[Any]] = iter
) -> PullResult:
    """The archived ledger in a folder; `Refuted` if another ledger is there. What is fetched goes
    through `watch`."""
    archived = index_of(storage)
    now = manifest.decode_manifest(archived.files[manifest.PATH].data)
    make_durable_folder(folder, 0o700)  # cards of every seat are in it
    disk = RealDisk(folder)
    lock = Lock(folder, "pull")
    try:
        _check_place(disk, now, archived, storage)
        return _Pull(storage, disk, archived, now).done(watch)
    finally:
        lock.release()


def _check_place(disk: RealDisk, now: Manifest, archived: Index, storage: ObjectStorage) -> None:
    """`Refuted` unless the folder is empty, or has an earlier state of the same ledger."""
    before = manifest.read(disk)
    if before is None:
        mine = {path.split("/")[0] for path in archived.files} | {"lock", "manifest.json.tmp"}
        if others := sorted(set(disk.names("")) - mine):
            raise Refuted(f"{disk.root} holds {others[0]}: a ledger is pulled into a new folder")
        return
    if PRIVATE in disk.names(""):
        raise Refuted(
            f"{disk.root} is a ledger that is written here: it has {PRIVATE}, and is not replaced"
        )
    theirs = TreeFiles(IndexedFiles(storage, archived))
    ours = frontier(before.tree, TreeFiles(disk))
    if before.tree > now.tree or ours != frontier(before.tree, theirs):
        raise Refuted(
            f"{disk.root} holds {before.next_seq:,} closed streams that are not the beginning of"
            f" the {now.next_seq:,} in {storage.url}: another history, or an older archive"
        )


class _Pull:
    def __init__(
        self, storage: ObjectStorage, disk: RealDisk, archived: Index, now: Manifest
    ) -> None:
        self._storage, self._disk, self._archived, self._now = storage, disk, archived, now
        self._fetched = self._bytes = 0

    def done(self, watch: Callable[[Collection[Any]], Iterable[Any]]) -> PullResult:
        sealed = {
            path: segment.sha256[name]
            for segment in self._now.segments
            for name, path in segment.files.items()
        }
        for path in (*sealed, self._now.log):
            if path not in self._archived.files:
                raise Damaged(
                    f"{path} is in no object of {self._storage.url}: the manifest names it"
                )
        for path, file in watch(self._archived.files.items()):
            if path != manifest.PATH:
                self._file(path, file, sealed.get(path))
        replace_file(self._disk, manifest.PATH, self._archived.files[manifest.PATH].data)
        self._sweep({*sealed, self._now.log})
        counts = self._now.next_seq, len(self._now.segments), self._fetched, self._bytes
        return PullResult(str(self._disk.root), *counts)

    def _file(self, path: str, file: ArchivedFile, sha256: str | None) -> None:
        """A file in its place, as a whole; one that is there already is left alone."""
        folder, _, name = path.rpartition("/")
        self._disk.make_folder(folder)
        is_there = name in self._disk.names(folder)
        if not file.parts:
            if not is_there or self._disk.read(path) != file.data:
                replace_file(self._disk, path, file.data)
            return
        if is_there and self._is_whole(path, file):
            return
        aside = f"{path}.tmp"
        output, digest = create_anew(self._disk, aside), hashlib.sha256()
        at = 0
        for part in file.parts:
            known = self._disk.read(path, at, at + part.size) if is_there and not sha256 else b""
            if known and hashlib.sha256(known).hexdigest() == part.sha256:
                output.write(known)
            else:
                self._fetch(part, output, digest)
            at += part.size
        output.sync()
        output.close()
        if sha256 is not None and digest.hexdigest() != sha256:
            self._disk.remove(aside)
            raise Damaged(f"{self._storage.url}/{path} is not the file that the manifest names")
        self._disk.rename(aside, path)
        self._disk.sync_folder(folder)

    def _is_whole(self, path: str, file: ArchivedFile) -> bool:
        """Whether a file is there already, as it is in the archive."""
        at = 0
        for part in file.parts:
            digest = hashlib.sha256()
            for start in range(at, at + part.size, _AT_ONCE):
                digest.update(self._disk.read(path, start, min(start + _AT_ONCE, at + part.size)))
            if digest.hexdigest() != part.sha256:
                return False
            at += part.size
        return not self._disk.read(path, at, at + 1)

    def _fetch(self, part: FilePart, output: Output, file_digest: "hashlib._Hash") -> None:
        digest = hashlib.sha256()
        for at in range(0, part.size, _AT_ONCE):
            end = min(at + _AT_ONCE, part.size)
            try:
                data = self._storage.range(part.object, at, end)
            except FileNotFoundError:
                why = f"{self._storage.url}/{part.object} is missing, and the archive names it"
                raise Damaged(why) from None
            if len(data) != end - at:
                why = f"{self._storage.url}/{part.object} ends at byte {at + len(data)}"
                raise Damaged(f"{why} of {part.size}")
            digest.update(data)
            file_digest.update(data)
            output.write(data)
        if digest.hexdigest() != part.sha256:
            why = f"{self._storage.url}/{part.object} is not as it was sent: its digest is another"
            raise Damaged(why)
        self._fetched, self._bytes = self._fetched + 1, self._bytes + part.size

    def _sweep(self, named: set[str]) -> None:
        """Files that an earlier manifest of this folder named."""
        for path in named:
            folder = path.rpartition("/")[0]
            for name in self._disk.names(folder):
                if f"{folder}/{name}" not in named:
                    self._disk.remove(f"{folder}/{name}")
