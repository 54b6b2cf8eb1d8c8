"""Layers around the application that look at the head of a request or of its answer.

No script but ours runs on a page, no other site reads an answer, and no page stands in a frame but
those made for it, in frames of the sites that `muckrake serve --frame-origin` names.
A server on loopback refuses requests that name another host: a foreign page whose name suddenly
leads to 127.0.0.1 (DNS rebinding) is answered nothing. Starlette's `TrustedHostMiddleware` refuses
them, too, but with 400 and a line of text, and sends who asked for `poker.example` on to
`www.poker.example` if that is its name; `docs/http.md` promises 421 and a problem document.

FastAPI knows no heads of its GET routes, so `HeadRequests` asks for the whole and drops the body.
"""

import re
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problem import Problem

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
)
SECURITY = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_PORT = re.compile(r":\d*$")


class Layer:
    """A layer passes by what is no request: the beginning and the end of a server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.http if scope["type"] == "http" else self.app)(scope, receive, send)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request in, and its answer out."""
        raise NotImplementedError


class SecurityHeaders(Layer):
    """Every answer with the headers that it should not be without."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def forward(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
                if "frame-ancestors 'none'" not in headers["content-security-policy"]:
                    del headers["x-frame-options"]  # which can name no site that may
            await send(message)

        await self.app(scope, receive, forward)


class TrustedHosts(Layer):
    """Refuses who asks for another server; no names mean that any is answered."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        super().__init__(app)
        self.hosts = frozenset(host.lower() for host in hosts)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.hosts:
            host = _PORT.sub("", Headers(scope=scope).get("host", "")).lower()
            if host not in self.hosts:
                raise Problem("misdirected", f"this server is {', '.join(sorted(self.hosts))}")
        await self.app(scope, receive, send)


class HeadRequests(Layer):
    """Routes know only GET; a HEAD request gets the headers of that answer."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        put(scope, "head", True)
        inner = {**scope, "method": "GET"}

        async def forward(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        try:
            await self.app(inner, receive, forward)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]


def put(scope: Scope, name: str, value: Any) -> None:
    """One word to all who see this request: `request.state` has it."""
    scope.setdefault("state", {})[name] = value
