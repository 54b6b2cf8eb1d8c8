"""A shell completes commands, rulesets, bots, matches and hands, and never complains."""

import subprocess
import sys
from pathlib import Path

import pytest

from api.main import main
from engine.games import RULESETS

Captured = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[1]
PROGRAM = "from api.main import main; main()"


def completed(words: str, ledger: Path | None = None) -> list[str]:
    """What bash is offered after these words, the last of them as far as it is typed."""
    typed = ["muckrake", *words.split(" ")]
    environment = {
        "_MUCKRAKE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(typed),
        "COMP_CWORD": str(len(typed) - 1),
        "PYTHONPATH": str(ROOT),
        "MUCKRAKE_LEDGER": str(ledger or "/nowhere"),
    }
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how(capsys: Captured, shell: str) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "_MUCKRAKE_COMPLETE" in text
    assert "muckrake" in text


def test_commands_and_rulesets_are_completed() -> None:
    assert ["replay"] == completed("repl")
    assert [one for one in RULESETS if one.startswith("auction")] == completed("play auction")


def test_of_a_list_of_bots_the_last_is_completed() -> None:
    assert ["random,tight"] == completed("play auction-2024 --bots random,ti")


def test_hands_are_completed_once_their_match_is_named(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    play = ["play", "auction-2024", "--hands", "12", "--seed", "1", "--match", "scrim"]
    assert main([*play, "--ledger", str(ledger)]) == 0
    assert ["scrim/"] == completed("replay sc", ledger)
    assert ["scrim/1", "scrim/10", "scrim/11", "scrim/12"] == completed("replay scrim/1", ledger)
    assert ["scrim/2"] == completed(f"audit --ledger {ledger} scrim/2")


def test_where_there_is_no_ledger_nothing_is_completed_and_nothing_said() -> None:
    assert [] == completed("replay scrim/1")
