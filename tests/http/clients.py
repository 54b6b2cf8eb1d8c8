"""Who asks in tests of HTTP: a client without a key, and one for each key that a test may need."""

import atexit
import time
from functools import cache
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI
from starlette.testclient import TestClient

from api.http.ledger_service import LedgerService, Settings
from api.http.limits import Limits
from api.serving.app import create_app

KEYS: dict[str, tuple[str, ...]] = {
    "auditor": ("audit:read",),
    "lynx": ("seat:lynx",),
    "ursa": ("seat:ursa",),
    "one-match": ("seat:lynx@auction",),
    "writer": ("matches:write", "audit:read"),
    "admin": ("keys:admin", "audit:read", "matches:write"),
}


class Site:
    """An application over one ledger, and the keys to it."""

    def __init__(self, folder: Path, app: FastAPI) -> None:
        self.folder = folder
        self.app = app
        self.keys = {name: app.state.keys.make(scopes, name)[1] for name, scopes in KEYS.items()}

    def as_(self, who: str | None = None, **options: Any) -> TestClient:
        """A client that asks with this key; without a name it has none."""
        headers = {} if who is None else {"Authorization": f"Bearer {self.keys[who]}"}
        client = TestClient(self.app, "http://127.0.0.1:8000", headers=headers, **options)
        client.portal = _loop()
        return client


@cache
def _loop() -> BlockingPortal:
    """One loop for all who ask, as a server has: one for each request is half of a short answer."""
    opened = start_blocking_portal()
    atexit.register(opened.__exit__, None, None, None)
    return opened.__enter__()


def site_of(folder: Path, **settings: Any) -> Site:
    """An application over a folder, which makes every answer itself; nobody is too fast for it,
    unless a test says so."""
    settings = {"limits": Limits(rate=0, key_jobs=0, page_processes=0), **settings}
    return Site(folder, create_app(LedgerService(Settings(folder, **settings))))


def over(client: TestClient, where: str) -> dict[str, Any]:
    """What came of a job, when something has."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        told: dict[str, Any] = client.get(where).json()
        if told["state"] not in ("starting", "waiting", "running"):
            return told
        time.sleep(0.05)
    raise AssertionError(f"{where} is at work for more than two minutes")
