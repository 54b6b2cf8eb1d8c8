"""The box in the head: what a text goes to, and what is said where it goes nowhere."""

from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from dealer.play import play
from engine.games import GAMES
from tests.http.clients import Site, site_of
from tests.sessions import forged

AUCTION = GAMES["auction-2024"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Two matches; a player is called as one of them is."""
    folder = tmp_path_factory.mktemp("find")
    forged(
        folder / "ledger",
        *play(AUCTION, "scrim", 12, "7"),
        *play(AUCTION, "random-1", 3, "8"),
        *play(GAMES["swap-2022"], "swaps", 2, "8"),
    )
    return site_of(folder / "ledger")


def goes(site: Site, text: str, **asked: str) -> str:
    """Where the box leads to."""
    with TestClient(site.app):
        client = site.as_("auditor", follow_redirects=False)
        answer = client.get("/find", params={"q": text, **asked})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", "/"),
        ("  ", "/"),
        ("scrim/12", "/hands/scrim/12"),
        (" scrim/12#20 ", "/hands/scrim/12#20"),
        ("scrim/999", "/hands/scrim/999"),  # its own page says that it is not there
        ("scrim", "/matches/scrim"),
        ("SCR", "/matches/scrim"),
        ("random-0", "/players/random-0"),
        ("m-0", "/players/random-0"),
        ("auction-2024", "/games/auction-2024"),
        ("pot>100", "/hands?q=pot%3E100"),
        ("showdown", "/hands?q=showdown"),
        ("/hands/scrim/12/audit", "/hands/scrim/12/audit"),
        ("https://elsewhere.example/hands/scrim/12?as=public#3", "/hands/scrim/12?as=public#3"),
        ("http://h/hands?q=pot%3E3+%26+walk", "/hands?q=pot%3E3+%26+walk"),
        ("http://h/players/a%2Fb/bids?match=scrim", "/players/a%2Fb/bids?match=scrim"),
        ("/api/v1/hands/scrim/12/events?format=csv", "/hands/scrim/12"),
        ("/api/v1/matches/scrim/root", "/matches/scrim"),
        ("//evil.example/hands", "/hands"),
        ("https://h", "/"),
        ("/", "/"),
    ],
)
def test_it_goes_where_a_text_says(site: Site, text: str, at: str) -> None:
    assert goes(site, text) == at


def test_it_keeps_the_viewpoint_unless_an_address_says_another(site: Site) -> None:
    assert goes(site, "scrim/1", **{"as": "public"}) == "/hands/scrim/1?as=public"
    assert goes(site, "/hands/scrim/1", **{"as": "public"}) == "/hands/scrim/1?as=public"
    at = goes(site, "/hands/scrim/1?as=auditor", **{"as": "public"})
    assert at == "/hands/scrim/1?as=auditor"


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/login?once=x",
        "/\\evil.example",
        "https://[evil",
        "/static/style.css",
        "javascript:alert(1)",
        "nobody/1",
        "nobody",
        "'; DROP VIEW hands; --",
    ],
)
def test_what_is_nothing_here_leads_nowhere_and_is_said(site: Site, text: str) -> None:
    with TestClient(site.app):
        answer = site.as_("auditor").get("/find", params={"q": text})
    assert answer.status_code == 404
    assert "No hand, match, player or ruleset is called so." in answer.text


def test_several_of_a_name_are_listed(site: Site) -> None:
    with TestClient(site.app):
        told = site.as_("auditor").get("/find", params={"q": "random-1"})
        like = site.as_("auditor").get("/find", params={"q": "random"})
    for answer in (told, like):
        assert answer.status_code == 200
        assert '<a href="/matches/random-1">' in answer.text
        assert '<a href="/players/random-1">' in answer.text
    assert '<a href="/players/random-0">' in like.text


def test_a_hand_that_is_pasted_among_filters_is_no_mistake(site: Site) -> None:
    """On the page of hands: sent, it goes there; half typed, it is offered."""
    with TestClient(site.app):
        auditor = site.as_("auditor", follow_redirects=False)
        for text, at in (("scrim/12", "/hands/scrim/12"), ("random-0", "/players/random-0")):
            sent = auditor.get("/hands", params={"q": text})
            assert (sent.status_code, sent.headers["location"]) == (303, at)
            typed = auditor.get("/hands", params={"q": text}, headers={"HX-Request": "true"})
            assert typed.status_code == 200
            assert f'<a href="{at}">' in typed.text
            assert "said wrong" not in typed.text
        assert auditor.get("/hands?q=pot%3E%3E").status_code == 400


@pytest.mark.parametrize("path", ["/", "/hands", "/players", "/find?q=nobody", "/nothing"])
def test_the_box_is_on_every_page(site: Site, path: str) -> None:
    with TestClient(site.app):
        answer = site.as_("auditor").get(path, headers={"Accept": "text/html"})
    assert answer.text.count('action="/find"') == 1


def test_it_is_not_where_nothing_may_be_sent(site: Site) -> None:
    with TestClient(site.app):
        assert 'action="/find"' not in site.as_("auditor").get("/verify").text


def test_names_with_signs_are_found(tmp_path: Path) -> None:
    forged(tmp_path / "ledger", *play(AUCTION, "a & b", 1, "7"))
    site = site_of(tmp_path / "ledger")
    assert goes(site, "a & b/1") == f"/hands/{quote('a & b')}/1"
    assert goes(site, "A &") == f"/matches/{quote('a & b')}"
