"""Hands without a verdict are judged when somebody looks: many by a process, if he asks for it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.http import ledger_service
from api.http.limits import Limits
from api.main import main
from api.questions import judging
from api.questions.judging import hands_to_judge
from api.questions.verdicts import Verdicts, verdicts_of
from api.serving import heavy_pages
from api.serving.heavy_pages import HeavyPages
from api.viewpoints.viewer import Viewer
from tests.http.clients import Site, site_of
from tests.http.test_heavy_pages import drawn
from tests.profiles import sized

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
    monkeypatch.setattr(judging, "JUDGED_UNASKED_MAX", 0)
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
    for asked in (f"{path}?judge=yes", path):
        text = client.get(asked).text
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
    assert "verdict%3Dagree" in site.as_().get("/matches/shown").text
    assert "verdict%3Dagree" not in site.as_().get("/matches/scrim").text
    assert "Of the other 20 hands the public may not see every card" in site.as_().get("/").text
    words = ["--hands", "7", "--seed", "2", "--ledger", str(site.folder), "--match", "later"]
    assert main(["play", "auction-2024", *words]) == 0
    monkeypatch.setattr(ledger_service, "FRESH_S", 0.0)
    assert ">7 hands not judged yet" in site.as_("auditor").get("/").text
    text = site.as_().get("/").text  # whether others' are judged is not his to know
    assert "verdict%3Dagree" in text
    assert "judged yet" not in text
    assert "Of the other 27 hands the public may not see every card" in text
    assert "judged yet" not in site.as_().get("/matches/later").text


@pytest.mark.parametrize("query", ["verdict=agree", "contested", "verdict=differ & pot>0"])
def test_a_filter_by_verdict_has_its_hands_judged_before_it_finds_any(
    query: str, site: Site
) -> None:
    client = site.as_("auditor")
    text = client.get("/hands", params={"q": query}).text
    assert "judged" not in text.partition("<h2>Filters")[0]
    found = client.get("/api/v1/hands", params={"q": query, "limit": 100}).json()
    assert "unjudged" not in found
    assert len(found["data"]) == text.count('<th scope="row" class="nowrap">')
    table = client.get("/api/v1/hands", params={"q": query, "limit": 100, "format": "csv"})
    assert len(found["data"]) == len(table.text.splitlines()) - 1


def test_the_json_of_hands_that_nobody_judged_says_so(site: Site) -> None:
    client = site.as_("auditor")
    assert 40 == client.get("/api/v1/hands?facets=1").json()["facets"]["unjudged"]


def test_the_public_is_told_that_hands_have_no_verdict_and_not_how_many(site: Site) -> None:
    client = site.as_()
    told = client.get("/api/v1/hands", params={"q": "verdict=agree", "facets": "1"}).json()
    assert ([], None) == (told["data"], told["unjudged"])
    assert "unjudged" not in told["facets"]
    refused = client.get("/api/v1/hands", params={"q": "verdict=agree", "format": "ndjson"})
    assert refused.json()["detail"].startswith("some hands that this filter may find")
    sealed = client.get("/api/v1/hands", params={"q": "match=scrim & verdict=agree"}).json()
    assert "unjudged" not in sealed  # their verdicts he will never be told
    assert 40 <= left_of(site)


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
    assert "judged" not in text.partition("<h2>Filters")[0].partition('id="said"')[2][:40]
    assert 40 <= left_of(site)


def test_the_public_has_nothing_judged_by_a_filter(site: Site) -> None:
    text = site.as_().get("/hands", params={"q": "verdict=agree"}).text
    assert "Not every hand is judged yet" in text
    assert 40 <= left_of(site)


def test_who_looks_has_hands_judged_that_he_may_know_of_and_no_others(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the public waits for, and is told of it, says nothing of matches that are sealed."""
    monkeypatch.setattr(judging, "JUDGED_UNASKED_MAX", 20)
    service = site.app.state.service
    with service.viewed(Viewer()) as viewed:
        shown = {one.hand_seq for one in viewed.snapshot.hands("shown")}
        assert (
            shown
            == set(hands_to_judge(viewed).tolist())
            == set(hands_to_judge(viewed, on_demand=True).tolist())
        )
        assert shown == set(hands_to_judge(viewed, match="shown").tolist())
        assert [] == hands_to_judge(viewed, match="scrim").tolist()
        monkeypatch.setattr(judging, "JUDGED_UNASKED_MAX", 19)
        assert [] == hands_to_judge(viewed, on_demand=True).tolist()
    with service.viewed(Viewer("auditor")) as viewed:
        assert [] == hands_to_judge(viewed).tolist()
        assert 20 == len(hands_to_judge(viewed, on_demand=True, match="scrim"))
        assert viewed.snapshot.next_seq == len(hands_to_judge(viewed, on_demand=True))


@pytest.fixture
def nobody_here_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(*given: Any) -> Iterator[Any]:
        raise AssertionError("the server has judged hands itself")

    monkeypatch.setattr(Verdicts, "judge", judge)


@pytest.mark.usefixtures("nobody_here_judges")
@pytest.mark.parametrize(
    "address",
    ["/?judge=yes", "/hands?q=verdict%3Dagree", *sized([], ["/matches/scrim?judge=yes"])],
)
def test_many_hands_are_judged_by_a_process_and_kept(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says how far it is; then the server makes it itself, and so does the next one."""
    monkeypatch.setattr(heavy_pages, "ANSWER_SOON_S", 0)
    apart = site_of(site.folder, limits=Limits(rate=0, heavy_judged=20))
    path = address.partition("?judge")[0]
    with apart.as_("auditor") as client:
        first = client.get(address)
        assert (202, "no-store") == (first.status_code, first.headers["cache-control"])
        assert 'id="progress"' in first.text
        assert "not judged yet" not in drawn(client, address).text
        assert (200, True) == ((text := client.get(path)).status_code, "verdict" in text.text)
    assert "not judged yet" not in site_of(site.folder).as_("auditor").get(path).text


@pytest.mark.usefixtures("nobody_here_judges")
def test_a_program_waits_for_hands_that_a_process_judges(site: Site) -> None:
    apart = site_of(site.folder, limits=Limits(rate=0, heavy_judged=1))
    with apart.as_("auditor") as client:
        answer = client.get("/api/v1/hands?q=verdict%3Dagree&limit=100")
        assert (200, False) == (answer.status_code, "unjudged" in answer.json())
        assert answer.json()["data"]


def test_few_hands_are_judged_by_the_server_and_an_answer_is_not_kept_for_them(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*given: Any) -> None:
        raise AssertionError("a process was begun")

    monkeypatch.setattr(HeavyPages, "_run_process", never)
    few = site_of(site.folder, limits=Limits(rate=0, heavy_judged=41))
    with few.as_("auditor") as client:
        assert "20 hands not judged yet" in client.get("/matches/scrim").text
        assert "not judged yet" not in client.get("/matches/scrim?judge=yes").text
    assert not (site.folder / "jobs" / "pages").exists()


def left_of(site: Site) -> int:
    """How many hands and records nobody has looked at."""
    snapshot = site.app.state.service.reader.snapshot()
    return verdicts_of(snapshot).known(snapshot).left
