"""What is sent to be imported, on its way to the disk: no more of it in memory than a piece.

A body is one file, or a form with several. How long it may be is counted by `sizes.py`.
"""

import re
from hashlib import sha256
from pathlib import Path

from anyio import to_thread
from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from api.http.problem import Problem

FILES_MAX = 1_000
PIECE = 1 << 20
_NAME = re.compile(r"[^\w.@+=-]+", re.ASCII)
Digests = list[tuple[str, str]]


async def sent_files(request: Request, folder: Path, name: str | None) -> Digests:
    """Every file that was sent, written there: its name and the SHA-256 of its content."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _of_form(request, folder)
    if kind == "application/x-www-form-urlencoded":
        sentence = "send a file as it is, or files as multipart/form-data"
        raise Problem("unsupported-media-type", sentence)
    return [await _whole(request, folder / _plain(name or "upload"))]


async def _whole(request: Request, path: Path) -> tuple[str, str]:
    digest, size = sha256(), 0
    with path.open("xb") as file:
        async for piece in request.stream():
            digest.update(piece)
            size += len(piece)
            await to_thread.run_sync(file.write, piece)
    if not size:
        raise Problem("invalid", "nothing was sent: the body is the file")
    return path.name, digest.hexdigest()


async def _of_form(request: Request, folder: Path) -> Digests:
    """The form's files, which Starlette has put into temporary ones."""
    try:
        async with request.form(max_files=FILES_MAX, max_fields=10) as form:
            files = [one for _, one in form.multi_items() if isinstance(one, UploadFile)]
            found = [await _copied(one, folder, place) for place, one in enumerate(files)]
    except MultiPartException as reason:
        raise Problem("bad-request", f"the form cannot be read: {reason.message}") from None
    if not found:
        raise Problem("invalid", "there is no file in the form")
    return found


async def _copied(file: UploadFile, folder: Path, place: int) -> tuple[str, str]:
    path = folder / _plain(file.filename or "upload")
    if path.exists():
        path = folder / f"{place}-{path.name}"
    digest = sha256()
    with path.open("xb") as out:
        while piece := await file.read(PIECE):
            digest.update(piece)
            await to_thread.run_sync(out.write, piece)
    return path.name, digest.hexdigest()


def _plain(name: str) -> str:
    """A name that is no path and no surprise."""
    return _NAME.sub("-", name.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".-")[:100] or "upload"
