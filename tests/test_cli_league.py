"""A league as a team runs it every night: stopped, killed, gone on with, and with one more bot."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from api.cli.output import OWN_KEY
from api.main import main
from events.match import Tagged
from store.reader import Reader
from tests.fences import fences
from tests.processes import Popen
from tests.sessions import Captured, kept, printed, said
from tests.test_cli_play_many import members, wait_for
from tests.test_cli_width import written
from tests.wire.misfits import MISFITS, bot

ROOT = Path(__file__).parents[1]
SLOW = "def odd(line):\n time.sleep(0.05)\n return polite(line)"


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands without `--ledger` write this one."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def league(folder: Path, *bots: str, odd: str = "", **how: object) -> str:
    """The file of a league between these bots."""
    said = {"league": "night", "hands": 4, "seed": "7", **how}
    lines = [f"{name} = {value!r}".replace("True", "true") for name, value in said.items()]
    for name in bots:
        bot(folder / "bots", name, odd)
    lines += ["[bots]", *(f'{name} = "bots/{name}"' for name in bots)]
    path = folder / "night.toml"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def told(capsys: Captured, action: str, *words: str, code: int = 0) -> Any:
    """The document of a league's command."""
    document = json.loads(printed(capsys, "league", action, *words, "--json", code=code))
    assert document.pop("schema") == f"muckrake.league-{action}/1"
    return document


def matches(ledger: Path) -> list[str]:
    return sorted(Reader(ledger).matches())


def test_a_league_is_played_once(capsys: Captured, tmp_path: Path, ledger: Path) -> None:
    file = league(tmp_path, "ursa", "lynx", "bear")
    found = told(capsys, "run", file)
    assert (3, 0) == (len(found["played"]), found["missing"])
    assert ["night.1.bear.lynx", "night.1.bear.ursa", "night.1.lynx.ursa"] == matches(ledger)
    assert {"bear", "lynx", "ursa"} == {one["bot"] for one in found["standing"]}
    assert [] == told(capsys, "run", file)["played"]
    assert main(["audit", "--all"]) == 0
    assert main(["verify", "--all"]) == OWN_KEY


@pytest.mark.ci
def test_what_was_played_is_sealed_while_the_last_match_is_played(
    capsys: Captured, tmp_path: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three matches, two at once: the third is alone, and a processor has time."""
    monkeypatch.setattr("store.ledger.CLOSE_HANDS", 5)
    told(capsys, "run", league(tmp_path, "ursa", "lynx", "bear"), "--workers", "2")
    early, late = Reader(ledger).snapshot().live.parts()[0]
    assert [2, 1] == [len(early.numbers), len(late.numbers)]


def test_a_standing_fits_a_terminal(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = league(tmp_path, "ursa", "l" * 20)
    printed(capsys, "league", "run", file)
    monkeypatch.setenv("COLUMNS", "80")
    drawn = written(("league", "run", file), monkeypatch, terminal=True)
    assert [] == [line for line in drawn.splitlines() if len(line.rstrip()) > 80]
    assert "l" * 20 in drawn


def test_the_example_of_the_page_is_the_one_that_ships() -> None:
    shown = [one.text for one in fences(ROOT / "docs/leagues.md") if one.language == "toml"]
    assert [(ROOT / "dealer/examples/league.toml").read_text()] == shown


@pytest.mark.ci
def test_all_matches_of_a_round_have_the_same_decks_and_those_of_another_others(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    file = league(tmp_path, "ursa", "lynx", "bear", rounds=2)
    printed(capsys, "league", "run", file)
    seeds = {match: kept(ledger, match)[0].seed for match in matches(ledger)}
    assert {"7/1", "7/2"} == set(seeds.values())
    assert all(seed == f"7/{match.split('.')[1]}" for match, seed in seeds.items())


@pytest.mark.ci
def test_one_more_bot_plays_only_his_own_matches(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    file = league(tmp_path, "ursa", "lynx")
    printed(capsys, "league", "run", file)
    before = {match: kept(ledger, match) for match in matches(ledger)}
    wolf = bot(tmp_path / "elsewhere", "wolf").folder
    found = told(capsys, "add", file, str(wolf), "--name", "grey", "--tags", "grey=version:2")
    assert {"night.1.grey.lynx", "night.1.grey.ursa"} == {one["match"] for one in found["played"]}
    assert 'grey = {folder = "elsewhere/wolf", version = "2"}' in Path(file).read_text()
    assert Tagged("grey", "version", "2") in kept(ledger, "night.1.grey.lynx")
    assert all(kept(ledger, match) == records for match, records in before.items())


def test_a_bot_that_cannot_be_added_changes_nothing(capsys: Captured, tmp_path: Path) -> None:
    file = league(tmp_path, "ursa", "lynx")
    before = Path(file).read_text()
    ursa, empty = str(tmp_path / "bots/ursa"), tmp_path / "empty"
    empty.mkdir()
    for words, sentence in (
        ((ursa,), "there is a bot ursa in it already"),
        ((ursa, "--name", "u.2"), "'u.2' cannot be a bot's name in a league"),
        ((str(empty),), "holds no bot: there is no commands.json in it"),
    ):
        assert sentence in said(capsys, 1, "league", "add", file, *words)
    assert before == Path(file).read_text()


@pytest.mark.ci
def test_a_league_without_a_seed_goes_on_with_the_one_it_began_with(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    file = Path(league(tmp_path, "ursa", "lynx"))
    file.write_text(file.read_text().replace("seed = '7'\n", ""))
    printed(capsys, "league", "run", str(file))
    (seed,) = {kept(ledger, match)[0].seed.rpartition("/")[0] for match in matches(ledger)}
    bear = str(bot(tmp_path / "bots", "bear").folder)
    printed(capsys, "league", "add", str(file), bear)
    assert {seed} == {kept(ledger, match)[0].seed.rpartition("/")[0] for match in matches(ledger)}


@pytest.fixture(scope="module")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The file of a league that was played, and its ledger: for whoever changes neither."""
    folder = tmp_path_factory.mktemp("played-once")
    file = Path(league(folder, "ursa", "lynx"))
    assert 0 == main(["league", "run", str(file), "--ledger", str(folder / "ledger")])
    return file, folder / "ledger"


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", "8"), ("mirror", "false"), ("game", "swap-2022-mit"), ("disclosure", "open")],
)
def test_a_file_that_says_something_else_than_was_played_is_refused(
    capsys: Captured, played_once: tuple[Path, Path], key: str, value: str
) -> None:
    played, ledger = played_once
    lines = [it for it in played.read_text().splitlines() if not it.startswith(key)]
    file = played.with_name("other.toml")
    file.write_text("\n".join([f'{key} = "{value}"'.replace('"false"', "false"), *lines]))
    sentence = "night.1.lynx.ursa was played by other rules or from another seed than the file says"
    assert sentence == said(capsys, 1, "league", "run", str(file), "--ledger", str(ledger))
    assert 1 == len(matches(ledger))


def test_a_bot_that_fails_is_told_and_its_matches_stay(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    file = league(tmp_path, "ursa", "lynx")
    bot(tmp_path / "bots", "lynx", MISFITS["crash"])
    assert main(["league", "run", file]) == 1
    assert "failed: lynx (" in capsys.readouterr().err
    assert ["night.1.lynx.ursa"] == matches(ledger)


@pytest.mark.ci  # before, tests/test_league.py plays both out without bots
def test_a_swiss_and_a_gauntlet_are_played_to_their_ends(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    file = league(tmp_path, "a", "b", "c", "d", format="swiss", rounds=2)
    assert 4 == len(told(capsys, "run", file)["played"])
    again = league(tmp_path, "a", "b", "c", league="ga", format="gauntlet", champion="b")
    found = told(capsys, "run", again)["played"]
    assert ["ga.1.a.b", "ga.1.b.c"] == sorted(one["match"] for one in found)


def started(file: str) -> Popen:
    """A league that somebody else plays."""
    door = "import sys; from api.main import main; sys.exit(main())"
    return Popen(
        [sys.executable, "-c", door, "league", "run", file, "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.ci
def test_a_league_that_is_killed_goes_on_and_no_hand_is_there_twice(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Killed in the middle of a match: of that match there is nothing, and it is played anew."""
    file = league(tmp_path, "ursa", "lynx", "bear", odd=SLOW)
    running = started(file)
    wait_for(lambda: len(matches(ledger)) >= 1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    wait_for(lambda: not members(running.pid))
    there = matches(ledger)
    assert 1 <= len(there) < 3
    before = {match: kept(ledger, match) for match in there}
    found = told(capsys, "run", file)
    # One that was durable, and not yet announced to readers, is there too.
    assert 1 <= len(found["played"]) <= 3 - len(there)
    assert all(kept(ledger, match) == records for match, records in before.items())
    assert 3 == len(matches(ledger))
    assert "12\n" == printed(capsys, "sql", "SELECT count(*) FROM hands").split("\n", 1)[1]
    assert main(["verify", "--all"]) == OWN_KEY


@pytest.mark.ci
def test_ctrl_c_lets_the_matches_at_work_end(tmp_path: Path, ledger: Path) -> None:
    file = league(tmp_path, "ursa", "lynx", "bear", "wolf", odd=SLOW)
    running = started(file)
    wait_for(lambda: len(matches(ledger)) >= 1)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert 130 == running.returncode, err
    assert 1 <= len(matches(ledger)) < 6
    for match in matches(ledger):
        assert "every hand was played" == kept(ledger, match)[-1].reason


@pytest.mark.ci
def test_a_second_ctrl_c_ends_them_and_nothing_of_them_is_kept(
    tmp_path: Path, ledger: Path
) -> None:
    file = league(tmp_path, "ursa", "lynx", odd=SLOW, hands=10_000)  # it would take half an hour
    running = started(file)
    wait_for(lambda: (ledger / "lock").exists() and len(members(running.pid)) > 1)

    os.killpg(running.pid, signal.SIGINT)
    time.sleep(1)  # two signals that come at once are one
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)
    running.communicate(timeout=60)
    assert 130 == running.returncode
    assert [] == matches(ledger)
    wait_for(lambda: not members(running.pid))
