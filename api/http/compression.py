"""Answers in fewer bytes, `zstd` or `gzip`, for whoever says that he can unpack them.

Text of over a kilobyte is packed piece by piece as it is sent. Each piece can be unpacked when it
has come: a stream that waits for something holds nothing back, and no more than a piece is ever in
memory. Plain and packed are two representations, so each has a strong tag of its own.

What is packed tells by its length how alike its parts are (BREACH). What a viewpoint may not see is
in no answer to it, so no length tells of that. Secrets of ours (`no-store`) are not packed, and no
page carries a token; nor is what another site makes a browser ask for, though that comes without
the browser's cookie already.
"""

import zlib
from typing import Protocol

import anyio.to_thread
import pyarrow as pa
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from api.http.answer import NEVER
from api.http.formats import MEDIA, weighed
from api.http.layer import Layer
from api.http.streams import Sink
from api.problem import JSON as PROBLEM

LEAST = 1 << 10  # bytes: of less there is little to be saved
LARGE = 1 << 14  # is packed where nobody waits for it
LEVEL = 5
TEXTS = frozenset(
    MEDIA[kind].partition(";")[0] for kind in ("json", "ndjson", "csv", "txt", "md", "html", "phh")
) | {PROBLEM}
OURS = (None, "none", "same-origin")  # `Sec-Fetch-Site` of whom no other site has sent


class Packer(Protocol):
    """Bytes in, fewer bytes out."""

    def add(self, data: bytes) -> bytes:
        """What can be unpacked to all that was added so far, once the earlier ones are there."""
        ...

    def end(self) -> bytes:
        """The last bytes."""
        ...


class Compression(Layer):
    """Packs what is worth it; says of all that might be packed that it depends on who asks."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        how = encoding_of(headers.get("accept-encoding", ""))
        if headers.get("sec-fetch-site") not in OURS:
            how = None
        held = headers.get("if-none-match", "")
        if how is not None and held:
            scope = {**scope, "headers": _asked(scope, held.replace(f'-{how}"', '"'))}
        answer = _Answer(send, how, held, scope["method"] == "HEAD")
        await self.app(scope, receive, answer)


def encoding_of(accepted: str) -> str | None:
    """What weighs most of what we can, the first of equals; none for whoever would rather not."""
    said = {one.kind: one.weight for one in weighed(accepted)}
    found = {how: said.get(how, said.get("*", 0)) for how in PACKERS}
    best = max(found, key=lambda how: found[how])
    return best if found[best] > 0 and found[best] >= said.get("identity", 0) else None


class _Answer:
    """One answer on its way out."""

    def __init__(self, send: Send, how: str | None, held: str, head: bool) -> None:
        self._send = send
        self._how = how
        self._held = held
        self._head = head
        self._start: Message | None = None  # until it is known how long the answer is
        self._packer: Packer | None = None

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
        if kind in TEXTS or start["status"] == 304:
            headers.add_vary_header("Accept-Encoding")
        if start["status"] == 304 and self._how is not None:
            self._keep(headers)
        length = headers.get("content-length")
        long = length is None or int(length) >= LEAST
        if self._how is not None and kind in TEXTS and long and _may_be_packed(start, headers):
            self._packer = PACKERS[self._how]()
            headers["content-encoding"] = self._how
            if tag := headers.get("etag"):
                headers["etag"] = f'{tag[:-1]}-{self._how}"'
            del headers["content-length"]
            if length is not None and not self._head:
                self._start = start
                return
        await self._send(start)

    def _keep(self, headers: MutableHeaders) -> None:
        """Whoever has it packed is told so; whoever has it plain keeps that."""
        tag = headers.get("etag", "")
        packed = f'{tag[:-1]}-{self._how}"'
        if tag and packed in self._held:
            headers["etag"] = packed

    async def _go_on(self, message: Message) -> None:
        if self._packer is not None and not self._head:
            message = {**message, "body": await self._less(message)}
        if self._start is not None:
            if not message.get("more_body", False):
                MutableHeaders(scope=self._start)["content-length"] = str(len(message["body"]))
            start, self._start = self._start, None
            await self._send(start)
        await self._send(message)

    async def _less(self, message: Message) -> bytes:
        body, last = message.get("body", b""), not message.get("more_body", False)
        if len(body) < LARGE:
            return self._added(body, last)
        return await anyio.to_thread.run_sync(self._added, body, last)

    def _added(self, body: bytes, last: bool) -> bytes:
        assert self._packer is not None
        packed = self._packer.add(body) if body else b""
        return packed + self._packer.end() if last else packed


def _may_be_packed(start: Message, headers: MutableHeaders) -> bool:
    secret = NEVER in headers.get("cache-control", "")
    return (
        start["status"] not in (204, 206, 304) and not secret and "content-encoding" not in headers
    )


def _asked(scope: Scope, held: str) -> list[tuple[bytes, bytes]]:
    """The request's headers, as if the tags that it holds were of what is plain."""
    others = [(name, value) for name, value in scope["headers"] if name != b"if-none-match"]
    return [*others, (b"if-none-match", held.encode("latin-1"))]


class _Gzip:
    def __init__(self) -> None:
        self._into = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)

    def add(self, data: bytes) -> bytes:
        return self._into.compress(data) + self._into.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        return self._into.flush()


class _Zstd:
    def __init__(self) -> None:
        self._sink = Sink()
        self._into = pa.CompressedOutputStream(pa.PythonFile(self._sink, "w"), "zstd")

    def add(self, data: bytes) -> bytes:
        self._into.write(data)
        self._into.flush()
        return self._sink.taken()

    def end(self) -> bytes:
        self._into.close()
        return self._sink.taken()


PACKERS: dict[str, type[Packer]] = {"zstd": _Zstd, "gzip": _Gzip}
