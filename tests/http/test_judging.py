"""A large ledger is judged when an auditor asks for it; until then pages say that nobody has."""

import shutil
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.http import ledger_service
from api.http.ledger_service import Judging
from api.main import main
from api.questions.verdicts import Numbers, Verdicts, verdicts_of
from store.reader import Reader, Snapshot
from tests.http.clients import Site, site_of

ASK = "Judge them now"
NOBODY = np.zeros(0, dtype=np.int64)  # looks at a hand


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


def test_a_program_is_told_how_many_hands_have_no_verdict_yet(site: Site) -> None:
    """A table, which cannot say it, is refused: nobody takes `none judged` for `none differ`."""
    client, asked = site.as_("auditor"), {"q": "match=scrim & verdict=agree"}
    at_once = client.get("/api/v1/hands", params={**asked, "format": "csv"})
    assert 503 == at_once.status_code
    assert "2" == at_once.headers["retry-after"]
    assert at_once.json()["detail"].startswith("20 hands that this filter may find are not judged")
    wait(site)
    told = client.get("/api/v1/hands", params=asked).json()
    assert "unjudged" not in told
    assert told["data"]
    assert 200 == client.get("/api/v1/hands", params={**asked, "format": "csv"}).status_code


def test_the_json_of_hands_that_nobody_judged_says_so(site: Site) -> None:
    client = site.as_("auditor")
    assert 40 == client.get("/api/v1/hands?facets=1").json()["facets"]["unjudged"]
    told = client.get("/api/v1/hands?q=verdict%3Ddiffer").json()
    assert ([], 40) == (told["data"], told["unjudged"])


def test_the_public_is_told_that_hands_have_no_verdict_and_not_how_many(site: Site) -> None:
    client = site.as_()
    told = client.get("/api/v1/hands", params={"q": "verdict=agree", "facets": "1"}).json()
    assert ([], None) == (told["data"], told["unjudged"])
    assert "unjudged" not in told["facets"]
    refused = client.get("/api/v1/hands", params={"q": "verdict=agree", "format": "ndjson"})
    assert refused.json()["detail"].startswith("some hands that this filter may find")
    sealed = client.get("/api/v1/hands", params={"q": "match=scrim & verdict=agree"}).json()
    assert "unjudged" not in sealed  # their verdicts he will never be told
    assert not site.app.state.service.judging.going


@pytest.mark.parametrize(
    "path", ["/hands?q=match%3Dshown+%26+verdict%3Dagree", "/matches/shown?judge=yes"]
)
def test_the_hands_that_somebody_looks_at_are_judged_first(
    path: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Numbers | None] = []
    judge = Verdicts.judge

    def noted(self: Verdicts, snapshot: Snapshot, hands: Numbers | None = None) -> Iterator[Any]:
        begun.append(hands)
        return judge(self, snapshot, hands)

    monkeypatch.setattr(Verdicts, "judge", noted)
    site.as_("auditor").get(path)
    wait(site)
    snapshot = Reader(site.folder).snapshot()
    shown = [one.hand_seq for one in snapshot.hands("shown")]
    first, rest = begun
    assert first is not None
    assert shown[::-1] == first.tolist()
    assert rest is None
    assert 0 == verdicts_of(site.app.state.service.reader.snapshot()).known(snapshot).left


def test_a_filter_whose_hands_are_judged_waits_for_no_others(site: Site) -> None:
    snapshot = site.app.state.service.reader.snapshot()
    shown = np.array([one.hand_seq for one in snapshot.hands("shown")])
    for _ in verdicts_of(snapshot).judge(snapshot, shown):
        pass
    client, asked = site.as_("auditor"), {"q": "match=shown & verdict=agree"}
    text = client.get("/hands", params=asked).text
    assert "judged yet" not in text
    assert "unjudged" not in client.get("/api/v1/hands", params=asked).json()
    assert "20 hands not judged yet" in client.get("/matches/scrim").text


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
        judging.begin(snapshot, NOBODY)
    judging.close()
    assert not judging.going
    left = verdicts.known(snapshot).left
    judging.begin(snapshot, NOBODY)  # over is over
    assert not judging.going
    assert left == verdicts.known(snapshot).left


def wait(site: Site) -> None:
    """Until nobody judges any more."""
    end = time.monotonic() + 20
    while site.app.state.service.judging.going and time.monotonic() < end:
        time.sleep(0.01)
    assert not site.app.state.service.judging.going
