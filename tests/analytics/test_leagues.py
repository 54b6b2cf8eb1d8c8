"""A league as the ledger has it: which matches are its, who stands where, and what two came to."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from api.main import main
from api.playing.league import Pairing
from api.playing.league import standings as ranked
from events.ledger import Append
from events.match import MatchEnded, MatchStarted
from store.ledger import open_ledger
from tests.exports import AT
from tests.http.clients import site_of
from tests.profiles import sized
from tests.sessions import Captured, kept, said, told
from tests.test_cli_width import written

HANDS = sized(32, 40, 60)  # of 30 decks or more there are intervals
PLAYED = {
    "cup.1.caller-1.tight-0": "tight,caller",
    "cup.1.random-1.tight-0": "tight,random",
    "cup.1.caller-1.random-0": "random,caller",
    "cup.2.caller-1.tight-0": "tight,caller",
}
NONE = {  # matches that are called almost like one of the league
    "cup.1": "tight,caller",
    "cup.x.caller-1.tight-0": "tight,caller",
    "cup.0.caller-1.tight-0": "tight,caller",
    "cup.3.tight-0.caller-1": "tight,caller",  # not in the order of the alphabet
    "cup.3.caller-1.nobody": "tight,caller",  # others played
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league of four, one of whom played in both rounds, and what is none of its matches."""
    folder = tmp_path_factory.mktemp("leagues") / "ledger"
    words = ("play", "auction-2024", "--mirror", "--seed", "5", "--ledger", str(folder))
    for matches, hands in ((PLAYED, str(HANDS)), (NONE, "2")):
        for match, bots in matches.items():
            assert main([*words, "--hands", hands, "--bots", bots, "--match", match]) == 0
    writer, lock = open_ledger(folder, "a test")
    going_on = kept(folder, "cup.1.caller-1.tight-0")[0]
    assert isinstance(going_on, MatchStarted)
    writer.append(Append("cup.4.caller-1.tight-0", 0, (going_on,), AT))
    writer.close()
    lock.release()
    return folder


def nets(ledger: Path) -> dict[Pairing, dict[str, int]]:
    """What each won, as the ends of the matches say."""
    found = {}
    for match in PLAYED:
        start, *_, end = kept(ledger, match)
        assert isinstance(end, MatchEnded)
        _, number, one, other = match.split(".")
        found[Pairing(int(number), (one, other))] = dict(zip(start.players, end.nets, strict=True))
    return found


def test_a_league_is_the_ended_matches_that_are_called_like_its_pairings(
    ledger: Path, capsys: Captured
) -> None:
    (row,) = told(capsys, "leagues", "--ledger", str(ledger))["leagues"]
    assert ("cup", 4, 2, 4) == tuple(row[it] for it in ("league", "players", "rounds", "matches"))
    assert row["first"] < row["last"]
    matches = told(capsys, "standing", "cup", "--ledger", str(ledger))["matches"]
    assert sorted(PLAYED) == sorted(one["match"] for one in matches)
    assert [1, 1, 1, 2] == [one["round"] for one in matches]


def test_who_stands_where_is_as_the_ends_of_matches_say(ledger: Path, capsys: Captured) -> None:
    found = told(capsys, "standing", "cup", "--ledger", str(ledger))["players"]
    rows = ranked({"caller-1", "random-0", "random-1", "tight-0"}, nets(ledger))
    assert [one.bot for one in rows] == [one["player"] for one in found]
    for one, row in zip(rows, found, strict=True):
        assert (one.matches, one.won, one.drawn, one.lost, one.chips, one.points) == tuple(
            row[it] for it in ("matches", "won", "drawn", "lost", "chips", "points")
        )


def test_ratings_and_pairs_are_those_of_muckrake_ratings(ledger: Path, capsys: Captured) -> None:
    """Out of results there, out of hands here: the same matches are won and lost."""
    found = told(capsys, "standing", "cup", "--ledger", str(ledger))
    rated = told(capsys, "ratings", "--league", "cup", "--ledger", str(ledger))
    assert (rated["pairs"], rated["circles"]) == (found["pairs"], found["circles"])
    names = (
        "rating",
        "rating_low",
        "rating_high",
        "won",
        "drawn",
        "lost",
        "won_100",
        "low",
        "high",
    )
    assert {one["player"]: [one[it] for it in names] for one in rated["players"]} == {
        one["player"]: [one[it] for it in names] for one in found["players"]
    }
    assert any(one["rating"] for one in found["players"]) == (find_spec("choix") is not None)


def test_two_are_beside_each_other_as_each_of_them_sees_it(ledger: Path, capsys: Captured) -> None:
    here = ("--ledger", str(ledger))
    (pair,) = [
        one
        for one in told(capsys, "ratings", "--league", "cup", *here)["pairs"]
        if (one["player"], one["other"]) == ("caller-1", "tight-0")
    ]
    one = told(capsys, "pairing", "cup", "caller-1", "tight-0", *here)
    assert pair == one["pair"]
    assert [("cup.1.caller-1.tight-0", HANDS), ("cup.2.caller-1.tight-0", HANDS)] == [
        (it["match"], it["hands"]) for it in one["matches"]
    ]
    other = told(capsys, "pairing", "cup", "tight-0", "caller-1", *here)
    assert [-it["chips"] for it in one["matches"]] == [it["chips"] for it in other["matches"]]
    turned = other["pair"]
    assert (-pair["won_100"], -pair["high"], -pair["low"]) == tuple(
        turned[it] for it in ("won_100", "low", "high")
    )
    assert turned["won"] == pair["matches"] - pair["drawn"] - pair["won"]


def test_of_a_mirrored_league_the_public_is_told_results_alone(
    ledger: Path, capsys: Captured
) -> None:
    """The ends of matches are public; of their hands nothing is: they could tell cards."""
    here = ("--ledger", str(ledger))
    seen = told(capsys, "standing", "cup", "--as", "public", *here)
    assert ([], []) == (seen["pairs"], seen["circles"])
    whole = told(capsys, "standing", "cup", *here)
    assert whole["matches"] == seen["matches"]
    hidden = dict.fromkeys(("won_100", "low", "high"))
    assert [{**one, **hidden} for one in whole["players"]] == seen["players"]
    pairing = told(capsys, "pairing", "cup", "caller-1", "tight-0", "--as", "public", *here)
    assert (None, [0, 0]) == (pairing["pair"], [one["hands"] for one in pairing["matches"]])


def test_ratings_over_time_rest_on_the_matches_so_far_and_on_no_later_one(
    ledger: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a ledger in which others played later."""
    pytest.importorskip("choix")
    found = told(capsys, "standing", "cup", "--ledger", str(ledger))
    matches = [one["match"] for one in found["matches"]]
    assert [(at, matches[at - 1]) for at in range(1, 5)] == list(
        dict.fromkeys((one["matches"], one["match"]) for one in found["history"])
    )
    assert {one["player"] for one in found["history"] if one["matches"] == 1} == {
        found["matches"][0]["player"],
        found["matches"][0]["other"],
    }
    last = {one["player"]: one["rating"] for one in found["history"] if one["matches"] == 4}
    assert last == {one["player"]: one["rating"] for one in found["players"]}

    other = tmp_path / "other"
    words = ("play", "auction-2024", "--mirror", "--seed", "5", "--hands", str(HANDS))
    late = {"cup.2.random-1.tight-0": "tight,random", "cup.3.random-1.tight-0": "tight,random"}
    for match, bots in (*list(PLAYED.items())[:3], *late.items()):
        assert main([*words, "--bots", bots, "--match", match, "--ledger", str(other)]) == 0
    capsys.readouterr()
    again = told(capsys, "standing", "cup", "--ledger", str(other))
    assert 5 == again["history"][-1]["matches"]
    early = [[it for it in one["history"] if it["matches"] <= 3] for one in (found, again)]
    assert early[0] == early[1] != []

    standing = import_module("api.questions.declared.standing")
    monkeypatch.setattr(standing, "HISTORY_POINTS_MAX", 8)
    few = told(capsys, "standing", "cup", "--ledger", str(ledger))["history"]
    assert [2, 4] == sorted({one["matches"] for one in few})
    with site_of(ledger).as_("auditor") as client:
        page = client.get("/leagues/cup").text
    assert 4 == page.count("<polyline")
    assert "After 2 to 4 matches, round by round" in page


def test_what_is_not_there_is_one_sentence(
    ledger: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ("--ledger", str(ledger))
    assert "no match of a league night has ended: muckrake leagues lists" in said(
        capsys, 5, "standing", "night", *here
    )
    assert "tight-0 and wolf have ended no match of the league cup" in said(
        capsys, 5, "pairing", "cup", "tight-0", "wolf", *here
    )
    monkeypatch.setattr(import_module("api.questions.declared.standing"), "PLAYERS_MAX", 3)
    assert "cup has 4 players, and 3 are placed together" in said(
        capsys, 2, "standing", "cup", *here
    )


@pytest.mark.parametrize("words", [("standing", "cup"), ("pairing", "cup", "caller-1", "tight-0")])
def test_it_fits_a_terminal(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(ledger))
    drawn = written(words, monkeypatch, terminal=True)
    assert [] == [line for line in drawn.splitlines() if len(line.rstrip()) > 80]
    assert "tight-0" in drawn


def test_a_cell_of_the_cross_table_leads_to_the_matches_of_two_and_these_to_their_hands(
    ledger: Path,
) -> None:
    with site_of(ledger).as_("auditor") as client:
        assert '/leagues/cup"' in client.get("/leagues").text
        page = client.get("/leagues/cup").text
        assert "caller-1 beside tight-0: </i>" in page
        assert 'href="/leagues/cup/caller-1/tight-0"' in page
        pairing = client.get("/leagues/cup/caller-1/tight-0").text
        assert 'href="/matches/cup.1.caller-1.tight-0"' in pairing
        assert 'href="/hands?q=match%3Dcup.1.caller-1.tight-0"' in pairing
        seen = client.get("/leagues/cup?as=public").text
    assert "as the public you see no hand of this league" in seen
    assert "caller-1 beside tight-0: </i>" in seen
