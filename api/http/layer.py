"""A layer around the application: it looks at requests, and at nothing else."""

from starlette.types import ASGIApp, Receive, Scope, Send


class Layer:
    """Whatever is no request (the beginning and end of a server) passes by."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self.http(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request on its way in, its answer on its way out."""
        raise NotImplementedError
