"""The walk through CONTRIBUTING.md is taken, in a copy of the project."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fences import Fence, fences, same, typed

ROOT = Path(__file__).parents[1]
VERBS = runpy.run_path(str(ROOT / "mr"))["VERBS"]
COPIED = (
    "api",
    "analytics",
    "dealer",
    "docs",
    "engine",
    "events",
    "formats",
    "odds",
    "store",
    "tests",
    "pyproject.toml",
    "README.md",
)


@pytest.mark.slow  # tests/test_declared.py adds a question as its page says
def test_a_new_game_is_added_as_the_page_says(tmp_path: Path) -> None:
    """One file for the script, a line in the list, a page, a golden: nothing else is touched."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__*__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    for package in ROOT.glob("*/**/__init__.py"):  # left out above with __pycache__
        if package.relative_to(ROOT).parts[0] in COPIED:
            shutil.copy(package, tmp_path / package.relative_to(ROOT))
    for fence in fences(ROOT / "CONTRIBUTING.md"):
        follow(fence, tmp_path)


def follow(fence: Fence, folder: Path) -> None:
    """Do what a block says: write this file, change that one, type these commands."""
    match fence.language:
        case "python" | "markdown" | "sql" | "text":
            assert not (folder / fence.told).exists()
            (folder / fence.told).write_text(fence.text, "utf-8")
        case "diff":
            change(folder / fence.told, fence.text)
        case "console":
            for command in typed(fence.text):
                printed = ran(command.words, folder)
                assert not command.printed or same(command.printed, printed), printed
        case other:
            raise AssertionError(f"nobody knows what to do with a block of {other}")


def change(path: Path, diff: str) -> None:
    """Change a file as a diff says; each of its hunks must fit in exactly one place."""
    text = path.read_text("utf-8")
    for hunk in diff.split("@@\n")[1:]:
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(before) == 1, f"where in {path.name} is\n{before}"
        text = text.replace(before, "".join(line[1:] for line in lines if line[0] != "-"))
    path.write_text(text, "utf-8")


def ran(words: tuple[str, ...], folder: Path) -> str:
    """What a command prints; it must succeed."""
    assert words[0] == "./mr"
    if words[1] in VERBS:
        commands = VERBS[words[1]](list(words[2:]))
    else:
        door = "import sys; from api.main import main; sys.exit(main())"
        commands = [["-c", door, *words[1:]]]
    printed = ""
    for command in commands:
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        environment.pop("MUCKRAKE_LEDGER", None)
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # none is needed, all take long
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        printed += done.stdout
    return printed
