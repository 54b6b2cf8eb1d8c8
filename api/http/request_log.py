"""A log line of JSON for each request, `/metrics` for Prometheus, health routes, and freed memory.

A line has the path, but of the query no more than names: `?q=` may hold cards that somebody looks
for, `?once=` a token. It has the id of a key, never a key. Of a failure it has the kind and the
places in the code, not its text. The id of a request is ours: a client's own `X-Request-Id`, which
the package asgi-correlation-id takes over, would write into the log what somebody else chose.

Everybody may read the metrics: numbers of requests, not of hands. How long an answer is tells what
is in it, so bytes are counted of those alone that are given without a key or login. The package
prometheus-client would be as long here: it counts by metric for a whole process, where tests and
`muckrake get` make several applications.

What a burst of big answers took is given back. Threads that answered leave what they freed to the
allocator, in a heap of its own for each, and so does Arrow. When enough was sent, and once more
when nobody is being answered, both are asked to give the system what nothing stands in.
"""

import asyncio
import ctypes
import gc
import re
import secrets
import sys
import threading
import time
import traceback
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import msgspec
import pyarrow as pa
from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders, QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.middleware import HttpMiddleware, set_request_state
from api.http.responses import NO_STORE, json_response
from api.problem import Problem
from store.folder.frames import Damaged

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counters of one process; Prometheus adds up those of all workers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = 0  # requests that are being answered
        self.sent = 0  # bytes, to anybody
        self._requests: dict[tuple[str, str, str], int] = defaultdict(int)
        self._slower: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = defaultdict(float)
        self._bytes: dict[str, int] = defaultdict(int)

    def begin(self) -> None:
        """Count a request that has come."""
        with self._lock:
            self.now += 1

    def count_bytes(self, size: int) -> None:
        """Count bytes that were sent, for `trim_memory_often` only."""
        with self._lock:
            self.sent += size

    def end(
        self, method: str, route: str | None, status: int | None, seconds: float, size: int
    ) -> None:
        """Count a request that was answered, or whose client has gone."""
        path = route or "none"
        with self._lock:
            self.now -= 1
            known = method if method in METHODS else "other"
            self._requests[known, path, "gone" if status is None else str(status)] += 1
            buckets = self._slower.setdefault(path, [0] * (len(BOUNDS_S) + 1))
            buckets[bisect_left(BOUNDS_S, seconds)] += 1
            self._seconds[path] += seconds
            self._bytes[path] += size

    def text(self) -> str:
        """The metrics in Prometheus' text format."""
        with self._lock:
            return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _metric_head(
            "muckrake_requests_total", "counter", "Requests by route and status."
        )
        for (method, path, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{path}",status="{status}"'
            yield f"muckrake_requests_total{{{labels}}} {count}"
        yield from _metric_head(
            "muckrake_answer_bytes_total", "counter", "Bytes to no key, by route."
        )
        for path, size in sorted(self._bytes.items()):
            yield f'muckrake_answer_bytes_total{{route="{path}"}} {size}'
        yield from _metric_head(
            "muckrake_request_seconds", "histogram", "From request to last byte."
        )
        for path, buckets in sorted(self._slower.items()):
            yield from self._histogram(path, buckets)
        yield from _metric_head("muckrake_requests_now", "gauge", "Requests being answered.")
        yield f"muckrake_requests_now {self.now}"

    def _histogram(self, path: str, buckets: list[int]) -> Iterator[str]:
        name, total = "muckrake_request_seconds", 0
        for bound, count in zip((*map(str, BOUNDS_S), "+Inf"), buckets, strict=True):
            total += count
            yield f'{name}_bucket{{route="{path}",le="{bound}"}} {total}'
        yield f'{name}_sum{{route="{path}"}} {self._seconds[path]:.6f}'
        yield f'{name}_count{{route="{path}"}} {total}'


def _metric_head(name: str, kind: str, help_: str) -> Iterator[str]:
    yield f"# HELP {name} {help_}"
    yield f"# TYPE {name} {kind}"


PATH_MAX = 200
NAMES_MAX = 20
ROOT = Path(__file__).parents[2]
_SECRETS = re.compile(r"(mr_[0-9a-f]{8})_[0-9a-f_]+|[\w-]{40,}")


class RequestLog(HttpMiddleware):
    """Middleware that gives every request an id, a line in the log and a place in the metrics."""

    def __init__(self, app: ASGIApp, metrics: Metrics, out: TextIO | None) -> None:
        super().__init__(app)
        self.metrics = metrics
        self.out = out

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: dict[str, Any] = {"status": None, "bytes": 0, "whole": False}
        set_request_state(scope, "request_id", secrets.token_hex(8))
        set_request_state(scope, "log", self.out)

        async def forward(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = scope["state"]["request_id"]
            elif message["type"] == "http.response.body":
                answer["bytes"] += len(message.get("body", b""))
                self.metrics.count_bytes(len(message.get("body", b"")))
                answer["whole"] = not message.get("more_body", False)
            await send(message)

        self.metrics.begin()
        begun = time.perf_counter()
        try:
            await self.app(scope, receive, forward)
        finally:
            took = time.perf_counter() - begun
            size = 0 if scope["state"].get("recognized") else answer["bytes"]
            self.metrics.end(scope["method"], _route_template(scope), answer["status"], took, size)
            if self.out is not None:
                state = scope.get("state", {})
                names = list(dict.fromkeys(QueryParams(scope.get("query_string", b"")).keys()))
                caller = state.get("caller")
                _write(
                    self.out,
                    {
                        "at": _now(),
                        "request": state["request_id"],
                        "method": scope["method"][:16],
                        "route": _route_template(scope),
                        "path": without_secrets(scope["path"][:PATH_MAX]),
                        "query": [without_secrets(name[:40]) for name in names[:NAMES_MAX]],
                        "status": answer["status"],
                        "ms": round(took * 1000, 1),
                        "bytes": answer["bytes"],
                        "whole": answer["whole"] and not state.get("cut", False),
                        "view": state.get("view"),
                        "key": getattr(caller, "id", None),
                    },
                )


def log_failure(request: Request, failure: Exception) -> str:
    """Log an unexpected failure, and return the id that its answer names."""
    request_id = str(getattr(request.state, "request_id", "") or secrets.token_hex(8))
    out = getattr(request.state, "log", None) or sys.stderr
    places = []
    for frame in traceback.extract_tb(failure.__traceback__):
        path = Path(frame.filename)
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        places.append(f"{name}:{frame.lineno} {frame.name}")
    document: dict[str, Any] = {"at": _now(), "request": request_id}
    document["failed"] = type(failure).__qualname__
    if isinstance(failure, OSError | Damaged):  # these speak of files, and of no hand
        document["reason"] = str(failure)
    _write(out, {**document, "where": places})
    return request_id


def without_secrets(text: str) -> str:
    """A text without anything that looks like a secret."""
    return _SECRETS.sub(lambda found: f"{found[1] or ''}...", text)


def _route_template(scope: Scope) -> str | None:
    """The template of the matched route, so that lines of one kind can be counted; None without
    one.

    A router that was included with a prefix has it in its own path already.
    """
    return getattr(scope.get("route"), "path", None)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _write(out: TextIO, document: dict[str, Any]) -> None:
    out.write(msgspec.json.encode(document).decode() + "\n")
    out.flush()


router = APIRouter()


@router.get(
    "/healthz", tags=["health"], operation_id="health", summary="Whether this process answers"
)
async def health(request: Request) -> Response:
    return json_response(request, {"status": "ok"}, cache=NO_STORE)


@router.get(
    "/readyz", tags=["health"], operation_id="ready", summary="Whether the ledger can be read"
)
def ready(request: Request) -> Response:
    try:
        request.app.state.service.reader.snapshot()
    except (OSError, Damaged):
        raise Problem(
            "unavailable", "the ledger cannot be read: muckrake doctor says why"
        ) from None
    return json_response(request, {"status": "ready"}, cache=NO_STORE)


@router.get(
    "/metrics",
    tags=["health"],
    operation_id="metrics",
    summary="Requests and latencies, for Prometheus",
    response_class=PlainTextResponse,
)
async def metrics(request: Request) -> Response:
    text = request.app.state.metrics.text()
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return PlainTextResponse(text, media_type=kind, headers={"Cache-Control": NO_STORE})


TRIM_EVERY_S = 1.0
TRIM_AFTER_BYTES = 8 << 20  # bytes that were sent
HEAPS_MAX = 2  # that threads share, instead of eight for each core
_ARENA_MAX = -8  # of glibc's mallopt


def limit_heaps() -> None:
    """Limit the C library's heaps for all threads, if it is glibc."""
    if (mallopt := _libc_function("mallopt")) is not None:
        mallopt(_ARENA_MAX, HEAPS_MAX)


def trim_memory() -> None:
    """Give free memory back to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if (trim := _libc_function("malloc_trim")) is not None:
        trim(0)


async def trim_memory_often(metrics: Metrics) -> None:
    """Trim memory after much was sent, for as long as the server runs."""
    before = metrics.sent
    while True:
        await asyncio.sleep(TRIM_EVERY_S)
        if metrics.sent - before >= TRIM_AFTER_BYTES:
            idle = not metrics.now
            await run_in_threadpool(trim_memory)
            if idle:
                before = metrics.sent


def _libc_function(name: str) -> Callable[..., int] | None:
    try:
        function: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return function
