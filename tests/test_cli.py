"""The command line: data on stdout, sentences on stderr, and an exit code for each way to end."""

import contextlib
import io
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec.structs import replace

from api.cli import demo
from api.main import main, muckrake
from api.version import VERSION
from dealer.play import play
from engine.catalogue import CATALOGUE
from engine.game import Game, fingerprint
from engine.games import GAMES, RULESETS
from events.evolve import replay
from events.notation import read, say_all
from events.types import Events, PotSplit

Captured = pytest.CaptureFixture[str]


def printed(capsys: Captured, *words: str) -> str:
    """What a command that succeeds prints."""
    assert main(list(words)) == 0
    out, _ = capsys.readouterr()
    return out


def said(capsys: Captured, code: int, *words: str) -> str:
    """The one sentence of a command that ends with this code; it prints no data."""
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("muckrake: ").rstrip()


# Help and version.


def test_help_imports_nothing_heavy() -> None:
    look = (
        "import sys; from api.main import main; main(['--help']); "
        "print(*(name.split('.')[0] for name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    heavy = {"duckdb", "pyarrow", "fastapi", "numpy", "polars", "rich", "engine", "odds"}
    assert set() == heavy & set(done.stderr.split())


@pytest.mark.ci
def test_who_has_pandas_does_not_wait_for_it_at_every_command(tmp_path: Path) -> None:
    """Arrow would load it for its first array; it still makes a frame if somebody asks for one."""
    (tmp_path / "pandas.py").write_text("import sys; sys.exit('pandas was loaded')")
    look = (
        "import sys; from muckrake.__main__ import main; main(sys.argv[1:]); import pyarrow;"
        "pyarrow.array([0.5, None]); print('it was not', file=sys.stderr);"
        "pyarrow.table({'a': [1]}).to_pandas()"
    )
    ledger = ("--ledger", str(tmp_path / "ledger"))
    for words in (("play", "site-nl", "--hands", "3"), ("stats",), ("matches",)):
        asked = [sys.executable, "-c", look, *words, *ledger]
        given = os.environ | {"PYTHONPATH": str(tmp_path)}
        done = subprocess.run(asked, env=given, capture_output=True, text=True, check=False)
        said = re.findall("^(it was not|pandas was loaded)$", done.stderr, re.MULTILINE)
        assert ["it was not", "pandas was loaded"] == said


def test_every_command_is_in_the_help_and_can_be_asked_for_its_own(capsys: Captured) -> None:
    text = printed(capsys, "--help")
    for name in muckrake.list_commands(click.Context(muckrake)):
        assert f"\n  {name} " in text
        assert f"Usage: muckrake {name} " in printed(capsys, name, "--help")


def test_without_a_command_it_shows_the_help_and_calls_it_a_usage_error(capsys: Captured) -> None:
    assert main([]) == 2
    assert "Play:\n  demo " in capsys.readouterr().err


def test_the_version_is_the_one_that_is_packaged(capsys: Captured) -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
    python = platform.python_version()
    assert printed(capsys, "--version") == f"muckrake, version {VERSION}, Python {python}\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUCKRAKE_LEDGER", "none")
        document = json.loads(printed(capsys, "doctor", "--json"))
    assert (VERSION, python) == (document["muckrake"], document["python"])
    needed = {re.split(r"[<>=]", one)[0].replace("-", "_") for one in project["dependencies"]}
    assert needed <= document.keys()
    assert all(document[name] for name in needed)


def test_every_command_takes_a_ledger_and_json_after_its_name(capsys: Captured) -> None:
    context = click.Context(muckrake)
    for name in muckrake.list_commands(context):
        command = muckrake.get_command(context, name)
        inner = command.commands if isinstance(command, click.Group) else ()
        parts: list[tuple[str, ...]] = [(name, one) for one in inner] or [(name,)]
        for words in parts:
            text = printed(capsys, *words, "--help")
            assert "--ledger" in text
            assert "--json" in text


def test_a_command_that_does_not_exist_is_a_usage_error(capsys: Captured) -> None:
    assert "No such command 'xyz': see muckrake --help" == said(capsys, 2, "xyz")
    near = "No such command 'replya', but replay and play: see muckrake --help"
    assert near == said(capsys, 2, "replya")
    assert "No such command 'stast'" in said(capsys, 2, "help", "stast")


def test_help_is_the_help_and_help_of_a_command_is_its_own(capsys: Captured) -> None:
    assert printed(capsys, "--help") == printed(capsys, "help")
    for words in (["play"], ["stats"], ["key", "create"]):
        assert printed(capsys, *words, "--help") == printed(capsys, "help", *words)


def test_every_command_stands_in_one_group_of_the_help(capsys: Captured) -> None:
    """Whatever no group names asks a question."""
    lines = printed(capsys, "--help").partition("\nPlay:\n")[2].splitlines()
    shown = [line.split()[0] for line in lines if re.match("  [a-z]", line)]
    assert sorted(muckrake.list_commands(click.Context(muckrake))) == sorted(shown)
    assert {"Ask:", "Prove:", "Serve:", "Keep:"} == {line for line in lines if line.endswith(":")}


# games


def test_games_lists_some_rulesets(capsys: Captured) -> None:
    header, *rows = printed(capsys, "games").splitlines()
    assert header.split("\t")[:3] == ["ruleset", "fingerprint", "for"]
    assert [row.split("\t")[:3] for row in rows] == [
        [game.name, fingerprint(game), "play" if game.name in GAMES else "records"]
        for game in RULESETS.values()
    ]


def test_one_game_is_shown_in_full(capsys: Captured) -> None:
    text = printed(capsys, "games", "auction-2024")
    assert "Auction(hole=3)" in text
    assert all(f"  {policy} " in text for policy in CATALOGUE)
    assert "A9  showdown_tie split" in text


@pytest.mark.parametrize("name", RULESETS)
def test_some_games_can_be_shown_in_full(capsys: Captured, name: str) -> None:
    assert fingerprint(RULESETS[name]) in printed(capsys, "games", name)


def test_games_as_json(capsys: Captured) -> None:
    told = json.loads(printed(capsys, "games", "--json"))
    assert told["schema"] == "muckrake.games/1"
    assert [game["name"] for game in told["games"]] == list(RULESETS)
    one = json.loads(printed(capsys, "games", "auction-2024", "--json"))["games"]
    assert one == [game for game in told["games"] if game["name"] == "auction-2024"]
    tie = next(policy for policy in one[0]["policies"] if policy["policy"] == "showdown_tie")
    assert (tie["value"], tie["class"], tie["entries"]) == ("no_change", "pay", ["A9", "S7"])


@pytest.mark.parametrize("words", [("games", "poker"), ("play", "poker")])
def test_an_unknown_game_is_not_found_and_the_known_ones_are_named(
    capsys: Captured, words: tuple[str, ...]
) -> None:
    sentence = said(capsys, 5, *words)
    assert sentence.startswith("no ruleset is called poker: there are ")
    assert "auction-2024" in sentence


# play; what it writes into the ledger is for tests/test_cli_ledger.py


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here writes into the folder that the tests are run in."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))


def test_printed_hands_are_notation_that_reads_back(capsys: Captured) -> None:
    text = printed(capsys, "play", "auction-2024", "--hands", "3", "--seed", "7", "--print")
    hands = [tuple(map(read, hand.splitlines())) for hand in text.split("\n\n")]
    assert len(hands) == 3
    assert all(replay(hand).over for hand in hands)


def test_a_seed_decides_everything_but_the_name(capsys: Captured) -> None:
    words = ("play", "probability", "--hands", "4", "--seats", "4", "--print", "--seed")
    first, again, other = (after_the_name(printed(capsys, *words, s)) for s in ("7", "7", "8"))
    assert first == again
    assert first != other


def after_the_name(text: str) -> list[str]:
    """Printed hands without the id that each begins with."""
    return [line.partition(" of ")[2] if " of " in line else line for line in text.splitlines()]


def test_a_seed_that_was_drawn_is_told_and_plays_the_same_again(capsys: Captured) -> None:
    assert main(["play", "site-nl", "--print"]) == 0
    out, err = capsys.readouterr()
    seed = err.splitlines()[0].rpartition(" seed ")[2]
    again = printed(capsys, "play", "site-nl", "--print", "--seed", seed)
    assert after_the_name(out) == after_the_name(again)


def test_printed_hands_as_json_are_the_events(capsys: Captured) -> None:
    words = ("auction-2024", "--hands", "1", "--seed", "7", "--match", "m", "--print", "--json")
    told = json.loads(printed(capsys, "play", *words))
    assert (told["schema"], told["game"], told["seed"]) == ("muckrake.play/1", "auction-2024", "7")
    (record,) = play(GAMES["auction-2024"], "m", 1, "7")
    assert [event["type"] for event in told["records"][0]] == [type(one).__name__ for one in record]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("play",), "name one GAME, or one --ruleset FILE: see muckrake play --help"),
        (("play", "probability", "--seats", "99"), "probability seats 2..23 players, not 99"),
        (("play", "auction-2024", "--seats", "3"), "auction-2024 seats 2..2 players, not 3"),
        (("play", "probability", "--seats", "0"), "probability seats 2..23 players, not 0"),
        (("play", "auction-2024", "--hands", "0"), "0 is not in the range x>=1"),
        (("play", "auction-2024", "--hands", "many"), "'many' is not a valid integer range"),
        (("demo", "--hands", "0"), "0 is not in the range x>=1"),
        (("demo", "more"), "unexpected extra argument"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(
    capsys: Captured, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in said(capsys, 2, *words)


# demo


@pytest.fixture(scope="module")
def shown() -> tuple[str, Any]:
    """The demo of two hands as a text, and as a document."""
    texts = io.StringIO(), io.StringIO()
    for text, more in zip(texts, ((), ("--json",)), strict=True):
        with contextlib.redirect_stdout(text):
            assert main(["demo", "--hands", "2", *more]) == 0
    return texts[0].getvalue(), json.loads(texts[1].getvalue())


def test_the_demo_plays_some_rulesets_and_shows_a_contested_hand(shown: tuple[str, Any]) -> None:
    assert all(f"\n{name}" in shown[0] for name in GAMES)
    assert "A9" in shown[0]
    assert "\n verdict    CONTESTED: " in shown[0]


def test_the_demo_ends_with_evidence_that_holds_and_the_way_to_the_pages(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shown"
    monkeypatch.chdir(tmp_path)
    text = printed(capsys, "demo", "--hands", "1", "--ledger", "shown")
    assert f"mr serve --ledger {folder} --web\n" in text
    hand = re.search(r"/hands/(auction-2024/\d+)/audit\n", text)
    assert hand is not None
    assert f"  Hand {hand[1]} of auction-2024, " in text
    file = str(folder.with_name("shown-evidence.zip"))
    told = printed(capsys, "verify", file, "--key", str(folder / "keys"))
    assert all(line in text for line in told.splitlines())
    assert "CONTESTED" in printed(capsys, "audit", hand[1], "--ledger", str(folder))


@pytest.mark.ci
def test_a_demo_replaces_an_earlier_one_and_nothing_else(
    shown: tuple[str, Any], capsys: Captured, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(demo._default_folder(), tmp_path / "shown"))
    printed(capsys, "demo", "--hands", "1", "--ledger", str(folder))
    printed(capsys, "play", "auction-2024", "--hands", "1", "--ledger", str(folder))
    sentence = said(capsys, 1, "demo", "--ledger", str(folder))
    assert f"{folder} holds something else than an earlier demo: name another folder" in sentence
    assert "auction-2024" in printed(capsys, "matches", "--ledger", str(folder))


def test_the_demo_as_json(shown: tuple[str, Any]) -> None:
    _, told = shown
    assert (told["schema"], told["seed"]) == ("muckrake.demo/1", "1")
    assert [one["ruleset"].partition(".")[0] for one in told["rulesets"]] == list(GAMES)
    assert {2} == {one["hands"] for one in told["rulesets"] if one["ruleset"] != "auction-2024"}
    assert ("contested", [0, 0]) == (told["example"]["verdict"], told["example"]["decided"])
    assert [0, 0] != told["example"]["readings"][0]["nets"]


def test_a_record_that_the_rules_would_not_make_ends_the_demo(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 3, and the hand in notation, to be pasted into a rule page."""
    monkeypatch.setattr(demo, "play", forging)
    assert main(["demo", "--hands", "1"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "\nhand over\n" in err
    assert err.rstrip().endswith("the rules do not agree with what they dealt: differ")


def test_the_demo_keeps_every_hand_on_disk_and_reads_it_back(shown: tuple[str, Any]) -> None:
    text, kept = shown[0], shown[1]["ledger"]
    assert "All were appended to a ledger on disk and sealed, " in text
    until_disputed = int(re.findall(r"auction-2024/(\d+)", text)[0])
    assert kept["hands"] == 2 * (len(GAMES) - 1) + until_disputed + 2  # those of the wire match


def test_chips_that_nobody_put_in_end_the_demo() -> None:
    (record,) = play(GAMES["auction-2024"], "demo", 1, "1")
    fat = tuple(
        replace(event, shares=(event.shares[0] + 1, *event.shares[1:]))
        if isinstance(event, PotSplit)
        else event
        for event in record
    )
    assert ("", "chips were made or lost") == demo.check_record(GAMES["auction-2024"], fat)


def forging(game: Game, match: str, hands: int, seed: str) -> Iterator[Events]:
    """Hands whose first event names another button: every chip is there, and the rules object."""
    for record in play(game, match, 1, seed):
        start: Any = record[0]
        moved = (start.button + 1) % len(start.stacks)
        forged = (replace(start, button=moved), *record[1:])
        assert say_all(forged) != say_all(record)
        yield forged


@pytest.mark.parametrize("missing", ["stdout", "stderr", "stdin"])
def test_a_stream_that_the_caller_closed_is_no_traceback(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, missing, None)
    assert 0 == main(["games"])


def test_a_full_disk_and_a_reader_that_goes_away_are_no_traceback() -> None:
    words = [sys.executable, "-c", "import sys; from api.main import main; sys.exit(main())"]
    with open("/dev/full", "w") as full:
        done = subprocess.run([*words, "games"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (1, "muckrake: No space left on device\n") == (done.returncode, done.stderr)
    line = f"{shlex.join([*words, 'games'])} | (exec <&-; sleep 0.1)"
    gone = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True)
    assert "" == gone.stderr


def test_a_demo_without_a_cache_folder_is_kept_in_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A HOME that cannot be written."""
    monkeypatch.setenv("MUCKRAKE_CACHE", "/dev/null/cache")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert tmp_path == demo._default_folder().parent
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path / "cache"))
    assert tmp_path / "cache" / "demo" == demo._default_folder()


def test_the_last_command_of_the_demo_can_be_pasted_wherever_it_was_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the checkout, in another folder, and from a wheel, which has no `mr`: there by name only
    where the name leads to us, and stays on PATH when this command is over."""
    kept = demo.KeptLedger("/a folder/demo", 1, 1)
    evidence = demo.CheckedEvidence("a/1", "a.zip", ())
    checkout = Path(__file__).parents[1]
    for folder, mr in ((checkout, "./mr"), (tmp_path, shlex.quote(f"{checkout}/mr"))):
        monkeypatch.chdir(folder)
        lines = demo._evidence_lines(evidence, kept)
        assert f"  {mr} serve --ledger '/a folder/demo' --web" in lines
    monkeypatch.setattr(demo, "__file__", str(tmp_path / "api" / "cli" / "demo.py"))
    ours, other = (tmp_path / name / "muckrake" for name in ("our bin", "bin"))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(ours.parent))
    assert f"{shlex.quote(sys.executable)} -m muckrake" == demo._muckrake_command()
    for program in (ours, other):
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.setenv("PATH", str(other.parent))  # another project's muckrake
    assert f"'{ours}'" == demo._muckrake_command()
    other.unlink()
    other.symlink_to(ours)
    assert "muckrake" == demo._muckrake_command()
    monkeypatch.setenv("UV", "/usr/bin/uv")
    assert f"'{ours}'" == demo._muckrake_command()
