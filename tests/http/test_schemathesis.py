"""What nobody would ask, made from the API's own document: no failure of ours, nothing unforeseen.

The run is the same each time. Every path is asked, and every sixth at each boundary that the
document names; in `slow` all are, many times as often and by every caller. In `quick` none is, and
every answer that other tests here get is held to the document (`conftest.py`).
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

pytest.importorskip("schemathesis", reason="schemathesis is not here: ./mr check installs it")
import requests
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from api.http.ledger_service import LedgerService, Settings
from api.serving.app import create_app
from tests.http.clients import Site, site_of
from tests.profiles import sized

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
pytestmark = pytest.mark.ci
CALLERS = sized(quick=("admin",), ci=("admin",), slow=(None, "lynx", "admin"))
ENDLESS = "/api/v1/stream"  # without `until` it never ends: tests/http/stream.http.md asks it
WRITING = ("/api/v1/matches", "/api/v1/imports", "/api/v1/jobs/{job}")
QUIET = settings(
    max_examples=sized(2, 2, 50),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def asked(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site over a ledger that strange requests may change."""
    copied = tmp_path_factory.mktemp("strange") / "ledger"
    site = site_of(Path(shutil.copytree(house, copied)))
    with TestClient(site.app):
        yield site


NOBODYS = create_app(LedgerService(Settings(Path("no-ledger-is-read"))))
PATHS = sorted({*NOBODYS.openapi()["paths"]} - {ENDLESS})
BOUNDED = sized(quick=PATHS[::6], ci=PATHS[::6], slow=PATHS)  # where boundaries are asked, too


def document(*, boundaries: bool) -> schemathesis.BaseSchema:
    """The API's own document, of which requests are made, at boundaries of what it allows, too."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", NOBODYS).exclude(path=ENDLESS)
    schema.config.phases.coverage.enabled = boundaries
    return schema


ALL, SOME = document(boundaries=False), document(boundaries=True)
WRITTEN: Any = {"path": list(WRITING), "method": ["POST", "DELETE"]}


@ALL.exclude(**WRITTEN).parametrize()
@QUIET
def test_no_request_is_a_failure_of_ours(case: schemathesis.Case[Any], asked: Site) -> None:
    for who in CALLERS:
        ask(case, asked, who)


@SOME.exclude(**WRITTEN).include(path=BOUNDED).parametrize()
@QUIET
def test_no_request_at_a_boundary_is_a_failure_of_ours(
    case: schemathesis.Case[Any], asked: Site
) -> None:
    for who in CALLERS:
        ask(case, asked, who)


@SOME.include(**WRITTEN).parametrize()
@QUIET
def test_no_request_of_the_public_to_write_is_a_failure_of_ours(
    case: schemathesis.Case[Any], asked: Site
) -> None:
    ask(case, asked)


def ask(case: schemathesis.Case[Any], site: Site, who: str | None = None) -> None:
    """Ask it, and hold the answer to what the document says of it."""
    words = case.as_transport_kwargs(base_url="http://127.0.0.1:8000")
    sent = requests.Request(**words).prepare()
    assert sent.method is not None
    assert sent.url is not None
    headers = dict(sent.headers)
    if who is not None:
        headers["Authorization"] = f"Bearer {site.keys[who]}"
    client = site.as_(follow_redirects=False)
    answer = client.request(sent.method, sent.url, headers=headers, content=sent.body)
    case.validate_response(answer, checks=CHECKS)
