"""A large ledger is judged when an auditor asks for it; until then pages say that nobody has."""

import time
from pathlib import Path

import pytest

from api.http import ledger_service
from api.http.ledger_service import Judging
from api.main import main
from api.pages import disputed_hands
from api.questions.verdicts import Verdicts
from store.reader import Reader
from tests.http.clients import Site, site_of

ASK = "Judge them now"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A ledger that is large for a page."""
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(disputed_hands, "AT_ONCE", 0)
    words = ["--hands", "20", "--seed", "1", "--ledger", str(tmp_path / "ledger"), "--match"]
    assert main(["play", "auction-2024", *words, "scrim"]) == 0
    assert main(["play", "swap-2022", *words, "shown", "--disclosure", "open"]) == 0
    return site_of(tmp_path / "ledger")


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


def test_it_is_judged_once_however_often_somebody_asks_and_ends_with_the_server(
    tmp_path: Path, site: Site
) -> None:
    snapshot = Reader(site.folder).snapshot()
    verdicts = Verdicts(tmp_path / "verdicts")
    judging = Judging(verdicts)
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
