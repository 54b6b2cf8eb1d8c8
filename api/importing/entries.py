"""What an import is asked to take in: files, folders spread out, a month of IRC files as one.

A file is named by its content, so that the same content is the same match wherever it lies.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from formats.cuts import Part
from formats.told import Refused

ID = 12  # hex digits of a match's name
LINE_MAX = 1 << 20  # bytes: no line of any format is near
_BLOCK = 1 << 20
_MONTH = ("hdb", "hroster", "pdb")


class Entry(Struct, frozen=True):
    """One file, or one month in a folder, as it was named, and how many bytes it has.

    It may be a part of a very large file, whose digest is then known.
    """

    name: str
    path: Path
    size: int
    part: Part | None = None
    digest: str = ""


def entries(paths: Iterable[Path], ledger: Path) -> Iterator[Entry]:
    """In the order of the arguments; a folder's files in the order of their names.

    The ledger may lie in such a folder: what is in it is in it.
    """
    for path in paths:
        yield from _spread(path, ledger.absolute())


def digest(entry: Entry) -> str:
    """The content's SHA-256 in hex; a month's is made of its files' names and contents."""
    if entry.digest:
        return entry.digest
    if not entry.path.is_dir():
        return _digest(entry.path)
    whole = hashlib.sha256()
    for file in _files(entry.path):
        whole.update(os.fsencode(file.relative_to(entry.path)) + f" {_digest(file)}\n".encode())
    return whole.hexdigest()


def _spread(path: Path, ledger: Path) -> Iterator[Entry]:
    if not path.is_dir():
        yield Entry(_named(path), path, path.stat().st_size if path.is_file() else 0)
    elif is_month(path):
        yield Entry(_named(path), path, sum(file.stat().st_size for file in _files(path)))
    elif path.absolute() != ledger:
        for one in sorted(path.iterdir()):
            circular = one.is_symlink() and one.is_dir()
            if not one.name.startswith(".") and not circular and (one.is_dir() or one.is_file()):
                yield from _spread(one, ledger)


def _named(path: Path) -> str:
    """Its name in reports and in the ledger, which are UTF-8: a file's name may be any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def is_month(folder: Path) -> bool:
    """Whether a folder has the three parts of an IRC month; with one of them it claims to be."""
    return (folder / "hdb").is_file() or all((folder / part).exists() for part in _MONTH)


def _files(folder: Path) -> list[Path]:
    """The files that make a month."""
    return sorted(
        one
        for part in _MONTH
        for one in (folder / part, *(folder / part).glob("pdb.*"))
        if one.is_file()
    )


def _digest(path: Path) -> str:
    """One file's; a line without end is refused on the way, before any reader meets it."""
    found = hashlib.sha256()
    number, begun = 1, 0
    with path.open("rb") as raw:
        while block := raw.read(_BLOCK):
            found.update(block)
            first = _line_end(block)
            if first < 0:
                begun += len(block)
            else:
                number, begun = number + block.count(b"\n"), 0
            if begun > LINE_MAX:
                raise Refused(number, f"a line of more than {LINE_MAX} bytes")
    return found.hexdigest()


def _line_end(block: bytes) -> int:
    return max(block.rfind(b"\n"), block.rfind(b"\r"))
