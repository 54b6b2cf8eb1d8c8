"""A server on loopback answers to its own names, and other sites read what they are allowed to."""

import socket
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.testclient import TestClient

from api.http.ledger_service import Settings
from api.http.limits import Limits
from api.http.middleware import LOOPBACK, SECURITY_HEADERS
from api.main import main
from tests.http.clients import Site, site_of
from tests.sessions import Captured


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


def test_what_the_library_says_to_a_foreign_name() -> None:
    """Why Starlette's layer is not ours: the day that this fails, it may be taken."""
    client = TestClient(TrustedHostMiddleware(FastAPI(), ["www.poker.example"]))
    refused = client.get("/", headers={"Host": "other.example"})
    assert (400, "Invalid host header") == (refused.status_code, refused.text)
    elsewhere = client.get("/", headers={"Host": "poker.example"}, follow_redirects=False)
    assert 307 == elsewhere.status_code


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


def cookie_of(site: Site, client: tuple[str, int], **headers: str) -> str:
    """The cookie that a login leaves."""
    link = site.app.state.sessions.make_link(("audit:read",))
    browser = TestClient(site.app, "http://127.0.0.1:8000", follow_redirects=False, client=client)
    answer = browser.get(f"/login?once={link}", headers=headers)
    assert 303 == answer.status_code
    return str(answer.headers["set-cookie"])


@pytest.mark.parametrize(
    ("fronted", "address", "scheme", "secure"),
    [
        (True, "127.0.0.1", "https", True),
        (True, "::1", "https", True),
        (True, "127.0.0.1", "http", False),
        (True, "192.0.2.7", "https", False),  # who is no proxy of ours says it of himself
        (False, "127.0.0.1", "https", False),  # nobody said that there is a proxy
    ],
)
def test_a_cookie_is_secure_if_a_proxy_of_ours_was_asked_by_https(
    fronted: bool, address: str, scheme: str, secure: bool, house: Path
) -> None:
    site = site_of(house, fronted=fronted)
    told = cookie_of(site, (address, 4711), **{"X-Forwarded-Proto": scheme})
    assert secure == ("; Secure" in told)
    assert "; HttpOnly" in told


def test_serve_answers_to_its_public_name_and_links_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    given: list[Settings] = []

    def run(settings: Settings, sock: socket.socket, *_: object) -> int:
        given.append(settings)
        sock.close()
        return 0

    monkeypatch.setattr("api.serving.server.run_server", run)
    monkeypatch.setattr("os._exit", sys.exit)
    words = ("serve", "--port", "0", "--ledger", str(tmp_path), "--public-url")
    with suppress(SystemExit):
        main([*words, "https://poker.example/"])
    assert "https://poker.example/login?once=" in capsys.readouterr().out
    assert (True, (*LOOPBACK, "poker.example")) == (given[0].fronted, given[0].hosts)
    for wrong in ("poker.example", "ftp://poker.example", "https://poker.example/muckrake"):
        assert 2 == main([*words, wrong])
        assert "https://poker.example is one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fronted", "statuses"), [(True, [200, 200, 200, 429]), (False, [200, 429, 429, 429])]
)
def test_who_comes_through_a_proxy_spends_his_own(
    fronted: bool, statuses: list[int], house: Path
) -> None:
    site = site_of(house, fronted=fronted, limits=Limits(rate=1))
    proxy = TestClient(site.app, "http://127.0.0.1:8000", client=("127.0.0.1", 4711))
    first, second, third = "192.0.2.1", "192.0.2.2", "192.0.2.3"
    told = ([first], [f"{first}, {second}"], [first, third], [second])  # its own word is the last
    lines = [[("X-Forwarded-For", word) for word in words] for words in told]
    answers = [proxy.get("/api/v1/", headers=headers) for headers in lines]
    assert statuses == [one.status_code for one in answers]


@pytest.mark.parametrize(
    ("said", "statuses"),
    [
        ("192.0.2.9, 192.0.2.1", [200, 429]),  # what he says of himself stands before it
        ("192.0.2.1:4711", [200, 429]),
        ("[2001:db8::1]:4711", [200, 200]),
        ("192.0.2.9, 192.0.2.1, 127.0.0.1", [200, 429]),  # a second proxy on this machine
    ],
)
def test_nobody_takes_another_address_behind_a_proxy(
    said: str, statuses: list[int], house: Path
) -> None:
    site = site_of(house, fronted=True, limits=Limits(rate=1))
    proxy = TestClient(site.app, "http://127.0.0.1:8000", client=("127.0.0.1", 4711))
    words = ("192.0.2.1", said)
    answers = [proxy.get("/api/v1/", headers={"X-Forwarded-For": word}) for word in words]
    assert statuses == [one.status_code for one in answers]


@pytest.mark.parametrize(
    "path", ["/", "/api/v1/", "/healthz", "/static/style.css", "/docs", "/nothing", "/login?once=x"]
)
def test_every_answer_has_every_security_header(path: str, site: Site) -> None:
    answer = site.as_().get(path)
    assert SECURITY_HEADERS == {name: answer.headers.get(name) for name in SECURITY_HEADERS}
