"""Which format of an answer is meant: `?format=NAME`, else what `Accept` weighs highest (RFC 9110).

Among formats of equal weight the one that a route offers first is sent.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fastapi import Request

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
    """What is asked for by `?format=` or `Accept`, among what there is; the first if nothing is."""
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


def weighed(said: str) -> Iterator[Range]:
    """The words of a header that weighs them."""
    for part in said.split(","):
        kind, *parameters = (word.strip().lower() for word in part.split(";"))
        weight = 1000
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                weight = _thousandths(value.strip())
        if kind and weight >= 0:
            yield Range(kind, weight)


def weight(ranges: Sequence[Range], kind: str) -> int:
    """What a format weighs: the most exact range that holds it decides, not the heaviest."""
    media = MEDIA[kind].partition(";")[0]
    names = {media, *(other for other, known in ALSO.items() if known == kind)}
    for exact in (names, {f"{media.partition('/')[0]}/*"}, {"*/*"}):
        found = [one.weight for one in ranges if one.kind in exact]
        if found:
            return max(found)
    return 0


def _thousandths(value: str) -> int:
    """`0.8` as 800; less than nothing for what is no weight."""
    whole, _, part = value.partition(".")
    digits = whole + part
    if whole not in ("0", "1") or len(part) > 3 or not (digits.isascii() and digits.isdigit()):
        return -1
    return min(1000, int(whole) * 1000 + int(part.ljust(3, "0")))
