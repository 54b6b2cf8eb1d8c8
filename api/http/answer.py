"""How an answer that is known whole is sent: as which format, and with which validator.

Answers that are made while they are sent stand in `streams.py`.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from fastapi import Request
from fastapi.responses import Response

from api.exporting.files import FORMULA
from api.http.formats import MEDIA, format_of, is_for_spreadsheet

__all__ = [
    "ANEW",
    "FOREVER",
    "MEDIA",
    "NEVER",
    "document",
    "format_of",
    "goes_on",
    "listed",
    "sent",
]

FOREVER = "max-age=31536000, immutable"  # a hand that cannot change for whoever asked
ANEW = "no-cache"  # kept, and asked for again with its validator
NEVER = "no-store"  # a secret, told once
_FORMULA = re.compile(FORMULA)
VARY = "Accept, Authorization, Cookie"  # what the same address is answered differently by


def media(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The formats of a route, for its description."""
    return {200: {"content": {MEDIA[kind].partition(";")[0]: {} for kind in kinds}}}


def document(
    request: Request, content: Any, *, cache: str = ANEW, status: int = 200, **headers: str
) -> Response:
    """One JSON document with its ETag; 304 to whoever has it, 406 to whoever wants no JSON."""
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
        answer = sent(request, _csv(page, is_for_spreadsheet(request, download=False)), kind)
    return goes_on(request, answer, following)


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
    `retry_after` is `Retry-After`."""
    told = about(request, cache, filename)
    told |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    if status == 200 and cache != NEVER:
        tag = told["ETag"] = f'"{sha256(body).hexdigest()[:32]}"'
        if request.method in ("GET", "HEAD") and known(request, tag):
            return Response(status_code=304, headers=told)
    return Response(body, status, media_type=MEDIA[kind], headers=told)


def about(request: Request, cache: str, filename: str | None = None) -> dict[str, str]:
    """What stands above any answer: who may keep it, and what it depends on."""
    if cache != NEVER and getattr(request.state, "recognized", False):
        cache = f"private, {cache}"  # what only a key may see is for no cache that others share
    told = {"Cache-Control": cache, "Vary": VARY}
    if filename is not None:
        assert filename.isascii()
        assert not {'"', "\\"} & set(filename)
        told["Content-Disposition"] = f'attachment; filename="{filename}"'
    return told


def known(request: Request, tag: str) -> bool:
    """Whether a client has it already: `If-None-Match`, compared weakly."""
    said = request.headers.get("if-none-match", "").strip()
    if said == "*":
        return True
    return tag in {one.strip().removeprefix("W/") for one in said.split(",")}


def _csv(rows: Sequence[Mapping[str, Any]], for_spreadsheet: bool) -> bytes:
    """Text as it is, or as no formula; what has parts in JSON."""
    out = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(out, lineterminator="\r\n")
    for row in ({name: name for name in columns}, *rows):
        values = [
            json.dumps(it) if isinstance(it, list | tuple | dict | bool) else it
            for it in map(row.get, columns)
        ]
        if for_spreadsheet:
            values = [_FORMULA.sub(r"'\1", it) if isinstance(it, str) else it for it in values]
        writer.writerow(values)
    return out.getvalue().encode()
