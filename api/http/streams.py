"""Answers that are made while they are sent, in little memory however long they are.

Chunks are taken from an iterator, one at a time, in a thread; the next is taken when the last has
gone out. Whoever goes away, or takes nothing for too long, is dropped, and the iterator is closed
at once: it lets go of files and locks in its own `finally`.
"""

import io
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import BinaryIO, cast

import anyio
import anyio.to_thread
import pyarrow as pa
from fastapi import Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from api.exporting.files import Texts, Writer, no_formulas, writer
from api.http.answer import ANEW, about
from api.http.following import Unended, cut
from api.http.formats import MEDIA, is_for_spreadsheet

PIECE = 1 << 18  # no more than this is handed to the socket at once: then it is waited for
STALL_S = 60.0

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

    Nobody is told an error by then: what can be refused is refused before. A failure half-way cuts
    the connection, so that no client takes half an answer for a whole one.
    """
    headers = about(request, cache, filename)
    if getattr(request.state, "head", False):
        _close(chunks)
        head = Response(headers=headers, media_type=MEDIA[kind])
        del head.headers["content-length"]  # nobody knows how long it would be
        return head
    return _Flow(chunks, MEDIA[kind], headers, request.app.state.service.settings.limits.stall_s)


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
                marks = {"muckrake.table": table, "muckrake.view": view}
                out = writer(cast(BinaryIO, sink), kind, rows.schema.with_metadata(marks), texts)
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


class Sink(io.RawIOBase):
    """What a writer has written since it was last asked."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[bytes] = []
        self._told = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._told

    def write(self, data: object, /) -> int:
        held = bytes(data)  # type: ignore[call-overload]  # a buffer: the writer uses its own again
        self._held.append(held)
        self._told += len(held)
        return len(held)

    def taken(self) -> bytes:
        held, self._held = self._held, []
        return b"".join(held)


class _Flow(Unended[Iterable[bytes]]):
    """Chunks on their way."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with _while_there(receive):
                start = {"type": "http.response.start", "status": 200}
                await send({**start, "headers": self.raw_headers})
                try:
                    await self._sent(send)
                except TimeoutError:
                    cut(scope)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_close, self._chunks)

    async def _sent(self, send: Send) -> None:
        chunks = iter(self._chunks)
        while (chunk := await anyio.to_thread.run_sync(next, chunks, None)) is not None:
            for start in range(0, len(chunk), PIECE):
                with anyio.fail_after(self._stall_s):
                    piece = chunk[start : start + PIECE]
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        with anyio.fail_after(self._stall_s):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


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
