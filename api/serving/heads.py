"""HEAD: whatever GET would say, but for the body.

An answer that is made while it is sent is not made at all: `request.state.head` tells.
"""

from starlette.types import Message, Receive, Scope, Send

from api.http.headers import put
from api.http.layer import Layer


class Headless(Layer):
    """Routes know only GET; whoever asked for heads gets heads."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        put(scope, "head", True)
        inner = {**scope, "method": "GET"}

        async def heard(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        try:
            await self.app(inner, receive, heard)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]
