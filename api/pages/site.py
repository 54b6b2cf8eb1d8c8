"""What all pages share: their templates, what every template is told, and how a page is sent."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from api.http.ask import AUDIT, Asked, Caller
from api.pages import words
from api.pages.addresses import Addresses
from api.pages.static_files import hashed
from api.printable import printable
from api.questions.filters_tree import word
from api.report import name_at
from api.version import VERSION
from api.viewpoints.viewer import AUDITOR, PUBLIC, SEAT

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
    money=words.money,
    chips=words.chips,
    rate=words.rate,
    percent=words.percent,
    when=words.when,
    clock=words.clock,
    short=words.short,
    coded=words.coded,
    word=word,
    many=words.many,
    outcome=words.outcome,
    as_word=word,
    named=name_at,
    exact=lambda text: Markup.escape(text),  # in a field of a form, which is sent back
)
TEMPLATES.globals.update(static=hashed, version=VERSION)


def page(
    request: Request,
    ask: Asked,
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
    }
    body = TEMPLATES.get_template(template).render({**told, **context}).encode()
    return sent(request, body, status)


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


def eyes(request: Request, ask: Asked, players: tuple[str, ...]) -> list[dict[str, Any]]:
    """The viewpoints that this caller has on what he looks at, each with its address."""
    views = [PUBLIC, *_seats(ask.caller, players)]
    if AUDIT in ask.caller.scopes:
        views.append(AUDITOR)
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


def _seats(caller: Caller, players: tuple[str, ...]) -> list[str]:
    """An auditor may sit in any seat of this table, a player in his own."""
    if AUDIT in caller.scopes:
        return [f"{SEAT}{name}" for name in players]
    names = {scope.partition("@")[0] for scope in caller.scopes if scope.startswith(SEAT)}
    return sorted(names)
