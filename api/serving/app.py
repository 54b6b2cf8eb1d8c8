"""The application: every route of the API and every page over one service.

A request passes, from outside in: the word of a proxy, if there is one, its line in the log, the
headers of its answer, how many bytes it is sent in, the net for whatever goes wrong, how it is
framed, the name of the server, who asks, what he may still spend, his turn, the length of what he
sends, and whether another process makes what he asks for. Each is a plain ASGI application around
the next, so that a stream stays one.

What a burst of big answers took is given back. Threads that answered leave what they freed to the
allocator, in a heap of its own for each, and so does Arrow. When enough was sent, and once more
when nobody is being answered, both are asked to give the system what nothing stands in.
"""

import asyncio
import ctypes
import gc
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pyarrow as pa
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from api.evidence.witnesses import publishing
from api.http.ask import READ, Caller
from api.http.connections import PROXIES, RateLimit, TokenBuckets
from api.http.keys import Keys, NoKey, Sessions
from api.http.layers import Compression, HeadRequests, Layer, SecurityHeaders, TrustedHosts, put
from api.http.ledger_service import LedgerService
from api.http.openapi import described
from api.http.request_log import Metrics, RequestLog
from api.http.routes import ROUTERS
from api.pages import PAGES, mounted
from api.problem import Problem
from api.serving.failures import ErrorAnswers, answered
from api.serving.heavy_pages import HeavyPages
from api.serving.request_limits import Framing, RequestLimits, RequestQueue
from api.version import VERSION

LOOK_S = 1.0
MUCH = 8 << 20  # bytes that were sent
HEAPS = 2  # that threads share, instead of eight for each core
_ARENA_MAX = -8  # of glibc's mallopt


def share_heaps() -> None:
    """Few heaps for all threads; where the C library is another one, it keeps its own way."""
    if (mallopt := _of_libc("mallopt")) is not None:
        mallopt(_ARENA_MAX, HEAPS)


def give_back() -> None:
    """What is free goes to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if (trim := _of_libc("malloc_trim")) is not None:
        trim(0)


async def given_back(metrics: Metrics) -> None:
    """Look at what was sent, again and again, for as long as the server runs."""
    before = metrics.sent
    while True:
        await asyncio.sleep(LOOK_S)
        if metrics.sent - before >= MUCH:
            idle = not metrics.now
            await run_in_threadpool(give_back)
            if idle:
                before = metrics.sent


def _of_libc(name: str) -> Callable[..., int] | None:
    try:
        function: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return function


WRONG_COST = 10  # what a key that is none costs the address it comes from
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_FOR_ALL = re.compile(r"/static/|/(healthz|readyz|metrics|openapi\.json|docs|login|favicon\.ico)$")


class Authentication(Layer):
    """Every request with its caller."""

    def __init__(self, app: ASGIApp, keys: Keys, sessions: Sessions, buckets: TokenBuckets) -> None:
        super().__init__(app)
        self.buckets = buckets
        self.keys = keys
        self.sessions = sessions

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("state", {}).get("caller") is not None:
            await self.app(scope, receive, send)  # `muckrake get`, in a process of its own
            return
        request = Request(scope)
        put(scope, "caller", Caller())
        header = request.headers.get("authorization")
        cookie = request.cookies.get(self.sessions.cookie)
        if header is None:
            _check_origin(request, by_cookie=cookie is not None)
        if not _FOR_ALL.match(scope["path"]) and (header is not None or cookie is not None):
            try:
                caller = self._by_cookie(cookie or "") if header is None else self._by_key(header)
            except Problem:
                self.buckets.check(scope, WRONG_COST)  # who tries keys pays with his address
                raise
            put(scope, "caller", caller)
            put(scope, "recognized", True)
        await self.app(scope, receive, send)

    def _by_key(self, header: str) -> Caller:
        scheme, _, spelled = header.strip().partition(" ")
        if scheme.lower() != "bearer":
            raise Problem("unauthenticated", "keys come as: Authorization: Bearer mr_...")
        try:
            key = self.keys.known(spelled.strip())
        except NoKey as reason:
            raise Problem("unauthenticated", str(reason)) from None
        return Caller(key.name or key.id, frozenset({READ, *key.scopes}), key.id)

    def _by_cookie(self, token: str) -> Caller:
        session = self.sessions.session(token)
        if session is None:
            sentence = "this login is over: muckrake serve prints another link"
            problem = Problem("unauthenticated", sentence)
            problem.headers["Set-Cookie"] = f"{self.sessions.cookie}=; Max-Age=0; Path=/"
            raise problem
        return Caller("login", frozenset({READ, *session.scopes}), session.id)


def _check_origin(request: Request, *, by_cookie: bool) -> None:
    """Refuses what another site's page makes a browser do here."""
    if request.method in SAFE:
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    has_origin = site is not None or origin is not None
    ours = site in (None, "same-origin")
    if origin is not None and site is None:
        ours = origin.partition("://")[2] == request.headers.get("host", "")
    if (has_origin and not ours) or (by_cookie and not has_origin):
        raise Problem("forbidden", "this must come from a page of this server, or with a key")


def create_app(service: LedgerService) -> FastAPI:
    """An application for this ledger; nothing in it is shared with another."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        witnesses = asyncio.create_task(publishing(settings.folder))
        memory = asyncio.create_task(given_back(metrics))
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
        Middleware(ErrorAnswers),
        Middleware(Framing),
        Middleware(TrustedHosts, settings.hosts),
        Middleware(Authentication, keys, sessions, buckets),
        Middleware(RateLimit, buckets),
        Middleware(RequestQueue, settings.limits),
        Middleware(RequestLimits, settings.limits),
        Middleware(HeadRequests),
        *([Middleware(HeavyPages, service, create_app)] if settings.limits.pages else []),
    ]
    app = FastAPI(
        title="muckrake",
        version=VERSION,
        openapi_url=None,  # routes/service.py has it, and pages that need no network
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
    mounted(app)
    for kind in (Problem, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, answered)
    described(app)
    return app
