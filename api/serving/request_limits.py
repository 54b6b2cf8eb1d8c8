"""What is too long, too slow, or could be read in two ways, is refused, and big answers take turns.

Starlette's `RequestBodyLimitMiddleware` has one length for all addresses and no clock: a body that
comes a byte a minute is waited for. It answers in plain text, too.

Work in a thread cannot be stopped from outside. So a caller who waited too long is answered, and
his work goes on by itself to its own end, with nobody listening; the place it takes stays taken
until then. The caller with fewest answers being made goes first, so that nobody waits behind all
that another has asked for; and nobody has all the places for SQL, if there are several.
"""

import math
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import unquote_to_bytes

import anyio
from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.connections import who
from api.http.layers import Layer
from api.http.limits import Limits, family
from api.http.request_log import failed
from api.problem import Problem
from api.serving.failures import answered

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ufffd]")
_ESCAPED_NUL = re.compile(rb"%00")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class RequestLimits(Layer):
    """Refuses headers, addresses and bodies beyond the limits; a body is counted as it comes."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        super().__init__(app)
        self.limits = limits

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._check_head(scope)
        uploaded = family(scope["path"]).name == "upload"
        most = self.limits.upload_bytes if uploaded else self.limits.body_bytes
        length = next((text for name, text in scope["headers"] if name == b"content-length"), b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > most:
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

        async def forward(message: Message) -> None:
            nonlocal begun
            if begun or not wrong:  # what a route says to half a body is not passed on
                begun = True
                await send(message)

        await self.app(scope, counted, forward)
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

    def _check_head(self, scope: Scope) -> None:
        """Refuse a long head, and control characters, broken UTF-8 and half escapes in it."""
        limits, query = self.limits, scope.get("query_string", b"")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > limits.header_bytes:
            raise Problem("headers-too-large", f"headers may have {limits.header_bytes} bytes")
        if len(query) > limits.query_bytes:
            raise Problem("uri-too-long", f"a query may have {limits.query_bytes} bytes")
        if _CONTROL.search(scope["path"]):
            sentence = "the path is no text: it has control characters or bad UTF-8"
            raise Problem("bad-request", sentence)
        try:
            unquote_to_bytes(query).decode()
            is_text = not (_ESCAPED_NUL.search(query) or _BAD_ESCAPE.search(query))
        except UnicodeDecodeError:
            is_text = False
        if not is_text:
            sentence = "the query is no text: it has a NUL, or % without two digits"
            raise Problem("bad-request", sentence)


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


def _too_large(most: int) -> Problem:
    return Problem("too-large", f"a body may have {most} bytes here")


class RequestQueue(Layer):
    """Big answers take turns, and every answer begins in time."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        super().__init__(app)
        self.limits = limits
        self._places = {
            "bulk": Places(limits.bulk, limits.bulk),
            "sql": Places(limits.sql, max(1, limits.sql - 1)),
        }
        self._asking: Counter[str] = Counter()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = family(scope["path"]).name
        if name == "static":
            await self.app(scope, receive, send)
            return
        seconds = None if name == "upload" else self.limits.seconds
        caller = who(scope)
        with self._among(caller):
            async with self._turn(name, caller):
                await _Begun(self.app, seconds)(scope, receive, send)

    @contextmanager
    def _among(self, caller: str) -> Iterator[None]:
        """One more request of this caller: behind a proxy, too, where connections say nothing."""
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
    async def _turn(self, name: str, asker: str) -> AsyncIterator[None]:
        places = self._places.get(name)
        if places is None:
            yield
            return
        if not await places.take(asker, self.limits.wait_s):
            raise Problem("unavailable", places.full(asker)).after(self.limits.wait_s)
        try:
            yield
        finally:
            places.leave(asker)


class Places:
    """So many at once for all, and so many for each who asks."""

    def __init__(self, most: int, each: int) -> None:
        self._most = most
        self._each = each
        self._taken: Counter[str] = Counter()
        self._waiting: list[tuple[str, anyio.Event]] = []

    async def take(self, asker: str, seconds: float) -> bool:
        """A place for one who asks, as soon as there is one; false if there was none so long."""
        if self._free(asker):
            self._taken[asker] += 1
            return True
        turn = anyio.Event()
        self._waiting.append((asker, turn))
        try:
            with anyio.move_on_after(seconds):
                await turn.wait()
        except BaseException:  # he is gone
            if turn.is_set():
                self.leave(asker)
            raise
        finally:
            if not turn.is_set():
                self._waiting.remove((asker, turn))
        return turn.is_set()

    def leave(self, asker: str) -> None:
        """His place is the next one's: of who has fewest, and of them who came first."""
        self._taken[asker] -= 1
        self._taken += Counter()  # who has none is forgotten
        able = [one for one in self._waiting if self._free(one[0])]
        if able:
            next_one = min(able, key=lambda one: self._taken[one[0]])
            self._waiting.remove(next_one)
            self._taken[next_one[0]] += 1
            next_one[1].set()

    @property
    def crowded(self) -> bool:
        """Whether somebody waits for a place."""
        return bool(self._waiting)

    def full(self, asker: str) -> str:
        """Why there is no place for him."""
        if self._taken[asker] >= self._each:
            own = "one such answer is" if self._each == 1 else f"{self._each} such answers are"
            return f"{own} being made for you, and as many is the most for each at once"
        return f"{self._most} such answers are being made, and as many is the most at once"

    def _free(self, asker: str) -> bool:
        return self._taken.total() < self._most and self._taken[asker] < self._each


class _Begun:
    """One answer, and whether it has begun."""

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
            group.start_soon(self._work, scope, receive, send)
            with anyio.move_on_after(self.seconds):
                await self.begun.wait()
            if not self.begun.is_set():
                self.late.set()
                sentence = f"no answer within {self.seconds:g} seconds: ask for less"
                answer = await answered(Request(scope), Problem("unavailable", sentence).after(10))
                await answer(scope, receive, send)
        if self.failure is not None and self.late.is_set():
            failed(Request(scope), self.failure)  # nobody listens any more
        elif self.failure is not None:
            raise self.failure

    async def _work(self, scope: Scope, receive: Receive, send: Send) -> None:
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
