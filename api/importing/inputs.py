"""What an import is asked to take in: files, folders spread out, a month of IRC files as one."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from api.importing.copies import MONTH, Copy, month_files
from formats.cuts import Part


class InputFile(Struct, frozen=True):
    """One file, or one month in a folder, as it was named, and how many bytes it has.

    Of a very large file the copy is made before it is cut into parts.
    """

    name: str
    path: Path
    size: int
    part: Part | None = None
    copy: Copy | None = None


def inputs(paths: Iterable[Path], ledger: Path) -> Iterator[InputFile]:
    """In the order of the arguments; a folder's files in the order of their names, or the folder
    itself if no file is in it.

    The ledger may lie in such a folder: what is in it is in it.
    """
    for path in paths:
        spread = _spread(path, ledger.absolute())
        first = next(spread, None)
        if first is not None:
            yield first
            yield from spread
        elif path.absolute() != ledger.absolute():
            yield InputFile(_named(path), path, 0)


def _spread(path: Path, ledger: Path) -> Iterator[InputFile]:
    if not path.is_dir():
        yield InputFile(_named(path), path, path.stat().st_size if path.is_file() else 0)
    elif is_month(path):
        yield InputFile(_named(path), path, sum(file.stat().st_size for file in month_files(path)))
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
    return (folder / "hdb").is_file() or all((folder / part).exists() for part in MONTH)
