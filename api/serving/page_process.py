"""The process that makes an answer: the same application over the asker's snapshot; what is kept.

It tells the server how far it is. Its answer lies in a file, beside the digest of what it is about,
until that is another.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.datastructures import Headers
from starlette.types import ASGIApp

from api.http.ask import Caller
from api.http.ledger_service import LedgerService, Settings
from api.http.limits import Limits
from api.jobs.jobs import FOLDER
from api.questions.verdict_files import program
from dealer.worker import end_with_parent, ignore_ctrl_c
from store.folder.disk import CACHE, NoLocks, lock_file

DECIDING = ("analytics", "api", "engine", "events", "odds", "store")  # folders of the program
SECONDS_MAX = 600.0  # no page takes longer
NICE = 5  # those who wait for anything else go first
TELL_S = 0.25
KEPT_MAX = 400  # answers, in files
HEADERS = frozenset(  # of an answer that are kept with it; the server adds the others
    {"content-type", "etag", "cache-control", "vary", "link", "content-disposition"}
    | {"content-security-policy", "cross-origin-resource-policy"}
)


class PageRequest(Struct, frozen=True):
    """All that decides an answer, but for the ledger and the program."""

    path: str  # as it was sent
    query: str
    scheme: str
    host: str
    caller: str | None
    scopes: tuple[str, ...]
    view: str
    matches: tuple[str, ...]
    framers: tuple[str, ...]
    accept: str
    part: bool  # of a page, for a script

    @property
    def digest(self) -> str:
        """What its file is called."""
        return sha256(program(DECIDING).encode() + msgspec.msgpack.encode(self)).hexdigest()[:40]


class Pinned(NamedTuple):
    """What makes a snapshot the asker's: its two counts, and whether there may be more."""

    next_pos: int
    next_seq: int
    early: bool


class KeptAnswer(Struct, frozen=True):
    """An answer as it is kept: the digest of what it is about, its headers, its bytes."""

    hands: str
    headers: dict[str, str]
    body: bytes
    digest: str


class Progress(Struct, frozen=True):
    """How far a process is with what."""

    doing: str
    done: int
    total: int


def folder_of(settings: Settings) -> Path:
    """Where answers about a ledger are kept: beside its jobs, for its owner alone."""
    return settings.folder / FOLDER / "pages"


def read(path: Path) -> KeptAnswer | None:
    """The answer that is kept here, if it is whole."""
    with suppress(OSError, msgspec.MsgspecError):
        kept = msgspec.msgpack.decode(path.read_bytes(), type=KeptAnswer)
        return kept if kept.digest == sha256(kept.body).hexdigest() else None
    return None


def keep(path: Path, kept: KeptAnswer) -> None:
    """Replace the file as a whole; those that were kept longest ago make room."""
    aside = path.with_suffix(f".{os.getpid()}")
    try:
        aside.write_bytes(msgspec.msgpack.encode(kept))
        aside.replace(path)
        every = sorted(path.parent.iterdir(), key=lambda one: one.stat().st_mtime)
        for one in every[: max(0, len(every) - KEPT_MAX)]:
            one.unlink()
    except OSError:  # the disk is full, or another process has tidied up: it is sent all the same
        with suppress(OSError):
            aside.unlink(missing_ok=True)


Application = Callable[[LedgerService], ASGIApp]  # of this program, as it is served


def make(
    pipe: Connection,
    application: Application,
    request: PageRequest,
    pinned: Pinned,
    hands: str,
    path: Path,
    settings: Settings,
    cache: Path,
) -> None:
    """Send how far it is, and then the answer about these hands, which is kept at `path`; nothing,
    if it refuses.

    Other servers of this ledger wait for the lock, and find what was kept. The server says where
    that is: a program that was replaced since it began would have another name for it.
    """
    ignore_ctrl_c()
    end_with_parent(lambda: os._exit(1))
    os.nice(NICE)
    os.umask(0o077)
    os.environ[CACHE] = str(cache)
    sent_at = time.monotonic()

    def watch(items: Iterable[Any], doing: str, total: int) -> Iterable[Any]:
        nonlocal sent_at
        for done, item in enumerate(items):
            if time.monotonic() - sent_at >= TELL_S:
                sent_at = time.monotonic()
                pipe.send(Progress(doing, done, total))
            yield item

    limits = Limits(rate=0, seconds=SECONDS_MAX, pages=0)
    own = replace(settings, limits=limits, hosts=(), logs=False, fronted=False)
    with ExitStack() as held:
        with suppress(OSError, NoLocks):
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(0o700, exist_ok=True)
            lock_file(held.enter_context(path.open("ab")))
        kept = read(path)
        if kept is None or not hands or kept.hands != hands:
            app = application(LedgerService(own, pinned, watch))
            status, headers, body = asyncio.run(answered(app, request))
            if status != 200:
                path.unlink(missing_ok=True)
                leave_with(pipe, None)
            kept = KeptAnswer(hands, headers, body, sha256(body).hexdigest())
            if hands:
                keep(path, kept)
            else:
                path.unlink(missing_ok=True)
    leave_with(pipe, kept)


def leave_with(pipe: Connection, kept: KeptAnswer | None) -> NoReturn:
    """The last word; DuckDB would complain of what else the interpreter drops."""
    pipe.send(kept)
    pipe.close()
    os._exit(0)


async def answered(app: ASGIApp, request: PageRequest) -> tuple[int, dict[str, str], bytes]:
    """The status, the headers and the body that the application has for it."""
    over = asyncio.Event()
    body, status, headers = bytearray(), 500, dict[str, str]()
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, sent = message["status"], Headers(raw=message["headers"])
            headers = {name: value for name, value in sent.items() if name in HEADERS}
        body.extend(message.get("body", b""))
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            over.set()

    asks = {"host": request.host, "accept": request.accept}
    if request.part:
        asks["hx-request"] = "true"
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": request.scheme,
        "path": unquote(request.path),
        "raw_path": request.path.encode("latin-1"),
        "query_string": request.query.encode("latin-1"),
        "root_path": "",
        "headers": Headers(asks).raw,
        "server": ("localhost", 80),
        "client": None,
        "state": {
            "caller": Caller(request.caller, frozenset(request.scopes)),
            "recognized": request.caller is not None,
        },
    }
    await app(scope, receive, send)
    return status, headers, bytes(body)
