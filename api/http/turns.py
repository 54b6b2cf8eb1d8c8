"""Who waits for whom: a few big answers at once, and none that takes for ever to begin.

Work in a thread cannot be stopped from outside. So whoever waited too long is answered, and his
work goes on by itself to its own end, with nobody listening; the place it takes stays taken until
then.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http import log
from api.http.failures import answered
from api.http.layer import Layer
from api.http.limits import Limits, family
from api.http.problem import Problem
from api.http.rates import who


class Turned(Layer):
    """Big answers take turns, and every answer begins in time."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        super().__init__(app)
        self.limits = limits
        self._places: dict[str, anyio.Semaphore] = {}
        self._asking: Counter[str] = Counter()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = family(scope["path"]).name
        if name == "static":
            await self.app(scope, receive, send)
            return
        seconds = None if name == "upload" else self.limits.seconds
        with self._among(who(scope)):
            async with self._turn(name):
                await _Begun(self.app, seconds)(scope, receive, send)

    @contextmanager
    def _among(self, caller: str) -> Iterator[None]:
        """One more request of this caller: behind a proxy, too, where connections say nothing."""
        if self._asking[caller] >= self.limits.at_once:
            sentence = f"{self.limits.at_once} requests of yours are being answered: end one first"
            raise Problem("too-many-requests", sentence).after(self.limits.wait_s)
        self._asking[caller] += 1
        try:
            yield
        finally:
            self._asking[caller] -= 1
            if not self._asking[caller]:
                del self._asking[caller]

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[None]:
        most = {"bulk": self.limits.bulk, "sql": self.limits.sql}.get(name)
        if most is None:
            yield
            return
        place = self._places.setdefault(name, anyio.Semaphore(most))
        with anyio.move_on_after(self.limits.wait_s) as waited:
            await place.acquire()
        if waited.cancelled_caught:
            sentence = f"{most} such answers are being made, and as many is the most at once"
            raise Problem("unavailable", sentence).after(self.limits.wait_s)
        try:
            yield
        finally:
            place.release()


class _Begun:
    """One answer, and whether it has begun."""

    def __init__(self, app: ASGIApp, seconds: float | None) -> None:
        self.app = app
        self.seconds = seconds
        self.begun = anyio.Event()
        self.late = anyio.Event()
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.seconds is None:
            await self.app(scope, receive, send)
            return
        async with anyio.create_task_group() as group:
            group.start_soon(self._work, scope, receive, send)
            with anyio.move_on_after(self.seconds):
                await self.begun.wait()
            if not self.begun.is_set():
                self.late.set()
                sentence = f"no answer within {self.seconds:g} seconds: ask for less"
                answer = await answered(Request(scope), Problem("unavailable", sentence).after(10))
                await answer(scope, receive, send)
        if self.failure is not None and self.late.is_set():
            log.failed(Request(scope), self.failure)  # nobody listens any more
        elif self.failure is not None:
            raise self.failure

    async def _work(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def heard(message: Message) -> None:
            if not self.late.is_set():
                self.begun.set()
                await send(message)

        try:
            await self.app(scope, receive, heard)  # after an answer it hears that all is over
        except Exception as failure:
            self.failure = failure
        finally:
            self.begun.set()
