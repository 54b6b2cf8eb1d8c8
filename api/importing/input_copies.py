"""List the files that an import is asked to read, and take one copy of each.

A file's bytes are taken once: what is hashed is what is read, whatever becomes of the file. A small
file is kept in memory, a larger one and a folder in a copy beside the ledger, which nobody else
writes. Readers are given that and never the file itself. A file that changed before all of it was
taken is refused, because half of one text and half of another is neither. Of hands that a file
tells and no record can be of, the text is kept as a note of the match.
"""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import BinaryIO, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from api.viewpoints.hand_selection import LEFT_OUT_NOTE
from events.match import SourceNoted
from formats.file_parts import FilePart
from formats.phh.documents import is_header
from formats.source import Refused, Skipped, lines

LINE_MAX = 1 << 20  # bytes: no line of any format is near
SMALL = 1 << 20  # bytes: up to so many are kept in memory
CHANGED = "it changed while it was read: import it again when nobody writes it"
_UNCOPIED = "there is no room beside the ledger for the copy that is read"
_BLOCK = 1 << 20
_FRESH_NS = 2_000_000_000  # within one tick of the clock a file can change and keep its time
IRC_MONTH_PARTS = ("hdb", "hroster", "pdb")


class InputCopy(NamedTuple):
    """The bytes that are read in place of a file or a folder, and their SHA-256 in hex."""

    content: bytes | Path
    sha256: str


class _FileState(NamedTuple):
    """The stat fields by which a file is known to be unchanged."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class InputFile(Struct, frozen=True):
    """A file, or an IRC month in a folder, with its name and its size in bytes.

    Of a very large file the copy is made before it is cut into parts.
    """

    name: str
    path: Path
    size: int
    part: FilePart | None = None
    copy: InputCopy | None = None


def inputs(paths: Iterable[Path], ledger: Path) -> Iterator[InputFile]:
    """The files below these paths, in the order of the arguments, and by name in a folder; a folder
    without files stands for itself, and a ledger folder below one of them is skipped."""
    for path in paths:
        spread = _files_below(path, ledger.absolute())
        first = next(spread, None)
        if first is not None:
            yield first
            yield from spread
        elif path.absolute() != ledger.absolute():
            yield InputFile(_printable_name(path), path, 0)


def _files_below(path: Path, ledger: Path) -> Iterator[InputFile]:
    if not path.is_dir():
        yield InputFile(_printable_name(path), path, path.stat().st_size if path.is_file() else 0)
    elif is_irc_month(path):
        yield InputFile(
            _printable_name(path), path, sum(file.stat().st_size for file in irc_month_files(path))
        )
    elif path.absolute() != ledger:
        for one in sorted(path.iterdir()):
            circular = one.is_symlink() and one.is_dir()
            if not one.name.startswith(".") and not circular and (one.is_dir() or one.is_file()):
                yield from _files_below(one, ledger)


def _printable_name(path: Path) -> str:
    """Its name in reports and in the ledger, which are UTF-8: a file's name may be any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def is_irc_month(folder: Path) -> bool:
    """Whether a folder has the three parts of an IRC month; with one of them it claims to be."""
    return (folder / "hdb").is_file() or all((folder / part).exists() for part in IRC_MONTH_PARTS)


def input_copy(path: Path, place: Path, small: int = SMALL) -> InputCopy:
    """The copy of a file, in memory if it is small, else at `place`; or of a folder."""
    if path.is_dir():
        return _folder_copy(path, place)
    if (size := path.stat().st_size) <= small:
        pieces: list[bytes] = []
        taken = _copy_bytes(path, pieces.append, size)
        return InputCopy(b"".join(pieces), taken[0])
    with place.open("xb") as out:
        return InputCopy(place, _copy_bytes(path, out.write)[0])


@contextmanager
def opened_copy(path: Path, place: Path) -> Iterator[InputCopy]:
    """The bytes of a file for as long as they are read."""
    try:
        yield input_copy(path, place)
    finally:
        remove_copy(place)


def remove_copy(place: Path) -> None:
    """Remove the copy at this path, if there is one."""
    if place.is_dir():
        rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):
            place.unlink(missing_ok=True)


def irc_month_files(folder: Path) -> list[Path]:
    """The files that make a month of the IRC database."""
    return sorted(
        one
        for part in IRC_MONTH_PARTS
        for one in (folder / part, *(folder / part).glob("pdb.*"))
        if one.is_file()
    )


def _folder_copy(folder: Path, place: Path) -> InputCopy:
    """Every file of a month, all of them as they were at one moment."""
    files = irc_month_files(folder)
    states: dict[Path, _FileState] = {}
    whole = hashlib.sha256()
    for file in files:
        name = file.relative_to(folder)
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        with (place / name).open("xb") as out:
            digest, states[file] = _copy_bytes(file, out.write)
        whole.update(os.fsencode(name) + f" {digest}\n".encode())
    if irc_month_files(folder) != files or any(
        _state(os.stat(file)) != states[file] for file in files
    ):
        raise Refused(0, CHANGED)
    for part in IRC_MONTH_PARTS:  # one without files is there all the same
        if (folder / part).is_dir():
            (place / part).mkdir(parents=True, exist_ok=True)
    return InputCopy(place, whole.hexdigest())


def _copy_bytes(
    path: Path, write: Callable[[bytes], object], at_most: int | None = None
) -> tuple[str, _FileState]:
    """The digest of all that was given to `write`, and the state of the file that it is."""
    with _opened(path) as raw:
        before = _state(os.fstat(raw.fileno()))
        digest, size = hashlib.sha256(), 0
        number, begun = 1, 0  # the line at which a block ends, and how long it is by then
        for block in _blocks(raw):
            # A line without end is refused on the way, before any reader meets it.
            first = max(block.rfind(b"\n"), block.rfind(b"\r"))
            if first < 0:
                begun += len(block)
            else:
                number, begun = number + block.count(b"\n"), 0
            if begun > LINE_MAX:
                raise Refused(number, f"a line of more than {LINE_MAX} bytes")
            size += len(block)
            if at_most is not None and size > at_most:
                raise Refused(0, CHANGED)
            digest.update(block)
            try:
                write(block)
            except OSError as failure:
                raise Refused(0, f"{_UNCOPIED}: {failure.strerror or failure}") from None
        after = _state(os.fstat(raw.fileno()))
        try:
            there = _state(os.stat(path))
        except OSError:
            raise Refused(0, CHANGED) from None
        if not before == after == there or size != after.size:
            raise Refused(0, CHANGED)
        if time.time_ns() - after.modified_ns < _FRESH_NS:
            raw.seek(0)
            again = hashlib.sha256()
            for block in _blocks(raw):
                again.update(block)
            if again.digest() != digest.digest():
                raise Refused(0, CHANGED)
    return digest.hexdigest(), after


def _opened(path: Path) -> BinaryIO:
    """The file itself, though another may take its name; what is no file is not waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Refused(0, "this is no file")
    return os.fdopen(handle, "rb", buffering=0)


def _state(found: os.stat_result) -> _FileState:
    return _FileState(
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    )


def _blocks(raw: BinaryIO) -> Iterator[bytes]:
    while block := raw.read(_BLOCK):
        yield block


TEXT_MAX = 2_000  # letters of a hand's text that are kept
_ONE_LINE = {"acpc", "irc"}  # formats in which a hand is a line


def with_texts(
    content: bytes | Path, format_name: str, skipped: Sequence[Skipped]
) -> list[Skipped]:
    """Skipped hands, each with the source's text up to the next hand or an empty line."""
    if isinstance(content, Path) and content.is_dir():
        content = content / "hdb"
    wanted = {one.line for one in skipped}
    texts: dict[int, str] = {}
    at = None
    for number, line in enumerate(lines(content), 1) if wanted else ():
        ends = not line.strip() or (format_name == "phh" and is_header(line))
        at = number if number in wanted else None if ends or format_name in _ONE_LINE else at
        if at is not None and len(texts.get(at, "")) < TEXT_MAX:
            texts[at] = (texts.get(at, "") + line)[:TEXT_MAX]
    return [replace(one, text=texts.get(one.line, "")) for one in skipped]


def skipped_notes(format_name: str, skipped: Iterable[Skipped]) -> Iterator[SourceNoted]:
    """A note for each: its line and the reason, and its text."""
    for one in skipped:
        yield SourceNoted(format_name, LEFT_OUT_NOTE, f"line {one.line}\n{one.reason}", one.text)
