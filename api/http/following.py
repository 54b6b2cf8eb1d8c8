"""An answer that goes on for as long as somebody listens, at the pace of who listens.

Nothing is gathered for a slow reader: what comes next is taken when the last has gone out. Who
takes nothing for too long is dropped; he has the last id he was sent, and may come back with it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

Chunks = TypeVar("Chunks")


class Followers:
    """Who follows: where all places are taken, whoever has most of them gives his oldest one to a
    newcomer who has fewer, so that a few addresses do not take them all."""

    def __init__(self) -> None:
        self._ends: dict[str, dict[object, Callable[[], None]]] = {}

    def has_place(self, caller: str, most: int) -> bool:
        """Whether one of `most` places is free for this caller, or can be taken from another."""
        return self._count < most or len(self._largest) > len(self._ends.get(caller, ())) + 1

    @contextmanager
    def place(self, caller: str, most: int, end: Callable[[], None]) -> Iterator[bool]:
        """A place for as long as he follows, if there is one by now; `end` cuts his stream when it
        is taken from him."""
        if not self.has_place(caller, most):
            yield False
            return
        if self._count >= most:
            self._largest.pop(next(iter(self._largest)))()
        key = object()
        mine = self._ends.setdefault(caller, {})
        mine[key] = end
        try:
            yield True
        finally:
            mine.pop(key, None)
            if not mine and self._ends.get(caller) is mine:
                del self._ends[caller]

    @property
    def _count(self) -> int:
        return sum(map(len, self._ends.values()))

    @property
    def _largest(self) -> dict[object, Callable[[], None]]:
        return max(self._ends.values(), key=len, default={})


class Unended(Response, Generic[Chunks]):
    """An answer of which nobody knows how long it will be."""

    def __init__(
        self, chunks: Chunks, media_type: str, headers: Mapping[str, str], stall_s: float
    ) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers(headers)
        self._chunks = chunks
        self._stall_s = stall_s


class Following(Unended[AsyncGenerator[bytes, None]]):
    """Chunks on their way, each when it comes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._sent(scope, send))
        listening = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait((sending, listening), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, listening):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await listening
            try:
                with suppress(asyncio.CancelledError):
                    await sending
            finally:
                await self._chunks.aclose()

    async def _sent(self, scope: Scope, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        try:
            async for chunk in self._chunks:
                if not chunk:
                    continue
                async with asyncio.timeout(self._stall_s):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            async with asyncio.timeout(self._stall_s):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            cut(scope)


def cut(scope: Scope) -> None:
    """End a connection whose reader takes nothing: to close it would wait for him."""
    scope["state"]["cut"] = True
    if (abort := scope["state"].get("abort")) is not None:
        abort()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
