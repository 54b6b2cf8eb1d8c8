"""What all pages share: their templates, what every template is told, and how a page is sent."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from api.http.ask import AUDIT, Access
from api.pages.addresses import Addresses, hashed
from api.printable import printable
from api.questions.filters_tree import word
from api.version import VERSION
from api.viewpoints.rendering import moments
from api.viewpoints.viewer import AUDITOR, PUBLIC, SEAT
from events.sentences import name_at

_THIN = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"


def chips(amount: int | None) -> str:
    """12 345, its thousands apart."""
    if amount is None:
        return "?"
    said = f"{abs(amount):,}".replace(",", _THIN)
    return f"{_MINUS}{said}" if amount < 0 else said


def money(net: int | None) -> str:
    """What was won or lost, with its sign: +1 234, −19, 0."""
    return f"+{chips(net)}" if net is not None and net > 0 else chips(net)


def rate(net: float, digits: int = 2) -> str:
    """What is won or lost in the mean, with its sign: +46.21, −1 000.00."""
    said = f"{abs(net):,.{digits}f}".replace(",", _THIN)
    return said if not round(net, digits) else f"{_MINUS if net < 0 else '+'}{said}"


def percent(share: float, digits: int = 1) -> str:
    """61.3 %"""
    return f"{100 * share:.{digits}f}{_THIN}%"


def when(at: int | str | None) -> Markup:
    """A moment in UTC, said shortly and kept exactly; a ledger counts it in milliseconds."""
    if at is None:
        return Markup("")
    exact = moments([at])[0] if isinstance(at, int) else at
    try:
        moment = datetime.fromisoformat(exact).astimezone(UTC)
    except ValueError:  # a year that only Arrow knows
        return Markup("<time>{}</time>").format(exact)
    said = f"{moment.day}{_THIN}{moment:%b %Y, %H:%M}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, said)


def clock(at: int | str) -> Markup:
    """The time of a day in UTC, to the second, of something that happened just now."""
    exact = moments([at])[0] if isinstance(at, int) else at
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, exact[11:19])


def short(digest: str, digits: int = 12) -> Markup:
    """The beginning of a digest; the whole of it is there for whoever points at it or copies it."""
    return Markup('<code class="hash" title="{}">{}</code>').format(digest, digest[:digits])


def coded(sentence: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    return Markup("").join(
        Markup("<code>{}</code>" if at % 2 else "{}").format(part)
        for at, part in enumerate(sentence.split("`"))
    )


def many(count: int, one: str, more: str | None = None) -> str:
    """1 hand, 412 hands."""
    return f"{chips(count)} {one if count == 1 else more or one + 's'}"


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
    money=money,
    chips=chips,
    rate=rate,
    percent=percent,
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
    """A page for this viewer; what his eyes may not see must not be in `context` at all.

    `players` are those whose seats he may want to look from, if he may look from any.
    """
    told = {
        "request": request,
        "path": request.url.path,
        "viewer": ask.viewer,
        "caller": ask.caller,
        "eyes": eyes(request, ask, players),
        "to": Addresses(request.query_params.get("as")),
        "trail": (),
        "framed": False,
        "frame": None,
    }
    body = TEMPLATES.get_template(template).render({**told, **context}).encode()
    return sent(request, body, status)


def frame(request: Request, ask: Access, path: str, title: str) -> str | None:
    """What another site writes to show a page of `/embed`; none where no site may."""
    if not ask.service.settings.frame_origins:
        return None
    source = Markup.escape(urljoin(str(request.base_url), path))
    called = Markup.escape(title)
    return f'<iframe src="{source}" title="{called}" width="100%" height="480"></iframe>'


def sent(request: Request, body: bytes, status: int = 200) -> Response:
    """A page and its validator: whoever has this very page is told so in a few bytes."""
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie, HX-Request",
    }
    if status == 200 and tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(body, status, headers)


def eyes(request: Request, ask: Access, players: tuple[str, ...]) -> list[dict[str, Any]]:
    """The viewpoints that this caller has on what he looks at, each with its address."""
    scopes = ask.caller.scopes
    if AUDIT in scopes:  # he may sit in any seat of this table, a player in his own
        views = [PUBLIC, *(f"{SEAT}{name}" for name in players), AUDITOR]
    else:
        views = [PUBLIC, *sorted({one.partition("@")[0] for one in scopes if one.startswith(SEAT)})]
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
