"""`play --live --clock --news`: what happens to players at a table under the real clock."""

from pathlib import Path

import pytest

from api.main import main
from dealer.live.bots import ScriptedEvent, events_before
from dealer.live.clock import SITE_TIMES, ConnectionBack, Returns, TurnTimes, turn_times
from events import types as t
from tests.sessions import Captured, kept, said, told

PLAYERS = ("caller-0", "caller-1", "caller-2")
LIVE = ("play", "site-nl", "--live", "--bots", "caller", "--think-ms", "1", "--match", "m")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def _news(*said: str) -> tuple[str, ...]:
    return tuple(word for one in said for word in ("--news", one))


def _kinds(home: Path, hand: str) -> set[type]:
    return {type(event) for event in kept(home, hand)}


def _players(home: Path, hand: str) -> tuple[str, ...]:
    start = kept(home, hand)[0]
    assert isinstance(start, t.HandStarted)
    return start.players


def test_clocks_run_out_connections_are_lost_and_players_come_and_go(
    home: Path, capsys: Captured
) -> None:
    happens = _news(
        *("silent:caller-0@1", "lost:caller-1@2", "back:caller-1@2"),
        *("leaves:caller-2@3", "sits-out:caller-0@4", "joins:tight@4", "returns:caller-0@5"),
    )
    words = ("--seats", "3", "--hands", "8", "--seed", "3", "--clock", "0.1", *happens)
    document = told(capsys, *LIVE, *words)
    assert (8, "every hand was played") == (document["hands"], document["reason"])
    assert PLAYERS == tuple(document["players"]) == tuple(sorted(_players(home, "m/1")))
    assert t.TimedOut in _kinds(home, "m/1")
    assert {t.Disconnected, t.Reconnected} <= _kinds(home, "m/2")
    assert ("caller-0", "caller-1") == tuple(sorted(_players(home, "m/3")))
    assert "caller-0" not in _players(home, "m/4")
    assert "tight-2" in {player for n in range(4, 9) for player in _players(home, f"m/{n}")}
    assert "caller-0" in _players(home, "m/8")
    assert 0 == main(["audit", "--all"])


def test_who_is_lost_is_not_dealt_in_before_he_is_back(home: Path, capsys: Captured) -> None:
    happens = _news("lost:caller-1@1", "back:caller-1@3")
    told(capsys, *LIVE, "--seats", "3", "--hands", "5", "--clock", "0.1", *happens)
    assert {t.Disconnected, t.TimedOut} <= _kinds(home, "m/1")
    assert t.Reconnected not in _kinds(home, "m/1")
    assert "caller-1" not in _players(home, "m/2")
    assert "caller-1" in _players(home, "m/5")


def test_a_wish_is_told_before_the_hand_in_which_its_player_is_lost() -> None:
    happens = [ScriptedEvent("returns", "dot", 3), ScriptedEvent("lost", "dot", 3)]
    happens += [ScriptedEvent("back", "dot", 3), ScriptedEvent("back", "dot", 4)]
    assert [Returns("dot")] == list(events_before(happens, 3))
    assert [ConnectionBack("dot")] == list(events_before(happens, 4))


def test_a_table_that_is_left_ends_and_says_why(home: Path, capsys: Captured) -> None:
    words = ("--seats", "2", "--hands", "9", *_news("leaves:caller-1@2"))
    document = told(capsys, *LIVE, *words)
    ended = (1, "fewer than two were left to be dealt in")
    assert ended == (document["hands"], document["reason"])


def test_what_the_table_refuses_is_noted_and_play_goes_on(capsys: Captured) -> None:
    happens = _news("returns:caller-0@1", "joins:tight@2")
    assert 0 == main([*LIVE, "--seats", "2", "--hands", "2", *happens])
    noted = capsys.readouterr().err
    assert "caller-0: caller-0 does not sit out\n" in noted
    assert "tight may not join: no chair is free\n" in noted


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--clock 1", "--clock and --news are for --live: no other table has a clock"),
        ("--live --news lost:caller-1", "'lost:caller-1' is no news: WHAT:PLAYER@HAND, with"),
        ("--live --news dies:caller-1@1", "with silent, lost, back, sits-out, returns, leaves,"),
        ("--live --news lost:bob@1", "'lost:bob@1' names nobody who could be at this table: "),
        ("--live --news joins:bob@1", "a bot is one of random, caller,"),
    ],
)
def test_news_that_make_no_sense_are_refused_before_anything_is_written(
    home: Path, capsys: Captured, words: str, sentence: str
) -> None:
    assert sentence in said(capsys, 2, "play", "site-nl", *words.split())
    assert not home.exists()


def test_a_turn_of_thirty_seconds_is_the_sites_own() -> None:
    assert SITE_TIMES == turn_times(30_000)
    assert TurnTimes(100, 200, 200) == turn_times(300)
