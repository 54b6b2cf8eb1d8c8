"""Who is asking: a caller's scopes, the viewpoint he asks from, and the service that answers him;
how he is known by a key or a cookie, and the routes that give and take these.

`?as=VIEW` chooses among the viewpoints that a caller has; without it he sees the most he may. A
key's secret is shown once, when it is made.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import RedirectResponse, Response
from msgspec import Struct
from pydantic import BaseModel, Field
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.credentials import (
    ADMIN,
    AUDIT,
    READ,
    SEAT_SCOPE,
    SESSION_S,
    WRITE,
    InvalidKey,
    Keys,
    Sessions,
    UnknownScope,
    as_json,
    checked_scope,
)
from api.http.ledger_service import LedgerService
from api.http.limits import TokenBuckets
from api.http.middleware import HttpMiddleware, set_request_state
from api.http.responses import NO_STORE, json_response
from api.problem import Problem
from api.version import VERSION
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import (
    AUDITOR,
    PUBLIC,
    SEAT,
    ShowProgress,
    UnknownViewpoint,
    Viewer,
    viewer_of,
)
from store.reader import Snapshot

__all__ = [
    "ADMIN",
    "AUDIT",
    "READ",
    "WRITE",
    "Access",
    "Auth",
    "Authentication",
    "Caller",
    "access",
]


class Caller(Struct, frozen=True):
    """The name and scopes of a key or a login; a caller without either may read what is public."""

    name: str | None = None
    scopes: frozenset[str] = frozenset({READ})
    id: str | None = None  # of the key or session, for logs and limits

    def viewer(self, wanted: str | None) -> Viewer:
        """The viewpoint that a caller asks for, if it is his; the one that sees most, if he
        names none."""
        if wanted is None:
            return self._best()
        try:
            viewer = viewer_of(wanted)
        except UnknownViewpoint as reason:
            raise Problem("bad-request", str(reason)) from None
        if viewer.view == PUBLIC or AUDIT in self.scopes:
            return viewer
        seats = self._seats()
        if viewer.player is not None and viewer.player in seats:
            return Viewer(viewer.view, seats[viewer.player])
        raise Problem("forbidden", f"{wanted[:80]} is not among the viewpoints of this caller")

    def has_scope(self, scope: str) -> bool:
        """Whether a caller has a scope; an auditor sees what every seat sees."""
        if parts := SEAT_SCOPE.fullmatch(scope):
            seats = self._seats()
            whole = parts["name"] in seats and not seats[parts["name"]]
            return bool({scope, AUDIT} & self.scopes) or whole
        return scope in self.scopes

    def _best(self) -> Viewer:
        if AUDIT in self.scopes:
            return Viewer(AUDITOR)
        seats = self._seats()
        name = min(seats, default=None)
        return Viewer() if name is None else Viewer(f"{SEAT}{name}", seats[name])

    def _seats(self) -> dict[str, tuple[str, ...]]:
        """The matches of each seat that is the caller's; all of them where none is named."""
        seats: dict[str, set[str] | None] = {}
        for scope in self.scopes:
            if parts := SEAT_SCOPE.fullmatch(scope):
                known = seats.setdefault(parts["name"], set())
                if parts["match"] is None or known is None:
                    seats[parts["name"]] = None
                else:
                    known.add(parts["match"])
        return {name: tuple(sorted(matches or ())) for name, matches in seats.items()}


class Access:
    """One request's caller, viewpoint and ledger service; `path` is what its cursors are written
    for."""

    def __init__(
        self, caller: Caller, viewer: Viewer, service: LedgerService, path: str = ""
    ) -> None:
        self.caller = caller
        self.viewer = viewer
        self.service = service
        self.path = path

    @property
    def owner(self) -> str:
        """The owner of this caller's jobs: a key's or a session's id; the name, where there is
        neither."""
        return self.caller.id or self.caller.name or ""

    @property
    def watch(self) -> ShowProgress:
        """The function that is called with the progress of a long answer, if a client shows it."""
        return self.service.watch

    def require_scope(self, scope: str) -> None:
        """Refuse a caller without this scope, before anything is looked up."""
        if scope not in self.caller.scopes:
            raise Problem("forbidden", f"this needs a key with the scope {scope}")

    def require_auditor(self, sentence: str) -> None:
        """Refuse all but auditors, and an auditor who asks as another viewpoint: it sees less."""
        self.require_scope(AUDIT)
        if not self.viewer.auditor:
            raise Problem("forbidden", sentence)

    def snapshot(self) -> Snapshot:
        """The newest snapshot of the ledger that this viewer may know."""
        return self.service.snapshot(self.viewer)

    @contextmanager
    def viewed(self, unit: str | None = None, by_tag: str | None = None) -> Iterator[LedgerView]:
        """The ledger as this viewer sees it; of hands that are played for `unit`, and of players
        as `by_tag` calls them, if named."""
        with self.service.viewed(self.viewer) as viewed:
            yield viewed.narrowed(unit, by_tag)

    def next_cursor(self, last: Any, *about: Any) -> str | None:
        """The cursor of a list's next page, after the key `last`; None if there is none (`last`
        is None).

        `about` is whatever else decides what is in the list: its filter as written, its order.
        Path and viewpoint need not be named. Keys and `about` are plain values, as JSON has them.
        """
        if last is None:
            return None
        return self.service.cursors.encode(last, self.path, self._viewpoint(), *about)

    def cursor_key(self, cursor: str | None, *about: Any) -> Any:
        """The list key that a cursor was made of; None without a cursor."""
        if cursor is None:
            return None
        return self.service.cursors.decode(cursor, self.path, self._viewpoint(), *about)

    def _viewpoint(self) -> tuple[str, tuple[str, ...]]:
        return self.viewer.view, self.viewer.matches


async def access(
    request: Request,
    view: Annotated[str | None, Query(alias="as", description="The viewpoint asked from.")] = None,
) -> Access:
    """The FastAPI dependency of every route that shows something of the ledger."""
    caller: Caller = getattr(request.state, "caller", Caller())
    viewer = caller.viewer(view)
    request.state.view = viewer.view
    return Access(caller, viewer, request.app.state.service, request.url.path)


Auth = Annotated[Access, Depends(access)]


WRONG_KEY_COST = 10  # what a key that is none costs the address it comes from
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_WITHOUT_KEY = re.compile(
    r"/static/|/(healthz|readyz|metrics|openapi\.json|docs|login|favicon\.ico)$"
)


class Authentication(HttpMiddleware):
    """Middleware that finds the caller of every request."""

    def __init__(self, app: ASGIApp, keys: Keys, sessions: Sessions, buckets: TokenBuckets) -> None:
        super().__init__(app)
        self.buckets = buckets
        self.keys = keys
        self.sessions = sessions

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("state", {}).get("caller") is not None:
            await self.app(scope, receive, send)  # `muckrake get`, in a process of its own
            return
        request = Request(scope)
        set_request_state(scope, "caller", Caller())
        header = request.headers.get("authorization")
        cookie = request.cookies.get(self.sessions.cookie_name)
        if header is None and request.method not in SAFE_METHODS:
            # What another site's page makes a browser do here is refused.
            site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
            has_origin = site is not None or origin is not None
            ours = site in (None, "same-origin")
            if origin is not None and site is None:
                ours = origin.partition("://")[2] == request.headers.get("host", "")
            if not ours if has_origin else cookie is not None:
                sentence = "this must come from a page of this server, or with a key"
                raise Problem("forbidden", sentence)
        if not _WITHOUT_KEY.match(scope["path"]) and (header is not None or cookie is not None):
            try:
                caller = self._by_cookie(cookie or "") if header is None else self._by_key(header)
            except Problem:
                self.buckets.check(scope, WRONG_KEY_COST)  # who tries keys pays with his address
                raise
            set_request_state(scope, "caller", caller)
            set_request_state(scope, "recognized", True)
        await self.app(scope, receive, send)

    def _by_key(self, header: str) -> Caller:
        scheme, _, spelled = header.strip().partition(" ")
        if scheme.lower() != "bearer":
            raise Problem("unauthenticated", "keys come as: Authorization: Bearer mr_...")
        try:
            key = self.keys.find(spelled.strip())
        except InvalidKey as reason:
            raise Problem("unauthenticated", str(reason)) from None
        return Caller(key.name or key.id, frozenset({READ, *key.scopes}), key.id)

    def _by_cookie(self, token: str) -> Caller:
        session = self.sessions.find(token)
        if session is None:
            sentence = "this login is over: muckrake serve prints another link"
            problem = Problem("unauthenticated", sentence)
            problem.headers["Set-Cookie"] = f"{self.sessions.cookie_name}=; Max-Age=0; Path=/"
            raise problem
        return Caller("login", frozenset({READ, *session.scopes}), session.id)


router = APIRouter()
DAY_S = 24 * 60 * 60


@router.get(
    "/api/v1/", tags=["root"], operation_id="root", summary="Version, viewpoint and where to go on"
)
async def root(request: Request, ask: Auth) -> Response:
    lists = ("matches", "hands", "players", "games", "stream")
    links = {name: f"/api/v1/{name}" for name in lists} | {"docs": "/docs"}
    viewpoint = {"view": ask.viewer.view, "matches": list(ask.viewer.matches)}
    return json_response(request, {"version": VERSION, "viewpoint": viewpoint, "links": links})


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
def keys(request: Request, ask: Auth) -> Response:
    ask.require_scope(ADMIN)
    keys_of = [as_json(one) for one in request.app.state.keys.all()]
    return json_response(
        request, {"data": keys_of, "next_cursor": None, "has_more": False}, cache=NO_STORE
    )


@router.post(
    "/api/v1/keys",
    tags=["keys"],
    operation_id="make_key",
    summary="A new key; only this answer shows it",
    status_code=201,
)
def make_key(request: Request, ask: Auth, body: KeyRequest) -> Response:
    ask.require_scope(ADMIN)
    try:
        scopes = tuple(dict.fromkeys(map(checked_scope, body.scopes)))
    except UnknownScope as reason:
        raise Problem("invalid", str(reason)) from None
    for scope in scopes:
        if not ask.caller.has_scope(scope):
            raise Problem("forbidden", f"nobody gives what he has not: {scope}")
    days = body.expires_days
    expires = None if days is None else int(time.time()) + days * DAY_S
    key, spelled = request.app.state.keys.make(scopes, body.name, expires)
    return json_response(request, {**as_json(key), "key": spelled}, cache=NO_STORE, status=201)


@router.delete(
    "/api/v1/keys/{id}",
    tags=["keys"],
    operation_id="revoke_key",
    summary="No more of a key",
    status_code=204,
)
def revoke_key(
    request: Request, ask: Auth, id: Annotated[str, Path(pattern="^[0-9a-f]{8}$")]
) -> Response:
    ask.require_scope(ADMIN)
    if not request.app.state.keys.revoke(id):
        raise Problem("not-found", f"there is no key {id}")
    return Response(status_code=204)


@router.get("/login", include_in_schema=False)
def login(
    request: Request,
    once: Annotated[str, Query(max_length=100)],
    to: Annotated[str, Query(max_length=500, description="A page of this server.")] = "/",
) -> Response:
    """The link's token becomes a cookie; asked for its head only, nothing is used up."""
    sessions: Sessions = request.app.state.sessions
    if getattr(request.state, "head", False):
        return Response(headers={"Cache-Control": NO_STORE})
    session = sessions.open_link(once)
    if session is None:
        sentence = "this link was opened before, or is too old: muckrake serve prints another"
        raise Problem("unauthenticated", sentence)
    # A page of this server, never another's.
    address = urlsplit(to)
    ours = to.startswith("/") and not to.startswith(("//", "/\\")) and not address.netloc
    answer = RedirectResponse((to if ours else "/"), 303, {"Cache-Control": NO_STORE})
    answer.set_cookie(
        sessions.cookie_name,
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
    token = request.cookies.get(sessions.cookie_name)
    if token is not None:
        sessions.end(token)
    answer = RedirectResponse("/", 303, {"Cache-Control": NO_STORE})
    answer.delete_cookie(sessions.cookie_name)
    return answer
