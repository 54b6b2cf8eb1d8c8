"""Who asks: the key or the cookie that came with a request, as `request.state.caller`.

A key or a cookie that is not known is refused, never taken for nobody's: whoever sends one believes
that he sees more than the public. What changes something must come from our own pages, if a browser
sends it: the cookie alone proves only whose browser it is.
"""

import re

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.ask import READ, Caller
from api.http.keys import Keys, NoKey
from api.http.layers import Layer, put
from api.http.rate_limit import TokenBuckets
from api.http.sessions import Sessions
from api.problem import Problem

WRONG_COST = 10  # what a key that is none costs the address it comes from
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_FOR_ALL = re.compile(r"/static/|/(healthz|readyz|metrics|openapi\.json|docs|login|favicon\.ico)$")


class Authentication(Layer):
    """Every request with its caller."""

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
        put(scope, "caller", Caller())
        said = request.headers.get("authorization")
        cookie = request.cookies.get(self.sessions.cookie)
        if said is None:
            _check_origin(request, by_cookie=cookie is not None)
        if not _FOR_ALL.match(scope["path"]) and (said is not None or cookie is not None):
            try:
                caller = self._by_cookie(cookie or "") if said is None else self._by_key(said)
            except Problem:
                self.buckets.check(scope, WRONG_COST)  # who tries keys pays with his address
                raise
            put(scope, "caller", caller)
            put(scope, "recognized", True)
        await self.app(scope, receive, send)

    def _by_key(self, said: str) -> Caller:
        scheme, _, spelled = said.strip().partition(" ")
        if scheme.lower() != "bearer":
            raise Problem("unauthenticated", "keys come as: Authorization: Bearer mr_...")
        try:
            key = self.keys.known(spelled.strip())
        except NoKey as reason:
            raise Problem("unauthenticated", str(reason)) from None
        return Caller(key.name or key.id, frozenset({READ, *key.scopes}), key.id)

    def _by_cookie(self, token: str) -> Caller:
        session = self.sessions.session(token)
        if session is None:
            sentence = "this login is over: muckrake serve prints another link"
            problem = Problem("unauthenticated", sentence)
            problem.headers["Set-Cookie"] = f"{self.sessions.cookie}=; Max-Age=0; Path=/"
            raise problem
        return Caller("login", frozenset({READ, *session.scopes}), session.id)


def _check_origin(request: Request, *, by_cookie: bool) -> None:
    """Refuses what another site's page makes a browser do here."""
    if request.method in SAFE:
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    told = site is not None or origin is not None
    ours = site in (None, "same-origin")
    if origin is not None and site is None:
        ours = origin.partition("://")[2] == request.headers.get("host", "")
    if (told and not ours) or (by_cookie and not told):
        raise Problem("forbidden", "this must come from a page of this server, or with a key")
