"""Routes whose path holds a name that may be anything: it is matched before it is decoded.

So a player called `a/b` is asked for as `a%2Fb`, and no part of his name is taken for a route.
"""

from typing import Any
from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope


class Named(APIRoute):
    """A route that sees the path as it was sent."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The same, but each parameter is decoded by itself."""
        raw = scope.get("raw_path")
        if not raw:
            return super().matches(scope)
        sent = raw.partition(b"?")[0].decode("latin-1")
        match, found = super().matches({**scope, "path": sent})
        told: dict[str, Any] = found.get("path_params", {})
        if told:
            found["path_params"] = {
                name: unquote(value) if isinstance(value, str) else value
                for name, value in told.items()
            }
        return match, found
