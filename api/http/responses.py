"""Responses: the format a client accepts, cache headers and validators, lists, and streams of
chunks.

The format is `?format=NAME`, else what `Accept` weighs highest (RFC 9110); among formats of equal
weight the one that a route offers first.

An answer that is made while it is sent takes little memory however long it is. The next chunk is
taken when the last has gone out, so nothing is gathered for a slow reader. A reader who goes away,
or takes nothing for too long, is dropped, and what makes the chunks is closed at once: it lets go
of files, locks and places in its own `finally`. Starlette's `StreamingResponse` waits for ever for
a reader who takes nothing.
"""

import csv
import io
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import anyio
import anyio.to_thread
import msgspec
from fastapi import Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from api.exporting.table_files import FORMULA_PATTERN
from api.problem import Problem

MEDIA_TYPES = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "phh": "text/x-phh; charset=utf-8",
    "ohh": "application/x-ohh+json",
    "pokerstars": "text/x-pokerstars; charset=utf-8",
    "zip": "application/zip",
    "tile": "application/octet-stream",
    "sse": "text/event-stream",
}
MEDIA_ALIASES = {  # other names that clients have for the same
    "application/jsonl": "ndjson",
    "application/ndjson": "ndjson",
    "application/x-jsonlines": "ndjson",
    "application/x-zip-compressed": "zip",
    "text/json": "json",
}
FORMAT_ALIASES = {"jsonl": "ndjson", "text": "txt", "feather": "arrow"}  # the same for `?format=`


def format_of(request: Request, offered: Sequence[str]) -> str:
    """The format that `?format=` or `Accept` names, of those offered; without either the first."""
    named = request.query_params.get("format")
    if named is not None:
        named = FORMAT_ALIASES.get(named, named)
        if named in offered:
            return named
        raise Problem("not-acceptable", f"there is no {named[:40]} of this: {', '.join(offered)}")
    accepted = request.headers.get("accept", "").strip()
    if not accepted:
        return offered[0]
    ranges = tuple(media_ranges(accepted))
    weighed = {one: weight_of_format(ranges, one) for one in offered}
    best = max(offered, key=lambda one: weighed[one])  # the first of several that weigh the same
    if weighed[best] > 0:
        return best
    raise Problem("not-acceptable", f"{accepted[:80]} is not to be had: {', '.join(offered)}")


def is_for_spreadsheet(request: Request, download: bool) -> bool:
    """Whether CSV must hold no formula: in downloads and for browsers, unless `?spreadsheet=`."""
    named = request.query_params.get("spreadsheet")
    if named not in (None, "true", "false"):
        raise Problem("invalid", f"spreadsheet is true or false, not {named[:40]}")
    browser = "text/html" in request.headers.get("accept", "")
    return named == "true" or (named is None and (download or browser))


class WeightedWord(NamedTuple):
    """A word of a header and its weight in thousandths; in `Accept` a media type, `text/*` or
    `*/*`."""

    kind: str
    weight: int


def media_ranges(accepted: str) -> Iterator[WeightedWord]:
    """The media ranges of an `Accept` header; unreadable ones are passed over."""
    return (one for one in weighted_words(accepted) if "/" in one.kind)


def weighted_words(header: str) -> Iterator[WeightedWord]:
    """The words of a header that gives them weights (`q=0.5`)."""
    for part in header.split(","):
        kind, *parameters = (word.strip().lower() for word in part.split(";"))
        weight = 1000
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                whole, _, part = value.strip().partition(".")
                digits = whole + part
                known = whole in ("0", "1") and len(part) <= 3
                known = known and digits.isascii() and digits.isdigit()
                weight = min(1000, int(digits.ljust(4, "0"))) if known else -1
        if kind and weight >= 0:
            yield WeightedWord(kind, weight)


def weight_of_format(ranges: Sequence[WeightedWord], kind: str) -> int:
    """A format's weight: the most exact media range that holds it decides, not the heaviest."""
    content_type = MEDIA_TYPES[kind].partition(";")[0]
    names = {content_type, *(other for other, known in MEDIA_ALIASES.items() if known == kind)}
    for exact in (names, {f"{content_type.partition('/')[0]}/*"}, {"*/*"}):
        weights = [one.weight for one in ranges if one.kind in exact]
        if weights:
            return max(weights)
    return 0


IMMUTABLE = "max-age=31536000, immutable"  # a hand that cannot change for its viewer
NO_CACHE = "no-cache"  # kept, and asked for again with its validator
NO_STORE = "no-store"  # a secret, told once
_FORMULA = re.compile(FORMULA_PATTERN)
VARY = "Accept, Authorization, Cookie"  # what the same address is answered differently by


def content_types(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The formats of a route's response, as OpenAPI describes them."""
    return {200: {"content": {MEDIA_TYPES[kind].partition(";")[0]: {} for kind in kinds}}}


def json_response(
    request: Request, content: Any, *, cache: str = NO_CACHE, status: int = 200, **headers: str
) -> Response:
    """Respond with one JSON document and its ETag; 304 if the client has it, 406 if it wants no
    JSON."""
    if request.method == "GET":
        format_of(request, ("json",))
    body = msgspec.json.encode(content)
    return bytes_response(request, body, "json", cache=cache, status=status, **headers)


def list_response(
    request: Request,
    rows: Iterable[Mapping[str, Any]],
    following: str | None = None,
    offered: Sequence[str] = ("json", "ndjson", "csv"),
    **members: Any,
) -> Response:
    """Respond with a page of a list in the format asked for; body and `Link` say where it goes
    on."""
    kind = format_of(request, offered)
    page = list(rows)
    if kind == "json":
        body = {"data": page, "next_cursor": following, "has_more": following is not None}
        answer = bytes_response(request, msgspec.json.encode({**body, **members}), kind)
    elif kind == "ndjson":
        answer = bytes_response(
            request, b"".join(msgspec.json.encode(row) + b"\n" for row in page), kind
        )
    else:
        for_spreadsheet = is_for_spreadsheet(request, download=False)
        out = io.StringIO()
        columns = list(dict.fromkeys(name for row in page for name in row))
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_cell(name, for_spreadsheet) for name in columns])
        writer.writerows(
            [_cell(value, for_spreadsheet) for value in map(row.get, columns)] for row in page
        )
        answer = bytes_response(request, out.getvalue().encode(), kind)
    return with_next_link(request, answer, following)


def _cell(value: Any, for_spreadsheet: bool) -> Any:
    """A value as a CSV cell: text without a formula for spreadsheets, nested values as JSON."""
    if isinstance(value, list | tuple | dict | bool):
        value = json.dumps(value)
    if for_spreadsheet and isinstance(value, str):
        return _FORMULA.sub(r"'\1", value)
    return value


def with_next_link(request: Request, answer: Response, following: str | None) -> Response:
    """Add the `Link` header of the next page to a response, if there is one."""
    if following is not None:
        further = request.url.include_query_params(cursor=following)
        answer.headers["Link"] = f'<{further.path}?{further.query}>; rel="next"'
    return answer


def bytes_response(
    request: Request,
    body: bytes,
    kind: str,
    *,
    cache: str = NO_CACHE,
    status: int = 200,
    filename: str | None = None,
    **headers: str,
) -> Response:
    """Respond with bytes that are one viewpoint's answer; their digest is the validator. In
    `headers`, `after` becomes `Retry-After`."""
    fields = response_headers(request, cache, filename)
    fields |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    if status == 200 and cache != NO_STORE:
        tag = fields["ETag"] = f'"{sha256(body).hexdigest()[:32]}"'
        if request.method in ("GET", "HEAD") and is_cached(request, tag):
            return Response(status_code=304, headers=fields)
    return Response(body, status, media_type=MEDIA_TYPES[kind], headers=fields)


def response_headers(request: Request, cache: str, filename: str | None = None) -> dict[str, str]:
    """The headers of any answer: who may cache it, and which request headers it depends on."""
    if cache != NO_STORE and getattr(request.state, "recognized", False):
        cache = f"private, {cache}"  # what only a key may see is for no cache that others share
    fields = {"Cache-Control": cache, "Vary": VARY}
    if filename is not None:
        assert filename.isascii()
        assert not {'"', "\\"} & set(filename)
        fields["Content-Disposition"] = f'attachment; filename="{filename}"'
    return fields


def is_cached(request: Request, tag: str) -> bool:
    """Whether the client has this answer already: `If-None-Match`, compared weakly."""
    tags = request.headers.get("if-none-match", "").strip()
    if tags == "*":
        return True
    return tag in {one.strip().removeprefix("W/") for one in tags.split(",")}


CHUNK_BYTES = 1 << 18  # no more than this is handed to the socket at once: then it is waited for


def streaming_response(
    request: Request,
    chunks: Iterable[bytes],
    kind: str,
    *,
    cache: str = NO_CACHE,
    filename: str | None = None,
) -> Response:
    """An answer of these chunks; the iterator is closed however it ends.

    No error can be sent by then: what can be refused is refused before. A failure half-way cuts
    the connection, so that no client takes half an answer for a whole one.
    """
    headers = response_headers(request, cache, filename)
    if getattr(request.state, "head", False):
        close_chunks(chunks)
        head = Response(headers=headers, media_type=MEDIA_TYPES[kind])
        del head.headers["content-length"]  # nobody knows how long it would be
        return head
    stall_s = request.app.state.service.settings.limits.stall_s
    return ChunkedResponse(_ThreadedChunks(chunks), MEDIA_TYPES[kind], headers, stall_s)


class AsyncChunks(Protocol):
    """Chunks that come one after another, and a way to close them."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class _ThreadedChunks:
    """The chunks of a blocking iterator, each taken in a thread."""

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
        await anyio.to_thread.run_sync(close_chunks, self._chunks)


class ChunkedResponse(Response):
    """A response of unknown length: chunks, each sent when it comes."""

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
            async with _while_connected(receive):
                start = {"type": "http.response.start", "status": 200}
                await send({**start, "headers": self.raw_headers})
                try:
                    async for chunk in self._chunks:
                        for begin in range(0, len(chunk), CHUNK_BYTES):
                            await self._sent(send, chunk[begin : begin + CHUNK_BYTES])
                    await self._sent(send, b"")
                except TimeoutError:
                    abort_connection(scope)
        finally:
            with anyio.CancelScope(shield=True):
                await self._chunks.aclose()

    async def _sent(self, send: Send, piece: bytes) -> None:
        """Send a chunk, or the end, and fail if it is not taken in time."""
        with anyio.fail_after(self._stall_s):
            message = {"type": "http.response.body", "body": piece, "more_body": bool(piece)}
            await send(message)


@asynccontextmanager
async def _while_connected(receive: Receive) -> AsyncIterator[None]:
    """Stop the body of the `with` block when the client goes away."""
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


def close_chunks(chunks: object) -> None:
    """Close an iterator of chunks, if it can be closed."""
    close = getattr(chunks, "close", None)
    if close is not None:
        close()


def abort_connection(scope: Scope) -> None:
    """End a connection whose reader takes nothing: to close it would wait for the reader."""
    scope["state"]["cut"] = True
    if (abort := scope["state"].get("abort")) is not None:
        abort()
