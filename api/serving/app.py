"""The application: every route of the API and every page over one service.

A request passes, from outside in: the word of a proxy, if there is one, its line in the log, the
headers of its answer, how many bytes it is sent in, the net for whatever goes wrong, how it is
framed, the name of the server, who asks, what he may still spend, his turn, the length of what he
sends. Each is a plain ASGI application around the next, so that a stream stays one.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from api.evidence.witnesses import publishing
from api.http.compression import Compression
from api.http.connections import PROXIES
from api.http.keys import Keys
from api.http.layers import HeadRequests, SecurityHeaders, TrustedHosts
from api.http.ledger_service import LedgerService
from api.http.log import RequestLog
from api.http.memory import given_back
from api.http.metrics import Metrics
from api.http.openapi import described
from api.http.rate_limit import RateLimit, TokenBuckets
from api.http.routes import ROUTERS
from api.http.sessions import Sessions
from api.pages import PAGES, mounted
from api.problem import Problem
from api.serving.authentication import Authentication
from api.serving.failures import ErrorAnswers, answered
from api.serving.request_limits import Framing, RequestLimits
from api.serving.request_queue import RequestQueue
from api.version import VERSION


def create_app(service: LedgerService) -> FastAPI:
    """An application for this ledger; nothing in it is shared with another."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        witnesses = asyncio.create_task(publishing(service.settings.folder))
        memory = asyncio.create_task(given_back(metrics))
        yield
        witnesses.cancel()
        memory.cancel()
        service.close()

    keys, sessions = Keys(service.settings.folder), Sessions(service.settings.folder)
    metrics = Metrics()
    app = FastAPI(
        title="muckrake",
        version=VERSION,
        openapi_url=None,  # routes/docs.py has it, and pages that need no network
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
        middleware=_layers(service, keys, sessions, metrics),
    )
    app.state.service, app.state.keys, app.state.sessions = service, keys, sessions
    app.state.metrics = metrics
    for router in (*ROUTERS, *PAGES):
        app.include_router(router)
    mounted(app)
    for kind in (Problem, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, answered)
    described(app)
    return app


def _layers(
    service: LedgerService, keys: Keys, sessions: Sessions, metrics: Metrics
) -> list[Middleware]:
    settings = service.settings
    crossing: dict[str, Any] = {
        "allow_origins": settings.allow_origins,
        "allow_methods": ["GET", "HEAD", "POST", "DELETE"],
        "allow_headers": ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
        "expose_headers": ["ETag", "Link", "RateLimit", "Retry-After", "X-Request-Id"],
    }
    buckets = TokenBuckets(settings.limits.rate)
    return [
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
    ]
