"""`--set` and `--ruleset` at every door, and ledgers of changed games behind all of them."""

import json
from pathlib import Path

import pytest

from api.cli.output import OWN_KEY
from api.main import main
from dealer.wire.program import GRUFF, STEADY
from engine.changes import changed, ruleset
from engine.game import fingerprint, from_json, to_json
from engine.games import GAMES, RULESETS
from events.match import MatchStarted
from events.types import HandStarted
from store.reader import Reader
from tests.sessions import kept, printed, said, told

Captured = pytest.CaptureFixture[str]
SITE = "site-nl.big-20.stack-2000.rake_percent-5.rake_caps-2-50_3-100"
AUCTION = "auction-2024.stack-200"
GAMES_PLAYED = {
    "site": (
        *("site-nl", "--set", "big=20", "--set", "stack=2000", "--set", "rake_percent=5"),
        *("--set", "rake_caps=2:50,3:100", "--seats", "4"),
    ),
    "auction": ("auction-2024", "--set", "stack=200"),
    "swap": ("swap-2022", "--set", "swap_flop=1/3", "--set", "swap_turn=20"),
    "urcs": ("urcs-1998", "--set", "low=4", "--set", "high=8", "--seats", "3"),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger for each test."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


@pytest.fixture
def played(home: Path, capsys: Captured) -> Path:
    """A ledger of nothing but changed games, one of them from a file."""
    for match, words in GAMES_PLAYED.items():
        assert main(["play", *words, "--hands", "6", "--seed", "7", "--match", match]) == 0
    capsys.readouterr()
    own = home.parent / "own.json"
    own.write_text(renamed(printed(capsys, "games", "auction-2024", "--json").encode(), "mine"))
    words = ("--ruleset", str(own), "--set", "stack=90", "--hands", "6", "--seed", "7")
    assert main(["play", *words, "--match", "file"]) == 0
    capsys.readouterr()
    return home


def renamed(document: bytes, name: str) -> str:
    whole = json.loads(document)
    whole["games"][0]["name"] = name
    return json.dumps(whole)


def test_a_changed_game_is_what_the_hands_name(played: Path) -> None:
    start = kept(played, "site/1")[0]
    assert isinstance(start, HandStarted)
    assert (SITE, (2000,) * 4) == (start.game, start.stacks)
    assert start.ruleset == fingerprint(ruleset(SITE))
    match = kept(played, "file")[0]
    assert isinstance(match, MatchStarted)
    assert "mine.stack-90" == match.game
    text = Reader(played).snapshot().ruleset(match.ruleset)
    assert text is not None
    assert 90 == from_json(text).stack


def test_every_question_knows_changed_games(played: Path, capsys: Captured) -> None:
    in_batches = printed(capsys, "audit", "--all")
    assert in_batches == printed(capsys, "audit", "--all", "--engine")
    rows = [line.split("\t") for line in in_batches.splitlines()[1:]]
    assert {SITE, AUCTION, "mine.stack-90"} <= {row[1] for row in rows}
    assert ["0", "0"] * 5 == [cell for row in rows for cell in row[-2:]], "none differs"
    assert main(["verify", "--all"]) in (0, OWN_KEY)
    few = ("--spots", "3")
    for words in (["bids", *few], ["swaps", *few], ["stats"], ["doctor"], ["results", *few]):
        assert main(words) == 0, words
    capsys.readouterr()
    found = told(capsys, "hands", f"game={SITE}")["hands"]
    assert [f"site/{number}" for number in range(1, 7)] == [one["hand"] for one in found]
    assert "mine.stack-90" in printed(capsys, "audit", "file/1")


def test_a_bundle_of_a_changed_game_holds(played: Path, capsys: Captured) -> None:
    bundle = played.parent / "bundle.zip"
    assert main(["audit", "file/1", "--evidence", str(bundle)]) == 0
    assert main(["verify", str(bundle)]) in (0, OWN_KEY)
    assert "Hand file/1 of mine.stack-90" in capsys.readouterr().out


def test_games_shows_what_is_meant_and_what_only_a_ledger_has(
    played: Path, capsys: Captured
) -> None:
    text = printed(capsys, "games", "site-nl", "--set", "big=20")
    assert text.startswith("site-nl.big-20 ")
    assert "Blinds(small=10, big=20, ante=0)" in text
    assert "site-nl-standard.big-20" in text
    assert "swap_flop" not in text
    assert text == printed(capsys, "games", "site-nl.big-20")
    mark = fingerprint(ruleset(AUCTION))
    assert printed(capsys, "games", AUCTION) == printed(capsys, "games", mark)
    assert printed(capsys, "games", "mine.stack-90").startswith("mine.stack-90 ")
    assert "no ruleset is called mine:" in said(capsys, 5, "games", "mine")


def test_some_rulesets_is_read_back_as_it_was_printed(tmp_path: Path, capsys: Captured) -> None:
    """The same fingerprint, whether it is ours, changed, or the text that a ledger keeps."""
    file = tmp_path / "one.json"
    for name in (*RULESETS, SITE, "swap-2022.swap_flop-1-3"):
        text = printed(capsys, "games", name, "--json")
        file.write_text(text)
        assert text == printed(capsys, "games", "--ruleset", str(file), "--json")
        file.write_bytes(to_json(ruleset(name)))
        assert text == printed(capsys, "games", "--ruleset", str(file), "--json")


def test_a_file_goes_on_being_changed(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "one.json"
    file.write_text(printed(capsys, "games", "site-nl", "--set", "big=20", "--json"))
    words = ("games", "--ruleset", str(file), "--set", "stack=2000")
    assert printed(capsys, *words) == printed(capsys, "games", "site-nl.big-20.stack-2000")


BROKEN = [
    (
        '"stack": 400,',
        '"stack": 400',
        "FILE is no JSON: line 63, column 7: Expecting ',' delimiter",
    ),
    ('"stack": 400,', '"stack": 4.5,', "Expected `int`, got `float` - at `$.stack`"),
    ('"stack": 400,', '"stack": 400, "stack": 5,', "FILE is no JSON: 'stack' is said twice in one"),
    ('"stack": 400,', '"stak": 400,', "Object missing required field `stack`"),
    ('"small": 1,', '"smal": 1,', "Object missing required field `small` - at `$.script[0]`"),
    ('"small": 1,', '"small": 1, "x": 2,', "this is no ruleset: there is no $.script[0].x"),
    ('"small": 1,', '"small": 3,', "the small blind of 3 is not between 1 and the big one, 2"),
    ('"value": "top"', '"value": "middle"', "Invalid enum value 'middle' - at `$.third_card`"),
    ('"policy": "bids",', '"policy": "bid",', "this is no ruleset: there is no $.bid"),
    ('"hole": 3', '"hole": 4', "there is at most one auction, and for a third hole card"),
    ('"total": 4', '"total": 3', "the board grows from line to line"),
    ('"seats_max": 2,', '"seats_max": 22,', "the deck has cards for 15 seats at most, not 22"),
    ('"value": "clockwise_each"', '"value": "dropped"', "odd_chips=dropped only explains foreign"),
    ('"partner": "auction-2024-mit"', '"partner": "nobody"', "has a partner that is not here"),
    (
        '"policy": "showdown_tie",\n          "value"',
        '"policy": "nix", "value"',
        "no reading is nix split",
    ),
    ('"name": "house"', '"name": "ho use"', "'ho use' cannot name a ruleset"),
    ('"name": "house"', '"name": "auction-2024.x"', "says what was changed in auction-2024: give"),
]


@pytest.mark.parametrize(("was", "now", "sentence"), BROKEN)
def test_a_file_that_is_no_ruleset_is_answered_with_the_place(
    was: str, now: str, sentence: str, home: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "one.json"
    text = printed(capsys, "games", "auction-2024", "--json")
    text = text.replace('"name": "auction-2024"', '"name": "house"')
    assert was in text
    file.write_text(text.replace(was, now, 1))
    answer = said(capsys, 2, "play", "--ruleset", str(file))
    assert sentence.replace("FILE", str(file)) in answer
    assert "\n" not in answer
    assert not home.exists()


def test_no_file_has_the_name_of_other_rules(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "one.json"
    text = printed(capsys, "games", "auction-2024", "--json")
    file.write_text(text.replace('"stack": 400,', '"stack": 500,'))
    answer = said(capsys, 2, "play", "--ruleset", str(file))
    assert "auction-2024 has another stack here: give these rules a name of their own" in answer


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("site-nl", "--set", "big"), "'big' sets nothing: write NAME=VALUE, such as stack=2000"),
        (("site-nl", "--set", "big=1", "--set", "big=2"), "big is set twice, to 1 and to 2"),
        (("site-nl", "--set", "bids=sealed"), "site-nl has no bids: there is no auction in its"),
        ((), "name one GAME, or one --ruleset FILE"),
        (("site-nl", "--ruleset", "x.json"), "name one GAME, or one --ruleset FILE"),
        (("auction-2024", "--set", "burn=1", "--mirror"), "auction-2024.burn-1 burns cards"),
        (("site-nl", "--set", "time_out=none", "--live"), "site-nl.time_out-none has no clock"),
        (
            ("bounty-2025-mit", "--set", "stacks=carried"),
            "a bounty may cost more than is left: stacks are reset for every hand",
        ),
        (
            ("bounty-2025-mit", "--set", "seats_max=3"),
            "a bounty is paid by the other of two players: seats_max is 2",
        ),
        (
            ("acpc-nl", "--set", "stack=5"),
            "acpc-nl.stack-5 is for foreign records and is not dealt",
        ),
    ],
)
def test_play_says_what_cannot_be(
    words: tuple[str, ...], sentence: str, home: Path, capsys: Captured
) -> None:
    assert sentence in said(capsys, 2, "play", *words)
    assert not home.exists()


def test_a_file_that_is_not_there_is_not_found(capsys: Captured) -> None:
    assert "there is no file nix.json" in said(capsys, 5, "play", "--ruleset", "nix.json")


def test_the_demo_changes_some_rulesets_that_has_the_parameter(
    tmp_path: Path, capsys: Captured
) -> None:
    words = ("demo", "--hands", "1", "--ledger", str(tmp_path / "demo"))
    text = printed(capsys, *words, "--set", "swap_flop=40", "--set", "low=4", "--set", "high=8")
    names = [line.split()[0] for line in text.splitlines()[1 : len(GAMES) + 1]]
    urcs = {"low": "4", "high": "8", "broke": "set_anew"}
    there = {changed(GAMES["urcs-1998"], urcs).name, "swap-2022.swap_flop-40"}
    assert {*there, "site-fl.low-4.high-8", "site-nl", "auction-2024"} <= set(names)
    assert "no ruleset that is played could be changed so" in said(
        capsys, 2, *words, "--set", "x=1"
    )


def test_of_several_rulesets_of_one_name_games_asks_for_a_fingerprint(
    home: Path, tmp_path: Path, capsys: Captured
) -> None:
    marks = []
    for stack in (300, 500):
        text = printed(capsys, "games", "site-nl", "--set", f"stack={stack}", "--json")
        file = tmp_path / "mine.json"
        file.write_text(renamed(text.encode(), "mine"))
        words = ("--hands", "1", "--seed", "1", "--json", "--ledger", str(home))
        marks.append(json.loads(printed(capsys, "play", "--ruleset", str(file), *words))["ruleset"])
    sentence = said(capsys, 5, "games", "mine", "--ledger", str(home))
    assert f"several rulesets called mine: name one of {', '.join(sorted(marks))}" in sentence
    assert "stack             500" in printed(capsys, "games", marks[1], "--ledger", str(home))


@pytest.mark.ci  # before, tests/test_outcomes.py: no winner where the table is set anew
def test_the_demo_names_no_winner_of_freeze_outs_that_were_played_one_after_the_other(
    tmp_path: Path, capsys: Captured
) -> None:
    """It deals on when one player has it all: winnings say who is ahead then, not who is left."""
    folder = str(tmp_path / "demo")
    printed(capsys, "demo", "--hands", "30", "--ledger", folder)
    rows = json.loads(printed(capsys, "matches", "--json", "--ledger", folder))["matches"]
    found = {row["match"]: row for row in rows}
    for name in ("urcs-1998", "probability", "probability-standard"):
        row = found[name]
        assert (row["game"], row["winner"]) == (f"{name}.broke-set_anew", None)
        assert row["leader"] == max(zip(row["nets"], row["players"], strict=True))[1]
    assert -6000 in found["probability"]["nets"]  # six stacks: there were six freeze-outs


def test_the_demo_needs_a_disputed_pot(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.cli.demo.UNDISPUTED_MAX", 60)
    words = ("demo", "--hands", "1", "--ledger", str(tmp_path / "demo"))
    answer = said(capsys, 1, *words, "--set", "showdown_tie=split")
    assert "none of 60 hands of auction-2024.showdown_tie-split is contested" in answer
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--set", "seats_max=6"), "its seats_max must be as in auction-2024-mit"),
        (("--set", "bids=sealed", "--open-bids"), "auction-2024-mit.bids-sealed has sealed bids"),
        (("--set", "burn=1", "--mirror"), "auction-2024-mit.burn-1 burns cards"),
        (("--ruleset", "site.json"), "its script is not that of auction-2024-mit or swap-2022-mit"),
    ],
)
def test_bots_over_the_wire_play_only_what_their_protocol_can_say(
    words: tuple[str, ...],
    sentence: str,
    home: Path,
    capsys: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("site.json").write_text(printed(capsys, "games", "site-nl", "--json"))
    bots = (str(STEADY), str(GRUFF))
    assert sentence in said(capsys, 2, "match", *bots, *words)
    assert not home.exists()


def test_bots_over_the_wire_play_other_swaps(home: Path, capsys: Captured) -> None:
    words = ("--game", "swap-2022-mit", "--set", "swap_flop=1/3", "--set", "hands=3")
    assert main(["match", str(STEADY), str(GRUFF), *words, "--match", "met"]) == 0
    start = kept(home, "met/3")[0]
    assert isinstance(start, HandStarted)
    assert "swap-2022-mit.swap_flop-1-3.hands-3" == start.game
    assert not kept(home, "met/4")
    assert main(["audit", "--all"]) == 0
    capsys.readouterr()
