"""What is sent to be imported, on its way to the disk: no more of it in memory than a piece.

A body is one file, or a form with several, of which one is open at a time. How long it may be is
counted by `request_limits.py`, how much a key may send by `quotas.py`. Nothing is unpacked.
"""

import re
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread
from fastapi import Request
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from api.http.quotas import Allowance
from api.problem import Problem

FILES_MAX = 1_000
_NAME = re.compile(r"[^\w.@+=-]+", re.ASCII)
Digests = list[tuple[str, str]]


async def sent_files(
    request: Request, folder: Path, name: str | None, allowance: Allowance
) -> Digests:
    """Every file that was sent, written there: its name and the SHA-256 of its content."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    files = _Files(folder, allowance)
    try:
        if kind == b"multipart/form-data":
            await _of_form(request, options.get(b"boundary", b""), files)
        elif kind == b"application/x-www-form-urlencoded":
            sentence = "send a file as it is, or files as multipart/form-data"
            raise Problem("unsupported-media-type", sentence)
        else:
            await _whole(request, name or "upload", files)
    finally:
        files.close()
    return files.done


def said_length(request: Request) -> int:
    """How long a body says that it is; 0 if it does not say."""
    return int(request.headers.get("content-length", "0"))


async def _whole(request: Request, name: str, files: "_Files") -> None:
    files.begin(name)
    size = 0
    async for piece in request.stream():
        size += len(piece)
        await to_thread.run_sync(files.add, piece)
    if not size:
        raise Problem("invalid", "nothing was sent: the body is the file")
    files.end()


async def _of_form(request: Request, boundary: bytes, files: "_Files") -> None:
    form = _Form(files)
    try:
        parser = MultipartParser(boundary, form.callbacks())  # type: ignore[arg-type]
        if not boundary:
            raise FormParserError("it names no boundary")
        async for piece in request.stream():
            await to_thread.run_sync(parser.write, piece)
        parser.finalize()
    except FormParserError as reason:
        raise Problem("bad-request", f"the form cannot be read: {reason}") from None
    if not form.ended:
        raise Problem("bad-request", "the form cannot be read: it ends in the middle")
    if not files.done:
        raise Problem("invalid", "there is no file in the form")


class _Form:
    """The parts of a form as its parser tells them; those that are no file are passed over."""

    def __init__(self, files: "_Files") -> None:
        self.ended = False
        self._files = files
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self._in_file = False

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._headers.clear,
            "on_header_begin": self._header,
            "on_header_field": self._more_name,
            "on_header_value": self._more_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._begin,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._over,
        }

    def _header(self) -> None:
        self._name = self._value = b""

    def _more_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _more_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value

    def _begin(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"filename")
        self._in_file = name is not None
        if name is not None:
            self._files.begin(name.decode("utf-8", "replace") or "upload")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._files.add(data[start:end])

    def _end(self) -> None:
        if self._in_file:
            self._files.end()

    def _over(self) -> None:
        self.ended = True


class _Files:
    """The files that came, in a folder, and the one that is coming."""

    def __init__(self, folder: Path, allowance: Allowance) -> None:
        self.done: Digests = []
        self._folder = folder
        self._allowance = allowance
        self._file: BinaryIO | None = None
        self._path = folder
        self._digest = sha256()

    def begin(self, name: str) -> None:
        """The next one: under its own name, or with its place before it if that is taken."""
        place = len(self.done)
        if place >= FILES_MAX:
            raise Problem("too-large", f"a form may have {FILES_MAX:,} files")
        self._path = self._folder / _plain(name)
        while self._path.exists():
            self._path = self._folder / f"{place}-{self._path.name}"
        self._file = self._path.open("xb")
        self._digest = sha256()

    def add(self, piece: bytes) -> None:
        """So much more of it."""
        assert self._file is not None
        self._allowance.take(len(piece))
        self._digest.update(piece)
        self._file.write(piece)

    def end(self) -> None:
        """It is whole."""
        self.close()
        self.done.append((self._path.name, self._digest.hexdigest()))

    def close(self) -> None:
        """Nothing more of it comes."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _plain(name: str) -> str:
    """A name that is no path and no surprise."""
    return _NAME.sub("-", name.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".-")[:100] or "upload"
