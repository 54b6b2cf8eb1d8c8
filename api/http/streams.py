"""Answers that are made while they are sent, in little memory however long they are.

The next chunk is taken when the last has gone out, so nothing is gathered for a slow reader. A
reader who goes away, or takes nothing for too long, is dropped, and what makes the chunks is closed
at once: it lets go of files, locks and places in its own `finally`. Starlette's `StreamingResponse`
waits for ever for a reader who takes nothing.
"""

from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import BinaryIO, Protocol, cast

import anyio
import anyio.to_thread
import pyarrow as pa
from fastapi import Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from api.exporting.files import Texts, Writer, no_formulas, writer
from api.http.answer import ANEW, MEDIA, about, is_for_spreadsheet
from api.http.layers import Sink

PIECE = 1 << 18  # no more than this is handed to the socket at once: then it is waited for

Chunks = Generator[bytes, None, None]


def streamed(
    request: Request,
    chunks: Iterable[bytes],
    kind: str,
    *,
    cache: str = ANEW,
    filename: str | None = None,
) -> Response:
    """An answer of these chunks; the iterator is closed however it ends.

    No error can be sent by then: what can be refused is refused before. A failure half-way cuts
    the connection, so that no client takes half an answer for a whole one.
    """
    headers = about(request, cache, filename)
    if getattr(request.state, "head", False):
        _close(chunks)
        head = Response(headers=headers, media_type=MEDIA[kind])
        del head.headers["content-length"]  # nobody knows how long it would be
        return head
    stall_s = request.app.state.service.settings.limits.stall_s
    return Following(_Threaded(chunks), MEDIA[kind], headers, stall_s)


def tabled(
    request: Request,
    tables: Iterator[pa.Table],
    kind: str,
    view: str,
    table: str,
    *,
    filename: str | None = None,
) -> Response:
    """Tables one after another as one file: `csv`, `ndjson`, `parquet` or `arrow`.

    They are alike in their columns, and there is at least one. Nothing stands under a null.
    """
    texts = no_formulas if is_for_spreadsheet(request, filename is not None) else None
    chunks = _written(tables, kind, view, table, texts)
    return streamed(request, chunks, kind, filename=filename)


def _written(
    tables: Iterator[pa.Table], kind: str, view: str, table: str, texts: Texts | None = None
) -> Chunks:
    sink = Sink()
    try:
        out: Writer | None = None
        for rows in _ahead(tables):
            if out is None:
                metadata = {"muckrake.table": table, "muckrake.view": view}
                out = writer(cast(BinaryIO, sink), kind, rows.schema.with_metadata(metadata), texts)
            out.write(rows)
            if written := sink.taken():
                yield written
        assert out is not None, "there is at least one table"
        out.close()
        yield sink.taken()
    finally:
        _close(tables)


def _ahead(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same tables, each made while the one before is written."""
    with ThreadPoolExecutor(1) as maker:
        coming = maker.submit(next, tables, None)
        while (rows := coming.result()) is not None:
            coming = maker.submit(next, tables, None)
            yield rows


class AsyncChunks(Protocol):
    """Chunks that come one after another, and what closes them."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class _Threaded:
    """The chunks of an iterator that blocks: each is taken in a thread."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._taken = iter(chunks)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        chunk = await anyio.to_thread.run_sync(next, self._taken, None)
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        await anyio.to_thread.run_sync(_close, self._chunks)


class Following(Response):
    """An answer of which nobody knows how long it will be: chunks, each sent when it comes."""

    def __init__(
        self, chunks: AsyncChunks, media_type: str, headers: Mapping[str, str], stall_s: float
    ) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers(headers)
        self._chunks = chunks
        self._stall_s = stall_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with _while_there(receive):
                start = {"type": "http.response.start", "status": 200}
                await send({**start, "headers": self.raw_headers})
                try:
                    async for chunk in self._chunks:
                        for begin in range(0, len(chunk), PIECE):
                            await self._sent(send, chunk[begin : begin + PIECE])
                    await self._sent(send, b"")
                except TimeoutError:
                    cut(scope)
        finally:
            with anyio.CancelScope(shield=True):
                await self._chunks.aclose()

    async def _sent(self, send: Send, piece: bytes) -> None:
        """Hand on a piece, or the end, if it is taken in time."""
        with anyio.fail_after(self._stall_s):
            message = {"type": "http.response.body", "body": piece, "more_body": bool(piece)}
            await send(message)


@asynccontextmanager
async def _while_there(receive: Receive) -> AsyncIterator[None]:
    """What stands inside is stopped when the client goes away."""
    failure: BaseException | None = None
    async with anyio.create_task_group() as group:

        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(listen)
        try:
            yield
        except Exception as reason:  # told as it is, not as a group of one
            failure = reason
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


def _close(chunks: object) -> None:
    close = getattr(chunks, "close", None)
    if close is not None:
        close()


def cut(scope: Scope) -> None:
    """End a connection whose reader takes nothing: to close it would wait for him."""
    scope["state"]["cut"] = True
    if (abort := scope["state"].get("abort")) is not None:
        abort()


class Followers:
    """The followers of a stream. Where all places are taken, the caller with most of them gives his
    oldest one to a newcomer who has fewer, so that a few addresses do not take them all."""

    def __init__(self) -> None:
        self._ends: dict[str, dict[object, Callable[[], None]]] = {}

    def has_place(self, caller: str, most: int) -> bool:
        """Whether one of `most` places is free for this caller, or can be taken from another."""
        return self._count < most or len(self._largest) > len(self._ends.get(caller, ())) + 1

    @contextmanager
    def place(self, caller: str, most: int, end: Callable[[], None]) -> Iterator[bool]:
        """A place for as long as he follows, if there is one by now; `end` cuts his stream when it
        is taken from him."""
        if not self.has_place(caller, most):
            yield False
            return
        if self._count >= most:
            self._largest.pop(next(iter(self._largest)))()
        key = object()
        mine = self._ends.setdefault(caller, {})
        mine[key] = end
        try:
            yield True
        finally:
            mine.pop(key, None)
            if not mine and self._ends.get(caller) is mine:
                del self._ends[caller]

    @property
    def _count(self) -> int:
        return sum(map(len, self._ends.values()))

    @property
    def _largest(self) -> dict[object, Callable[[], None]]:
        return max(self._ends.values(), key=len, default={})
