"""A disk of an archive's files: what is read is fetched in blocks, and cached in a folder.

A reader is given a folder of the cache that says which archive it is of (`folder_of`), and reads it
as it reads a ledger's. Nothing can be written there. Small files and which objects there are comes
from the index, which is asked for again with the manifest.

The cache keeps the blocks of each object that were fetched, up to a size. An object has a sparse
file, and beside it one digest a block: none says that the block was not fetched. A block that does
not have its digest is fetched again, so a cache that a crash has torn mends itself. The objects
that nobody has opened for longest go first. Who has one open keeps it: the system frees a file when
the last one closes it.
"""

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from store.archive import index
from store.archive.index import ArchivedFile, FilePart, Index
from store.archive.object_storage import ObjectStorage, storage_of
from store.folder import manifest
from store.folder.disk import Output, ReadOnly, RealDisk, archive_url, is_alive
from store.folder.frames import Damaged

BLOCK = 1 << 16
FETCHED = 1 << 23  # bytes at most in one request
LIMIT = 10 << 30  # bytes on disk of one archive ...
LIMIT_VARIABLE = "MUCKRAKE_CACHE_BYTES"  # ... unless this says otherwise
_WIDTH = 16  # bytes of a digest
_NONE = bytes(_WIDTH)
_OPEN = 64  # objects at once

Fetch = Callable[[int, int], bytes]


class ObjectCache:
    """The objects of one archive, below a folder; threads and processes may share it."""

    def __init__(self, folder: Path, storage: ObjectStorage) -> None:
        self._folder = folder / "objects"
        self._storage = storage
        self._limit = int(os.environ.get(LIMIT_VARIABLE) or LIMIT)
        self._open: OrderedDict[FilePart, _CachedObject] = OrderedDict()
        self._digests: dict[FilePart, bytearray] = {}  # of the blocks that this process has read
        self._turn = threading.RLock()
        self._new = self._limit  # bytes that were fetched since there was a sweep
        self._links: Path | None = None
        self._owner = os.getpid()

    def __del__(self) -> None:
        with suppress(AttributeError):
            if self._links and self._owner == os.getpid():
                shutil.rmtree(self._links, ignore_errors=True)

    def read(self, part: FilePart, start: int, end: int) -> bytes:
        """Bytes of an object; those that are not here are fetched."""
        return self._blocks(part).read(start, end)

    def whole(self, part: FilePart) -> Path:
        """The path of a whole object, which stays until this process ends."""
        path = self._used() / part.object.rpartition("/")[2]
        while not path.exists():
            if not self._blocks(part).link(path):
                with self._turn:
                    self._open.pop(part, None)  # it had to go meanwhile: once more
        return path

    def _used(self) -> Path:
        """This process's folder of names in use; those of processes that are gone are removed."""
        with self._turn:
            if self._links is None:
                folder = self._folder.parent
                for left in folder.glob("used-*"):
                    if not is_alive(int(left.name.split("-")[1])):
                        shutil.rmtree(left, ignore_errors=True)
                self._links = Path(tempfile.mkdtemp(prefix=f"used-{os.getpid()}-", dir=folder))
            return self._links

    def _blocks(self, part: FilePart) -> "_CachedObject":
        with self._turn:
            if self._new > self._limit // 16:
                self._sweep()
            if part not in self._open:
                self._folder.mkdir(0o700, parents=True, exist_ok=True)
                path = self._folder / part.object.replace("/", "_")
                digests = self._digests.setdefault(part, bytearray(_count(part.size) * _WIDTH))
                self._open[part] = _CachedObject(path, part, self._fetching(part), digests)
                if len(self._open) > _OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(part)
            return self._open[part]

    def _fetching(self, part: FilePart) -> Fetch:
        def fetch(start: int, end: int) -> bytes:
            data = self._storage.range(part.object, start, end)
            if len(data) != end - start:
                why = f"{self._storage.url}/{part.object} ends at byte {start + len(data)}"
                raise Damaged(f"{why} of {part.size}")
            with self._turn:
                self._new += len(data)
            return data

        return fetch

    def _sweep(self) -> None:
        """Remove the oldest objects until there is room."""
        self._new = 0
        objects = []  # when each was opened last, its bytes on disk, and where it is
        for path in self._folder.glob("*"):
            if path.suffix != ".map":
                with suppress(FileNotFoundError):
                    status = path.stat()
                    objects.append((_map_of(path).stat().st_mtime, status.st_blocks * 512, path))
        room, gone = self._limit, set()
        for at, (_, size, path) in enumerate(sorted(objects, reverse=True)):
            room -= size
            if room < 0 and at:
                path.unlink(missing_ok=True)
                _map_of(path).unlink(missing_ok=True)
                gone.add(path)
        for part in [part for part, blocks in self._open.items() if blocks.path in gone]:
            del self._open[part]


class _CachedObject:
    """The blocks of one object; `digests` are those of the blocks that this process has read."""

    def __init__(self, path: Path, part: FilePart, fetch: Fetch, digests: bytearray) -> None:
        self.path, self._part, self._fetch, self._digests = path, part, fetch, digests
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._data = os.open(path, flags, 0o600)
        self._map = os.open(_map_of(path), flags, 0o600)
        os.utime(_map_of(path))
        if os.fstat(self._data).st_size != part.size:
            os.ftruncate(self._data, part.size)
        if os.fstat(self._map).st_size != _count(part.size) * _WIDTH:
            os.ftruncate(self._map, _count(part.size) * _WIDTH)

    def __del__(self) -> None:
        with suppress(AttributeError):
            os.close(self._data)
            os.close(self._map)

    def read(self, start: int, end: int) -> bytes:
        end = min(end, self._part.size)
        if start >= end:
            return b""
        first, last = start // BLOCK, _count(end)
        self._fill(first, last)
        return os.pread(self._data, end - start, start)

    def link(self, path: Path) -> bool:
        """Fetch the whole object and link it under a path; False if it was swept meanwhile."""
        self._fill(0, _count(self._part.size))
        aside = path.with_name(f"{path.name}.{threading.get_ident()}")
        try:
            os.link(self.path, aside)
        except FileNotFoundError:
            return False
        if not os.path.sameopenfile(self._data, opened := os.open(aside, os.O_RDONLY)):
            aside.unlink()
        os.close(opened)
        if aside.exists():
            aside.rename(path)
        return path.exists()

    def _fill(self, first: int, last: int) -> None:
        """Fetch the blocks that are missing; each must be as this process first read it."""
        missing = [at for at in range(first, last) if not self._has(at)]
        while missing:  # as many that follow one another as one request may fetch
            begin, count = missing[0], 1
            while missing[count : count + 1] == [begin + count] and count < FETCHED // BLOCK:
                count += 1
            stop = min((begin + count) * BLOCK, self._part.size)
            self._keep(begin, self._fetch(begin * BLOCK, stop))
            missing = missing[count:]

    def _has(self, at: int) -> bool:
        known = os.pread(self._map, _WIDTH, at * _WIDTH)
        if known in (_NONE, b""):
            return False
        before = self._digests[at * _WIDTH : (at + 1) * _WIDTH]
        if before == known:
            return True  # compared before; nobody writes to a block that is here
        data = os.pread(self._data, BLOCK, at * BLOCK)
        if _digest(data) != known or before != _NONE:
            return False
        self._digests[at * _WIDTH : (at + 1) * _WIDTH] = known
        return True

    def _keep(self, first: int, data: bytes) -> None:
        for offset in range(0, len(data), BLOCK):
            at, block = first + offset // BLOCK, data[offset : offset + BLOCK]
            digest = _digest(block)
            place = slice(at * _WIDTH, (at + 1) * _WIDTH)
            if self._digests[place] not in (_NONE, digest):
                why = f"{self._part.object} is another object now than it was before"
                raise Damaged(why, at * BLOCK)
            self._digests[place] = digest
            os.pwrite(self._data, block, at * BLOCK)
            os.pwrite(self._map, digest, at * _WIDTH)


def _map_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.map")


def _count(size: int) -> int:
    return -(-size // BLOCK)


def _digest(block: bytes) -> bytes:
    return hashlib.sha256(block).digest()[:_WIDTH]


FRESH_S = 1.0  # for so long nobody asks for the index again


def disk_of(folder: Path) -> "RealDisk | ArchiveDisk":
    """The disk of a ledger: its folder, or the archive that the folder stands for."""
    url = archive_url(folder)
    return RealDisk(folder) if url is None else ArchiveDisk(folder, url)


class ArchiveDisk:
    """An archive for reading; threads may share it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self._storage = storage_of(url)
        self._cache = ObjectCache(folder, self._storage)
        self._turn = threading.Lock()
        self._files: dict[str, ArchivedFile] = {}
        self._tag = ""
        self._closed = -1  # streams, of the index that is known
        self._fetched_at = float("-inf")

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        if path == manifest.PATH:
            self._look()
        return index.read_file(self._file(path), start, end, self._cache.read)

    def local(self, path: str) -> Path:
        """The path of a whole file on this machine, until this process ends."""
        file = self._file(path)
        if len(file.parts) != 1:
            raise FileNotFoundError(2, "no such object", path)
        return self._cache.whole(file.parts[0])

    def names(self, folder: str) -> list[str]:
        if not folder:
            self._look()
        return index.folder_names(self._files, folder)

    def _file(self, path: str) -> ArchivedFile:
        if path not in self._files:
            raise FileNotFoundError(2, "no such file", f"{self.url}/{path}")
        return self._files[path]

    def _look(self) -> None:
        """The newest index; of one that is older than what is known, a stale answer, nothing."""
        with self._turn:
            if time.monotonic() - self._fetched_at < FRESH_S:
                return
            answer = self._storage.get(index.PATH, self._tag)
            self._fetched_at = time.monotonic()
            if answer is None or (self._tag and answer[1] == self._tag):
                return
            newest: Index = index.decode(answer[0], self.url)
            closed = manifest.decode_manifest(newest.files[manifest.PATH].data).next_seq
            if closed >= self._closed:
                self._files, self._tag, self._closed = newest.files, answer[1], closed

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
