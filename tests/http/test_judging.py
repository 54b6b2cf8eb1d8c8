"""A large ledger is judged when an auditor asks for it; until then pages say that nobody has."""

import shutil
import time
from importlib import import_module
from pathlib import Path

import pytest

from api.http import ledger_service
from api.http.ledger_service import Judging
from api.main import main
from api.questions.verdicts import verdicts_of
from store.reader import Reader
from tests.http.clients import Site, site_of

ASK = "Judge them now"


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matches of which nobody has asked anything."""
    folder = tmp_path_factory.mktemp("unjudged") / "ledger"
    words = ["--hands", "20", "--seed", "1", "--ledger", str(folder), "--match"]
    assert main(["play", "auction-2024", *words, "scrim"]) == 0
    assert main(["play", "swap-2022", *words, "shown", "--disclosure", "open"]) == 0
    return folder


@pytest.fixture
def site(unjudged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A ledger that is large for a page."""
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(import_module("api.pages.matches"), "JUDGED_AT_ONCE", 0)
    monkeypatch.setattr(import_module("api.pages.hands"), "JUDGED_AT_ONCE", 0)
    monkeypatch.setattr(import_module("api.questions.declared.hands"), "AT_ONCE_ONLINE", 0)
    return site_of(Path(shutil.copytree(unjudged, tmp_path / "ledger")))


@pytest.mark.parametrize(("path", "hands"), [("/", 40), ("/matches/scrim", 20)])
def test_an_auditor_has_it_judged_and_is_told_how_many_are_left(
    path: str, hands: int, site: Site
) -> None:
    client = site.as_("auditor")
    text = client.get(path).text
    assert f"{hands} hands not judged yet" in text
    assert ASK in text
    assert "verdict%3Dagree" not in text  # nobody takes nothing for a count
    client.get(f"{path}?judge=yes")
    wait(site)
    text = client.get(path).text
    assert "not judged yet" not in text
    assert "verdict%3Dagree" in text


def test_the_public_may_not_have_it_judged_nor_is_told_of_how_many(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 403 == site.as_().get("/?judge=yes").status_code
    text = site.as_().get("/").text
    assert ASK not in text
    assert "judged yet" not in text  # he is told of no verdict at all
    site.as_("auditor").get("/?judge=yes")
    wait(site)
    assert "verdict%3Dagree" in site.as_().get("/matches/shown").text
    assert "verdict%3Dagree" not in site.as_().get("/matches/scrim").text
    words = ["--hands", "7", "--seed", "2", "--ledger", str(site.folder), "--match", "later"]
    assert main(["play", "auction-2024", *words]) == 0
    monkeypatch.setattr(ledger_service, "FRESH_S", 0.0)
    assert ">7 hands not judged yet" in site.as_("auditor").get("/").text
    text = site.as_().get("/").text  # of those that are open he is told
    assert "Not every hand is judged yet." in text
    assert "hands not judged" not in text
    assert "judged yet" not in site.as_().get("/matches/later").text


@pytest.mark.parametrize("query", ["verdict=agree", "contested", "verdict=differ & pot>0"])
def test_a_filter_by_verdict_has_hands_judged_and_never_counts_none_of_them(
    query: str, site: Site
) -> None:
    client = site.as_("auditor")
    text = client.get("/hands", params={"q": query}).text
    assert "Hands are being judged" in text
    assert "40 hands not judged yet" in text
    assert '<progress max="40" value="0"' in text
    assert "No hand that is judged so far passes this filter" in text
    assert "0 hands</b>" not in text
    wait(site)
    text = client.get("/hands", params={"q": query}).text
    assert "judged" not in text.partition("<h2>Filters")[0].replace("unjudged", "")
    found = client.get("/api/v1/hands", params={"q": query, "limit": 100}).json()["data"]
    assert len(found) == text.count('<th scope="row" class="nowrap">')


def test_a_filter_without_verdicts_has_nothing_judged(site: Site) -> None:
    text = site.as_("auditor").get("/hands", params={"q": "pot>0"}).text
    assert "Hands are being judged" not in text
    assert not site.app.state.service.judging.going


def test_the_public_has_nothing_judged_by_a_filter(site: Site) -> None:
    text = site.as_().get("/hands", params={"q": "verdict=agree"}).text
    assert "Not every hand is judged yet" in text
    assert "<progress" not in text
    assert not site.app.state.service.judging.going


def test_it_is_judged_once_however_often_somebody_asks_and_ends_with_the_server(
    site: Site,
) -> None:
    snapshot = Reader(site.folder).snapshot()
    verdicts = verdicts_of(snapshot)
    judging = Judging()
    for _ in range(3):
        judging.begin(snapshot)
    judging.close()
    assert not judging.going
    left = verdicts.known(snapshot).left
    judging.begin(snapshot)  # over is over
    assert not judging.going
    assert left == verdicts.known(snapshot).left


def wait(site: Site) -> None:
    """Until nobody judges any more."""
    end = time.monotonic() + 20
    while site.app.state.service.judging.going and time.monotonic() < end:
        time.sleep(0.01)
    assert not site.app.state.service.judging.going
