"""A shell completes commands, rulesets, bots, matches and hands, and never complains."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from api.main import main
from engine.games import RULESETS
from tests.processes import Popen

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
    pipe = subprocess.PIPE
    with Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        out, err = process.communicate()
    assert err == ""
    return [line.partition(",")[2] for line in out.splitlines() if line]


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


TRIES = {  # each as it starts with somebody in front of it, asked what it would offer
    "bash": 'source ~/.bashrc; COMP_WORDS=(muckrake repl) COMP_CWORD=1; "$(complete -p muckrake |'
    " sed 's/.*-F \\([^ ]*\\) .*/\\1/')\" muckrake; printf '%s\\n' \"${COMPREPLY[@]}\"",
    "zsh": "source ~/.zshrc; (( $+functions[_muckrake_completion] )) && print $_comps[muckrake]",
    "fish": 'complete -C "muckrake repl"',
}
OFFERED = {"bash": "replay", "zsh": "_muckrake_completion", "fish": "replay"}


@pytest.mark.parametrize("shell", TRIES)
def test_one_command_installs_it_for_good(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice is once, what stood in the file that the shell reads stays, and it completes."""
    home = tmp_path / "a home"
    (home / "bin").mkdir(parents=True)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    start = home / f".{shell}rc"
    start.write_text("# mine, without an end of line")
    for _ in range(2):
        assert main(["completion", shell, "--install"]) == 0
    own, *lines = start.read_text().splitlines()
    assert "# mine, without an end of line" == own
    assert (0 if shell == "fish" else 1) == len(lines)
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    muckrake = home / "bin" / "muckrake"
    muckrake.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{PROGRAM}" "$@"\n')
    muckrake.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{muckrake.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [program, "-c", TRIES[shell]], env=environment, capture_output=True, text=True, timeout=60
    )
    assert OFFERED[shell] in done.stdout.split(), done.stdout + done.stderr
