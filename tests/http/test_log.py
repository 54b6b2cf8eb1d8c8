"""The log says what was asked, by whom and how it went; no token, no key, no card."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.http.request_log import without_secrets
from tests.http.clients import Site, site_of

FIELDS = {
    "at",
    "request",
    "method",
    "route",
    "path",
    "query",
    "status",
    "ms",
    "bytes",
    "whole",
    "view",
    "key",
}


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is written to stderr."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    return written


@pytest.fixture
def logged(own: Path, log: io.StringIO) -> Iterator[Site]:
    """A site that keeps a log."""
    site = site_of(own, logs=True)
    with TestClient(site.app):
        yield site


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    """The lines so far."""
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_a_line_says_what_was_asked_and_how_it_went(logged: Site, log: io.StringIO) -> None:
    answer = logged.as_("lynx").get("/api/v1/?as=public")
    (line,) = lines(log)
    assert FIELDS == set(line)
    key = logged.keys["lynx"].split("_")[1]
    expected = {
        "request": answer.headers["x-request-id"],
        "method": "GET",
        "route": "/api/v1/",
        "path": "/api/v1/",
        "query": ["as"],
        "status": 200,
        "bytes": len(answer.content),
        "whole": True,
        "view": "public",
        "key": key,
    }
    assert expected == {name: line[name] for name in expected}
    assert line["at"].endswith("Z")


def test_a_route_is_told_by_its_template(logged: Site, log: io.StringIO) -> None:
    logged.as_("admin").delete("/api/v1/keys/00000000")
    assert "/api/v1/keys/{id}" == lines(log)[-1]["route"]
    assert "/api/v1/keys/00000000" == lines(log)[-1]["path"]


def test_no_secret_is_ever_logged(logged: Site, log: io.StringIO) -> None:
    """Keys, links, cookies, cursors and filters come in by many doors, rightly or by mistake."""
    client = logged.as_()
    link = logged.app.state.sessions.make_link(("audit:read",))
    client.get("/login", params={"once": link})
    session = client.cookies[logged.app.state.sessions.cookie_name]
    key = logged.keys["auditor"]
    client.get("/api/v1/", headers={"Authorization": f"Bearer {key}"})
    client.get(f"/api/v1/{key}")
    client.get(f"/api/v1/?{key}=1&hole=AsKd")
    client.get(f"/login/{session}")
    client.get("/hands", params={"q": "hole=AsKd & board=7h??"})
    client.post("/api/v1/keys", json={"scopes": [key]}, headers={"Sec-Fetch-Site": "same-origin"})
    made = logged.as_("admin").post("/api/v1/keys", json={"scopes": ["audit:read"]}).json()["key"]
    text = log.getvalue()
    for secret in (link, session, key, key.split("_")[2], made.split("_")[2], "AsKd", "7h"):
        assert secret not in text
    assert 8 <= len(lines(log))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/api/v1/hands/scrim/12", "/api/v1/hands/scrim/12"),
        ("/x/mr_01234567_89ab_cd", "/x/mr_01234567..."),
        (f"/log/{'x' * 43}", "/log/..."),
        ("/api/v1/players/a-player-with-a-name", "/api/v1/players/a-player-with-a-name"),
    ],
)
def test_what_looks_like_a_secret_is_left_out(text: str, expected: str) -> None:
    assert expected == without_secrets(text)


def test_a_line_is_one_line_whatever_was_asked(logged: Site, log: io.StringIO) -> None:
    logged.as_().get("/api/v1/%0a%22}%0d%0a{%22status%22:200}")
    logged.as_().request('G"ET', "/api/v1/")
    assert 2 == len(lines(log))
    assert [400, 405] == [line["status"] for line in lines(log)]


def test_metrics_count_what_was_answered(mine: Site) -> None:
    client = mine.as_()
    client.get("/api/v1/")
    client.get("/api/v1/keys")
    client.delete("/api/v1/keys/00000000")
    client.get("/api/v1/no/such/place/at/all")
    text = client.get("/metrics").text
    for line in (
        'muckrake_requests_total{method="GET",route="/api/v1/",status="200"} 1',
        'muckrake_requests_total{method="GET",route="/api/v1/keys",status="403"} 1',
        'muckrake_requests_total{method="DELETE",route="/api/v1/keys/{id}",status="403"} 1',
        'muckrake_requests_total{method="GET",route="none",status="404"} 1',
        'muckrake_request_seconds_bucket{route="/api/v1/",le="+Inf"} 1',
        'muckrake_request_seconds_count{route="/api/v1/"} 1',
        "muckrake_requests_now 1",
    ):
        assert line in text.splitlines()
    assert "such/place" not in text, "whoever makes up addresses makes no counters"


def test_metrics_are_written_as_prometheus_reads_them(mine: Site) -> None:
    mine.as_().get("/api/v1/")
    answer = mine.as_().get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    known: set[str] = set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            known.add(line.split()[2])
        elif not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            float(value)
            family = name.partition("{")[0]
            for ending in ("_bucket", "_sum", "_count"):
                family = family.removesuffix(ending)
            assert family in known
