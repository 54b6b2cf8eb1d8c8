"""The S3 server of tests: one for a module, with an empty bucket for each test."""

import threading
from collections.abc import Iterator

import pytest

from bench.s3 import Server


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    """One server for a module."""
    pytest.importorskip("moto", reason="moto, an S3 server, is not here: ./mr check installs it")
    server = Server()
    yield server
    threading.Thread(target=server.close).start()  # it takes half a second; nobody waits for it


def named(server: Server, patched: pytest.MonkeyPatch) -> None:
    """The environment names the server."""
    for name, value in server.environment.items():
        patched.setenv(name, value)


@pytest.fixture
def s3(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, named, with an empty bucket."""
    named(running, monkeypatch)
    running.empty()
    return running
