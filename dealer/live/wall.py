"""The real clock of a live table, and its letter box: the one file of it that looks at the time."""

import time
from heapq import heappop, heappush
from threading import Condition

from dealer.live.news import Heard, News


class WallClock:
    """The time of day when it was made, and from then on a clock that nobody sets.

    Any thread may tell it news; the table waits for them in one.
    """

    def __init__(self) -> None:
        self._began = (time.time_ns() - time.monotonic_ns()) // 1_000_000
        self._arrived: list[tuple[int, int, News]] = []
        self._told = 0
        self._grown = Condition()

    def now_ms(self) -> int:
        return self._began + time.monotonic_ns() // 1_000_000

    def tell(self, news: News, after_ms: int = 0) -> None:
        """News for the table; they arrive now, or so much later."""
        with self._grown:
            self._told += 1
            heappush(self._arrived, (self.now_ms() + after_ms, self._told, news))
            self._grown.notify()

    def wait(self, until: int) -> Heard | None:
        with self._grown:
            while True:
                now = self.now_ms()
                first = self._arrived[0][0] if self._arrived else until + 1
                if first <= min(now, until):
                    at, _, news = heappop(self._arrived)
                    return Heard(at, news)
                if now > until:
                    return None
                self._grown.wait((min(first, until + 1) - now) / 1000)
