"""An application that is asked in this process: addresses in, whole answers out.

There is no socket and no client between, so that a thousand requests take seconds.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from fastapi import FastAPI

from api.http.ledger_service import LedgerService, Settings
from api.http.limits import Limits
from api.serving.app import create_app

OF_A_REQUEST = frozenset({"x-request-id", "date"})  # drawn for it, or the time of day


class Answer(NamedTuple):
    """What came: everything that could tell anybody anything, the sizes of its pieces, too."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    pieces: tuple[int, ...]

    def header(self, name: str) -> str | None:
        return dict(self.headers).get(name)


def door(folder: Path, **settings: Any) -> FastAPI:
    """An application that is never too busy, makes every answer itself, and shows a running match
    at once."""
    told = {"limits": Limits(rate=0, page_processes=0), "delay_s": 0.0, **settings}
    return create_app(LedgerService(Settings(folder, **told)))


def answers(
    app: FastAPI,
    addresses: Iterable[str],
    key: str | None = None,
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (),
) -> list[Answer]:
    """What the holder of this key is answered, one after the other."""
    sent = [("host", "localhost"), *headers]
    if key is not None:
        sent.append(("authorization", f"Bearer {key}"))

    async def all_of_them() -> list[Answer]:
        return [await _answer(app, one, method, sent) for one in addresses]

    return asyncio.run(all_of_them())


async def _answer(
    app: FastAPI, address: str, method: str, headers: list[tuple[str, str]]
) -> Answer:
    path, _, query = address.partition("?")
    over = asyncio.Event()
    status, came, body, pieces = 0, {}, bytearray(), []
    asked = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if asked:
            return asked.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status, came
        if message["type"] == "http.response.start":
            status = message["status"]
            came = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        else:
            body.extend(message.get("body", b""))
            pieces.append(len(message.get("body", b"")))
            if not message.get("more_body", False):
                over.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": quote(path, safe="/%").encode(),
        "query_string": quote(query, safe="=&%").encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
        "state": {},
    }
    await app(scope, receive, send)
    told = tuple(sorted((n, v) for n, v in came.items() if n not in OF_A_REQUEST))
    return Answer(status, told, bytes(body), tuple(pieces))
