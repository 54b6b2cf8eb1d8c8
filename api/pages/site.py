"""Shared by all pages: templates, numbers as text and as pictures, and how a page is rendered and
sent.

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

from api.http.access import AUDIT, Access
from api.http.middleware import COMPRESSORS, encoding_of
from api.pages.addresses import Addresses, PageOrders
from api.printable import printable
from api.questions.filters_values import quoted_name
from api.questions.player_measures import p_text
from api.version import VERSION
from api.viewpoints.redaction import timestamps
from api.viewpoints.viewer import AUDITOR, PUBLIC, SEAT
from engine.policies import counted_in, per_chip
from engine.policies import money as money_of
from events.sentences import name_at

STATIC = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"(?P<stem>.+)\.[0-9a-f]{12}(?P<kind>\.[a-z0-9]+)")


@cache
def static_address(name: str) -> str:
    """The address of a static file: `/static/style.<digest>.css`."""
    file = STATIC / name
    digest = sha256(file.read_bytes()).hexdigest()[:12]
    return f"/static/{Path(name).with_suffix('')}.{digest}{file.suffix}"


@cache
def compressed_file(name: str, how: str) -> bytes:
    """A static file compressed, once: it is the same for everybody."""
    return COMPRESSORS[how]()((STATIC / name).read_bytes(), True)


class Files(StaticFiles):
    """Static files; one that is asked for by its digest never changes."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        named = _HASHED.fullmatch(path)
        plain = f"{named['stem']}{named['kind']}" if named else path
        current = (
            named is not None
            and (STATIC / plain).is_file()
            and static_address(plain).endswith(path)
        )
        answer = await super().get_response(plain if current else path, scope)
        answer.headers["Cache-Control"] = _FOREVER if current else "no-cache"
        answer.headers["Vary"] = "Accept-Encoding"
        how = encoding_of(Headers(scope=scope).get("accept-encoding", ""))
        if not current or how is None or scope["method"] != "GET" or answer.status_code != 200:
            return answer
        headers = {name: answer.headers[name] for name in ("Cache-Control", "Content-Type", "Vary")}
        return Response(compressed_file(plain, how), headers={**headers, "Content-Encoding": how})


def mount_static_files(app: FastAPI) -> None:
    """Serve scripts, styles and other files that never change under their name."""
    app.mount("/static", Files(directory=STATIC), name="static")

    @app.get("/favicon.ico", include_in_schema=False)
    def mark() -> FileResponse:
        """For browsers that look for it where it always was."""
        return FileResponse(STATIC / "mark.svg", media_type="image/svg+xml")


CURRENCY_SIGNS = {"dollar": "$", "euro": "\N{EURO SIGN}", "pound": "\N{POUND SIGN}"}
THIN = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"


def chips_text(amount: int | None) -> str:
    """A number of chips, its thousands apart: 12 345."""
    if amount is None:
        return "?"
    text = f"{abs(amount):,}".replace(",", THIN)
    return f"{_MINUS}{text}" if amount < 0 else text


def net_text(net: int | None) -> str:
    """A net with its sign: +1 234, −19, 0."""
    return f"+{chips_text(net)}" if net is not None and net > 0 else chips_text(net)


def money_text(number: int | None, unit: str | None = None, *, signed: bool = False) -> str:
    """An amount of a unit as its money: 125 cents are $1.25, 3 half chips are 1.5; of chips, or
    of a unit that nobody knows, the number itself."""
    parts, sign = per_chip(unit or "chip"), CURRENCY_SIGNS.get(money_of(unit or "chip"), "")
    if number is None or (parts == 1 and not sign):
        return net_text(number) if signed else chips_text(number)
    whole, rest = divmod(abs(number), parts)
    places = f"{rest / parts:.2f}"[1:] if sign else f"{rest / parts:g}"[1:]
    before = _MINUS if number < 0 else "+" if signed and number > 0 else ""
    return f"{before}{sign}{chips_text(whole)}{places if rest or (sign and parts > 1) else ''}"


def total_text(net: float, of: str | None, *, signed: bool = True) -> str:
    """A sum of a money: +$5.32; of chips whole ones, +1 234."""
    smallest = counted_in(of)[0][-1] if of in CURRENCY_SIGNS else "chip"
    return money_text(round(net * per_chip(smallest)), smallest, signed=signed)


def tick_text(number: float) -> str:
    """A number at an axis: 12.5, 1 000."""
    whole = round(number)
    return chips_text(whole) if whole == number else decimal_text(number, 2).rstrip("0")


@pass_context
def page_amount_text(context: Context, number: int | None, *, signed: bool = False) -> str:
    """An amount of the hand that a page is about, whose unit is the page's `unit`."""
    return money_text(number, context.get("unit"), signed=signed)


def decimal_text(number: float, digits: int = 2) -> str:
    """A number with digits after the point: 46.21, −1 000.00."""
    return f"{number:,.{digits}f}".replace(",", THIN).replace("-", _MINUS)


def rate_text(net: float, digits: int = 2) -> str:
    """A mean net with its sign: +46.21, −1 000.00."""
    text = decimal_text(abs(net), digits)
    return text if not round(net, digits) else f"{_MINUS if net < 0 else '+'}{text}"


def with_minus_signs(numbers: str) -> str:
    """A terminal's numbers with the minus sign and the thousands of pages; a hyphen in a name
    stays."""
    return re.sub(r"(?<=\d),(?=\d{3})", THIN, re.sub(r"(?<!\S)-(?=\d)", _MINUS, numbers))


def headings(head: str) -> list[str]:
    """The parts of a terminal's heading that a page does not say elsewhere: not who looks."""
    return [one for one in head.split("   ") if one and not one.startswith("viewpoint: ")]


def percent_text(share: float, digits: int = 1) -> str:
    """A share: 61.3 %"""
    return f"{100 * share:.{digits}f}{THIN}%"


def count_text(count: int, one: str, more: str | None = None) -> str:
    """A count with its noun: 1 hand, 412 hands."""
    return f"{chips_text(count)} {one if count == 1 else more or one + 's'}"


def date_markup(at: int | str | None) -> Markup:
    """A time in UTC, said shortly and kept exactly; a ledger counts it in milliseconds.

    A file may name none: what it says stays as it is.
    """
    if at is None:
        return Markup("")
    exact = timestamps([at])[0] if isinstance(at, int) else at
    with suppress(ValueError, OverflowError):  # a year that only Arrow knows, or words
        moment = datetime.fromisoformat(exact)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
            text = f"{moment.day}{THIN}{moment:%b %Y, %H:%M}"
            return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, text)
    return Markup("<time>{}</time>").format(exact)


def clock_markup(at: int | str) -> Markup:
    """The time of day in UTC, to the second, of something that happened just now."""
    exact = timestamps([at])[0] if isinstance(at, int) else at
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, exact[11:19])


def digest_markup(digest: str, digits: int = 12) -> Markup:
    """The beginning of a digest; the whole of it is its title and what is copied."""
    return Markup('<code class="hash" title="{}">{}</code>').format(digest, digest[:digits])


def code_markup(sentence: str) -> Markup:
    """A sentence in which text between backticks is code."""
    return Markup("").join(
        Markup("<code>{}</code>" if at % 2 else "{}").format(part)
        for at, part in enumerate(sentence.split("`"))
    )


PAGES_FOLDER = Path(__file__).parent


def escape_foreign_text(value: Any) -> Any:
    """A value as it is written into a page: foreign text without characters that would turn or
    hide its neighbours."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(printable, value.split("\n")))


TEMPLATES = Environment(
    loader=FileSystemLoader(PAGES_FOLDER / "templates"),
    autoescape=True,
    finalize=escape_foreign_text,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters.update(
    minus=with_minus_signs,
    headings=headings,
    format_name=lambda kind: kind.title() if kind in ("arrow", "parquet") else kind.upper(),
    money=net_text,
    chips=chips_text,
    amount=money_text,
    total=total_text,
    tick=tick_text,
    amount_here=page_amount_text,
    rate=rate_text,
    decimal=decimal_text,
    percent=percent_text,
    p_value=p_text,
    when=date_markup,
    clock=clock_markup,
    short=digest_markup,
    coded=code_markup,
    word=quoted_name,
    many=count_text,
    as_word=quoted_name,
    named=name_at,
    exact=lambda text: Markup.escape(text),  # in a field of a form, which is sent back
)
TEMPLATES.globals.update(static=static_address, version=VERSION)


def page(
    request: Request,
    ask: Access,
    template: str,
    *,
    players: tuple[str, ...] = (),
    status: int = 200,
    **context: Any,
) -> Response:
    """Render a page; a value that the viewer may not see must not be in `context` at all.

    `players` are those whose seats he may want to look from, if he may look from any.
    """
    values = {
        "request": request,
        "path": request.url.path,
        "viewer": ask.viewer,
        "caller": ask.caller,
        "viewpoints": viewpoint_links(request, ask, players),
        "to": Addresses(request.query_params.get("as")),
        "trail": (),
        "framed": False,
        "frame": None,
        "unasked": unknown_parameters(request),
        "sorting": (sorting := PageOrders(request)),
    }
    body = TEMPLATES.get_template(template).render({**values, **context}).encode()
    sorting.check()
    return page_response(request, body, status)


def unknown_parameters(request: Request) -> list[str]:
    """Parameters of this address that its page does not have: a mistake in one is said."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return []
    known = {one.alias for one in get_flat_params(route.dependant)} | {"as"}
    return [name[:40] for name in dict.fromkeys(request.query_params) if name not in known][:5]


def frame_markup(request: Request, ask: Access, path: str, title: str) -> str | None:
    """The HTML with which another site shows a page of `/embed`; None where no site may."""
    if not ask.service.settings.frame_origins:
        return None
    source = Markup.escape(urljoin(str(request.base_url), path))
    called = Markup.escape(title)
    return f'<iframe src="{source}" title="{called}" width="100%" height="480"></iframe>'


def page_response(
    request: Request, body: bytes, status: int = 200, kind: str = "text/html"
) -> Response:
    """A page with its validator: 304 if the browser has this very page."""
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie, HX-Request",
    }
    if status == 200 and tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, status, headers, kind)


def viewpoint_links(
    request: Request, ask: Access, players: tuple[str, ...]
) -> list[dict[str, Any]]:
    """The viewpoints that this caller has on this page, each with its address."""
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


PICTURE_SIZE = 380  # of a picture's square, in its own units
WIDE, HIGH = 600, 240  # of a picture of lines over hands or matches
_STEPS = (1, 2, 2.5, 5, 10)


class Scale(NamedTuple):
    """A scale from nothing (or a lowest value) to a highest, with ticks at round values."""

    low: float
    high: float
    ticks: tuple[float, ...]
    in_logs: bool = False

    def at(self, value: float) -> float:
        """A value's place, from 0 to the picture's size."""
        if self.in_logs:
            return round(PICTURE_SIZE * log1p(value) / log1p(self.high), 1)
        return round(PICTURE_SIZE * (value - self.low) / (self.high - self.low), 1)


def linear_scale(values: Iterable[float]) -> Scale:
    """A scale that holds all of these values, and 0."""
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


def log_scale(values: Sequence[float]) -> Scale:
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
