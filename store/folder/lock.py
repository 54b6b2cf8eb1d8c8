"""One writer at a time: the operating system's lock on a file that says who holds it."""

import fcntl
import os
from pathlib import Path

import msgspec


class Held(Exception):
    """Another writer has the ledger."""


class Holder(msgspec.Struct, frozen=True):
    """Who writes: what it does, and which process it is."""

    doing: str
    process: int


class Lock:
    """Held from construction until `release`, or until the process is gone."""

    def __init__(self, folder: Path, doing: str) -> None:
        self._file = (folder / "lock").open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.truncate(0)
            self._file.write(msgspec.json.encode(Holder(doing, os.getpid())))
            self._file.flush()
        except BlockingIOError:
            self._file.seek(0)
            holder = _said(self._file.read())
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
        told = msgspec.json.decode(text, type=Holder)
    except (FileNotFoundError, ValueError):
        return None
    return _said(text) if _is_alive(told.process) else None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's process, and alive
    return True


def _said(text: bytes) -> str:
    try:
        told = msgspec.json.decode(text, type=Holder)
    except ValueError:
        return "another process"
    return f"{told.doing} (process {told.process})"
