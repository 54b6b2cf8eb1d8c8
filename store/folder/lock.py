"""One writer at a time: the operating system's lock on a file that says who holds it."""

import os
from pathlib import Path
from typing import IO

import msgspec

from store.folder.disk import origin_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Held(Exception):
    """Another writer has the ledger."""


class ReadOnly(Held):
    """An archive: nothing is written there but by `push`."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url} is an archive, which is only read: muckrake pull makes a ledger of it"
        )


class NoLocks(Held):
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


class Holder(msgspec.Struct, frozen=True):
    """Who writes: what it does, and which process it is."""

    doing: str
    process: int


class Lock:
    """Held from construction until `release`, or until the process is gone."""

    def __init__(self, folder: Path, doing: str) -> None:
        if (url := origin_of(folder)) is not None:
            raise ReadOnly(url)
        self._file = (folder / "lock").open("a+b")
        try:
            lock_file(self._file, waits=False)
            self._file.truncate(0)
            self._file.write(msgspec.json.encode(Holder(doing, os.getpid())))
            self._file.flush()
        except BlockingIOError:
            self._file.seek(0)
            holder = _holder_in_words(self._file.read())
            self._file.close()
            raise Held(f"{folder} is being written by {holder}: only one may write") from None
        except BaseException:
            self._file.close()
            raise

    def release(self) -> None:
        """Somebody else may write now."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


def holder(folder: Path) -> str | None:
    """Who writes now, by his own word; asking takes no lock, and so never refuses a writer."""
    try:
        text = (folder / "lock").read_bytes()
        writer = msgspec.json.decode(text, type=Holder)
    except (FileNotFoundError, ValueError):
        return None
    return _holder_in_words(text) if is_alive(writer.process) else None


def held_since(folder: Path) -> int | None:
    """When the present writer took the lock, in milliseconds since 1970; None if nobody writes."""
    try:
        at = (folder / "lock").stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return None
    return at if holder(folder) is not None else None


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
        writer = msgspec.json.decode(text, type=Holder)
    except ValueError:
        return "another process"
    return f"{writer.doing} (process {writer.process})"
