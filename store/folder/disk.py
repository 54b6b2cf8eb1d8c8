"""The disk below a ledger: its file operations, and the lock of its one writer.

Each is named after what it promises. `write` promises nothing before `sync`; a new or renamed name
promises nothing before `sync_folder`. The tests put a disk under the ledger that takes these words
seriously.

The lock is the operating system's, on a file that says who holds it: one writer at a time.

Outside of it is the user's cache folder, for what can be made or fetched again: values of cards,
pieces of archives.
"""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol

import msgspec

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_AT_ONCE = 1 << 20  # bytes that are digested
_sync = getattr(os, "fdatasync", os.fsync)  # not every system has the faster one
CACHE = "MUCKRAKE_CACHE"  # where a user wants what can be made again
_ARCHIVES = "archives"
_ORIGIN = "archive.url"  # in a folder that stands for an archive: which


class Output(Protocol):
    """A file being written at its end."""

    def write(self, data: bytes) -> None: ...
    def sync(self) -> None: ...
    def close(self) -> None: ...


class Readable(Protocol):
    """Files by path, for reading."""

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes: ...


class Disk(Readable, Protocol):
    """Files by path below the ledger's folder."""

    def create(self, path: str) -> Output:
        """A new empty file; an old one of that name is an error."""
        ...

    def extend(self, path: str, size: int) -> Output:
        """An existing file, cut to `size`, to be written on."""
        ...

    def publish(self, path: str, data: bytes) -> None:
        """Replace a small file at once for readers; a power loss may undo it."""
        ...

    def names(self, folder: str) -> list[str]: ...
    def rename(self, old: str, new: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def make_folder(self, folder: str) -> None: ...
    def sync_folder(self, folder: str) -> None: ...


def make_durable_folder(folder: Path, mode: int = 0o777) -> None:
    """The folder, in this mode, and those above it, each name durable in the one that holds it."""
    if not folder.is_dir():
        make_durable_folder(folder.absolute().parent)
        folder.mkdir(mode, exist_ok=True)
        RealDisk(folder.absolute().parent).sync_folder("")


def sha256_of(read: Callable[[str, int, int], bytes], path: str) -> tuple[str, int]:
    """The SHA-256 of a file, in hex, and its size; bounded memory for any size."""
    digest, size = hashlib.sha256(), 0
    while data := read(path, size, size + _AT_ONCE):
        digest.update(data)
        size += len(data)
    return digest.hexdigest(), size


def replace_file(disk: Disk, path: str, data: bytes) -> None:
    """A file in the place of the old one, as a whole: aside, synced, renamed; durable on return."""
    output = create_anew(disk, f"{path}.tmp")
    output.write(data)
    output.sync()
    output.close()
    disk.rename(f"{path}.tmp", path)
    disk.sync_folder(path.rpartition("/")[0])


def create_anew(disk: Disk, path: str) -> Output:
    """A new empty file; one of that name that a crash has left goes."""
    folder, _, name = path.rpartition("/")
    if name in disk.names(folder):
        disk.remove(path)
    return disk.create(path)


class RealDisk:
    """The operating system's files below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def local(self, path: str) -> Path:
        """The path of a file on this machine."""
        return self.root / path

    def create(self, path: str) -> Output:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        return _RealOutput(os.open(self.root / path, flags, 0o644))

    def extend(self, path: str, size: int) -> Output:
        handle = os.open(self.root / path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        if os.fstat(handle).st_size != size:
            os.ftruncate(handle, size)
        return _RealOutput(handle)

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        with (self.root / path).open("rb") as file:
            file.seek(start)
            return file.read() if end is None else file.read(end - start)

    def publish(self, path: str, data: bytes) -> None:
        handle = os.open(self.root / path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.pwrite(handle, data, 0)
        finally:
            os.close(handle)

    def names(self, folder: str) -> list[str]:
        return sorted(os.listdir(self.root / folder))

    def rename(self, old: str, new: str) -> None:
        (self.root / old).rename(self.root / new)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def make_folder(self, folder: str) -> None:
        (self.root / folder).mkdir(parents=True, exist_ok=True)

    def sync_folder(self, folder: str) -> None:
        handle = os.open(self.root / folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class _RealOutput:
    def __init__(self, handle: int) -> None:
        self._handle = handle

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._handle, rest) :]

    def sync(self) -> None:
        _sync(self._handle)

    def close(self) -> None:
        os.close(self._handle)


def now_ms() -> int:
    """The time of day in milliseconds, as the envelope of an event keeps it."""
    return time.time_ns() // 1_000_000


def cache_folder() -> Path:
    """`$MUCKRAKE_CACHE`, else a user's own."""
    if chosen := os.environ.get(CACHE):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "muckrake"


def archive_folder(url: str) -> Path:
    """The folder that stands for an archive: readers take it in place of a ledger's."""
    folder = cache_folder() / _ARCHIVES / hashlib.sha256(url.encode()).hexdigest()[:16]
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if not (folder / _ORIGIN).exists():
        aside = folder / f"{_ORIGIN}.{os.getpid()}"
        aside.write_text(url, "utf-8")
        aside.rename(folder / _ORIGIN)
    return folder


def archive_url(folder: Path) -> str | None:
    """The URL of the archive that a folder stands for; None of a ledger's own folder."""
    if folder.absolute().parent != (cache_folder() / _ARCHIVES).absolute():
        return None
    try:
        return (folder / _ORIGIN).read_text("utf-8")
    except FileNotFoundError:
        return None


class LedgerLocked(Exception):
    """Another writer has the ledger."""


class ReadOnly(LedgerLocked):
    """An archive: nothing is written there but by `push`."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url} is an archive, which is only read: muckrake pull makes a ledger of it"
        )


class NoLocks(LedgerLocked):
    """A system on which nobody can be kept from writing at the same time: nothing is written."""

    def __init__(self) -> None:
        super().__init__("this system has no lock of files (flock): muckrake only reads here")


def lock_file(file: IO[bytes] | int, *, shared: bool = False, waits: bool = True) -> None:
    """Keep others from an open file until it is closed; BlockingIOError if they have it and we do
    not wait."""
    if fcntl is None:
        raise NoLocks
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(file, kind if waits else kind | fcntl.LOCK_NB)


class LockHolder(msgspec.Struct, frozen=True):
    """The writer that holds the lock: what it does, and its process."""

    doing: str
    process: int


class Lock:
    """The writer's lock on a ledger: held until `release`, or until the process is gone."""

    def __init__(self, folder: Path, doing: str) -> None:
        if (url := archive_url(folder)) is not None:
            raise ReadOnly(url)
        self._file = (folder / "lock").open("a+b")
        try:
            lock_file(self._file, waits=False)
            self._file.truncate(0)
            self._file.write(msgspec.json.encode(LockHolder(doing, os.getpid())))
            self._file.flush()
        except BlockingIOError:
            self._file.seek(0)
            holder = _holder_in_words(self._file.read())
            self._file.close()
            raise LedgerLocked(
                f"{folder} is being written by {holder}: only one may write"
            ) from None
        except BaseException:
            self._file.close()
            raise

    def release(self) -> None:
        """Let another process write."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


def lock_owner(folder: Path) -> str | None:
    """The command that writes now, if any; asking takes no lock, and so never refuses a writer."""
    try:
        text = (folder / "lock").read_bytes()
        writer = msgspec.json.decode(text, type=LockHolder)
    except (FileNotFoundError, ValueError):
        return None
    return _holder_in_words(text) if is_alive(writer.process) else None


def held_since(folder: Path) -> int | None:
    """The time when the writer took the lock, in ms since 1970; None if nobody writes."""
    try:
        at = (folder / "lock").stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return None
    return at if lock_owner(folder) is not None else None


def is_alive(process: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's process, and alive
    return True


def _holder_in_words(text: bytes) -> str:
    try:
        writer = msgspec.json.decode(text, type=LockHolder)
    except ValueError:
        return "another process"
    return f"{writer.doing} (process {writer.process})"
