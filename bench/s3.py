"""An S3 server on loopback (moto's) for tests and benches, and what may go wrong with its answers.

`fault` is asked for every request: None lets it pass, or it says how the answer is spoilt.
"""

import logging
import secrets
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

URL = "s3://poker/league"
ANSWERS = {403: "Forbidden", 404: "Not Found", 503: "Service Unavailable"}

Environ = dict[str, Any]


class Request(NamedTuple):
    """What was asked, and how many bytes of an object were answered."""

    method: str
    name: str
    size: int


class Fault(NamedTuple):
    """An error instead of an answer; seconds before it; bytes after which it is cut off; `after`
    the request was carried out; or an answer of another time."""

    status: int = 0
    seconds: float = 0.0
    cut: int | None = None
    after: bool = False
    stale: bytes | None = None


class Server:
    """Requests pass here, are counted, and may be spoilt."""

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._app = DomainDispatcherApplication(create_backend_app)
        self.requests: list[Request] = []
        self.fault: Callable[[str, str], Fault | None] = lambda method, name: None
        self._server = make_server("127.0.0.1", 0, self, threaded=True)
        self.address = f"http://127.0.0.1:{self._server.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __call__(self, environ: Environ, start: Callable[..., Any]) -> Iterable[bytes]:
        method, name = environ["REQUEST_METHOD"], environ["PATH_INFO"].partition("/league/")[2]
        fault = self.fault(method, name) or Fault()
        time.sleep(fault.seconds)
        if fault.status and not fault.after:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            return _refused(fault.status, start)
        told: list[Any] = []
        body = b"".join(self._app(environ, lambda *answer: told.append(answer)))
        if fault.status:
            return _refused(fault.status, start)
        if fault.stale is not None:
            body = fault.stale
            told[0] = ("200 OK", [*_without(told[0][1]), ("Content-Length", str(len(body)))])
        start(*told[0])
        self.requests.append(Request(method, name, len(body)))
        return [body if fault.cut is None else body[: fault.cut]]

    @property
    def environment(self) -> dict[str, str]:
        """What names the server, as users name one."""
        return {
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ALLOW_HTTP": "true",
        }

    def empty(self) -> None:
        """There is one bucket, and nothing in it: no server of this process has any other."""
        self._ask("POST", "moto-api/reset")
        self._ask("PUT", "poker")
        self.requests.clear()

    def create(self) -> str:
        """The URL of a league in a new bucket; what other buckets hold stays."""
        name = f"bench-{secrets.token_hex(8)}"
        self._ask("PUT", name)
        self.requests.clear()
        return f"s3://{name}/league"

    def _ask(self, method: str, path: str) -> None:
        asked = urllib.request.Request(f"{self.address}/{path}", method=method)
        urllib.request.urlopen(asked).close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def count(self, *methods: str) -> int:
        """How many requests there were."""
        return sum(one.method in methods for one in self.requests)

    @contextmanager
    def faulty(self, fault: Callable[[str, str], Fault | None]) -> Iterator[None]:
        self.fault = fault
        try:
            yield
        finally:
            self.fault = lambda method, name: None


def _refused(status: int, start: Callable[..., Any]) -> list[bytes]:
    start(f"{status} {ANSWERS[status]}", [("Content-Length", "0")])
    return []


def _without(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    told = [one for one in headers if one[0].lower() not in ("content-length", "etag")]
    return [*told, ("ETag", '"of another time"')]
