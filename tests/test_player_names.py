"""Who a player is: names for bots and logs, and no two bots made one player without a word."""

from pathlib import Path
from typing import Any

import pytest

from api.main import main
from api.playing.names import InvalidName, filename_pattern, names_in_filename
from tests.foreign import gamelog
from tests.http.clients import over, site_of
from tests.sessions import Captured, kept, printed, said
from tests.test_cli_import import told
from tests.wire.misfits import bot

pytestmark = pytest.mark.usefixtures("jobs_are_forked")


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands without `--ledger` write this one."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def log(path: Path, seed: str = "7") -> Path:
    """A log as the organisers' engine writes it: its players are A and B."""
    path.parent.mkdir(exist_ok=True)
    text = gamelog(path, rounds=3, seed=seed).read_text()
    path.write_text(text.replace("random-0", "A").replace("random-1", "B"))
    return path


# --- logs


def test_the_names_of_files_name_the_players_of_their_logs(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    files = [
        log(tmp_path / f"logs/{name}.txt", seed)
        for seed, name in (("7", "ursa__lynx__1"), ("8", "lynx__bear__12"))
    ]
    pattern = ("--players", "{a}__{b}__{n}.txt")
    found = told(capsys, *files, *pattern)
    starts = [kept(ledger, one["match"])[0].players for one in found]
    assert [("ursa", "lynx"), ("lynx", "bear")] == [
        tuple(sorted(it, reverse=True)) for it in starts
    ]
    names = [it for it in kept(ledger, found[0]["match"]) if getattr(it, "dialect", "") == "names"]
    assert ["A=ursa\nB=lynx"] == [it.header for it in names]
    assert "lynx\t3" in printed(capsys, "player", "bear")


def test_a_file_of_another_name_is_refused_and_the_others_are_imported(
    capsys: Captured, tmp_path: Path
) -> None:
    files = log(tmp_path / "ursa__lynx__1.txt"), log(tmp_path / "notes.txt", "8")
    good, other = told(capsys, *files, "--players", "{a}__{b}__{n}.txt", code=1)
    assert (3, None) == (good["imported"], good["refused"])
    sentence = "its name does not fit --players {a}__{b}__{n}.txt"
    assert {"line": 0, "reason": sentence} == other["refused"]


def test_a_log_that_names_its_players_itself_is_not_renamed(
    capsys: Captured, tmp_path: Path
) -> None:
    named = gamelog(tmp_path / "ursa__lynx.txt")
    (one,) = told(capsys, named, "--players", "{a}__{b}.txt", code=1)
    assert "it has no player A, whom --players would name" == one["refused"]["reason"]


@pytest.mark.parametrize("pattern", ["{a}.txt", "{a}{b}{c}", "{a}-{a}-{b}", "a__b.txt", "{a}{b}{}"])
def test_a_pattern_names_both_players_once(
    capsys: Captured, tmp_path: Path, pattern: str, ledger: Path
) -> None:
    sentence = f"{pattern!r} names no players: it has {{a}} and {{b}} once, and {{n}}"
    words = ("import", str(log(tmp_path / "log.txt")), "--players", pattern)
    assert sentence in said(capsys, 2, *words)
    assert not ledger.exists()


def test_names_are_given_in_one_way(capsys: Captured, tmp_path: Path) -> None:
    words = ("--players", "{a}_{b}", "--names", "A=x")
    assert "leave one out" in said(capsys, 2, "import", str(tmp_path), *words)


@pytest.mark.parametrize(
    ("pattern", "file", "found"),
    [
        ("{a}__{b}__{n}.txt", "ursa__lynx__1.txt", {"A": "ursa", "B": "lynx"}),
        ("{a}__{b}__{n}.txt", "ursa_2__v1.5__x__9.txt", {"A": "ursa_2", "B": "v1.5"}),
        ("{n}.{b} vs {a}", "round 3.x vs y", {"A": "y", "B": "x"}),
        ("{a}[{b}]", "u[l]", {"A": "u", "B": "l"}),
    ],
)
def test_what_stands_between_the_fields_stands_in_the_name(
    pattern: str, file: str, found: dict[str, str]
) -> None:
    assert found == names_in_filename(file, pattern)
    with pytest.raises(InvalidName, match="does not fit"):
        names_in_filename("", pattern)
    assert filename_pattern(pattern) is filename_pattern(pattern)


def test_matches_between_an_a_and_a_b_are_warned_of_once_there_are_two(
    capsys: Captured, tmp_path: Path
) -> None:
    """One match may be anybody's; two make players out of bots that never met each other."""
    assert "A and B" not in _noted(capsys, log(tmp_path / "one.txt"))
    assert "2 matches here call their players A and B" in _noted(
        capsys, log(tmp_path / "b.txt", "8")
    )
    assert "A and B" not in _noted(capsys, tmp_path / "b.txt")  # nothing of it is new
    assert "A and B" not in _noted(capsys, gamelog(tmp_path / "named.txt", seed="9"))


def _noted(capsys: Captured, file: Path) -> str:
    assert 0 == main(["import", str(file)])
    return capsys.readouterr().err


# --- bots


@pytest.mark.ci
def test_two_folders_of_one_name_never_become_one_player(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Every folder of a bot is called python_skeleton until somebody renames it."""
    ours, theirs, rival = (
        str(bot(tmp_path / owner, name).folder)
        for owner, name in (("ours", "skeleton"), ("theirs", "skeleton"), ("theirs", "rival"))
    )
    printed(capsys, "match", ours, rival, "--hands", "2", "--match", "first")
    printed(capsys, "match", ours, rival, "--hands", "2", "--match", "again")
    refused = said(capsys, 1, "match", theirs, rival, "--hands", "2", "--match", "other")
    assert (
        "skeleton is the bot of another folder in this ledger:"
        " name the one in theirs/skeleton, --names A=NAME" == refused
    )
    assert () == kept(ledger, "other")
    words = ("--hands", "2", "--names", "A=theirs-1")
    printed(capsys, "match", theirs, rival, *words, "--match", "other")
    assert ("theirs-1", "rival") == kept(ledger, "other")[0].players
    printed(capsys, "match", theirs, ours, *words, "--match", "both")
    assert ("theirs-1", "skeleton") == kept(ledger, "both")[0].players


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("C=x", "there is no bot C: A is the first, B the second"),
        ("A=x/y", "'x/y' cannot be a bot's name: letters, digits and ._-+, 40 at most"),
        (f"B={'x' * 41}", "cannot be a bot's name"),
        ("A=x,B=x", "both bots cannot be called x"),
        ("A=x,A=y", "A cannot be called both x and y"),
        ("ursa", "'ursa' renames nobody: write OLD=NEW, several with commas"),
    ],
)
def test_names_that_no_bots_can_have_are_misuse(
    capsys: Captured, tmp_path: Path, ledger: Path, names: str, sentence: str
) -> None:
    folder = str(bot(tmp_path, "ursa").folder)
    assert sentence in said(capsys, 2, "match", folder, folder, "--names", names)
    assert not ledger.exists()


@pytest.mark.ci  # before, those of a command are, and a job of bots: tests/http/test_jobs.py
def test_bots_of_a_job_are_named_and_kept_apart_like_those_of_a_command(tmp_path: Path) -> None:
    for name in ("ursa", "lynx"):
        bot(tmp_path / "bots", name)
        bot(tmp_path / "other", name)
    wanted: dict[str, Any] = {
        "game": "auction-2024-mit", "folders": ["ursa", "lynx"], "hands": 2, "seed": "7",
    }  # fmt: skip
    ours, others = (
        site_of(tmp_path / "ledger", bots=tmp_path / bots).as_("writer")
        for bots in ("bots", "other")
    )
    named = {"A": "ursa-2", "B": "lynx-2"}
    for writer, names, players in (
        (ours, {}, ["ursa", "lynx"]),
        (others, named, list(named.values())),
    ):
        asked = writer.post("/api/v1/matches", json={**wanted, "names": names})
        assert 202 == asked.status_code, asked.text
        job = over(writer, asked.headers["location"])
        assert ("done", players) == (job["state"], job["result"]["players"])
    other = others.post("/api/v1/matches", json={**wanted, "names": {"A": "ursa-2"}})
    assert 409 == other.status_code
    assert "lynx is the bot of another folder in this ledger" in other.json()["detail"]
    refused = others.post("/api/v1/matches", json={**wanted, "names": {"C": "x"}})
    assert (422, True) == (refused.status_code, "there is no bot C" in refused.text)
    house = {"game": "auction-2024-mit", "names": {"A": "x"}}
    assert "names are for bots from folders" in others.post("/api/v1/matches", json=house).text
