"""A server on loopback answers to its own names, and other sites read what they are allowed to."""

from pathlib import Path

import pytest

from api.http.headers import LOOPBACK, SECURITY
from tests.http.clients import Site, site_of


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("LOCALHOST:9999", 200),
        ("[::1]:8000", 200),
        ("poker.example", 421),
        ("poker.example:8000", 421),
        ("127.0.0.1.poker.example", 421),
        ("", 421),
    ],
)
def test_a_foreign_name_that_leads_here_is_told_nothing(
    host: str, status: int, house: Path
) -> None:
    """A page of poker.example whose name suddenly means 127.0.0.1 would be of our origin."""
    answer = site_of(house, hosts=LOOPBACK).as_().get("/api/v1/", headers={"Host": host})
    assert status == answer.status_code
    if status == 421:
        assert "urn:muckrake:problem:misdirected" == answer.json()["type"]


def test_without_names_any_is_answered(site: Site) -> None:
    assert 200 == site.as_().get("/api/v1/", headers={"Host": "poker.example"}).status_code


def test_no_other_site_reads_unless_it_is_allowed(house: Path) -> None:
    origin = {"Origin": "https://dash.example"}
    closed = site_of(house).as_().get("/api/v1/", headers=origin)
    assert "access-control-allow-origin" not in closed.headers
    opened = site_of(house, allow_origins=("https://dash.example",)).as_()
    answer = opened.get("/api/v1/", headers=origin)
    assert "https://dash.example" == answer.headers["access-control-allow-origin"]
    assert "access-control-allow-credentials" not in answer.headers
    other = opened.get("/api/v1/", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers


def test_a_preflight_is_answered_without_a_key(house: Path) -> None:
    opened = site_of(house, allow_origins=("https://dash.example",)).as_()
    headers = {
        "Origin": "https://dash.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    answer = opened.options("/api/v1/sql", headers=headers)
    assert 200 == answer.status_code
    assert "POST" in answer.headers["access-control-allow-methods"]


@pytest.mark.parametrize(
    "path", ["/", "/api/v1/", "/healthz", "/static/style.css", "/docs", "/nothing", "/login?once=x"]
)
def test_every_answer_has_every_security_header(path: str, site: Site) -> None:
    answer = site.as_().get(path)
    assert SECURITY == {name: answer.headers.get(name) for name in SECURITY}
