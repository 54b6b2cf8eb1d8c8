"""Uploads: files of a request saved to the disk, and how much one key may send.

A body is one file, or a form with several, of which one is open at a time: no more of it is in
memory than a piece. How long it may be is counted by `RequestLimits`. Nothing is unpacked.

A key may have so many jobs at once, bytes and hands in a day, and room on the disk. All of it is
counted in the files of the jobs, so that workers and restarts agree. A job counts for a day from
its beginning, whatever came of it; what is being sent counts as it comes.
"""

import re
import shutil
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread
from fastapi import Request
from msgspec import Struct
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from api.http.credentials import locked_private_folder
from api.http.limits import Limits
from api.jobs.jobs import END_STATES, Jobs
from api.problem import Problem
from store.folder.disk import now_ms

DAY_S = 24 * 3600
SENDING_S = 120.0  # who has sent nothing for so long sends nothing more; limits end him sooner
CHECK_EVERY_BYTES = 1 << 20  # after so many more it is looked how full the disk is


class KeyUsage(Struct):
    """A key's jobs that are not over, and the bytes and hands of its jobs of the last day."""

    jobs: int = 0
    bytes: int = 0
    hands: int = 0


class UploadAllowance:
    """The bytes that a body may still have: of this key today, and while the disk has room."""

    def __init__(self, folder: Path, left: int | None, keep_free: int) -> None:
        self._folder = folder
        self._left = left
        self._keep_free = keep_free
        self._unseen = 0

    def take(self, size: int) -> None:
        """Count bytes that are about to be written, and refuse too many."""
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise Problem("too-many-requests", "this key has sent all it may in a day").after(
                    DAY_S / 24
                )
        self._unseen += size
        if self._unseen >= CHECK_EVERY_BYTES:
            self._unseen = 0
            check_disk(self._folder, self._keep_free)


def admit_upload(
    jobs: Jobs, owner: str, limits: Limits, *, size: int = 0, hands: int = 0, again: bool = False
) -> tuple[Path, UploadAllowance]:
    """A folder for one more job of this key, and what may be sent into it; refused in a sentence.

    Who comes `again` with a key for idempotency may have one more on the way: he is answered with
    the job that there is.
    """
    with locked_private_folder(
        jobs.ledger
    ):  # two that come together are counted one after the other
        used = key_usage(jobs, owner)
        if limits.key_jobs and used.jobs >= limits.key_jobs + again:
            sentence = f"{used.jobs} jobs of this key are at work or wait, and it may have no more"
            raise Problem("too-many-requests", f"{sentence}: one must be over first").after(10)
        _check_daily("bytes", "send", used.bytes, size, limits.key_bytes)
        _check_daily("hands", "ask for", used.hands, hands, limits.key_hands)
        check_disk(jobs.ledger, limits.keep_free + size)
        left = limits.key_bytes - used.bytes if limits.key_bytes else None
        return jobs.room(owner), UploadAllowance(jobs.ledger, left, limits.keep_free)


def key_usage(jobs: Jobs, owner: str) -> KeyUsage:
    """A key's usage, by the files of its jobs."""
    used, since = KeyUsage(), now_ms() - DAY_S * 1000
    for job in jobs.every():
        if job.owner != owner:
            continue
        progress = jobs.progress(job)
        over = progress.state in END_STATES
        used.jobs += not over
        if job.at >= since:
            used.bytes += job.size
            used.hands += max(progress.hands, 0 if over else job.request.get("asked") or 0)
    for room in jobs.sending(owner):
        with suppress(FileNotFoundError):  # it has just become nothing
            sent = [path.stat() for path in (room, *(room / "upload").iterdir())]
            if max(one.st_mtime for one in sent) > time.time() - SENDING_S:
                used.jobs += 1
                used.bytes += sum(one.st_size for one in sent[1:])
    return used


def check_disk(folder: Path, size: int) -> None:
    """Refuse a size that would leave the ledger itself no room to go on."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < size:
        sentence = f"the disk of the ledger has {free >> 20} MiB left, and this wants {size >> 20}"
        raise Problem("no-room", f"{sentence}: nothing was begun")


def _check_daily(what: str, does: str, used: int, more: int, most: int) -> None:
    if most and used + more > most:
        sentence = f"a key may {does} {most:,} {what} in a day: {used:,} are counted already"
        raise Problem("too-many-requests", f"{sentence}, and this is {more:,}").after(DAY_S / 24)


FILES_MAX = 1_000
_NAME = re.compile(r"[^\w.@+=-]+", re.ASCII)
Digests = list[tuple[str, str]]


async def save_files(
    request: Request, folder: Path, name: str | None, allowance: UploadAllowance
) -> Digests:
    """Save every file of a request into a folder; each one's name and SHA-256."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    files = _SavedFiles(folder, allowance)
    try:
        if kind == b"multipart/form-data":
            form, boundary = _FormParser(files), options.get(b"boundary", b"")
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
        elif kind == b"application/x-www-form-urlencoded":
            sentence = "send a file as it is, or files as multipart/form-data"
            raise Problem("unsupported-media-type", sentence)
        else:
            files.begin(name or "upload")
            size = 0
            async for piece in request.stream():
                size += len(piece)
                await to_thread.run_sync(files.add, piece)
            if not size:
                raise Problem("invalid", "nothing was sent: the body is the file")
            files.end()
    finally:
        files.close()
    return files.done


def declared_length(request: Request) -> int:
    """A body's length as its header declares it; 0 without one."""
    return int(request.headers.get("content-length", "0"))


class _FormParser:
    """Callbacks for the parser of a multipart form; parts that are no file are passed over."""

    def __init__(self, files: "_SavedFiles") -> None:
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


class _SavedFiles:
    """The files that came, in a folder, and the one that is coming."""

    def __init__(self, folder: Path, allowance: UploadAllowance) -> None:
        self.done: Digests = []
        self._folder = folder
        self._allowance = allowance
        self._file: BinaryIO | None = None
        self._path = folder
        self._digest = sha256()

    def begin(self, name: str) -> None:
        """Begin the next file: under its own name, or with its place before it if that is taken."""
        place = len(self.done)
        if place >= FILES_MAX:
            raise Problem("too-large", f"a form may have {FILES_MAX:,} files")
        self._path = self._folder / _plain_file_name(name)
        while self._path.exists():
            self._path = self._folder / f"{place}-{self._path.name}"
        self._file = self._path.open("xb")
        self._digest = sha256()

    def add(self, piece: bytes) -> None:
        """Write a chunk of the current file."""
        assert self._file is not None
        self._allowance.take(len(piece))
        self._digest.update(piece)
        self._file.write(piece)

    def end(self) -> None:
        """End the current file."""
        self.close()
        self.done.append((self._path.name, self._digest.hexdigest()))

    def close(self) -> None:
        """Close a file that did not come whole."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _plain_file_name(name: str) -> str:
    """A file name without folders and odd characters."""
    return _NAME.sub("-", name.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".-")[:100] or "upload"
