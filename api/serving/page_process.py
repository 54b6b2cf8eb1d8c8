"""The process that makes a page: the same application over the asker's snapshot, and what is kept.

It tells the server how far it is. Its page lies in a file, beside what it was made of, until the
hands that it is about are others.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from hashlib import sha256
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, NoReturn
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.types import ASGIApp

from analytics.sql.chosen import quoted
from api.http.ask import Caller
from api.http.ledger_service import LedgerService, Settings
from api.http.limits import Limits
from api.jobs.jobs import FOLDER
from api.questions.verdict_files import program
from api.viewpoints.viewer import Viewer
from api.viewpoints.views import Viewed
from dealer.worker import ignore_ctrl_c
from store.folder.cache_folder import VARIABLE
from store.folder.lock import NoLocks, lock_file

OWN = re.compile(r"/players/[^/]+/(grid|winnings|bids|swaps|opponent|results|history)")
DECIDING = ("analytics", "api", "engine", "events", "odds", "store")  # folders of the program
SECONDS_MAX = 600.0  # no page takes longer
NICE = 5  # those who wait for anything else go first
TELL_S = 0.25
NEVER = 1 << 62  # hands
KEPT_MAX = 400  # ... and in files


class Wanted(Struct, frozen=True):
    """All that decides a page, but for the ledger and the program."""

    path: str
    query: str
    scheme: str
    host: str
    caller: str | None
    scopes: tuple[str, ...]
    view: str
    matches: tuple[str, ...]
    framers: tuple[str, ...]
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


class KeptPage(Struct, frozen=True):
    """A page as it is kept: the ledger that it was made of, the hands it is about, its bytes."""

    as_of: str
    hands: str
    body: bytes
    digest: str


class Progress(Struct, frozen=True):
    """How far a process is with what."""

    doing: str
    done: int
    total: int


def folder_of(settings: Settings) -> Path:
    """Where pages of a ledger are kept: beside its jobs, for its owner alone."""
    return settings.folder / FOLDER / "pages"


def read(path: Path) -> KeptPage | None:
    """The page that is kept here, if it is whole."""
    with suppress(OSError, msgspec.MsgspecError):
        kept = msgspec.msgpack.decode(path.read_bytes(), type=KeptPage)
        return kept if kept.digest == sha256(kept.body).hexdigest() else None
    return None


def keep(path: Path, kept: KeptPage) -> None:
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
    wanted: Wanted,
    pinned: Pinned,
    settings: Settings,
    cache: Path,
) -> None:
    """Send how far it is, and then the page; nothing, if it refuses.

    Other servers of this ledger wait for the lock, and find what was kept.
    """
    ignore_ctrl_c()
    Thread(target=_leave_with_parent, daemon=True).start()
    os.nice(NICE)
    os.umask(0o077)
    os.environ[VARIABLE] = str(cache)
    told_at = time.monotonic()

    def watch(items: Iterable[Any], doing: str, total: int) -> Iterable[Any]:
        nonlocal told_at
        for done, one in enumerate(items):
            if time.monotonic() - told_at >= TELL_S:
                told_at = time.monotonic()
                pipe.send(Progress(doing, done, total))
            yield one

    path = folder_of(settings) / wanted.digest
    limits = Limits(rate=0, seconds=SECONDS_MAX, apart=NEVER, apart_counted=NEVER)
    own = replace(settings, limits=limits, hosts=(), logs=False, fronted=False)
    with ExitStack() as held:
        with suppress(OSError, NoLocks):
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(0o700, exist_ok=True)
            lock_file(held.enter_context(path.open("ab")))
        as_of, kept = f"{pinned.next_pos}.{pinned.next_seq}", read(path)
        if kept is None or kept.as_of != as_of:
            service = LedgerService(own, pinned, watch)
            with service.viewed(Viewer(wanted.view, wanted.matches)) as viewed:
                hands = own_hands(viewed, wanted)
            if kept is None or kept.hands != hands:
                status, body = asyncio.run(answered(application(service), wanted))
                kept = KeptPage(as_of, hands, body, sha256(body).hexdigest())
                if status != 200:
                    path.unlink(missing_ok=True)
                    leave_with(pipe, None)
            kept = replace(kept, as_of=as_of)
            keep(path, kept)
    leave_with(pipe, kept)


def leave_with(pipe: Connection, kept: KeptPage | None) -> NoReturn:
    """The last word; DuckDB would complain of what else the interpreter drops."""
    pipe.send(kept)
    pipe.close()
    os._exit(0)


def own_hands(viewed: Viewed, wanted: Wanted) -> str:
    """The digest of what the viewer is told of the hands that a page is about: of a player's own
    matches how many he has there, the last one, and what each match has recorded; else of all."""
    snapshot = viewed.snapshot
    if not OWN.fullmatch(wanted.path) or "by_tag" in wanted.query:
        return snapshot.as_of
    name = quoted(wanted.path.split("/")[2])
    rows = viewed.rows(
        "SELECT match, count(*) AS hands, max(hand_seq) AS last FROM players"
        f" WHERE player = {name} GROUP BY match ORDER BY match"
    )
    about: list[Any] = [sorted(viewed.units), sorted(snapshot.rulesets())]
    for row in rows:
        records = [one.hand_seq for one in snapshot.live.records(row["match"])]
        known = [one for one in records if one < snapshot.next_seq]
        about.append((*row.values(), known, row["match"] in viewed.opened))
    return sha256(msgspec.msgpack.encode(about)).hexdigest()


async def answered(app: ASGIApp, wanted: Wanted) -> tuple[int, bytes]:
    """The status and the body that the application has for it."""
    over = asyncio.Event()
    body, status = bytearray(), 500
    asked = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if asked:
            return asked.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        body.extend(message.get("body", b""))
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            over.set()

    headers = [(b"host", wanted.host.encode("latin-1")), (b"accept", b"text/html")]
    if wanted.part:
        headers.append((b"hx-request", b"true"))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": wanted.scheme,
        "path": wanted.path,
        "raw_path": quote(wanted.path).encode(),
        "query_string": wanted.query.encode("latin-1"),
        "root_path": "",
        "headers": headers,
        "server": ("localhost", 80),
        "client": None,
        "state": {"caller": Caller(wanted.caller, frozenset(wanted.scopes))},
    }
    await app(scope, receive, send)
    return status, bytes(body)


def _leave_with_parent() -> None:
    """A server that was killed leaves nobody at work."""
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
