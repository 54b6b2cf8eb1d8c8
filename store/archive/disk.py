"""The files of an archive as a disk has them: what is read of them is fetched, and kept for later.

A reader is given a folder of the cache that says which archive it is of (`folder_of`), and reads it
as it reads a ledger's. Nothing can be written there. Small files and which objects there are comes
from the index, which is asked for again with the manifest.
"""

import threading
import time
from pathlib import Path
from typing import NoReturn

from store.archive import index
from store.archive.cache import Cache
from store.archive.index import File, Index
from store.archive.objects import objects_of
from store.folder import manifest
from store.folder.cache_folder import origin_of
from store.folder.disk import Disk, Output, RealDisk
from store.folder.lock import ReadOnly

FRESH_S = 1.0  # for so long nobody asks for the index again


def disk_of(folder: Path) -> "RealDisk | ArchiveDisk":
    """What a ledger's files are read from: the folder, or the archive that it is for."""
    url = origin_of(folder)
    return RealDisk(folder) if url is None else ArchiveDisk(folder, url)


class ArchiveDisk:
    """An archive for reading; threads may share it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self._objects = objects_of(url)
        self._cache = Cache(folder, self._objects)
        self._turn = threading.Lock()
        self._files: dict[str, File] = {}
        self._tag = ""
        self._closed = -1  # streams, of the index that is known
        self._asked = float("-inf")

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        if path == manifest.PATH:
            self._look()
        file = self._file(path)
        if not file.parts:
            return file.data[start:end]
        pieces = index.pieces(file, start, end)
        return b"".join(self._cache.read(part, first, last) for part, first, last in pieces)

    def local(self, path: str) -> Path:
        """Where a whole file is on this machine, until this process ends."""
        file = self._file(path)
        if len(file.parts) != 1:
            raise FileNotFoundError(2, "no such object", path)
        return self._cache.whole(file.parts[0])

    def names(self, folder: str) -> list[str]:
        if not folder:
            self._look()
        return index.names(self._files, folder)

    def _file(self, path: str) -> File:
        if path not in self._files:
            raise FileNotFoundError(2, "no such file", f"{self.url}/{path}")
        return self._files[path]

    def _look(self) -> None:
        """The newest index; of one that is older than what is known, a stale answer, nothing."""
        with self._turn:
            if time.monotonic() - self._asked < FRESH_S:
                return
            found = self._objects.get(index.PATH, self._tag)
            self._asked = time.monotonic()
            if found is None or (self._tag and found[1] == self._tag):
                return
            newest: Index = index.decode(found[0], self.url)
            closed = manifest.opened(newest.files[manifest.PATH].data).next_seq
            if closed >= self._closed:
                self._files, self._tag, self._closed = newest.files, found[1], closed

    def create(self, path: str) -> Output:
        self._refuse()

    def extend(self, path: str, size: int) -> Output:
        self._refuse()

    def publish(self, path: str, data: bytes) -> None:
        self._refuse()

    def rename(self, old: str, new: str) -> None:
        self._refuse()

    def remove(self, path: str) -> None:
        self._refuse()

    def make_folder(self, folder: str) -> None:
        self._refuse()

    def sync_folder(self, folder: str) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ReadOnly(self.url)


def _is_a_disk(disk: ArchiveDisk) -> Disk:
    return disk
