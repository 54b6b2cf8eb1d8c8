"""What all pages share: templates, numbers as people read them and as pictures, how a page is sent.

Numbers are counts of chips, money in the units of its hand, shares. Pictures have scales with round
ticks, and points in the place of their values.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from math import floor, log1p, log10
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

from fastapi import FastAPI, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.responses import FileResponse, Response
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from api.http.ask import AUDIT, Access
from api.http.layers import PACKERS, encoding_of
from api.pages.addresses import Addresses, Sorting
from api.printable import printable
from api.questions.filters_values import word
from api.questions.players import p_value
from api.version import VERSION
from api.viewpoints.redaction import moments
from api.viewpoints.viewer import AUDITOR, PUBLIC, SEAT
from engine.policies import counted_in, per_chip
from engine.policies import money as money_of
from events.sentences import name_at

STATIC = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"(?P<stem>.+)\.[0-9a-f]{12}(?P<kind>\.[a-z0-9]+)")


@cache
def hashed(name: str) -> str:
    """The address of a static file: `/static/style.<digest>.css`."""
    file = STATIC / name
    digest = sha256(file.read_bytes()).hexdigest()[:12]
    return f"/static/{Path(name).with_suffix('')}.{digest}{file.suffix}"


@cache
def packed(name: str, how: str) -> bytes:
    """A file in fewer bytes: packed once, for it is the same for everybody."""
    return PACKERS[how]()((STATIC / name).read_bytes(), True)


class Files(StaticFiles):
    """Static files; one that is asked for by its digest never changes."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        named = _HASHED.fullmatch(path)
        plain = f"{named['stem']}{named['kind']}" if named else path
        current = named is not None and (STATIC / plain).is_file() and hashed(plain).endswith(path)
        answer = await super().get_response(plain if current else path, scope)
        answer.headers["Cache-Control"] = _FOREVER if current else "no-cache"
        answer.headers["Vary"] = "Accept-Encoding"
        how = encoding_of(Headers(scope=scope).get("accept-encoding", ""))
        if not current or how is None or scope["method"] != "GET" or answer.status_code != 200:
            return answer
        headers = {name: answer.headers[name] for name in ("Cache-Control", "Content-Type", "Vary")}
        return Response(packed(plain, how), headers={**headers, "Content-Encoding": how})


def mounted(app: FastAPI) -> None:
    """Scripts, styles and whatever else never changes under its name."""
    app.mount("/static", Files(directory=STATIC), name="static")

    @app.get("/favicon.ico", include_in_schema=False)
    def mark() -> FileResponse:
        """For browsers that look for it where it always was."""
        return FileResponse(STATIC / "mark.svg", media_type="image/svg+xml")


SIGNS = {"dollar": "$", "euro": "\N{EURO SIGN}", "pound": "\N{POUND SIGN}"}
THIN = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"


def chips(amount: int | None) -> str:
    """12 345, its thousands apart."""
    if amount is None:
        return "?"
    text = f"{abs(amount):,}".replace(",", THIN)
    return f"{_MINUS}{text}" if amount < 0 else text


def money(net: int | None) -> str:
    """What was won or lost, with its sign: +1 234, −19, 0."""
    return f"+{chips(net)}" if net is not None and net > 0 else chips(net)


def amount(number: int | None, unit: str | None = None, *, signed: bool = False) -> str:
    """So many of a unit as their money: 125 cents are $1.25, 3 half chips are 1.5; of chips, or of
    a unit that nobody knows, the number itself."""
    parts, sign = per_chip(unit or "chip"), SIGNS.get(money_of(unit or "chip"), "")
    if number is None or (parts == 1 and not sign):
        return money(number) if signed else chips(number)
    whole, rest = divmod(abs(number), parts)
    places = f"{rest / parts:.2f}"[1:] if sign else f"{rest / parts:g}"[1:]
    before = _MINUS if number < 0 else "+" if signed and number > 0 else ""
    return f"{before}{sign}{chips(whole)}{places if rest or (sign and parts > 1) else ''}"


def total(net: float, of: str | None, *, signed: bool = True) -> str:
    """So much of a money in all: +$5.32; of chips whole ones, +1 234."""
    smallest = counted_in(of)[0][-1] if of in SIGNS else "chip"
    return amount(round(net * per_chip(smallest)), smallest, signed=signed)


def tick(number: float) -> str:
    """What stands at an axis: 12.5, 1 000."""
    whole = round(number)
    return chips(whole) if whole == number else decimal(number, 2).rstrip("0")


@pass_context
def amount_here(context: Context, number: int | None, *, signed: bool = False) -> str:
    """The same of the hand that a page is about, whose unit is the page's `unit`."""
    return amount(number, context.get("unit"), signed=signed)


def decimal(number: float, digits: int = 2) -> str:
    """46.21, −1 000.00."""
    return f"{number:,.{digits}f}".replace(",", THIN).replace("-", _MINUS)


def rate(net: float, digits: int = 2) -> str:
    """What is won or lost in the mean, with its sign: +46.21, −1 000.00."""
    text = decimal(abs(net), digits)
    return text if not round(net, digits) else f"{_MINUS if net < 0 else '+'}{text}"


def minus(numbers: str) -> str:
    """Numbers as a terminal has them, with the minus sign and the thousands of pages; a hyphen in a
    name stays."""
    return re.sub(r"(?<=\d),(?=\d{3})", THIN, re.sub(r"(?<!\S)-(?=\d)", _MINUS, numbers))


def headings(head: str) -> list[str]:
    """The parts of a terminal's heading that a page does not say elsewhere: not who looks."""
    return [one for one in head.split("   ") if one and not one.startswith("viewpoint: ")]


def percent(share: float, digits: int = 1) -> str:
    """61.3 %"""
    return f"{100 * share:.{digits}f}{THIN}%"


def many(count: int, one: str, more: str | None = None) -> str:
    """1 hand, 412 hands."""
    return f"{chips(count)} {one if count == 1 else more or one + 's'}"


def when(at: int | str | None) -> Markup:
    """A moment in UTC, said shortly and kept exactly; a ledger counts it in milliseconds.

    A file may name none: what it says stays as it is.
    """
    if at is None:
        return Markup("")
    exact = moments([at])[0] if isinstance(at, int) else at
    with suppress(ValueError, OverflowError):  # a year that only Arrow knows, or words
        moment = datetime.fromisoformat(exact)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
            text = f"{moment.day}{THIN}{moment:%b %Y, %H:%M}"
            return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, text)
    return Markup("<time>{}</time>").format(exact)


def clock(at: int | str) -> Markup:
    """The time of a day in UTC, to the second, of something that happened just now."""
    exact = moments([at])[0] if isinstance(at, int) else at
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, exact[11:19])


def short(digest: str, digits: int = 12) -> Markup:
    """The beginning of a digest; the whole of it is its title and what is copied."""
    return Markup('<code class="hash" title="{}">{}</code>').format(digest, digest[:digits])


def coded(sentence: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    return Markup("").join(
        Markup("<code>{}</code>" if at % 2 else "{}").format(part)
        for at, part in enumerate(sentence.split("`"))
    )


HERE = Path(__file__).parent


def finalized(value: Any) -> Any:
    """What is written into a page: foreign text without what would turn or hide its neighbours."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(printable, value.split("\n")))


TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    finalize=finalized,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters.update(
    minus=minus,
    headings=headings,
    format_name=lambda kind: kind.title() if kind in ("arrow", "parquet") else kind.upper(),
    money=money,
    chips=chips,
    amount=amount,
    total=total,
    tick=tick,
    amount_here=amount_here,
    rate=rate,
    decimal=decimal,
    percent=percent,
    p_value=p_value,
    when=when,
    clock=clock,
    short=short,
    coded=coded,
    word=word,
    many=many,
    as_word=word,
    named=name_at,
    exact=lambda text: Markup.escape(text),  # in a field of a form, which is sent back
)
TEMPLATES.globals.update(static=hashed, version=VERSION)


def page(
    request: Request,
    ask: Access,
    template: str,
    *,
    players: tuple[str, ...] = (),
    status: int = 200,
    **context: Any,
) -> Response:
    """A page for this viewer; a value that he may not see must not be in `context` at all.

    `players` are those whose seats he may want to look from, if he may look from any.
    """
    values = {
        "request": request,
        "path": request.url.path,
        "viewer": ask.viewer,
        "caller": ask.caller,
        "viewpoints": viewpoints(request, ask, players),
        "to": Addresses(request.query_params.get("as")),
        "trail": (),
        "framed": False,
        "frame": None,
        "unasked": unasked(request),
        "sorting": (sorting := Sorting(request)),
    }
    body = TEMPLATES.get_template(template).render({**values, **context}).encode()
    sorting.check()
    return sent(request, body, status)


def unasked(request: Request) -> list[str]:
    """Parameters of this address that its page does not have: a mistake in one is said."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return []
    known = {one.alias for one in get_flat_params(route.dependant)} | {"as"}
    return [name[:40] for name in dict.fromkeys(request.query_params) if name not in known][:5]


def frame(request: Request, ask: Access, path: str, title: str) -> str | None:
    """What another site writes to show a page of `/embed`; none where no site may."""
    if not ask.service.settings.frame_origins:
        return None
    source = Markup.escape(urljoin(str(request.base_url), path))
    called = Markup.escape(title)
    return f'<iframe src="{source}" title="{called}" width="100%" height="480"></iframe>'


def sent(request: Request, body: bytes, status: int = 200, kind: str = "text/html") -> Response:
    """A page and its validator: 304 if the browser has this very page."""
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie, HX-Request",
    }
    if status == 200 and tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, status, headers, kind)


def viewpoints(request: Request, ask: Access, players: tuple[str, ...]) -> list[dict[str, Any]]:
    """The viewpoints that this caller has on what he looks at, each with its address."""
    scopes = ask.caller.scopes
    if AUDIT in scopes:  # he may sit in any seat of this table, a player in his own
        views = [PUBLIC, *(f"{SEAT}{name}" for name in players), AUDITOR]
    else:
        views = [
            PUBLIC,
            *sorted({scope.partition("@")[0] for scope in scopes if scope.startswith(SEAT)}),
        ]
    if ask.viewer.view not in views:
        views.append(ask.viewer.view)
    at = request.url
    return [
        {
            "view": view,
            "name": view.removeprefix(SEAT),
            "kind": "seat" if view.startswith(SEAT) else view,
            "here": view == ask.viewer.view,
            "at": f"{at.path}?{at.include_query_params(**{'as': view}).query}",
        }
        for view in views
    ]


SIZE = 380  # of a picture's square, in its own units
WIDE, HIGH = 600, 240  # of a picture of lines over hands or matches
_STEPS = (1, 2, 2.5, 5, 10)


class Scale(NamedTuple):
    """From nothing (or a lowest value) to a highest, with ticks at round values."""

    low: float
    high: float
    ticks: tuple[float, ...]
    in_logs: bool = False

    def at(self, value: float) -> float:
        """Where a value stands, from 0 to the picture's size."""
        if self.in_logs:
            return round(SIZE * log1p(value) / log1p(self.high), 1)
        return round(SIZE * (value - self.low) / (self.high - self.low), 1)


def scale(values: Iterable[float]) -> Scale:
    """A scale that holds all of these, and nothing."""
    every = [0.0, *values]
    low, high = min(every), max(every)
    rough = (high - low) / 5 or 1
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in _STEPS if power * one >= rough - 1e-9)  # easily read
    first, last = floor(low / step), -floor(-high / step)
    last = max(last, first + 1)
    ticks = tuple(step * number for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


_DECADES = tuple(float(one * 10**power) for power in range(9) for one in (1, 3))


def in_logs(values: Sequence[float]) -> Scale:
    """A scale in logs (of one more, so that nothing is at its foot), with ticks like 1, 3, 10."""
    high = next(one for one in _DECADES if one >= max(values))
    return Scale(0.0, high, (0.0, *(one for one in _DECADES if one <= high)), True)


def histogram(values: Sequence[float], over: Scale, bins: int = 20) -> list[int]:
    """How many values fall into each of so many equal parts of a scale."""
    counts = [0] * bins
    for value in values:
        place = int(bins * (value - over.low) / (over.high - over.low))
        counts[min(bins - 1, max(0, place))] += 1
    return counts
