"""`muckrake import`: what comes into the ledger, what is refused, and what is told of both."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from api.main import main
from engine.verdict import Verdict
from events.evolve import replay
from events.match import MatchEnded, MatchStarted
from events.types import Claimed, HandStarted
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.source import SourceHand
from store.reader import Reader
from tests.foreign import ROUNDS, edited, gamelog, misjudged, records
from tests.sessions import Captured, kept, printed, said

SHAPE = {
    "file": str,
    "format": str,
    "dialect": str,
    "game": str,
    "match": str,
    "hands": int,
    "imported": int,
    "agree": int,
    "assuming": int,
    "contested": int,
    "differ": int,
    "unknown": int,
    "moveless": int,
    "inferred": list,
    "repeated": int,
    "conflicts": list,
    "skipped": list,
    "refused": type(None),
}


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands without `--ledger` write this one."""
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    return folder


def told(capsys: Captured, *words: object, code: int = 0) -> list[dict[str, Any]]:
    """What the document of an import says of each file."""
    document = json.loads(printed(capsys, "import", *map(str, words), "--json", code=code))
    assert "muckrake.import/1" == document.pop("schema")
    assert ["files"] == list(document)
    files: list[dict[str, Any]] = document["files"]
    return files


def size(ledger: Path) -> int:
    """How many events a ledger has."""
    return Reader(ledger).snapshot().next_pos


# What is told, and what is in the ledger.


def test_a_log_is_told_field_by_field(capsys: Captured, tmp_path: Path) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log)
    assert SHAPE == {name: type(value) for name, value in one.items()}
    assert (str(log), "mit-gamelog") == (one["file"], one["format"])
    assert read(log).dialect == one["dialect"]
    assert "auction-2024-mit" == one["game"]
    assert (ROUNDS, ROUNDS) == (one["hands"], one["imported"])
    assert ROUNDS == sum(one[verdict] for verdict in get_args(Verdict))
    assert any(fact.startswith("stack 400") for fact in one["inferred"])


def test_the_hands_in_the_ledger_are_those_of_the_log(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log)
    for hand in read(log).hands:
        assert isinstance(hand, SourceHand)
        name = f"{one['match']}/{hand.number}"
        assert hand_record(hand, name) == kept(ledger, name)


def test_a_match_says_where_it_comes_from_and_what_it_came_to(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log)
    start, note, file, inferred, end = kept(ledger, one["match"])
    assert isinstance(start, MatchStarted)
    assert ("recorded", "sealed", False) == (start.dealing, start.disclosure, start.sealed_bids)
    assert read(log).note == note
    assert ("file", "gamelog.txt") == (file.dialect, file.header)
    assert ("inferred", "\n".join(one["inferred"])) == (inferred.dialect, inferred.header)
    nets = dict.fromkeys(start.players, 0)
    for record in records():
        hand = replay(record)
        for player, was, now in zip(
            hand.start.players, hand.start.stacks, hand.stacks, strict=True
        ):
            nets[player] += now - was
    assert MatchEnded(tuple(nets.values()), "the file was read") == end


def test_the_ruleset_is_kept_beside_the_hands(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    (one,) = told(capsys, gamelog(tmp_path / "gamelog.txt"))
    start = kept(ledger, f"{one['match']}/1")[0]
    assert isinstance(start, HandStarted)
    assert Reader(ledger).snapshot().ruleset(start.ruleset) is not None


def test_an_audit_afterwards_says_the_same(capsys: Captured, tmp_path: Path) -> None:
    (one,) = told(capsys, misjudged(tmp_path / "gamelog.txt"), code=3)
    rows = printed(capsys, "audit", "--all", code=3).splitlines()
    counts = [str(one[name]) for name in ("hands", *get_args(Verdict))]
    assert [[one["match"], "auction-2024-mit", *counts]] == [row.split("\t") for row in rows[1:]]


def test_a_person_is_told_in_a_few_lines(capsys: Captured, tmp_path: Path) -> None:
    log = misjudged(tmp_path / "gamelog.txt")
    text = printed(capsys, "import", str(log), code=3).splitlines()
    assert (
        f"{log}  MIT gamelog, dialect no auction, auction-2024-mit, ursa vs lynx, 2 hands"
        == text[0]
    )
    match = text[1].split()[0]
    assert text[1].endswith("events into the ledger   agree 1   differ 1 (2)")
    assert f" next       muckrake audit {match}/2" == text[-1]


def test_without_an_audit_nothing_is_counted(capsys: Captured, tmp_path: Path) -> None:
    (one,) = told(capsys, misjudged(tmp_path / "gamelog.txt"), "--no-audit")
    assert [None] * 4 == [one[name] for name in ("agree", "contested", "differ", "unknown")]
    assert 2 == one["imported"]


def test_who_may_see_what_later_is_recorded(capsys: Captured, tmp_path: Path, ledger: Path) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log, "--disclosure", "open-after-match")
    assert "open-after-match" == kept(ledger, one["match"])[0].disclosure


# What differs, and what is left out.


def test_a_hand_that_differs_is_in_the_ledger_and_in_the_exit_code(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    (one,) = told(capsys, misjudged(tmp_path / "gamelog.txt"), code=3)
    assert (1, 1, 2) == (one["agree"], one["differ"], one["imported"])
    assert kept(ledger, f"{one['match']}/2")


def test_strict_refuses_the_file_at_that_hand(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    (one,) = told(capsys, misjudged(tmp_path / "gamelog.txt"), "--strict", code=1)
    assert {"line": 13, "reason": "hand 2 differs from what its rules decide"} == one["refused"]
    assert (None, None, 0) == (one["hands"], one["match"], one["imported"])
    assert 0 == size(ledger)


def test_a_hand_that_makes_chips_is_kept_with_what_is_claimed_and_differs(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    log = edited(
        misjudged(tmp_path / "gamelog.txt"),
        [("lynx awarded 1\nursa", "lynx awarded 2\nursa"), ("lynx (2)", "lynx (3)")],
    )
    (one,) = told(capsys, log, code=3)
    assert (2, 2, 1, []) == (one["hands"], one["imported"], one["differ"], one["skipped"])
    assert Claimed((-1, 2), 0) in kept(ledger, f"{one['match']}/2")
    (strict,) = told(capsys, log, "--strict", "--ledger", tmp_path / "other", code=1)
    assert 13 == strict["refused"]["line"]


# Several files.


def test_a_bad_file_does_not_stop_the_others_nor_leave_anything(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """It is bad only at its end, when all its hands have been read."""
    good, other = gamelog(tmp_path / "a.txt"), gamelog(tmp_path / "c.txt", seed="8")
    cut = tmp_path / "b.txt"
    cut.write_text(gamelog(tmp_path / "b.txt", seed="9").read_text().rpartition("\nFinal, ")[0])
    first, bad, last = told(capsys, good, cut, other, code=1)
    assert (ROUNDS, None, ROUNDS) == (first["hands"], bad["hands"], last["hands"])
    assert "the final line is missing: this is not the whole log" == bad["refused"]["reason"]
    assert {first["match"], last["match"]} == set(Reader(ledger).snapshot().matches())


def test_a_folder_is_all_its_files_in_the_order_of_their_names(
    capsys: Captured, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    (logs / "deep").mkdir(parents=True)
    (logs / ".hidden").write_text("no log")
    names = ("a.txt", "b.txt", "deep/c.txt", "z.txt")
    for seed, name in enumerate(names):
        gamelog(logs / name, rounds=2, seed=str(seed))
    files = told(capsys, logs)
    assert [str(logs / name) for name in names] == [one["file"] for one in files]


def test_many_files_are_told_only_where_something_is_to_be_said(
    capsys: Captured, tmp_path: Path
) -> None:
    for seed in range(22):
        gamelog(tmp_path / f"{seed}.txt", rounds=1, seed=str(seed))
    (tmp_path / "bad.txt").write_text("")  # and the ledger, which lies there too, is no file
    expected = f"{tmp_path / 'bad.txt'}  refused: line 1: the file is empty\n"
    assert expected == printed(capsys, "import", str(tmp_path), code=1)


# Names.


def test_players_are_called_as_asked(capsys: Captured, tmp_path: Path, ledger: Path) -> None:
    log = misjudged(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log, "--names", "ursa=bot 1, lynx=bot 2", code=3)
    start, *_, names, _ = kept(ledger, one["match"])
    assert ("bot 1", "bot 2") == start.players
    assert ("names", "ursa=bot 1\nlynx=bot 2") == (names.dialect, names.header)
    assert ("bot 1", "bot 2") == kept(ledger, f"{one['match']}/2")[0].players


def test_one_player_may_have_had_several_names(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Version 1 and version 2 of a bot, in two logs."""
    first = misjudged(tmp_path / "a.txt")
    second = misjudged(tmp_path / "b.txt")
    second.write_text(second.read_text().replace("ursa", "bear"))
    files = told(capsys, first, second, "--names", "ursa=U,bear=U", code=3)
    assert [("U", "lynx")] * 2 == [kept(ledger, one["match"])[0].players for one in files]


def test_nobody_plays_against_himself_by_a_new_name(capsys: Captured, tmp_path: Path) -> None:
    log = misjudged(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log, "--names", "ursa=x,lynx=x", code=1)
    expected = {"line": 3, "reason": "ursa and lynx play one hand: --names calls both x"}
    assert expected == one["refused"]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("A", "'A' renames nobody: write OLD=NEW, several with commas: see muckrake import --help"),
        ("A=x,A=y", "A cannot be called both x and y: see muckrake import --help"),
    ],
)
def test_names_that_name_nobody_are_misuse(
    capsys: Captured, tmp_path: Path, names: str, sentence: str
) -> None:
    log = str(misjudged(tmp_path / "gamelog.txt"))
    assert sentence == said(capsys, 2, "import", log, "--names", names)


# Formats and rulesets by name.


def test_a_strict_import_needs_the_audit(capsys: Captured, tmp_path: Path) -> None:
    sentence = said(capsys, 2, "import", str(tmp_path), "--strict", "--no-audit")
    assert sentence.startswith("--strict is about what an audit finds: leave out --no-audit")


def test_a_format_that_is_named_is_not_guessed(capsys: Captured, tmp_path: Path) -> None:
    log = misjudged(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log, "--format", "acpc", code=1)
    assert ("acpc", None) == (one["format"], one["hands"])
    (month,) = told(capsys, log, "--format", "irc", code=1)
    assert "IRC month: that is a folder, and this is none" == month["refused"]["reason"]


def test_a_log_can_be_put_to_another_ruleset(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log, "--game", "auction-2024", "--no-audit")
    assert "auction-2024" == one["game"] == kept(ledger, f"{one['match']}/1")[0].game
    assert not any(fact.startswith("variant") for fact in one["inferred"])


def test_a_parameter_can_be_set_where_the_file_does_not_say_it(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log, "--set", "stack=900", "--no-audit")
    assert kept(ledger, f"{one['match']}/1")[0].stacks == (900, 900)
    assert "auction-2024-mit.stack-900" == one["game"]
    assert one["inferred"][1].startswith("stack 900, as it was set")
    (wrong,) = told(capsys, log, "--set", "stack=many", code=1)
    assert "--set: stack of auction-2024-mit may be a whole number" in wrong["refused"]["reason"]
    named = ("--ruleset", "auction-2024-mit", "--set")
    assert "may be a whole number" in said(capsys, 2, "import", str(log), *named, "stack=many")
    assert "is set twice" in said(capsys, 2, "import", str(log), *named, "big=2", *named, "big=4")
    assert "sets nothing" in said(capsys, 2, "import", str(log), "--set", "stack")


def test_who_says_his_stacks_has_none_set(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "hands.phhs"
    file.write_text("[1]\nvariant = 'NT'\n", "utf-8")
    (one,) = told(capsys, file, "--set", "stack=400", code=1)
    assert "the hands of PHH name their own stacks: leave out stack=" == one["refused"]["reason"]
    (tmp_path / "hands.txt").write_text("PokerStars Hand #1: \n", "utf-8")
    (other,) = told(capsys, tmp_path / "hands.txt", "--set", "big=4", code=1)
    sentence = "PokerStars hands name their own rules: --ruleset and --set cannot replace them, but"
    assert other["refused"]["reason"].startswith(sentence)


def test_there_must_be_such_a_ruleset(capsys: Captured, tmp_path: Path) -> None:
    assert said(capsys, 5, "import", str(tmp_path), "--ruleset", "chess").startswith("no ruleset")


def test_nothing_to_import_is_misuse() -> None:
    assert 2 == main(["import"])


@pytest.mark.parametrize("watching", [True, False])
def test_a_bar_is_drawn_for_who_is_watching(
    watching: bool, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts hands, on stderr, and only on a terminal."""
    gamelog(tmp_path / "gamelog.txt")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stderr.isatty", lambda: watching)
    assert main(["import", str(tmp_path / "gamelog.txt")]) in (0, 3)
    drawn = capsys.readouterr().err
    assert watching == ("importing" in drawn)
    assert watching == (drawn.count(f"{ROUNDS} hands") > 1)  # once in the last line
