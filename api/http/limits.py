"""Rate limits and size limits of requests, and what each family of routes costs.

A caller over his rate must wait; other callers never notice. Counts are kept in each worker by
itself, so that several workers together allow several times as much.

What is too long, too slow, or could be read in two ways, is refused. Starlette's
`RequestBodyLimitMiddleware` has one length for all addresses and no clock: a body that comes a byte
a minute is waited for. It answers in plain text, too.

Each key or address has a bucket of tokens, filled by the second. What is left stands above every
answer (`RateLimit`, `RateLimit-Policy`, of the IETF's draft). The package `limits`, which slowapi
stands on, has windows and no bucket, so that a caller who waits for the next window asks for two
minutes' worth at once; and in memory it keeps every address of a window, however many come, where
we forget the oldest.
"""

import errno
import math
import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import anyio
from msgspec import Struct
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.middleware import HttpMiddleware
from api.problem import Problem

OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
PROXIES = frozenset({"127.0.0.1", "::1"})


class Limits(Struct, frozen=True):
    """The limits of `muckrake serve`; a rate of 0 counts nothing."""

    rate: int = 6_000  # what one key or address may spend in a minute
    body_bytes: int = 1 << 20
    upload_bytes: int = 1 << 30
    header_bytes: int = 12 << 10  # below what uvicorn takes, so that we are the ones to say it
    query_bytes: int = 8 << 10
    seconds: float = 40.0  # until an answer begins; a question in SQL has 30 of its own
    stall_s: float = 60.0  # how long a reader may take none of what is sent to him
    head_s: float = 10.0  # in which the head of a request must have come
    body_s: float = 20.0  # ... and its body, but for the time that its length earns it:
    min_bytes_per_second: int = 4 << 10  # who reads or sends more slowly is let go
    key_jobs: int = 4  # of one key or login that are not over; 0 counts nothing, here and below
    key_bytes: int = 4 << 30  # that it may send in a day
    key_hands: int = 20_000_000  # that it may have played or read in a day
    keep_free: int = 128 << 20  # bytes of the disk that no job is begun with less of
    at_once: int = 256  # connections of one address; requests of one caller
    exports_at_once: int = 4  # that one worker makes
    heavy_valued: int = 1  # hands: an answer about so many that values cards is made by a process
    heavy_judged: int = 100  # ... and what judges so many first
    heavy_counted: int = 2_000  # ... and a page that counts
    heavy_data: int = 20_000  # ... and data that counts, of which no first word is waited for
    heavy_spread: int = 100_000  # ... and how hands are spread, which their page shows later then
    page_processes: int = 3  # such processes of one worker; 0: it makes all answers itself
    sql_at_once: int = 2  # questions of strangers that it answers at once
    wait_s: float = 5.0  # how long one more waits for his turn


class RouteFamily(NamedTuple):
    """Routes of the same cost."""

    name: str
    what: str
    cost: int
    paths: re.Pattern[str]


_ALWAYS = r"/static/|/(healthz|readyz|metrics|favicon\.ico)$"
FAMILIES = (
    RouteFamily("static", "a style, a script, the state of the server", 0, re.compile(_ALWAYS)),
    RouteFamily("login", "a login", 50, re.compile(r"/login$")),
    RouteFamily("bulk", "an export", 50, re.compile(r"/api/v1/exports(/|$)")),
    RouteFamily("sql", "an answer in SQL", 20, re.compile(r"/api/v1/sql$")),
    RouteFamily("upload", "an import", 20, re.compile(r"/api/v1/imports$")),
    RouteFamily(
        "counting",
        "statistics of players",
        5,
        re.compile(r"(/api/v1)?/(players|fairness|ratings|leagues)(/|$)"),
    ),
    RouteFamily("other", "anything else", 1, re.compile(r"")),
)


def family_of(path: str) -> RouteFamily:
    """The first family that a path belongs to."""
    return next(one for one in FAMILIES if one.paths.match(path))


def client_network(host: str) -> str:
    """A client's address, of IPv6 the network that one customer is given."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return f"{address.exploded[:19]}::/64"
    return host


WINDOW_S = 60
BUCKETS_MAX = 10_000  # the caller of longest ago is forgotten, and starts with a full one


class TokenBuckets:
    """The tokens that each caller has left."""

    def __init__(self, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, who: str, cost: int) -> float:
        """Take a cost from a caller's bucket; what is left, below 0 if there was too little and
        nothing was taken."""
        now = self._clock()
        with self._lock:
            left, then = self._left.pop(who, (float(self.rate), now))
            left = min(float(self.rate), left + (now - then) * self.rate / WINDOW_S)
            enough = left >= cost
            self._left[who] = (left - cost if enough else left, now)
            while len(self._left) > BUCKETS_MAX:
                self._left.popitem(last=False)
        return left - cost

    def check(self, scope: Scope, cost: int) -> float:
        """Spend the cost of a request; what its caller has left, or a refusal if he has less."""
        if not self.rate:
            return 0
        left = self.spend(caller_id(scope), min(cost, self.rate))
        if left >= 0:
            return left
        wait = self.wait_s(-left)
        sentence = f"that is more than {self.rate} a minute: wait a little"
        problem = Problem("too-many-requests", sentence).after(wait + 0.5)
        problem.headers.update(self.headers(0, wait))
        raise problem

    def headers(self, left: float, seconds: float) -> dict[str, str]:
        """The `RateLimit` headers of a response."""
        state = f'"caller";r={int(left)};t={max(1, round(seconds))}'
        policy = f'"caller";q={self.rate};w={WINDOW_S}'
        return {"RateLimit": state, "RateLimit-Policy": policy}

    def wait_s(self, lacking: float) -> float:
        """The seconds until so many tokens have come in again."""
        return lacking * WINDOW_S / self.rate


class RateLimit(HttpMiddleware):
    """Refuse callers who have spent their tokens."""

    def __init__(self, app: ASGIApp, buckets: TokenBuckets) -> None:
        super().__init__(app)
        self.buckets = buckets

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        cost = family_of(scope["path"]).cost
        if not self.buckets.rate or not cost:
            await self.app(scope, receive, send)
            return
        left = self.buckets.check(scope, cost)

        async def forward(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.buckets.headers(left, self.buckets.wait_s(cost)).items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, forward)


def caller_id(scope: Scope) -> str:
    """The key or the session of a request, else the network of its address."""
    caller = scope.get("state", {}).get("caller")
    if caller is not None and caller.id is not None:
        return f"key {caller.id}"
    return client_network((scope.get("client") or ("",))[0])


class FairSemaphore:
    """A semaphore with places for all callers and a maximum for each; callers with fewest go
    first."""

    def __init__(self, most: int, each: int) -> None:
        self._most = most
        self._each = each
        self._taken: Counter[str] = Counter()
        self._waiting: list[tuple[str, anyio.Event]] = []

    async def acquire(self, asker: str, seconds: float) -> bool:
        """Wait for a place; false if there was none in this time."""
        if self._has_place(asker):
            self._taken[asker] += 1
            return True
        turn = anyio.Event()
        self._waiting.append((asker, turn))
        try:
            with anyio.move_on_after(seconds):
                await turn.wait()
        except BaseException:  # he is gone
            if turn.is_set():
                self.release(asker)
            raise
        finally:
            if not turn.is_set():
                self._waiting.remove((asker, turn))
        return turn.is_set()

    def release(self, asker: str) -> None:
        """Give a place to the next caller: of those with fewest, who came first."""
        self._taken[asker] -= 1
        self._taken += Counter()  # who has none is forgotten
        able = [one for one in self._waiting if self._has_place(one[0])]
        if able:
            next_one = min(able, key=lambda one: self._taken[one[0]])
            self._waiting.remove(next_one)
            self._taken[next_one[0]] += 1
            next_one[1].set()

    @property
    def crowded(self) -> bool:
        """Whether a caller waits for a place."""
        return bool(self._waiting)

    def why_full(self, asker: str) -> str:
        """A sentence on why there is no place for this caller."""
        if self._taken[asker] >= self._each:
            own = "one such answer is" if self._each == 1 else f"{self._each} such answers are"
            return f"{own} being made for you, and as many is the most for each at once"
        return f"{self._most} such answers are being made, and as many is the most at once"

    def _has_place(self, asker: str) -> bool:
        return self._taken.total() < self._most and self._taken[asker] < self._each


_CONTROL = re.compile(r"[\x00-\x1f\x7f\ufffd]")
_ESCAPED_NUL = re.compile(rb"%00")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class RequestLimits(HttpMiddleware):
    """Refuse headers, addresses and bodies beyond the limits; a body is counted as it comes."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        super().__init__(app)
        self.limits = limits

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._check_head(scope)
        uploaded = family_of(scope["path"]).name == "upload"
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
                size, until = size + came, until + came / self.limits.min_bytes_per_second
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
                f" {self.limits.min_bytes_per_second} bytes a second where it is longer",
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


class RequestFraming(HttpMiddleware):
    """Refuse requests that a proxy could frame otherwise, or could take for another host's."""

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
