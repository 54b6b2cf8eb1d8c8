"""The application: middleware, and every API route and page over one ledger service.

A request passes, from outside in: `ProxyHeadersMiddleware` behind a proxy, `RequestLog`,
`SecurityHeaders`, `Compression`, `CORSMiddleware` where other sites may ask, `ErrorResponses`,
`RequestFraming`, `TrustedHosts`, `Authentication`, `RateLimit`, `RequestQueue`, `RequestLimits`,
`HeadRequests`, and `HeavyPages` where other processes make pages. Each is a plain ASGI application
around the next, so that a stream stays one.

Big answers take turns. Work in a thread cannot be stopped from outside. So a caller who waited too
long is answered, and his work goes on by itself to its own end, with nobody listening; the place it
takes stays taken until then. The caller with fewest answers being made goes first, so that nobody
waits behind all that another has asked for; and nobody has all the places for SQL, if there are
several.

Whatever goes wrong becomes an answer: a problem document, or for who reads pages a page. An
unforeseen failure is answered without a word of its own: no exception's text leaves the server, and
its log has only the places in our code, because a text may quote a card.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from api.evidence.bundle import NoEvidence
from api.evidence.cosigning import publish_repeatedly
from api.http.access import Access, Authentication, Caller
from api.http.credentials import Keys, Sessions
from api.http.ledger_service import NO_LEDGER, LedgerService
from api.http.limits import (
    OUT_OF_DESCRIPTORS,
    PROXIES,
    FairSemaphore,
    Limits,
    RateLimit,
    RequestFraming,
    RequestLimits,
    TokenBuckets,
    caller_id,
    family_of,
)
from api.http.middleware import (
    Compression,
    HeadRequests,
    HttpMiddleware,
    SecurityHeaders,
    TrustedHosts,
    set_request_state,
)
from api.http.openapi import install_openapi
from api.http.request_log import Metrics, RequestLog, log_failure, trim_memory_often
from api.http.responses import MEDIA_TYPES, VARY, media_ranges, weight_of_format
from api.http.routes import ROUTERS
from api.jobs.jobs import DISK_FULL_ERRORS
from api.pages import audit, embedded, hands, home, live, matches, players, statistics, winnings
from api.pages.site import mount_static_files, page
from api.problem import PROBLEM_JSON, Problem
from api.questions.filters_parser import WrongFilter
from api.questions.games import UnknownGame
from api.questions.player_measures import Unanswerable
from api.questions.proof import NoSecrets, NotSigned
from api.serving.heavy_pages import HeavyPages
from api.version import VERSION
from api.viewpoints.hand_selection import NotInLedger, Unfinished
from api.viewpoints.redaction import NoAccess
from api.viewpoints.viewer import Viewer
from events.ledger import Conflict
from store.archive.object_storage import StorageError
from store.folder.disk import LedgerLocked, ReadOnly
from store.folder.frames import Damaged
from store.proof.tree import Refuted
from store.reader import NoLedger, NoSnapshot
from store.segments.reading import NewerSegment
from store.sql.guard import Refused

PAGES = (
    *(home.router, matches.router, live.router, hands.router, audit.router, home.question_router),
    *(players.router, statistics.router, matches.league_router, winnings.router),
    *(embedded.router, embedded.picture_router),
)
STREAM = "/api/v1/stream"
RETRY_AFTER_S = 10  # after which an `EventSource` asks again
SIGNED_S = 1  # a writer signs for what is new this often
OUR_FAULT = "this is our fault: the server's log has more of it"


def problem_of(failure: Exception) -> Problem:
    """The problem of an exception; `internal` for one that nobody expected."""
    match failure:
        case Problem():
            return failure
        case RequestValidationError():
            return _validation_problem(failure)
        case HTTPException():  # what FastAPI and Starlette refuse by themselves
            named = STATUS_PROBLEMS.get(failure.status_code, ("bad-request", str(failure.detail)))
            problem = Problem(*named)
            problem.headers.update(failure.headers or {})
            return problem
        case msgspec.ValidationError():
            where = [{"where": "body", "what": str(failure)}]
            return Problem("invalid", str(failure), errors=where)
        case WrongFilter():
            return Problem("wrong-filter", str(failure), position=failure.position)
        case ReadOnly():  # which archive is the server's own business
            return Problem("conflict", "this server reads an archive: nothing is written there")
        case LedgerLocked():  # who writes, and not where: the folder is the server's own business
            holder = str(failure).partition(" is being written by ")[2] or "another process"
            return Problem("conflict", f"the ledger is being written by {holder}")
        case OSError() if failure.errno in DISK_FULL_ERRORS:
            return Problem("no-room", "the disk is full: nothing of it was kept")
        case OSError() if failure.errno in OUT_OF_DESCRIPTORS:
            return Problem("unavailable", "too many files are open here: try again").after(5)
        case NotSigned() | Refuted():  # what closed a moment ago is signed for in the next
            return Problem("unavailable", str(failure)).after(SIGNED_S)
    for kinds, name, sentence in PROBLEMS:
        if isinstance(failure, kinds):
            choices = (
                {"choices": possible} if (possible := getattr(failure, "choices", None)) else {}
            )
            return Problem(name, sentence or str(failure), **choices)
    return Problem("internal", OUR_FAULT)


PROBLEMS: tuple[tuple[tuple[type[Exception], ...], str, str | None], ...] = (
    ((Unanswerable,), "bad-request", None),
    ((Refused,), "query-refused", None),
    ((NoLedger,), "unavailable", NO_LEDGER),
    ((NoSecrets, NoEvidence), "unavailable", None),
    ((Conflict, Unfinished), "conflict", None),
    ((NoAccess,), "forbidden", None),
    ((NotInLedger, UnknownGame), "not-found", None),
    ((NoSnapshot,), "wrong-cursor", None),
    ((StorageError,), "unavailable", "the ledger's storage does not answer: try again"),
    ((NewerSegment,), "unavailable", "a newer muckrake wrote this ledger, and reads it"),
    ((Damaged,), "damaged", "the ledger is damaged: muckrake doctor says where"),
)
STATUS_PROBLEMS = {
    404: ("not-found", "nothing is at this address: /docs lists what there is"),
    405: ("method-not-allowed", "this address is there for other methods: Allow names them"),
    408: ("too-slow", "the body came too slowly"),
    413: ("too-large", "the body is longer than this address takes"),
    415: ("unsupported-media-type", "this kind of content is not read here"),
}


def _validation_problem(failure: RequestValidationError) -> Problem:
    """Where the mistakes of a request are, and which; never its values: one may be a key."""
    errors = failure.errors()
    if errors and errors[0]["type"] == "json_invalid":
        place, why = errors[0]["loc"][-1], errors[0]["ctx"]["error"]
        return Problem("bad-request", f"the body is no JSON: {why} at character {place}")
    problems = [
        {"where": " ".join(map(str, error["loc"])), "what": error["msg"]} for error in errors
    ]
    first = (
        f"{problems[0]['where']}: {problems[0]['what']}"
        if problems
        else "a value is not what it should be"
    )
    return Problem("invalid", first, errors=problems)


async def failure_response(request: Request, failure: Exception) -> Response:
    """The response to a request that failed."""
    problem = problem_of(failure)
    if isinstance(failure, RequestValidationError) and request.method in ("POST", "PUT", "PATCH"):
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        read = kind.endswith("json") or kind.startswith(("multipart/", "application/x-www-form"))
        if not read and family_of(request.url.path).name != "upload":
            sentence = "send JSON, as Content-Type: application/json"
            problem = Problem("unsupported-media-type", sentence)
    if problem.status == 500:
        problem.members["request_id"] = log_failure(request, failure)
    headers = {"Cache-Control": "no-store", "Vary": VARY}
    if request.url.path == STREAM and request.headers.get("accept") == MEDIA_TYPES["sse"]:
        return stream_problem_response(problem, headers)
    if not wants_page(request):
        fields = headers | problem.headers
        content, status = problem.document(), problem.status
        return JSONResponse(content, status, headers=fields, media_type=PROBLEM_JSON)
    caller = getattr(request.state, "caller", Caller())
    access = Access(caller, Viewer(), request.app.state.service)  # nothing on it is of the ledger
    choices = problem.members.get("choices", {})
    answer = page(request, access, "problem.html", problem=problem.document(), choices=choices)
    answer.status_code = problem.status
    answer.headers.update(headers | problem.headers)
    return answer


def stream_problem_response(problem: Problem, headers: dict[str, str]) -> Response:
    """A problem for an `EventSource`, which reads no body but of a 200: one event, and the end.

    It comes back by itself; when, is said, so that it does not ask again at once.
    """
    wait = int(problem.headers.get("Retry-After", RETRY_AFTER_S))
    document = msgspec.json.encode(problem.document()).decode()
    text = f"retry: {1000 * wait}\nevent: refused\ndata: {document}\n\n"
    return Response(text, headers=headers, media_type=MEDIA_TYPES["sse"])


def wants_page(request: Request) -> bool:
    """Whether a browser asks for a page, not a program for data."""
    if request.url.path.startswith("/api/"):
        return False
    ranges = tuple(media_ranges(request.headers.get("accept", "")))
    named = any(one.kind == "text/html" for one in ranges)
    return named and weight_of_format(ranges, "html") >= weight_of_format(ranges, "json")


class ErrorResponses(HttpMiddleware):
    """Turn exceptions into responses; one that fails half-way is cut off, not ended."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def forward(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, forward)
        except ClientDisconnect:
            return
        except Exception as failure:
            request = Request(scope)
            if begun:
                set_request_state(scope, "cut", True)
                log_failure(request, failure)
                return  # the connection is closed without the end that a whole answer has
            answer = await failure_response(request, failure)
            await answer(scope, receive, send)


class RequestQueue(HttpMiddleware):
    """Let big answers take turns, and every answer begin in time."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        super().__init__(app)
        self.limits = limits
        self._places = {
            "bulk": FairSemaphore(limits.exports_at_once, limits.exports_at_once),
            "sql": FairSemaphore(limits.sql_at_once, max(1, limits.sql_at_once - 1)),
        }
        self._asking: Counter[str] = Counter()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = family_of(scope["path"]).name
        if name == "static":
            await self.app(scope, receive, send)
            return
        seconds = None if name == "upload" else self.limits.seconds
        caller = caller_id(scope)
        with self._one_of_caller(caller):
            async with self._place(name, caller):
                await _TimedResponse(self.app, seconds)(scope, receive, send)

    @contextmanager
    def _one_of_caller(self, caller: str) -> Iterator[None]:
        """Count a caller's requests: behind a proxy, too, where connections say nothing."""
        if self._asking[caller] >= self.limits.at_once:
            sentence = f"{self.limits.at_once} requests of yours are being answered: end one first"
            raise Problem("too-many-requests", sentence).after(self.limits.wait_s)
        self._asking[caller] += 1
        try:
            yield
        finally:
            self._asking[caller] -= 1
            if not self._asking[caller]:
                del self._asking[caller]

    @asynccontextmanager
    async def _place(self, name: str, asker: str) -> AsyncIterator[None]:
        places = self._places.get(name)
        if places is None:
            yield
            return
        if not await places.acquire(asker, self.limits.wait_s):
            raise Problem("unavailable", places.why_full(asker)).after(self.limits.wait_s)
        try:
            yield
        finally:
            places.release(asker)


class _TimedResponse:
    """One response, and whether it has begun in time."""

    def __init__(self, app: ASGIApp, seconds: float | None) -> None:
        self.app = app
        self.seconds = seconds
        self.begun = anyio.Event()
        self.late = anyio.Event()
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.seconds is None:
            await self.app(scope, receive, send)
            return
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep_waiting, scope, receive, send)
            with anyio.move_on_after(self.seconds):
                await self.begun.wait()
            if not self.begun.is_set():
                self.late.set()
                sentence = f"no answer within {self.seconds:g} seconds: ask for less"
                problem = Problem("unavailable", sentence).after(10)
                answer = await failure_response(Request(scope), problem)
                await answer(scope, receive, send)
        if self.failure is not None and self.late.is_set():
            log_failure(Request(scope), self.failure)  # nobody listens any more
        elif self.failure is not None:
            raise self.failure

    async def _keep_waiting(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def forward(message: Message) -> None:
            if not self.late.is_set():
                self.begun.set()
                await send(message)

        try:
            await self.app(scope, receive, forward)  # after an answer it hears that all is over
        except Exception as failure:
            self.failure = failure
        finally:
            self.begun.set()


def create_app(service: LedgerService) -> FastAPI:
    """Create the application of this ledger service; nothing in it is shared with another."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        witnesses = asyncio.create_task(publish_repeatedly(settings.folder))
        memory = asyncio.create_task(trim_memory_often(metrics))
        opening = asyncio.create_task(asyncio.to_thread(service.open))
        yield
        witnesses.cancel()
        memory.cancel()
        await opening
        service.close()

    settings = service.settings
    keys, sessions = Keys(settings.folder), Sessions(settings.folder)
    metrics, buckets = Metrics(), TokenBuckets(settings.limits.rate)
    crossing: dict[str, Any] = {
        "allow_origins": settings.allow_origins,
        "allow_methods": ["GET", "HEAD", "POST", "DELETE"],
        "allow_headers": ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
        "expose_headers": ["ETag", "Link", "RateLimit", "Retry-After", "X-Request-Id"],
    }
    layers = [  # from outside in
        *([Middleware(ProxyHeadersMiddleware, [*PROXIES])] if settings.fronted else []),
        Middleware(RequestLog, metrics, sys.stderr if settings.logs else None),
        Middleware(SecurityHeaders),
        Middleware(Compression),
        *([Middleware(CORSMiddleware, **crossing)] if settings.allow_origins else []),
        Middleware(ErrorResponses),
        Middleware(RequestFraming),
        Middleware(TrustedHosts, settings.hosts),
        Middleware(Authentication, keys, sessions, buckets),
        Middleware(RateLimit, buckets),
        Middleware(RequestQueue, settings.limits),
        Middleware(RequestLimits, settings.limits),
        Middleware(HeadRequests),
        *([Middleware(HeavyPages, service, create_app)] if settings.limits.page_processes else []),
    ]
    app = FastAPI(
        title="muckrake",
        version=VERSION,
        openapi_url=None,  # http/openapi.py has it, and pages that need no network
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
        middleware=layers,
    )
    app.state.service, app.state.keys, app.state.sessions = service, keys, sessions
    app.state.metrics = metrics
    for router in (*ROUTERS, *PAGES):  # included, each would be analysed again for this application
        app.router.routes.extend(router.routes)
    mount_static_files(app)
    for kind in (Problem, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, failure_response)
    install_openapi(app)
    return app
