"""The connections of one worker: how many an address may hold, how long one may be idle, and how
fast a caller may ask.

uvicorn waits for ever for a head that does not come, and for a reader who does not read. Here each
connection has a time for its head, and another for taking what was written to it. When an address,
or the worker, holds as many as it may, the connection that has waited longest without a request
makes room for the newcomer; where all are being answered, the newcomer must come again.

Each key or address has a bucket of tokens, filled by the second. What is left stands above every
answer (`RateLimit`, `RateLimit-Policy`, of the IETF's draft). The package `limits`, which slowapi
stands on, has windows and no bucket, so that a caller who waits for the next window asks for two
minutes' worth at once; and in memory it keeps every address of a window, however many come, where
we forget the oldest.
"""

import asyncio
import errno
import socket
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from ipaddress import IPv6Address, ip_address
from typing import Any, NamedTuple

import h11
import msgspec
import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.http.layers import Layer
from api.http.limits import Limits, family
from api.problem import JSON, KINDS, Problem

BACKLOG = 2_048  # newcomers that the kernel keeps for us
FILES_WANTED = 16_384  # descriptors: each connection is one, and so is each file that is read
LOOK_S = 1.0  # no more often is it looked for who is too slow
NO_FILES = (errno.EMFILE, errno.ENFILE)
PROXIES = frozenset({"127.0.0.1", "::1"})


def network(host: str) -> str:
    """The address as one customer's: of IPv6 the network that a customer is given."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return f"{address.exploded[:19]}::/64"
    return host


class Connection(H11Protocol):
    """One connection; who answers on it may cut it: `request.state.abort`."""

    def __init__(self, *given: Any, crowd: "Crowd", **named: Any) -> None:
        super().__init__(*given, **named)
        self.crowd = crowd
        self.network = ""
        self.headless_since: float | None = time.monotonic()  # None: a request is being answered
        self._unread = 0  # bytes that were waiting for the reader when it was last looked
        self._read_until = 0.0  # by then he must have taken them

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": self.cut}
        self.network = network(self.client[0] if self.client else "")
        if not self.crowd.joined(self):
            sentence = "as many connections are open as may be, and all are being answered"
            self._end(Problem("unavailable", sentence).after(5))

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.left(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        self.headless_since = time.monotonic()
        super().on_response_complete()
        self._note()

    @property
    def idle_since(self) -> float | None:
        """Since when he has asked for nothing, and has taken all that he was sent."""
        return None if self.transport.get_write_buffer_size() else self.headless_since

    def cut(self) -> None:
        """Reset the connection at once: what the kernel still holds for the client is dropped."""
        sock = self.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def look(self, now: float, limits: Limits) -> None:
        """End it if its head has not come in time, cut it if what was written is not taken."""
        since = self.headless_since
        if since is not None and now - since > limits.head_s and not self.transport.is_closing():
            sentence = f"the head of a request must come within {limits.head_s:g} seconds"
            self._end(Problem("too-slow", sentence) if self.conn.trailing_data[0] else None)
        unread = self.transport.get_write_buffer_size()
        if unread > self._unread or not unread:
            self._read_until = now + limits.stall_s
        else:
            earned = (self._unread - unread) / limits.slowest
            self._read_until = min(now + limits.stall_s, self._read_until + earned)
        self._unread = unread
        if unread and now > self._read_until:
            self.cut()

    def _note(self) -> None:
        """Whether a request is being answered, or the head of one is waited for."""
        if not getattr(self.cycle, "response_complete", True):
            self.headless_since = None
        elif self.headless_since is None:
            self.headless_since = time.monotonic()

    def _end(self, problem: Problem | None) -> None:
        """Close it; say why, if something was asked and nothing else is being said."""
        if problem is not None and self.conn.our_state is h11.IDLE:
            body = msgspec.json.encode(problem.document())
            headers = {"Content-Type": JSON, "Content-Length": str(len(body))}
            headers |= {"Connection": "close", **problem.headers}
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            head = f"HTTP/1.1 {problem.status} {KINDS[problem.kind].title}\r\n{lines}\r\n"
            self.transport.write(head.encode("ascii") + body)
        self.transport.close()


class Crowd:
    """Everybody who is connected to a worker."""

    def __init__(self, limits: Limits, *, fronted: bool, room: int) -> None:
        self.limits = limits
        self._fronted = fronted
        self._room = room
        self._all: dict[Connection, None] = {}  # in the order in which they came
        self._of: dict[str, dict[Connection, None]] = {}

    def joined(self, connection: Connection) -> bool:
        """Whether there is a place for him; perhaps the place of one who asks for nothing."""
        his = self._of.get(connection.network, {})
        counted = not (
            self._fronted and connection.client is not None and connection.client[0] in PROXIES
        )
        if counted and len(his) >= self.limits.at_once and not _made_way(his):
            return False
        if len(self._all) >= self._room and not _made_way(self._all):
            return False
        self._all[connection] = None
        self._of.setdefault(connection.network, {})[connection] = None
        return True

    def left(self, connection: Connection) -> None:
        """He is gone."""
        self._all.pop(connection, None)
        his = self._of.get(connection.network, {})
        his.pop(connection, None)
        if not his:
            self._of.pop(connection.network, None)

    async def looked_after(self) -> None:
        """Look at everybody, again and again, for as long as the server runs."""
        while True:
            await asyncio.sleep(min(LOOK_S, self.limits.head_s / 4))
            now = time.monotonic()
            for one in list(self._all):
                one.look(now, self.limits)


def _made_way(those: dict[Connection, None]) -> bool:
    """Whether one of them was let go: who has waited longest without a request."""
    idle = [(since, id(one), one) for one in those if (since := one.idle_since) is not None]
    if not idle:
        return False
    _, _, first = min(idle)
    first.crowd.left(first)
    first.cut()
    return True


class LimitedServer(uvicorn.Server):
    """uvicorn's server with such connections; no request becomes a web socket."""

    def __init__(self, app: Any, limits: Limits, *, fronted: bool = False, grace_s: int) -> None:
        room = Room.of_process()
        self._crowd = Crowd(limits, fronted=fronted, room=room.connections)
        self._looking: asyncio.Task[None] | None = None
        config = uvicorn.Config(
            app,
            http=partial(Connection, crowd=self._crowd),  # type: ignore[arg-type]  # it makes one
            ws="none",
            log_config=None,
            log_level="critical",  # the log is ours
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=room.accepted,
            timeout_graceful_shutdown=grace_s,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_unheard)
        await super().startup(sockets)
        for sock in sockets or ():
            sock.listen(BACKLOG)  # the kernel may keep more of them than are accepted at a time
        self._looking = asyncio.create_task(self._crowd.looked_after())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await super().shutdown(sockets)


def _unheard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Without descriptors asyncio tries to accept again after a second: once is enough said."""
    failure = context.get("exception")
    if isinstance(failure, OSError) and failure.errno in NO_FILES:
        return
    loop.default_exception_handler(context)


class Room(NamedTuple):
    """What this process has descriptors for: connections in all, and newcomers at one moment."""

    connections: int
    accepted: int

    @classmethod
    def of_process(cls) -> "Room":
        """As many descriptors are taken as may be had; a quarter is left for the ledger's files.

        Newcomers are accepted before they are counted: half of that quarter at most at a time.
        """
        import resource  # which Windows has not: readers do without

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        kept = max(64, most // 4)
        return cls(max(16, most - kept), min(BACKLOG, kept // 2))


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
        """What is left after it; below nothing if there was not so much, and nothing is taken."""
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
        left = self.spend(who(scope), min(cost, self.rate))
        if left >= 0:
            return left
        wait = self.wait_s(-left)
        sentence = f"that is more than {self.rate} a minute: wait a little"
        problem = Problem("too-many-requests", sentence).after(wait + 0.5)
        problem.headers.update(self.headers(0, wait))
        raise problem

    def headers(self, left: float, seconds: float) -> dict[str, str]:
        """What is left, as headers."""
        state = f'"caller";r={int(left)};t={max(1, round(seconds))}'
        policy = f'"caller";q={self.rate};w={WINDOW_S}'
        return {"RateLimit": state, "RateLimit-Policy": policy}

    def wait_s(self, lacking: float) -> float:
        """How long until so much has come in again."""
        return lacking * WINDOW_S / self.rate


class RateLimit(Layer):
    """Refuses who has spent what he had."""

    def __init__(self, app: ASGIApp, buckets: TokenBuckets) -> None:
        super().__init__(app)
        self.buckets = buckets

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        cost = family(scope["path"]).cost
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


def who(scope: Scope) -> str:
    """The key or the session that asks, else the network of the address."""
    caller = scope.get("state", {}).get("caller")
    if caller is not None and caller.id is not None:
        return f"key {caller.id}"
    return network((scope.get("client") or ("",))[0])
