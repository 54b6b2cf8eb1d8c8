"""Matches over HTTP by changed rules, and by rules that were sent."""

from pathlib import Path

import pytest

from api.http import ledger_service
from engine.changes import ruleset
from engine.game import fingerprint
from tests.http.clients import Site, over, site_of
from tests.wire.misfits import bot

GAME = "auction-2024-mit"


def test_a_match_of_changed_rules_is_played_by_them(
    new: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by rules that were sent: what `/api/v1/games/GAME` tells, edited."""
    monkeypatch.setattr(ledger_service, "FRESH_S", 0.0)  # a match is over in less than a second
    writer = new.as_("writer")
    wanted = {"game": GAME, "set": {"stack": 90, "ask_when_closed": False}, "hands": 3}
    told = over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    name = f"{GAME}.stack-90.ask_when_closed-no"
    assert ("done", name) == (told["state"], told["result"]["game"])
    own = writer.get(f"/api/v1/games/{name}").json() | {"name": "mine"}
    sent = {"ruleset": own, "set": {"stack": 70}, "hands": 2}
    told = over(writer, writer.post("/api/v1/matches", json=sent).headers["location"])
    assert ("done", "mine.stack-70") == (told["state"], told["result"]["game"])
    mark = told["result"]["ruleset"]
    auditor = new.as_("auditor")
    for there in (mark, "mine.stack-70"):
        found = auditor.get(f"/api/v1/games/{there}").json()
        assert ("mine.stack-70", mark, 70) == (found["name"], found["fingerprint"], found["stack"])
        assert 200 == auditor.get(f"/games/{there}").status_code
    assert 404 == auditor.get("/api/v1/games/mine").status_code, "no hand was dealt by it"
    assert f"/games/{mark}" in auditor.get(f"/matches/{told['match']}").text


def test_pages_of_a_mirrored_match_lead_to_the_rules_it_was_dealt_by(new: Site) -> None:
    """Every card has its place in such a deck: another fingerprint under the same name (G21)."""
    writer = new.as_("writer")
    wanted = {"game": GAME, "mirror": True, "hands": 2}
    told = over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    mark, match = told["result"]["ruleset"], told["result"]["match"]
    assert (GAME, False) == (told["result"]["game"], mark == fingerprint(ruleset(GAME)))
    auditor = new.as_("auditor")
    for there in ("/", "/matches", f"/matches/{match}", f"/hands/{match}/1"):
        assert f'href="/games/{mark}"' in auditor.get(there).text, there
    assert f'href="/games/{GAME}"' not in auditor.get(f"/hands/{match}/1").text
    assert 200 == auditor.get(f"/games/{mark}").status_code


@pytest.mark.ci
def test_bots_from_folders_play_by_changed_rules(tmp_path: Path) -> None:
    bots = tmp_path / "bots"
    bot(bots, "one")
    bot(bots, "two")
    site = site_of(tmp_path / "ledger", bots=bots)
    writer = site.as_("writer")
    wanted = {"game": "swap-2022-mit", "set": {"swap_flop": "30"}, "folders": ["one", "two"]}
    begun = writer.post("/api/v1/matches", json=wanted | {"hands": 2})
    told = over(writer, begun.headers["location"])
    name = "swap-2022-mit.swap_flop-30"
    assert (name, fingerprint(ruleset(name))) == (told["result"]["game"], told["result"]["ruleset"])
    refused = writer.post("/api/v1/matches", json=wanted | {"set": {"ask_when_closed": "no"}})
    assert 422 == refused.status_code
    assert "its ask_when_closed must be as in swap-2022-mit" in refused.json()["detail"]
