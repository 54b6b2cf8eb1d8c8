"""The server about itself: its API, keys, health and metrics, and how a browser logs in.

A key's secret is shown once, when it is made. The API is described for programs (`/openapi.json`)
and for people (`/docs`), without any other server.
"""

import time
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from api.http.answer import NEVER, document
from api.http.ask import ADMIN, Ask
from api.http.keys import SESSION_S, NoScope, Sessions, as_json, scope_of
from api.http.openapi import PATH
from api.problem import Problem
from api.version import VERSION
from store.folder.frames import Damaged

router = APIRouter()
DAY_S = 24 * 60 * 60


@router.get(
    "/api/v1/", tags=["root"], operation_id="root", summary="Version, viewpoint and where to go on"
)
async def root(request: Request, ask: Ask) -> Response:
    lists = ("matches", "hands", "players", "games", "stream")
    links = {name: f"/api/v1/{name}" for name in lists} | {"docs": "/docs"}
    viewpoint = {"view": ask.viewer.view, "matches": list(ask.viewer.matches)}
    return document(request, {"version": VERSION, "viewpoint": viewpoint, "links": links})


class KeyRequest(BaseModel):
    """A key to be made."""

    scopes: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(min_length=1, max_length=50, examples=[["hands:read", "seat:lynx@scrim"]]),
    ]
    name: Annotated[str, Field(max_length=100, description="Whose it is.")] = ""
    expires_days: Annotated[int | None, Field(ge=1, le=3650)] = None


@router.get(
    "/api/v1/keys", tags=["keys"], operation_id="keys", summary="Every key, without its secret"
)
def keys(request: Request, ask: Ask) -> Response:
    ask.needs(ADMIN)
    keys_of = [as_json(one) for one in request.app.state.keys.all()]
    return document(request, {"data": keys_of, "next_cursor": None, "has_more": False}, cache=NEVER)


@router.post(
    "/api/v1/keys",
    tags=["keys"],
    operation_id="make_key",
    summary="A new key; only this answer shows it",
    status_code=201,
)
def make(request: Request, ask: Ask, body: KeyRequest) -> Response:
    ask.needs(ADMIN)
    try:
        scopes = tuple(dict.fromkeys(map(scope_of, body.scopes)))
    except NoScope as reason:
        raise Problem("invalid", str(reason)) from None
    for scope in scopes:
        if not ask.caller.has(scope):
            raise Problem("forbidden", f"nobody gives what he has not: {scope}")
    days = body.expires_days
    expires = None if days is None else int(time.time()) + days * DAY_S
    key, spelled = request.app.state.keys.make(scopes, body.name, expires)
    return document(request, {**as_json(key), "key": spelled}, cache=NEVER, status=201)


@router.delete(
    "/api/v1/keys/{id}",
    tags=["keys"],
    operation_id="revoke_key",
    summary="No more of a key",
    status_code=204,
)
def revoke(
    request: Request, ask: Ask, id: Annotated[str, Path(pattern="^[0-9a-f]{8}$")]
) -> Response:
    ask.needs(ADMIN)
    if not request.app.state.keys.revoke(id):
        raise Problem("not-found", f"there is no key {id}")
    return Response(status_code=204)


@router.get(
    "/healthz", tags=["health"], operation_id="health", summary="Whether this process answers"
)
async def health(request: Request) -> Response:
    return document(request, {"status": "ok"}, cache=NEVER)


@router.get(
    "/readyz", tags=["health"], operation_id="ready", summary="Whether the ledger can be read"
)
def ready(request: Request) -> Response:
    try:
        request.app.state.service.reader.snapshot()
    except (OSError, Damaged):
        raise Problem(
            "unavailable", "the ledger cannot be read: muckrake doctor says why"
        ) from None
    return document(request, {"status": "ready"}, cache=NEVER)


@router.get(
    "/metrics",
    tags=["health"],
    operation_id="metrics",
    summary="Requests and latencies, for Prometheus",
    response_class=PlainTextResponse,
)
async def metrics(request: Request) -> Response:
    text = request.app.state.metrics.text()
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return PlainTextResponse(text, media_type=kind, headers={"Cache-Control": NEVER})


API_DOCS = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>muckrake: the HTTP API</title>
<link rel="icon" href="/static/mark.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/vendor/swagger-ui.css">
<link rel="stylesheet" href="/static/style.css">
<link rel="stylesheet" href="/static/api-docs.css">
</head>
<body>
<header class="bar">
<a class="mark" href="/">muckrake</a>
<nav class="nav" aria-label="Pages">
<a href="/matches">Matches</a> <a href="/hands">Hands</a> <a href="/players">Players</a>
<a href="/fairness">Fairness</a> <a href="/live">Live</a> <a href="/games">Rulesets</a>
<a href="/docs" aria-current="page">HTTP API</a>
</nav>
</header>
<main id="swagger-ui"><noscript>
Without a script there is <a href="/openapi.json">openapi.json</a>.
</noscript></main>
<script src="/static/vendor/swagger-ui-bundle.js"></script>
<script src="/static/api-docs.js"></script>
</body>
</html>
"""


@router.get(PATH, include_in_schema=False, operation_id="openapi")
async def openapi(request: Request) -> Response:
    """The API for programs: paths, shapes and examples."""
    return document(request, request.app.openapi())


@router.get("/docs", include_in_schema=False, operation_id="docs")
async def docs() -> HTMLResponse:
    """The API for people, without any other server."""
    return HTMLResponse(API_DOCS, headers={"Cache-Control": "no-cache"})


@router.get("/login", include_in_schema=False)
def login(
    request: Request,
    once: Annotated[str, Query(max_length=100)],
    to: Annotated[str, Query(max_length=500, description="A page of this server.")] = "/",
) -> Response:
    """The link's token becomes a cookie; asked for its head only, nothing is used up."""
    sessions: Sessions = request.app.state.sessions
    if getattr(request.state, "head", False):
        return Response(headers={"Cache-Control": NEVER})
    session = sessions.enter(once)
    if session is None:
        sentence = "this link was opened before, or is too old: muckrake serve prints another"
        raise Problem("unauthenticated", sentence)
    # A page of this server, never another's.
    address = urlsplit(to)
    ours = to.startswith("/") and not to.startswith(("//", "/\\")) and not address.netloc
    answer = RedirectResponse((to if ours else "/"), 303, {"Cache-Control": NEVER})
    answer.set_cookie(
        sessions.cookie,
        session,
        max_age=SESSION_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout", include_in_schema=False)
def logout(request: Request) -> Response:
    """End the session in every browser that has its cookie."""
    sessions: Sessions = request.app.state.sessions
    token = request.cookies.get(sessions.cookie)
    if token is not None:
        sessions.leave(token)
    answer = RedirectResponse("/", 303, {"Cache-Control": NEVER})
    answer.delete_cookie(sessions.cookie)
    return answer
