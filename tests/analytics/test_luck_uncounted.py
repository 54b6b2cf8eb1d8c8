"""Where luck of run-outs is not counted, no number is told that would be the net again."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.main import main
from dealer.play import play
from engine.games import GAMES
from tests.http.clients import site_of
from tests.sessions import Captured, forged

UNCOUNTED = ("net_ev", "luck", "luck_error", "adjusted", "net_ev_hand")
SENTENCE = "uck of run-outs is not counted in {}: hands stand at their net"


def ledger(folder: Path, *games: str) -> Path:
    forged(folder, *(one for game in games for one in play(GAMES[game], f"of-{game}", 12, "7")))
    return folder


def measures(folder: Path) -> tuple[Any, Any, str]:
    """What is not counted, what is, and the page of it."""
    site = site_of(folder)
    with TestClient(site.app):
        client = site.as_("auditor")
        told = client.get("/api/v1/players/random-0/swaps").json()
        page = client.get("/players/random-0/swaps").text
    return told["uncounted"], told["players"][0]["measures"], page


@pytest.mark.parametrize("game", ["toss-2026-mit", "bounty-2025-mit"])
def test_no_net_is_told_as_one_without_luck(tmp_path: Path, capsys: Captured, game: str) -> None:
    folder = ledger(tmp_path / "ledger", game)
    uncounted, found, page = measures(folder)
    assert [game] == uncounted
    assert not set(UNCOUNTED) & set(found)
    assert "net" in found
    assert SENTENCE.format(game) in page
    assert "without run-out luck" not in page
    capsys.readouterr()
    assert main(["swaps", "random-0", "--ledger", str(folder)]) == 0
    told, beside = capsys.readouterr()
    assert SENTENCE.format(game) in beside
    assert "Net without luck" not in told


def test_beside_others_it_is_said_and_the_others_are_counted(tmp_path: Path) -> None:
    uncounted, found, _ = measures(ledger(tmp_path / "ledger", "toss-2026-mit", "swap-2022"))
    assert ["toss-2026-mit"] == uncounted
    assert set(UNCOUNTED) <= set(found)


def test_of_games_whose_luck_is_counted_nothing_is_said(tmp_path: Path) -> None:
    uncounted, found, _ = measures(ledger(tmp_path / "ledger", "swap-2022"))
    assert [] == uncounted
    assert set(UNCOUNTED) <= set(found)
