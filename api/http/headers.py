"""What every answer says to browsers, and which names this server answers to.

No script but ours runs on a page, no page of ours stands in a frame, no other site reads an answer.
A server on loopback refuses requests that name another host: a foreign page whose name suddenly
leads to 127.0.0.1 (DNS rebinding) is told nothing.
"""

import re
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.connections import PROXIES
from api.http.layer import Layer
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


class SecurityHeaders(Layer):
    """Every answer with the headers that it should not be without."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def heard(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, heard)


class TrustedHosts(Layer):
    """Refuses who asks for another server; no names mean that any is answered."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        super().__init__(app)
        self.hosts = frozenset(host.lower() for host in hosts)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.hosts:
            said = _PORT.sub("", Headers(scope=scope).get("host", "")).lower()
            if said not in self.hosts:
                raise Problem("misdirected", f"this server is {', '.join(sorted(self.hosts))}")
        await self.app(scope, receive, send)


class Fronted(Layer):
    """Behind a proxy on this machine that speaks HTTPS: what it says of who came to it, is so.

    Its words are taken from loopback alone. Whoever comes from elsewhere says them of himself.
    """

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        host, _ = scope.get("client") or ("", 0)
        if host in PROXIES:
            told = Headers(scope=scope)
            if told.get("x-forwarded-proto") == "https":
                scope = {**scope, "scheme": "https"}
            every = ",".join(told.getlist("x-forwarded-for"))
            if came := every.rpartition(",")[2].strip():
                scope = {**scope, "client": (came, 0)}  # the last is the proxy's own word
        await self.app(scope, receive, send)


def put(scope: Scope, name: str, value: Any) -> None:
    """One word to all who see this request: `request.state` has it."""
    scope.setdefault("state", {})[name] = value
