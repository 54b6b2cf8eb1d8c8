"""Middleware: security headers, trusted hosts, HEAD requests, and compression.

No script but ours runs on a page, no other site reads an answer, and no page stands in a frame but
those made for it, in frames of the sites that `muckrake serve --frame-origin` names.
A server on loopback refuses requests that name another host: a foreign page whose name suddenly
leads to 127.0.0.1 (DNS rebinding) is answered nothing. Starlette's `TrustedHostMiddleware` refuses
them, too, but with 400 and a line of text, and sends who asked for `poker.example` on to
`www.poker.example` if that is its name; `docs/http.md` promises 421 and a problem document.

FastAPI knows no heads of its GET routes, so `HeadRequests` asks for the whole and drops the body.

`Compression` packs text of over a kilobyte, `zstd` or `gzip`, piece by piece as it is sent, for a
client that says he can unpack it. Each piece can be unpacked when it has come: a stream that waits
for something holds nothing back, and no more than a piece is ever in memory. Plain and packed are
two representations, so each has a strong tag of its own.

What is packed tells by its length how alike its parts are (BREACH). What a viewpoint may not see is
in no answer to it, so no length tells of that. Secrets of ours (`no-store`) are not packed, and no
page carries a token; nor is what another site makes a browser ask for, though that comes without
the browser's cookie already. Starlette's `GZipMiddleware` knows no zstd, packs for `gzip;q=0`,
gives plain and packed bytes one strong tag, packs secrets, and holds back a stream's head until its
first piece.
"""

import io
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import anyio.to_thread
import pyarrow as pa
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.responses import MEDIA_TYPES, NO_STORE, weighted_words
from api.problem import PROBLEM_JSON as PROBLEM
from api.problem import Problem

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_PORT = re.compile(r":\d*$")


class HttpMiddleware:
    """A layer around the application; what is no request (the server's start and end) passes
    through."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.http if scope["type"] == "http" else self.app)(scope, receive, send)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request: call the application, and send its answer."""
        raise NotImplementedError


class SecurityHeaders(HttpMiddleware):
    """Add the security headers to every answer."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def forward(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if "frame-ancestors 'none'" not in headers["content-security-policy"]:
                    del headers["x-frame-options"]  # which can name no site that may
            await send(message)

        await self.app(scope, receive, forward)


class TrustedHosts(HttpMiddleware):
    """Refuse requests for another server's name; without names, any name is answered."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        super().__init__(app)
        self.hosts = frozenset(host.lower() for host in hosts)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.hosts:
            host = _PORT.sub("", Headers(scope=scope).get("host", "")).lower()
            if host not in self.hosts:
                raise Problem("misdirected", f"this server is {', '.join(sorted(self.hosts))}")
        await self.app(scope, receive, send)


class HeadRequests(HttpMiddleware):
    """Answer HEAD with the headers of the GET answer, which is all that routes know."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        set_request_state(scope, "head", True)
        inner = {**scope, "method": "GET"}

        async def forward(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        try:
            await self.app(inner, receive, forward)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]


def set_request_state(scope: Scope, name: str, value: Any) -> None:
    """Set an attribute of `request.state`, for every handler of this request."""
    scope.setdefault("state", {})[name] = value


COMPRESS_FROM = 1 << 10  # bytes: of less there is little to be saved
LARGE_BODY = 1 << 14  # is packed where nobody waits for it
GZIP_LEVEL = 5
TEXT_TYPES = frozenset(
    MEDIA_TYPES[kind].partition(";")[0]
    for kind in ("json", "ndjson", "csv", "txt", "md", "html", "phh")
) | {PROBLEM}
SAME_SITE = (None, "none", "same-origin")  # `Sec-Fetch-Site` of whom no other site has sent
Compressor = Callable[[bytes, bool], bytes]  # a piece, and whether it is the last, in fewer bytes


class Sink(io.RawIOBase):
    """A file in memory whose content is taken as it is written."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[bytes] = []
        self._sent = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._sent

    def write(self, data: object, /) -> int:
        held = bytes(data)  # type: ignore[call-overload]  # a buffer: the writer uses its own again
        self._held.append(held)
        self._sent += len(held)
        return len(held)

    def taken(self) -> bytes:
        held, self._held = self._held, []
        return b"".join(held)


def gzip() -> Compressor:
    """A gzip compressor, which every client can read."""
    into = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)

    def packed(piece: bytes, last: bool) -> bytes:
        return into.compress(piece) + into.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)

    return packed


def zstd() -> Compressor:
    """A Zstandard compressor: smaller and faster."""
    sink = Sink()
    into = pa.CompressedOutputStream(pa.PythonFile(sink, "w"), "zstd")

    def packed(piece: bytes, last: bool) -> bytes:
        into.write(piece)
        (into.close if last else into.flush)()
        return sink.taken()

    return packed


COMPRESSORS: dict[str, Callable[[], Compressor]] = {"zstd": zstd, "gzip": gzip}


class Compression(HttpMiddleware):
    """Compress answers that are worth it, and say `Vary` on all that might be."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        how = encoding_of(headers.get("accept-encoding", ""))
        if headers.get("sec-fetch-site") not in SAME_SITE:
            how = None
        held = headers.get("if-none-match", "")
        if how is not None and held:
            plain = held.replace(f'-{how}"', '"')  # what a route is asked for, as if it held that
            others = [one for one in scope["headers"] if one[0] != b"if-none-match"]
            scope = {**scope, "headers": [*others, (b"if-none-match", plain.encode("latin-1"))]}
        answer = _CompressedResponse(send, how, held, scope["method"] == "HEAD")
        await self.app(scope, receive, answer)


def encoding_of(accepted: str) -> str | None:
    """The known encoding with the largest weight, the first of equals; None if the client wants
    none."""
    weights = {one.kind: one.weight for one in weighted_words(accepted)}
    found = {how: weights.get(how, weights.get("*", 0)) for how in COMPRESSORS}
    best = max(found, key=lambda how: found[how])
    return best if found[best] > 0 and found[best] >= weights.get("identity", 0) else None


class _CompressedResponse:
    """One answer on its way out; its head is kept back while its packed length is not known."""

    def __init__(self, send: Send, how: str | None, held: str, head: bool) -> None:
        self._send = send
        self._how = how
        self._held = held
        self._head = head
        self._start: Message | None = None  # until it is known how long the answer is
        self._packer: Compressor | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] == "http.response.body":
            await self._go_on(message)
        else:
            await self._send(message)

    async def _begin(self, start: Message) -> None:
        headers = MutableHeaders(scope=start)
        kind = headers.get("content-type", "").partition(";")[0]
        tag, length = headers.get("etag", ""), headers.get("content-length")
        packed_tag = f'{tag[:-1]}-{self._how}"'
        varies = "Accept-Encoding" in headers.get("vary", "")  # as one says that was made apart
        if not varies and (kind in TEXT_TYPES or start["status"] == 304):
            headers.add_vary_header("Accept-Encoding")
        if start["status"] == 304 and tag and self._how is not None and packed_tag in self._held:
            headers["etag"] = packed_tag  # a client with the packed body keeps it
        if (
            self._how is not None
            and kind in TEXT_TYPES
            and (length is None or int(length) >= COMPRESS_FROM)
            and start["status"] not in (204, 206, 304)
            and NO_STORE not in headers.get("cache-control", "")
            and "content-encoding" not in headers
        ):
            self._packer = COMPRESSORS[self._how]()
            headers["content-encoding"] = self._how
            if tag:
                headers["etag"] = packed_tag
            del headers["content-length"]
            if length is not None and not self._head:
                self._start = start
                return
        await self._send(start)

    async def _go_on(self, message: Message) -> None:
        if self._packer is not None and not self._head:
            body, last = message.get("body", b""), not message.get("more_body", False)
            if len(body) < LARGE_BODY:
                body = self._packer(body, last)
            else:
                body = await anyio.to_thread.run_sync(self._packer, body, last)
            message = {**message, "body": body}
        if self._start is not None:
            if not message.get("more_body", False):
                MutableHeaders(scope=self._start)["content-length"] = str(len(message["body"]))
            start, self._start = self._start, None
            await self._send(start)
        await self._send(message)
