"""A profile chooses which tests run and how much each of them tries."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import profiles
from tests.hands import COVER, RULESETS, traits

ROOT = Path(__file__).resolve().parents[1]
PROBE = '''"""A test of each mark, and the sizes that a process started by a test is told."""

import subprocess
import sys

import pytest

from tests import profiles

ASK = "from tests import profiles; print(profiles.sized(1, 2, 3))"


def test_unmarked() -> None:
    from hypothesis import settings

    told = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    print("sizes", profiles.sized(1, 2, 3), told.stdout.strip(), settings().max_examples)


@pytest.mark.ci
def test_ci() -> None:
    print("ci ran")


@pytest.mark.slow
def test_slow() -> None:
    print("slow ran")
'''


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], ["sizes 1 1 10"]),
        pytest.param(["--profile", "ci"], ["sizes 2 2 15", "ci ran"], marks=pytest.mark.ci),
        pytest.param(["--slow"], ["sizes 3 3 100", "ci ran", "slow ran"], marks=pytest.mark.ci),
    ],
)
def test_a_profile_chooses_marks_and_sizes_in_processes_too(
    words: list[str], said: list[str], tmp_path: Path
) -> None:
    probe = tmp_path / "test_probe.py"
    probe.write_text(PROBE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-s", f"--rootdir={ROOT}"]
    bare = {name: value for name, value in os.environ.items() if name != profiles.VARIABLE}
    ran = subprocess.run(
        [*command, *words, str(probe)],
        cwd=ROOT,
        env={**bare, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == ran.returncode, ran.stdout + ran.stderr
    assert said == re.findall(r"sizes [0-9 ]+|\w+ ran", ran.stdout)


def test_a_profile_that_there_is_not_is_refused_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(profiles.VARIABLE, "quik")
    with pytest.raises(ValueError, match="is 'quik': the profiles are quick, ci, slow"):
        profiles.chosen()


@pytest.mark.parametrize(("name", "expected"), [("quick", 1), ("ci", 2), ("slow", 2)])
def test_slow_tries_what_ci_does_unless_it_is_given_more(
    name: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(profiles.VARIABLE, name)
    assert expected == profiles.sized(1, 2)


def test_a_few_rulesets_have_every_step_and_every_value_of_a_policy_that_any_has() -> None:
    assert len(COVER) < len(RULESETS) / 2
    assert set().union(*map(traits, RULESETS.values())) == set().union(*map(traits, COVER.values()))


def test_memory_that_may_not_be_written_is_no_place_for_files(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in some containers: /dev/shm is there, and belongs to root."""
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert conftest is not None
    assert not conftest._has_room()
