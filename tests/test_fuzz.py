"""The fuzzer: it passes on good rules, and says on broken ones how to see the same hand again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import fuzz
from tests.hands import RULESETS, Played

ROOT = Path(__file__).resolve().parents[1]


def test_a_few_hands_of_some_rulesets_keep_the_laws(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == fuzz.main(["--seed", "test", "--hands", "3"])
    said = capsys.readouterr()
    assert said.out.startswith(f"{3 * len(RULESETS)} hands, ")
    assert said.err.startswith("seed test: 3 hands")


def test_it_runs_as_mr_runs_it() -> None:
    ran = subprocess.run(
        [sys.executable, "tests/fuzz.py", "--seed", "1", "--hands", "1", "--game", "probability"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ran.stdout.startswith("1 hands, ")


def test_a_broken_law_prints_the_hand_and_how_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody_ever_folds(played: Played) -> None:
        """A law for this test."""
        assert "folded" not in played.hand.standing

    monkeypatch.setattr(fuzz, "LAWS", (nobody_ever_folds,))
    assert 1 == fuzz.main(["--seed", "x", "--game", "probability", "--hands", "50"])
    said = capsys.readouterr().out
    assert "nobody ever folds: A law for this test." in said
    assert " folds" in said
    assert "hand over\n" in said
    again = said.splitlines()[-1].removeprefix("again: ./mr fuzz ").split()
    assert 1 == fuzz.main(again)
    assert said == capsys.readouterr().out


def test_writers_of_a_ledger_lose_power_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == fuzz.main(["--power-losses", "5", "--seed", "test"])
    said = capsys.readouterr()
    assert said.out.startswith("5 writers, ")
    assert said.err == "seed test: 5 writers lose power\n"
