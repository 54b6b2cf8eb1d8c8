"""The page that compares two players, or two versions of a bot: what is on it, what leads there."""

import re
from html import unescape
from typing import Any

import pytest
from starlette.testclient import TestClient

from dealer.play import play
from engine.games import GAMES
from tests.http.clients import Site, site_of
from tests.sessions import forged


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("compared") / "ledger"
    forged(
        folder,
        *play(GAMES["auction-2024"], "old", 60, "7"),
        *play(GAMES["site-nl"], "new", 40, "3"),
    )
    return site_of(folder)


def read(site: Site, path: str, status: int = 200, **asked: Any) -> str:
    with TestClient(site.app):
        answer = site.as_("auditor").get(path, params=asked, headers={"Accept": "text/html"})
    assert status == answer.status_code, answer.text
    return unescape(answer.text)


def test_whom_to_compare_with_is_offered_his_versions_first(site: Site) -> None:
    page = read(site, "/players/random-0/compare")
    offered = re.findall(r'compare\?other=([\w-]+)"', page)
    assert offered[0] == "random-1"  # with most hands of those that are called alike
    assert len(offered) == len({*offered}) == 5
    assert "<table" not in page


def test_it_says_what_the_api_says(site: Site) -> None:
    asked: dict[str, Any] = {"other": "random-1", "street": "preflop", "match": "old"}
    page = read(site, "/players/random-0/compare", **asked)
    with TestClient(site.app):
        told = site.as_("auditor").get("/api/v1/players/random-0/compare", params=asked).json()
    shown = [one for one in told["statistics"].values() if one["difference"] is not None]
    assert len(shown) == page.count('<th scope="row">') > 5
    vpip = told["statistics"]["vpip"]
    assert f"{vpip['one_k']}/{vpip['one_n']}" in re.sub("<[^>]+>", "", page)
    assert "q=random-0%3Adid%3Dvpip+%26+match%3Dold" in page
    assert "Nothing that is compared surely differs." in page


def test_of_two_matches_each_side_has_its_own(site: Site) -> None:
    page = read(site, "/players/random-0/compare", other="random-0", match=["old", "new"])
    assert "random-0 in old less random-0 in new · 60 hands and " in page
    assert "/api/v1/players/random-0/compare?other=random-0&match=old&match=new&format=csv" in page
    assert "compare?other=random-0&match=new&match=old" in page  # the other way round


def test_what_cannot_be_compared_is_said_beside_the_form(site: Site) -> None:
    for other, match, said in (
        ("nobody", (), "Nobody called nobody was dealt a hand: muckrake stats lists who was."),
        ("random-0", (), "Random-0 is himself: name a match of each, the one's and the other's."),
        ("random-1", ("none",), "There is no hand of match none."),
    ):
        page = read(site, "/players/random-0/compare", other=other, match=match)
        assert said in page
        assert 'name="other"' in page
    read(site, "/players/nobody/compare", 404)
    read(site, "/players/random-0/compare", 422, other="random-1", match=["old", "new", "old"])


def test_a_list_of_players_and_every_page_of_one_lead_to_it(site: Site) -> None:
    assert 'href="/players/random-0/compare"' in read(site, "/players")
    assert 'href="/players/random-0/compare"' in read(site, "/players/random-0")
