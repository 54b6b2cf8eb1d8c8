"""Who has won a match, who is ahead in it, in which places: the same at every door (M4, M5)."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from api.main import main
from api.playing.recording import STOPPED, Recording, finished_hand, freeze_out_reason, seeded_start
from dealer.deck import SeededDecks
from dealer.play import Plan, finished_hands, hand_records, last_standing
from engine.game import Game, fingerprint, to_json
from engine.games import GAMES
from events.evolve import replay
from events.types import Events, HandStarted
from store.ledger import open_ledger
from tests.profiles import sized
from tests.sessions import Captured, kept, printed, told

RESULT = ("winner", "leader", "draw", "places")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger for each test."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def result(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in RESULT}


def everywhere(capsys: Captured, *words: str) -> dict[str, Any]:
    """What `play` says of its match; `matches`, HTTP and the public are told just that."""
    said = result(told(capsys, "play", *words, "--seed", "7", "--match", "m"))
    paths = ("matches/m", "matches")
    for view, asked in (("auditor", sized(paths[:1], paths)), ("public", sized(paths[1:], paths))):
        (listed,) = told(capsys, "matches", "--as", view)["matches"]
        assert said == result(listed)
        for path in asked:
            answer = json.loads(printed(capsys, "get", path, "--as", view))
            assert said == result(answer if path == "matches/m" else answer["data"][0])
    return said


def busts(home: Path) -> dict[str, tuple[int, int]]:
    """In which hand each player lost all, and with what he began it; read from the record."""
    found = {}
    number = 1
    while hand := kept(home, f"m/{number}"):
        state = replay(hand)
        players = cast(HandStarted, hand[0]).players
        for player, began, left in zip(players, state.start.stacks, state.stacks, strict=True):
            if not left:
                found[player] = (number, began)
        number += 1
    return found


@pytest.mark.parametrize("game", ["probability", *sized((), (), ("urcs-1998",))])
def test_a_freeze_out_names_its_winner_and_all_places(
    home: Path, capsys: Captured, game: str
) -> None:
    """Who went out later is placed higher; of one hand, who began it with more (M5)."""
    said = everywhere(capsys, game, "--seats", "5", "--bots", "random,aggressive")
    players = kept(home, "m")[0].players
    out = busts(home)
    (winner,) = set(players) - set(out)
    assert (winner, None, False) == (said["winner"], said["leader"], said["draw"])
    places = dict(zip(players, said["places"], strict=True))
    assert 1 == places.pop(winner)
    for player, place in places.items():
        assert place == 2 + sum(other > out[player] for other in out.values())


def test_the_winner_and_the_places_stand_in_the_line_of_a_match(capsys: Captured) -> None:
    words = ("play", "urcs-1998", "--seats", "3", "--bots", "aggressive", "--match", "m")
    line = printed(capsys, *words, "--seed", "5")
    assert "  aggressive-2 won, 2. aggressive-0, 3. aggressive-1  seed 5\n" in line
    assert printed(capsys, "matches").splitlines()[1].endswith("\taggressive-2 won")


def test_a_freeze_out_that_ends_before_has_somebody_ahead_and_no_winner(
    home: Path, capsys: Captured
) -> None:
    words = ("--seats", "3", "--bots", "aggressive", "--hands", "40")
    said = everywhere(capsys, "urcs-1998", *words)
    last = replay(kept(home, "m/40"))
    stacks = dict(zip(last.start.players, last.stacks, strict=True))
    assert 2 <= sum(stack > 0 for stack in stacks.values())
    assert (None, False) == (said["winner"], said["draw"])
    assert max(stacks, key=lambda player: stacks[player]) == said["leader"]
    assert "\t" + said["leader"] + " is ahead" in printed(capsys, "matches")


def test_of_two_the_higher_bankroll_wins(home: Path, capsys: Captured) -> None:
    """ "The player with the highest cumulative bankroll after the last round is played wins the
    game." (M4)"""
    said = everywhere(capsys, "auction-2024", "--bots", "random,tight", "--hands", "30")
    start, ended = kept(home, "m")
    best = max(range(2), key=lambda seat: ended.nets[seat])
    assert ended.nets[0] != ended.nets[1]
    assert start.players[best] == said["winner"]
    assert [1 + (seat != best) for seat in range(2)] == said["places"]
    assert f"  {said['winner']} won  seed 7\n" in printed(
        capsys, *["play", "auction-2024", "--bots", "random,tight", "--hands", "30", "--seed", "7"]
    )


def test_equal_bankrolls_are_a_draw(capsys: Captured) -> None:
    """The document is silent, and nobody draws lots (M4)."""
    words = ("auction-2024", "--bots", "caller", "--mirror", "--hands", "20")
    said = everywhere(capsys, *words, "--disclosure", "open")  # else the public is told nothing
    assert {"winner": None, "leader": None, "draw": True, "places": [1, 1]} == said
    assert printed(capsys, "matches").splitlines()[1].endswith("\ta draw")


@pytest.mark.parametrize(
    "words", [("urcs-1998", "--no-freeze-out"), *sized((), (), (("site-nl",),))]
)
def test_where_the_table_is_set_anew_nobody_wins(
    home: Path, capsys: Captured, words: tuple[str, ...]
) -> None:
    """Chips are carried and the match ends by its hands: who has won most is ahead."""
    said = everywhere(capsys, *words, "--seats", "3", "--hands", "12")
    nets = kept(home, "m")[-1].nets
    players = kept(home, "m")[0].players
    assert (None, False) == (said["winner"], said["draw"])
    assert players[nets.index(max(nets))] == said["leader"]


def recorded(home: Path, game: Game, records: list[Events], reason: str | None) -> Any:
    """A match of these hands that ended so, or goes on."""
    ledger, lock = open_ledger(home, "test")
    ledger.keep_ruleset(fingerprint(game), to_json(game))
    recording = Recording(ledger, seeded_start("m", records[0], "7", "sealed"), game)
    assert len(records) == sum(
        1 for _ in recording.keep(map(finished_hand, records), lambda: False)
    )
    played = recording.end(reason) if reason else None
    ledger.close()
    lock.release()
    return played


@pytest.mark.parametrize("reason", [STOPPED, None])
def test_a_match_that_was_cut_off_or_goes_on_has_no_winner(
    home: Path, capsys: Captured, reason: str | None
) -> None:
    game = GAMES["auction-2024"]
    records = list(hand_records(Plan(game, "m", 5, "7", ("random",) * 2), SeededDecks("7")))
    played = recorded(home, game, records, reason)
    (row,) = told(capsys, "matches")["matches"]
    assert (None, False) == (row["winner"], row["draw"])
    ahead = row["players"][row["nets"].index(max(row["nets"]))]
    assert ahead == row["leader"]
    assert played is None or (None, ahead) == (played.winner, played.leader)


def test_an_older_freeze_out_said_only_at_its_end_that_it_was_one(
    home: Path, capsys: Captured
) -> None:
    """Its ruleset knew no `broke`; the record says who had it all, and the hands say the rest."""
    game = replace(GAMES["urcs-1998"], broke="set_anew")
    match = Plan(game, "m", 5_000, "5", ("aggressive",) * 3)
    records, winner = [], None
    for hand in finished_hands(match, SeededDecks("5")):
        records.append(hand.record)
        if (winner := last_standing(hand)) is not None:
            break
    assert winner is not None
    recorded(home, game, records, freeze_out_reason(winner))
    (row,) = told(capsys, "matches")["matches"]
    assert (winner, [1, 2, 3]) == (row["winner"], sorted(row["places"]))


def test_nothing_is_said_before_the_first_hand(home: Path, capsys: Captured) -> None:
    game = GAMES["auction-2024"]
    (first,) = hand_records(Plan(game, "m", 1, "7", ("random",) * 2), SeededDecks("7"))
    ledger, lock = open_ledger(home, "test")
    Recording(ledger, seeded_start("m", first, "7", "sealed"), game)
    ledger.close()
    lock.release()
    (row,) = told(capsys, "matches")["matches"]
    assert {"winner": None, "leader": None, "draw": False, "places": None} == result(row)
    assert 0 == main(["matches"])
