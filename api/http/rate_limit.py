"""How fast one caller may ask: a bucket of tokens for each key or address, filled by the second.

What is left stands above every answer (`RateLimit`, `RateLimit-Policy`, of the IETF's draft). The
package `limits`, which slowapi stands on, has windows and no bucket, so that a caller who waits for
the next window asks for two minutes' worth at once; and in memory it keeps every address of a
window, however many come, where we forget the oldest.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.connections import network
from api.http.layers import Layer
from api.http.limits import family
from api.problem import Problem

WINDOW_S = 60
BUCKETS_MAX = 10_000  # whoever asked longest ago is forgotten, and starts with a full one


class TokenBuckets:
    """The tokens that each caller has left."""

    def __init__(self, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, who: str, cost: int) -> float:
        """What is left after it; below nothing if there was not so much, and nothing is taken."""
        now = self._clock()
        with self._lock:
            left, then = self._left.pop(who, (float(self.rate), now))
            left = min(float(self.rate), left + (now - then) * self.rate / WINDOW_S)
            enough = left >= cost
            self._left[who] = (left - cost if enough else left, now)
            while len(self._left) > BUCKETS_MAX:
                self._left.popitem(last=False)
        return left - cost

    def check(self, scope: Scope, cost: int) -> float:
        """What whoever asks has left after it; refused if he has not so much."""
        if not self.rate:
            return 0
        left = self.spend(who(scope), min(cost, self.rate))
        if left >= 0:
            return left
        wait = self.wait_s(-left)
        sentence = f"that is more than {self.rate} a minute: wait a little"
        problem = Problem("too-many-requests", sentence).after(wait + 0.5)
        problem.headers.update(self.said(0, wait))
        raise problem

    def said(self, left: float, seconds: float) -> dict[str, str]:
        """What is left, as headers."""
        told = f'"caller";r={int(left)};t={max(1, round(seconds))}'
        policy = f'"caller";q={self.rate};w={WINDOW_S}'
        return {"RateLimit": told, "RateLimit-Policy": policy}

    def wait_s(self, lacking: float) -> float:
        """How long until so much has come in again."""
        return lacking * WINDOW_S / self.rate


class RateLimit(Layer):
    """Refuses who has spent what he had."""

    def __init__(self, app: ASGIApp, buckets: TokenBuckets) -> None:
        super().__init__(app)
        self.buckets = buckets

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        cost = family(scope["path"]).cost
        if not self.buckets.rate or not cost:
            await self.app(scope, receive, send)
            return
        left = self.buckets.check(scope, cost)

        async def heard(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.buckets.said(left, self.buckets.wait_s(cost)).items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, heard)


def who(scope: Scope) -> str:
    """The key or the session that asks, else the network of the address."""
    caller = scope.get("state", {}).get("caller")
    if caller is not None and caller.id is not None:
        return f"key {caller.id}"
    return network((scope.get("client") or ("",))[0])
