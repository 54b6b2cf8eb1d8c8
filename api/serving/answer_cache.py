"""The cache of heavy answers: which hands each is about, its file, and the process that makes it.

How many hands there are, as far as the viewer is told of them, says whether a process of its own
makes the answer; an answer that was kept is sent as long as their digest is the same. The digest is
made of what the viewer is told, so what is kept tells nobody of anything else: of each match its
hands that he is told of, how much is announced about it, and whether its hands are open to all.
Records only grow, and hands never change: where these are the same, all of them are.

A player's answer is about his own hands, unless it sets them beside everybody's. Filters may leave
fewer hands to count, and never make the digest narrower: a page says what else there is of him.

The first page, a match and a list of hands are light, unless hands must be judged before, or how
hands are spread is counted. Only of the latter is more kept than the verdicts: a match that is
verified is so at that moment, and who plays now is another matter than which hands there are.

The process is the same application over the asker's snapshot. It tells the server how far it is.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote
from weakref import WeakKeyDictionary

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace
from starlette.datastructures import Headers
from starlette.types import ASGIApp

from analytics.sql import quoted
from api.http.access import Caller
from api.http.ledger_service import LedgerService, Settings
from api.http.limits import Limits
from api.jobs.jobs import FOLDER
from api.playing.league import pairing_of
from api.questions.filters_parser import WrongFilter, parse_filter
from api.questions.filters_sql import needs_verdicts
from api.questions.judging import hands_to_judge, unjudged_hands
from api.questions.question import API
from api.version import program_digest
from api.viewpoints.ledger_view import LedgerView
from dealer.worker import end_with_parent, ignore_ctrl_c
from store.folder.disk import CACHE, NoLocks, lock_file

_HEAVY_PATH = re.compile(
    r"(?:/embed|/api/v1)?/players(?:/(?P<player>[^/]+)(?:/(?P<what>[a-z]+))?)?"
    r"|(?:/api/v1)?/ratings|(?:/api/v1)?/leagues(?:/(?P<league>[^/]+)(?:/[^/]+/[^/]+)?)?"
)
_LIGHT_PATH = re.compile(
    r"/|(?P<hands>(?:/api/v1)?/hands)|(?:/api/v1)?/matches/(?P<match>[^/]+)(?P<verify>/verify)?"
    r"|(?P<tested>(?:/api/v1)?/fairness)"
)
VALUED_PAGES = frozenset({"bids", "swaps", "results", "opponent"})  # cards are, one by one
WHOLE_LEDGER_PAGES = frozenset({"compare"})  # everybody's
OTHER_PARAMETERS = ("by_tag", "as_of", "before")  # which may name what is no hand of his
OWN_HANDS_SQL = """
SELECT match, count(*) AS hands, bit_xor(hash(hand_seq)) AS which
FROM {table} GROUP BY match ORDER BY match
"""


class AnswerScope(NamedTuple):
    """The hands that an answer is about: a player's, a league's, or everybody's (`whole`)."""

    player: str | None
    league: str | None
    match: str | None  # of which alone hands are counted
    whole: bool
    valued: bool
    data: bool  # for a program, not a page
    light: bool = False  # but for hands that are judged first, many of them if `may_judge`
    may_judge: bool = False
    spread: bool = False  # how hands are is counted, whatever they are
    verified: bool = False
    tested: bool = False  # whether its decks were dealt by chance

    def is_heavy(self, own: "AnswerHands", limits: Limits) -> bool:
        """Whether so many hands are too many for the server itself to answer about."""
        if own.to_judge >= limits.heavy_judged:
            return True
        if self.light:
            return own.verified or (self.spread and own.hands >= limits.heavy_spread)
        counted = limits.heavy_data if self.data else limits.heavy_counted
        return own.hands >= (limits.heavy_valued if self.valued else counted)


class AnswerHands(NamedTuple):
    """How many hands an answer is about, the digest of what its viewer may see of them (without one
    it is not cached), how many must be judged first, and whether a match is verified or tested."""

    hands: int
    digest: str
    to_judge: int = 0
    verified: bool = False


def scope_of_answer(path: str, query: str) -> AnswerScope | None:
    """The scope of the answer at a path and query, as they were sent; None if it is never heavy."""
    match, light = _HEAVY_PATH.fullmatch(path), _LIGHT_PATH.fullmatch(path)
    if match is None and light is None:
        return None
    values = {name: values[-1] for name, values in parse_qs(query).items()}
    data = path.startswith(API)
    if match is not None:
        player, league = (
            None if it is None else unquote(it) for it in match.group("player", "league")
        )
        tab = match["what"] or ""
        page_of_all = not (tab or data or values.get("split"))
        whole = (
            (player is None and league is None)
            or page_of_all
            or tab in WHOLE_LEDGER_PAGES
            or "field" in values
            or any(values.get(name) for name in OTHER_PARAMETERS)
        )
        valued = tab in VALUED_PAGES or "luck" in values
        of_match = values.get("match")
        return AnswerScope(player, league, of_match, whole and league is None, valued, data)
    assert light is not None  # the first page, a match, hands
    name, verify = light["match"], light["verify"]
    if data and name is not None and not verify:
        return None
    judge, spread = _is_yes(values.get("judge")), False
    if light["hands"]:
        try:
            judge = needs_verdicts(parse_filter(values.get("q", "")))
        except WrongFilter:
            return None
        spread = _is_yes(values.get("facets")) if data else values.get("counts") == "now"
    return AnswerScope(
        player=None,
        league=None,
        match=name and unquote(name),
        whole=True,
        valued=False,
        data=data,
        light=True,
        may_judge=judge,
        spread=spread,
        verified=bool(verify or (name and _is_yes(values.get("verify")))),
        tested=bool(light["tested"]),
    )


def _is_yes(word: str | None) -> bool:
    """As a route reads it."""
    return word is not None and word.lower() in ("1", "on", "t", "true", "y", "yes")


SCOPES_MAX = 1_000  # answers about one snapshot
WHOLE_LEDGER = AnswerScope(None, None, None, whole=True, valued=False, data=False)
_scope_hands: WeakKeyDictionary[LedgerView, dict[AnswerScope, AnswerHands]] = WeakKeyDictionary()


def hands_of_scope(viewed: LedgerView, of: AnswerScope) -> AnswerHands:
    """The hands of a scope in this view of the ledger: cached, or found by one look at a table."""
    if of.light:
        to_judge = len(hands_to_judge(viewed, on_demand=of.may_judge, match=of.match))
        if not of.spread:
            verified = of.tested or (of.verified and viewed.viewer.auditor)
            return AnswerHands(0, "", to_judge, verified)
        hands, digest, *_ = hands_of_scope(viewed, WHOLE_LEDGER)
        return AnswerHands(hands, f"{digest}-{len(unjudged_hands(viewed)) - to_judge}", to_judge)
    known = _scope_hands.setdefault(viewed, {})
    if (own := known.get(of)) is not None:
        return own
    table = "hands"
    if not of.whole and of.player is not None:
        table = f"players WHERE player = {quoted(of.player)}"
    rows = viewed.rows(OWN_HANDS_SQL.format(table=table))
    announced = viewed.snapshot.matches()
    if of.league is not None:
        rows = [row for row in rows if _is_of(row["match"], of.league)]
        announced = {name: it for name, it in announced.items() if _is_of(name, of.league)}
    elif not of.whole:
        announced = {row["match"]: announced.get(row["match"], 0) for row in rows}
    tags = viewed.tags
    if of.league is not None:
        tags = tags.filter(pc.is_in(tags["match"], pa.array([*announced], pa.string())))
    elif of.player is not None and not of.whole:
        tags = tags.filter(pc.equal(tags["player"], of.player))
    parts: list[Any] = [
        sorted(viewed.units),
        sorted(viewed.query.rulesets()),
        [[*row.values()] for row in rows],
        sorted(announced.items()),
        sorted(viewed.open_matches & announced.keys()),
        tags.to_pylist(),
    ]
    counted = sum(row["hands"] for row in rows if of.match in (None, "", row["match"]))
    if len(known) >= SCOPES_MAX:
        known.clear()
    own = known[of] = AnswerHands(counted, sha256(msgspec.msgpack.encode(parts)).hexdigest())
    return own


def _is_of(match: str, league: str) -> bool:
    named = pairing_of(match)
    return named is not None and named[0] == league


# The process.


PROGRAM_FOLDERS = ("analytics", "api", "engine", "events", "odds", "store")
SECONDS_MAX = 600.0  # no page takes longer
NICE = 5  # those who wait for anything else go first
PROGRESS_S = 0.25
CACHED_MAX = 400  # answers, in files
CACHED_HEADERS = frozenset(  # of an answer that are kept with it; the server adds the others
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
        """The name of the answer's file."""
        program = program_digest(PROGRAM_FOLDERS).encode()
        return sha256(program + msgspec.msgpack.encode(self)).hexdigest()[:40]


class PinnedSnapshot(NamedTuple):
    """The two counts that pin a snapshot, and whether the asker may know more than others."""

    next_pos: int
    next_seq: int
    early: bool


class CachedAnswer(Struct, frozen=True):
    """An answer as it is cached: the digest of its hands, its headers, its body."""

    hands: str
    headers: dict[str, str]
    body: bytes
    digest: str


class Progress(Struct, frozen=True):
    """The progress of a process: what it does, and how much of it is done."""

    doing: str
    done: int
    total: int


def answer_folder(settings: Settings) -> Path:
    """The folder of cached answers about a ledger: beside its jobs, for its owner alone."""
    return settings.folder / FOLDER / "pages"


def read_cached(path: Path) -> CachedAnswer | None:
    """Read the cached answer of a file, if it is whole."""
    with suppress(OSError, msgspec.MsgspecError):
        kept = msgspec.msgpack.decode(path.read_bytes(), type=CachedAnswer)
        return kept if kept.digest == sha256(kept.body).hexdigest() else None
    return None


def write_cached(path: Path, kept: CachedAnswer) -> None:
    """Replace a cached answer as a whole, and delete those that were cached longest ago."""
    aside = path.with_suffix(f".{os.getpid()}")
    try:
        aside.write_bytes(msgspec.msgpack.encode(kept))
        aside.replace(path)
        every = sorted(path.parent.iterdir(), key=lambda one: one.stat().st_mtime)
        for one in every[: max(0, len(every) - CACHED_MAX)]:
            one.unlink()
    except OSError:  # the disk is full, or another process has tidied up: it is sent all the same
        with suppress(OSError):
            aside.unlink(missing_ok=True)


Application = Callable[[LedgerService], ASGIApp]  # of this program, as it is served


def make_answer(
    pipe: Connection,
    application: Application,
    request: PageRequest,
    pinned: PinnedSnapshot,
    hands: str,
    path: Path,
    settings: Settings,
    cache: Path,
) -> None:
    """Send the progress of an answer about these hands through `pipe`, then the answer, which is
    cached at `path`; nothing, if it refuses.

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
            if time.monotonic() - sent_at >= PROGRESS_S:
                sent_at = time.monotonic()
                pipe.send(Progress(doing, done, total))
            yield item

    limits = Limits(rate=0, seconds=SECONDS_MAX, page_processes=0)
    own = replace(settings, limits=limits, hosts=(), logs=False, fronted=False)
    with ExitStack() as held:
        with suppress(OSError, NoLocks):
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(0o700, exist_ok=True)
            lock_file(held.enter_context(path.open("ab")))
        kept = read_cached(path)
        if kept is None or not hands or kept.hands != hands:
            app = application(LedgerService(own, pinned, watch))
            status, headers, body = asyncio.run(run_request(app, request))
            answer = CachedAnswer(hands, headers, body, sha256(body).hexdigest())
            kept = answer if status == 200 else None
            if kept is not None and hands:
                write_cached(path, kept)
            else:
                path.unlink(missing_ok=True)
    pipe.send(kept)
    pipe.close()
    os._exit(0)  # DuckDB would complain of what else the interpreter drops


async def run_request(app: ASGIApp, request: PageRequest) -> tuple[int, dict[str, str], bytes]:
    """Run a request in the application; the status, headers and body of its response."""
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
            headers = {name: value for name, value in sent.items() if name in CACHED_HEADERS}
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
