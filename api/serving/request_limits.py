"""What is too long, too slow, or could be read in two ways, is refused before a route reads it.

Starlette's `RequestBodyLimitMiddleware` has one length for all addresses and no clock: a body that
comes a byte a minute is waited for. It answers in plain text, too.
"""

import math
import re

import anyio
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.layers import Layer
from api.http.limits import Limits, family
from api.problem import Problem

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ufffd]")
_ESCAPED_NUL = re.compile(rb"%00")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class RequestLimits(Layer):
    """Refuses headers, addresses and bodies beyond the limits; a body is counted as it comes."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        super().__init__(app)
        self.limits = limits

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._check_lengths(scope)
        _check_text(scope)
        uploaded = family(scope["path"]).name == "upload"
        most = self.limits.upload_bytes if uploaded else self.limits.body_bytes
        if _length(scope) > most:
            raise _too_large(most)
        size, until, wrong = 0, anyio.current_time() + self.limits.body_s, 0

        async def counted() -> Message:
            nonlocal size, until, wrong
            with anyio.move_on_at(until) as waited:
                message = await receive()
            if not waited.cancelled_caught:
                came = len(message.get("body", b""))
                size, until = size + came, until + came / self.limits.slowest
                until = until if message.get("more_body") else math.inf  # now only his end is due
            if waited.cancelled_caught or size > most:
                wrong = 408 if waited.cancelled_caught else 413
                raise HTTPException(wrong)  # the one exception that FastAPI's parsers let through
            return message

        begun = False

        async def heard(message: Message) -> None:
            nonlocal begun
            if begun or not wrong:  # what a route says to half a body is not passed on
                begun = True
                await send(message)

        await self.app(scope, counted, heard)
        if wrong == 413 and not begun:
            raise _too_large(most)
        if wrong and not begun:
            problem = Problem(
                "too-slow",
                f"a body must come within {self.limits.body_s:g} seconds, or"
                f" {self.limits.slowest} bytes a second where it is longer",
            )
            problem.headers["Connection"] = "close"
            raise problem

    def _check_lengths(self, scope: Scope) -> None:
        limits = self.limits
        if sum(len(name) + len(value) for name, value in scope["headers"]) > limits.header_bytes:
            raise Problem("headers-too-large", f"headers may have {limits.header_bytes} bytes")
        if len(scope.get("query_string", b"")) > limits.query_bytes:
            raise Problem("uri-too-long", f"a query may have {limits.query_bytes} bytes")


class Framing(Layer):
    """Refuses requests of which a proxy could think that they end elsewhere, or are for another."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = [name for name, _ in scope["headers"]]
        wrong = None
        if b"transfer-encoding" in names and b"content-length" in names:
            wrong = "a body has a length or comes in chunks, and this one says both"
        elif b"transfer-encoding" in names and scope["http_version"] == "1.0":
            wrong = "HTTP/1.0 knows no chunks"
        elif scope["http_version"] not in ("1.0", "1.1"):
            wrong = "HTTP/1.1 is spoken here"
        elif not scope["path"].startswith("/"):
            wrong = "an address here begins with /: the host stands in its own header"
        if wrong is not None:
            problem = Problem("bad-request", wrong)
            problem.headers["Connection"] = "close"  # nothing after it is read as a request
            raise problem
        await self.app(scope, receive, send)


def _check_text(scope: Scope) -> None:
    """No control characters, no broken UTF-8 and no half escapes in an address."""
    query = scope.get("query_string", b"")
    if _CONTROL.search(scope["path"]):
        raise Problem("bad-request", "the path is no text: it has control characters or bad UTF-8")
    if _ESCAPED_NUL.search(query) or _BAD_ESCAPE.search(query) or not _is_text(query):
        raise Problem("bad-request", "the query is no text: it has a NUL, or % without two digits")


def _is_text(query: bytes) -> bool:
    from urllib.parse import unquote_to_bytes

    try:
        unquote_to_bytes(query).decode()
    except UnicodeDecodeError:
        return False
    return True


def _length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 16 else 1 << 60
    return 0


def _too_large(most: int) -> Problem:
    return Problem("too-large", f"a body may have {most} bytes here")
