"""What this process has answered, in the words of Prometheus: numbers of requests, not of hands.

Everybody may read it. How long an answer is tells what is in it, so bytes are counted of those
alone that are given without a key or login. The package prometheus-client would be as long here: it
counts by metric for a whole process, where tests and `muckrake get` make several applications.
"""

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counters of one process; a scraper adds up those of all workers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = 0  # requests that are being answered
        self.sent = 0  # bytes, to anybody
        self._requests: dict[tuple[str, str, str], int] = defaultdict(int)
        self._slower: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = defaultdict(float)
        self._bytes: dict[str, int] = defaultdict(int)

    def begins(self) -> None:
        """A request has come."""
        with self._lock:
            self.now += 1

    def sends(self, size: int) -> None:
        """So many bytes have gone out: for `memory.py`, and told to nobody."""
        with self._lock:
            self.sent += size

    def ends(
        self, method: str, route: str | None, status: int | None, seconds: float, size: int
    ) -> None:
        """It was answered, or whoever asked has gone."""
        path = route or "none"
        with self._lock:
            self.now -= 1
            said = method if method in METHODS else "other"
            self._requests[said, path, "gone" if status is None else str(status)] += 1
            buckets = self._slower.setdefault(path, [0] * (len(BOUNDS_S) + 1))
            buckets[bisect_left(BOUNDS_S, seconds)] += 1
            self._seconds[path] += seconds
            self._bytes[path] += size

    def text(self) -> str:
        """All of it, as it is scraped."""
        with self._lock:
            return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _headed("muckrake_requests_total", "counter", "Requests by route and status.")
        for (method, path, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{path}",status="{status}"'
            yield f"muckrake_requests_total{{{labels}}} {count}"
        yield from _headed("muckrake_answer_bytes_total", "counter", "Bytes to no key, by route.")
        for path, size in sorted(self._bytes.items()):
            yield f'muckrake_answer_bytes_total{{route="{path}"}} {size}'
        yield from _headed("muckrake_request_seconds", "histogram", "From request to last byte.")
        for path, buckets in sorted(self._slower.items()):
            yield from self._histogram(path, buckets)
        yield from _headed("muckrake_requests_now", "gauge", "Requests being answered.")
        yield f"muckrake_requests_now {self.now}"

    def _histogram(self, path: str, buckets: list[int]) -> Iterator[str]:
        name, total = "muckrake_request_seconds", 0
        for bound, count in zip((*map(str, BOUNDS_S), "+Inf"), buckets, strict=True):
            total += count
            yield f'{name}_bucket{{route="{path}",le="{bound}"}} {total}'
        yield f'{name}_sum{{route="{path}"}} {self._seconds[path]:.6f}'
        yield f'{name}_count{{route="{path}"}} {total}'


def _headed(name: str, kind: str, help_: str) -> Iterator[str]:
    yield f"# HELP {name} {help_}"
    yield f"# TYPE {name} {kind}"
