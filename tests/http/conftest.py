"""What tests of HTTP are given: the ledger, made once; a copy of one's own; a client of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.jobs.jobs import Jobs
from tests.http import ledgers, shaped
from tests.http.clients import Site, site_of


@pytest.fixture(scope="session", autouse=True)
def forked(jobs_are_forked: None) -> None:
    """A job is a process at once."""


@pytest.fixture(autouse=True)
def held_to_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever any client here is answered in JSON has the shape that OpenAPI says."""
    send = TestClient.send

    def checked(self: TestClient, request: Any, **options: Any) -> Any:
        answer = send(self, request, **options)
        if not options.get("stream"):
            shaped.check(answer)
        return answer

    monkeypatch.setattr(TestClient, "send", checked)


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of `tests/http/ledgers.py`, for looking at only."""
    return ledgers.made(tmp_path_factory.mktemp("house") / "ledger")


@pytest.fixture
def own(house: Path, tmp_path: Path) -> Path:
    """A copy of it that may be changed."""
    return Path(shutil.copytree(house, tmp_path / "ledger"))


@pytest.fixture(scope="module")
def site(house: Path) -> Iterator[Site]:
    """Its application and who may ask it; for reading. Keys are made in it, hands are not."""
    site = site_of(house)
    with TestClient(site.app):
        yield site


@pytest.fixture
def mine(own: Path) -> Iterator[Site]:
    """The same over a copy of one's own."""
    site = site_of(own)
    with TestClient(site.app):
        yield site


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Site]:
    """An application over a folder in which there is no ledger yet."""
    site = site_of(tmp_path / "ledger")
    yield site
    Jobs(site.folder).stop()
