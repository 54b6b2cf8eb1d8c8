"""How an answer is sent: in which format, with which validator, and how one that is made meanwhile.

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

from api.exporting.files import FORMULA_PATTERN
from api.problem import Problem

MEDIA = {
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
ALSO = {  # other names that clients have for the same
    "application/jsonl": "ndjson",
    "application/ndjson": "ndjson",
    "application/x-jsonlines": "ndjson",
    "application/x-zip-compressed": "zip",
    "text/json": "json",
}
SPELLED = {"jsonl": "ndjson", "text": "txt", "feather": "arrow"}  # the same for `?format=`


def format_of(request: Request, offered: Sequence[str]) -> str:
    """The format that `?format=` or `Accept` names, of those offered; without either the first."""
    named = request.query_params.get("format")
    if named is not None:
        named = SPELLED.get(named, named)
        if named in offered:
            return named
        raise Problem("not-acceptable", f"there is no {named[:40]} of this: {', '.join(offered)}")
    accepted = request.headers.get("accept", "").strip()
    if not accepted:
        return offered[0]
    ranges = tuple(ranges_of(accepted))
    weighed = {one: weight(ranges, one) for one in offered}
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


class Range(NamedTuple):
    """A word of a header and what it weighs in thousandths; of `Accept` a type, a kind of types
    or all."""

    kind: str
    weight: int


def ranges_of(accepted: str) -> Iterator[Range]:
    """The ranges of an `Accept`; one that cannot be read is passed over."""
    return (one for one in weighed(accepted) if "/" in one.kind)


def weighed(header: str) -> Iterator[Range]:
    """The words of a header that weighs them."""
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
            yield Range(kind, weight)


def weight(ranges: Sequence[Range], kind: str) -> int:
    """What a format weighs: the most exact range that holds it decides, not the heaviest."""
    content_type = MEDIA[kind].partition(";")[0]
    names = {content_type, *(other for other, known in ALSO.items() if known == kind)}
    for exact in (names, {f"{content_type.partition('/')[0]}/*"}, {"*/*"}):
        weights = [one.weight for one in ranges if one.kind in exact]
        if weights:
            return max(weights)
    return 0


FOREVER = "max-age=31536000, immutable"  # a hand that cannot change for its viewer
ANEW = "no-cache"  # kept, and asked for again with its validator
NEVER = "no-store"  # a secret, told once
_FORMULA = re.compile(FORMULA_PATTERN)
VARY = "Accept, Authorization, Cookie"  # what the same address is answered differently by


def content_types(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The formats of a route, for its description."""
    return {200: {"content": {MEDIA[kind].partition(";")[0]: {} for kind in kinds}}}


def document(
    request: Request, content: Any, *, cache: str = ANEW, status: int = 200, **headers: str
) -> Response:
    """Send one JSON document with its ETag; 304 if the client has it, 406 if he wants no JSON."""
    if request.method == "GET":
        format_of(request, ("json",))
    body = msgspec.json.encode(content)
    return sent(request, body, "json", cache=cache, status=status, **headers)


def listed(
    request: Request,
    rows: Iterable[Mapping[str, Any]],
    following: str | None = None,
    offered: Sequence[str] = ("json", "ndjson", "csv"),
    **members: Any,
) -> Response:
    """A page of a list in the format asked for; where it goes on stands in body and `Link`."""
    kind = format_of(request, offered)
    page = list(rows)
    if kind == "json":
        body = {"data": page, "next_cursor": following, "has_more": following is not None}
        answer = sent(request, msgspec.json.encode({**body, **members}), kind)
    elif kind == "ndjson":
        answer = sent(request, b"".join(msgspec.json.encode(row) + b"\n" for row in page), kind)
    else:
        for_spreadsheet = is_for_spreadsheet(request, download=False)
        out = io.StringIO()
        columns = list(dict.fromkeys(name for row in page for name in row))
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_cell(name, for_spreadsheet) for name in columns])
        writer.writerows(
            [_cell(value, for_spreadsheet) for value in map(row.get, columns)] for row in page
        )
        answer = sent(request, out.getvalue().encode(), kind)
    return goes_on(request, answer, following)


def _cell(value: Any, for_spreadsheet: bool) -> Any:
    """Text as it is, or as no formula; what has parts in JSON."""
    if isinstance(value, list | tuple | dict | bool):
        value = json.dumps(value)
    if for_spreadsheet and isinstance(value, str):
        return _FORMULA.sub(r"'\1", value)
    return value


def goes_on(request: Request, answer: Response, following: str | None) -> Response:
    """A page whose `Link` says where the list goes on, if it does."""
    if following is not None:
        further = request.url.include_query_params(cursor=following)
        answer.headers["Link"] = f'<{further.path}?{further.query}>; rel="next"'
    return answer


def sent(
    request: Request,
    body: bytes,
    kind: str,
    *,
    cache: str = ANEW,
    status: int = 200,
    filename: str | None = None,
    **headers: str,
) -> Response:
    """Bytes that stand for one viewpoint's answer: their digest is the validator. Of `headers`,
    `after` is `Retry-After`."""
    fields = about(request, cache, filename)
    fields |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    if status == 200 and cache != NEVER:
        tag = fields["ETag"] = f'"{sha256(body).hexdigest()[:32]}"'
        if request.method in ("GET", "HEAD") and known(request, tag):
            return Response(status_code=304, headers=fields)
    return Response(body, status, media_type=MEDIA[kind], headers=fields)


def about(request: Request, cache: str, filename: str | None = None) -> dict[str, str]:
    """What stands above any answer: who may keep it, and what it depends on."""
    if cache != NEVER and getattr(request.state, "recognized", False):
        cache = f"private, {cache}"  # what only a key may see is for no cache that others share
    fields = {"Cache-Control": cache, "Vary": VARY}
    if filename is not None:
        assert filename.isascii()
        assert not {'"', "\\"} & set(filename)
        fields["Content-Disposition"] = f'attachment; filename="{filename}"'
    return fields


def known(request: Request, tag: str) -> bool:
    """Whether a client has it already: `If-None-Match`, compared weakly."""
    tags = request.headers.get("if-none-match", "").strip()
    if tags == "*":
        return True
    return tag in {one.strip().removeprefix("W/") for one in tags.split(",")}


PIECE = 1 << 18  # no more than this is handed to the socket at once: then it is waited for


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
        close(chunks)
        head = Response(headers=headers, media_type=MEDIA[kind])
        del head.headers["content-length"]  # nobody knows how long it would be
        return head
    stall_s = request.app.state.service.settings.limits.stall_s
    return Following(_Threaded(chunks), MEDIA[kind], headers, stall_s)


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
        await anyio.to_thread.run_sync(close, self._chunks)


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


def close(chunks: object) -> None:
    """Let go of what makes the chunks, if it holds anything."""
    close = getattr(chunks, "close", None)
    if close is not None:
        close()


def cut(scope: Scope) -> None:
    """End a connection whose reader takes nothing: to close it would wait for him."""
    scope["state"]["cut"] = True
    if (abort := scope["state"].get("abort")) is not None:
        abort()
