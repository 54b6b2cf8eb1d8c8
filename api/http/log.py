"""One line of JSON on stderr for each request, and what `/metrics` counts.

A line has the path, but of the query no more than names: `?q=` may hold cards that somebody looks
for, `?once=` a token. It has the id of a key, never a key. Of a failure it has the kind and the
places in the code, not its text. The id of a request is ours: a client's own `X-Request-Id`, which
the package asgi-correlation-id takes over, would write into the log what somebody else chose.
"""

import re
import secrets
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import msgspec
from fastapi import Request
from starlette.datastructures import MutableHeaders, QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.layers import Layer, put
from api.http.metrics import Metrics
from store.folder.frames import Damaged

PATH_MAX = 200
NAMES_MAX = 20
ROOT = Path(__file__).parents[2]
_SECRET = re.compile(r"(mr_[0-9a-f]{8})_[0-9a-f_]+|[\w-]{40,}")


class RequestLog(Layer):
    """Every request with an id, a line in the log and its place in the metrics."""

    def __init__(self, app: ASGIApp, metrics: Metrics, out: TextIO | None) -> None:
        super().__init__(app)
        self.metrics = metrics
        self.out = out

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        told: dict[str, Any] = {"status": None, "bytes": 0, "whole": False}
        put(scope, "request_id", secrets.token_hex(8))
        put(scope, "log", self.out)

        async def heard(message: Message) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = scope["state"]["request_id"]
            elif message["type"] == "http.response.body":
                told["bytes"] += len(message.get("body", b""))
                self.metrics.sends(len(message.get("body", b"")))
                told["whole"] = not message.get("more_body", False)
            await send(message)

        self.metrics.begins()
        begun = time.perf_counter()
        try:
            await self.app(scope, receive, heard)
        finally:
            took = time.perf_counter() - begun
            size = 0 if scope["state"].get("recognized") else told["bytes"]
            self.metrics.ends(scope["method"], _route(scope), told["status"], took, size)
            if self.out is not None:
                _write(self.out, _line(scope, told, took))


def failed(request: Request, failure: Exception) -> str:
    """A failure that nobody foresaw goes into the log; the id that its answer names."""
    request_id = str(getattr(request.state, "request_id", "") or secrets.token_hex(8))
    out = getattr(request.state, "log", None) or sys.stderr
    found = traceback.extract_tb(failure.__traceback__)
    told: dict[str, Any] = {"at": _now(), "request": request_id}
    told["failed"] = type(failure).__qualname__
    if isinstance(failure, OSError | Damaged):  # these speak of files, and of no hand
        told["reason"] = str(failure)
    _write(out, {**told, "where": [_place(one) for one in found]})
    return request_id


def masked(text: str) -> str:
    """Without anything that looks like a secret."""
    return _SECRET.sub(lambda found: f"{found[1] or ''}...", text)


def _line(scope: Scope, told: dict[str, Any], took: float) -> dict[str, Any]:
    state = scope.get("state", {})
    names = list(dict.fromkeys(QueryParams(scope.get("query_string", b"")).keys()))
    caller = state.get("caller")
    return {
        "at": _now(),
        "request": state["request_id"],
        "method": scope["method"][:16],
        "route": _route(scope),
        "path": masked(scope["path"][:PATH_MAX]),
        "query": [masked(name[:40]) for name in names[:NAMES_MAX]],
        "status": told["status"],
        "ms": round(took * 1000, 1),
        "bytes": told["bytes"],
        "whole": told["whole"] and not state.get("cut", False),
        "view": state.get("view"),
        "key": getattr(caller, "id", None),
    }


def _route(scope: Scope) -> str | None:
    """The template of the route, so that lines of one kind can be counted; None if there is none.

    A router that was included with a prefix has it in its own path already.
    """
    return getattr(scope.get("route"), "path", None)


def _place(one: traceback.FrameSummary) -> str:
    path = Path(one.filename)
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return f"{name}:{one.lineno} {one.name}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _write(out: TextIO, told: dict[str, Any]) -> None:
    out.write(msgspec.json.encode(told).decode() + "\n")
    out.flush()
