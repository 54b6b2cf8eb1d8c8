"""The index of an archive: which objects are the files of a ledger, as of one moment of sealing.

    archive.json            the index: small files as they are, of others the objects they are in
    segments/*.parquet      sealed files, under the names that they have in the ledger
    tree/LEVEL-AT-SHA256    4 MiB of a level of the tree; only the last one of a level ever changes
    log/*                   hands that were open at that moment, if they are too many for the index

An object never changes: its name holds its digest. So the one who replaces the index replaces all
at once, and a reader of the old one still finds what it names.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from store.archive.objects import Objects
from store.folder import manifest
from store.folder.frames import Damaged

PATH = "archive.json"
VERSION = 1
_NAMED = re.compile(
    r"(?:manifest\.json|keys|witnesses|rollbacks"
    r"|(?:log|segments|tree|rulesets|published|before|replaced)/(?!\.{1,2}$)[^/\0]+)"
)


class Part(Struct, frozen=True):
    """An object that holds some bytes of a file."""

    object: str
    size: int
    sha256: str


class File(Struct, frozen=True, omit_defaults=True):
    """A file of a ledger: its bytes, or the objects that they are in, one after the other."""

    data: bytes = b""
    parts: tuple[Part, ...] = ()

    @property
    def size(self) -> int:
        return len(self.data) + sum(part.size for part in self.parts)


class Index(Struct, frozen=True):
    """Every file of an archived ledger, by its path."""

    files: dict[str, File]
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


def names(files: Mapping[str, File], folder: str) -> list[str]:
    """What a folder of the ledger holds."""
    start = f"{folder}/" if folder else ""
    below = (path.removeprefix(start) for path in files if path.startswith(start))
    return sorted({path.split("/")[0] for path in below})


def pieces(file: File, start: int, end: int | None) -> Iterator[tuple[Part, int, int]]:
    """Which bytes of which objects are these bytes of a file."""
    end = file.size if end is None else min(end, file.size)
    at = 0
    for part in file.parts:
        first, last = max(start, at), min(end, at + part.size)
        if first < last:
            yield part, first - at, last - at
        at += part.size


class Archived:
    """The files of an index as a disk has them, straight from their objects."""

    def __init__(self, objects: Objects, index: Index) -> None:
        self._objects = objects
        self._files = index.files

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        if path not in self._files:
            raise FileNotFoundError(2, "no such file", path)
        file = self._files[path]
        if not file.parts:
            return file.data[start:end]
        found = [
            self._objects.range(part.object, first, last)
            for part, first, last in pieces(file, start, end)
        ]
        return b"".join(found)

    def names(self, folder: str) -> list[str]:
        return names(self._files, folder)
