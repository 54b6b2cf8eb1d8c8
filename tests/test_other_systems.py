"""Systems without POSIX: readers are imported and answer, writers say why they do not write."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.ci  # each test is a new Python that imports everything

ABSENT = ("fcntl", "resource", "pwd", "grp", "termios")
LINUX = {  # what locks others' SQL and others' bots in, and the commands that play these bots
    "store.sql.worker",
    "dealer.wire.launcher",
    "dealer.wire.match",
    "dealer.wire.player",
    "dealer.wire.process",
    "dealer.wire.sandbox",
    "api.playing.wire_match",
    "api.jobs.work",
    "api.cli.match",
    "api.cli.league",
    "api.cli.demo",
}
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r}));"
EVERY = """
import importlib, pkgutil, tomllib
rooms = tomllib.load(open("pyproject.toml", "rb"))
for room in rooms["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["rooms"]:
    for found in pkgutil.walk_packages([room], room + "."):
        if not found.name.endswith("__main__"):
            try:
                importlib.import_module(found.name)
            except ImportError as reason:
                if "halted" in str(reason):
                    print(found.name)
"""
MAIN = "from api.main import main; sys.exit(main(sys.argv[1:]))"
EACH = """
import json
from api.main import main
for words in json.loads(sys.argv[1]):
    print("\\f", main(words), sep="", end="\\f", flush=True)
"""


def ran(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A Python that has none of what Windows lacks."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + program, *words],
        cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_only_programs_for_linux_need_posix_when_they_are_imported() -> None:
    done = ran(EVERY)
    assert 0 == done.returncode, done.stderr
    assert LINUX == set(done.stdout.split())


def test_a_ledger_is_read_without_locks_and_not_written(folder: Path, tmp_path: Path) -> None:
    """`folder` was played by this machine; the readers are a process without fcntl."""
    where = ("--ledger", str(folder))
    asked = {
        ("--help",): "Play:",
        ("hands", "--limit", "2", *where): "scrim/1",
        ("audit", "scrim/1", *where): "verdict",
        ("verify", "--all", "--key", str(folder / "keys"), *where): "",
        ("get", "/api/v1/matches", *where): "scrim",
    }
    done = ran(EACH, json.dumps([*asked]))
    assert 0 == done.returncode, done.stderr
    *answers, _ = done.stdout.split("\f")
    assert ["0"] * len(asked) == answers[1::2], done.stderr
    for expected, answer in zip(asked.values(), answers[::2], strict=True):
        assert expected in answer
    done = ran(MAIN, "play", "auction-2024", "--ledger", str(tmp_path / "new"))
    assert 1 == done.returncode
    assert "Traceback" not in done.stderr
    assert "this system has no lock of files (flock): muckrake only reads here" in done.stderr


def test_a_command_for_posix_says_what_this_system_lacks(folder: Path) -> None:
    asked = (
        ("match", "one", "two", "--hands", "3", "--json"),
        ("demo", "--hands", "1"),
        ("serve", "--port", "0"),
        ("hands", "--web"),
    )
    done = ran(EACH, json.dumps([(*words, "--ledger", str(folder)) for words in asked]))
    assert "\f1\f" * len(asked) == done.stdout
    needs = "needs Linux or macOS: this system has no resource"
    rest = "hands are read, audited and verified here"
    assert done.stderr.splitlines() == [f"muckrake: {words[0]} {needs}; {rest}" for words in asked]


def test_its_help_and_the_manual_page_are_there_all_the_same() -> None:
    for words in (("match", "--help"), ("help", "demo"), ("man",)):
        done = ran(MAIN, *words)
        assert (0, "") == (done.returncode, done.stderr)
        assert "muckrake" in done.stdout
