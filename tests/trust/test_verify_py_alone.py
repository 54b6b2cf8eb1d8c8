"""The script as an auditor runs it: alone in a folder, under whatever Python he has."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from api.evidence import verify as script
from events.types import BidPlaced, Shown
from tests.profiles import sized
from tests.trust.own_bundles import Draft, Files, Log, with_kinds

MINORS = sorted({*sized((8, 13), range(8, 14)), sys.version_info[1]})


@cache
def _python(minor: int) -> str | None:
    """A Python of this version that works on this machine."""
    if sys.version_info[1] == minor:
        return sys.executable
    versions = Path.home() / ".pyenv" / "versions"
    known = [*map(str, versions.glob(f"3.{minor}.*/bin/python3")), shutil.which(f"python3.{minor}")]
    for path in known:
        asked = [path or "", "-I", "-S", "-c", "import sys; print(sys.version_info[1])"]
        if (
            path
            and subprocess.run(asked, capture_output=True, check=False).stdout
            == f"{minor}\n".encode()
        ):
            return path
    return None


every_python = pytest.mark.parametrize("minor", MINORS, ids=lambda minor: f"3.{minor}")


def _run(folder: Path, minor: int = sys.version_info[1], *options: str) -> tuple[int, str]:
    """What a Python of this version says in this folder, with nothing but what it brings."""
    python = _python(minor)
    if python is None:
        pytest.skip(f"there is no Python 3.{minor} on this machine")
    ran = subprocess.run(
        [python, *(options or ("-I", "-S")), "-W", "error", "verify.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/nowhere", "PYTHONIOENCODING": "ascii"},
    )
    assert "" == ran.stderr
    return ran.returncode, ran.stdout


def _files() -> Files:
    return Draft(with_kinds("auction-2024", BidPlaced, Shown), "auditor").files()


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    for name, text in _files().items():
        (tmp_path / name).write_bytes(text)
    return tmp_path


@every_python
def test_a_bundle_is_proved_under_every_python_from_3_8_on(unpacked: Path, minor: int) -> None:
    code, told = _run(unpacked, minor)
    proved = " ".join(script.verify(_files()).proved)
    assert (7, f"{proved}\n{script.WARNING}\n") == (code, told)
    assert f"Signed by {Log().key}: compare it with the key you know.\n" in told
    assert sorted(_files()) == sorted(os.listdir(unpacked))  # it leaves nothing behind


@every_python
def test_a_changed_bundle_is_refused_under_every_python(unpacked: Path, minor: int) -> None:
    record = unpacked / "events.jsonl"
    record.write_bytes(record.read_bytes().replace(b'"amount":64', b'"amount":65'))
    expected = "WRONG: events.jsonl was changed: its digest is not the one that"
    code, told = _run(unpacked, minor)
    assert (3, expected) == (code, told[: len(expected)])
    assert 1 == told.count("\n")


@every_python
@pytest.mark.parametrize("deep", [b"[" * 4_000_000, b'{"a":' * 1_000_000])
def test_a_deep_file_breaks_no_python(unpacked: Path, minor: int, deep: bytes) -> None:
    draft = Draft(with_kinds("auction-2024", BidPlaced, Shown), "auditor")
    files = draft.files()
    del files["contents"]
    for name, text in draft.sealed({**files, "leaf.json": deep}).items():
        (unpacked / name).write_bytes(text)
    assert (3, "WRONG: leaf.json is not one object in canonical JSON.\n") == _run(unpacked, minor)


def test_nothing_of_the_folder_is_run(unpacked: Path) -> None:
    """Python looks for modules beside a script first: the script looks away."""
    for module in ("json", "hashlib", "typing", "os", "encodings", "sitecustomize", "__future__"):
        (unpacked / f"{module}.py").write_text("print('OWNED')\n")
    code, told = _run(unpacked, sys.version_info[1], "-S", "-B")
    assert 3 == code
    assert '"json.py" is no file of a bundle' in told
    assert "OWNED" not in told


def test_a_folder_a_link_and_a_pipe_are_no_files_of_a_bundle(unpacked: Path) -> None:
    (unpacked / "events.jsonl").rename(unpacked.parent / "elsewhere")
    (unpacked / "events.jsonl").symlink_to(unpacked.parent / "elsewhere")
    assert (3, 'WRONG: "events.jsonl" is not a plain file.\n') == _run(unpacked)
    (unpacked / "events.jsonl").unlink()
    os.mkfifo(unpacked / "events.jsonl")
    assert (3, 'WRONG: "events.jsonl" is not a plain file.\n') == _run(unpacked)
    (unpacked / "events.jsonl").unlink()
    (unpacked / "events.jsonl").mkdir()
    assert (3, 'WRONG: "events.jsonl" is not a plain file.\n') == _run(unpacked)


def test_a_huge_file_is_not_read(unpacked: Path) -> None:
    with open(unpacked / "events.jsonl", "wb") as file:
        file.truncate(10**12)
    code, told = _run(unpacked)
    assert 3 == code
    assert '"events.jsonl" has 1000000000000 bytes: no file of a bundle has so many' in told


def test_it_checks_its_own_folder_wherever_it_is_called_from(unpacked: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-I", unpacked / "verify.py"], cwd="/", capture_output=True, check=False
    )
    assert 7 == ran.returncode


def test_an_extra_file_is_named(unpacked: Path) -> None:
    (unpacked / "notes.txt").write_text("mine\n")
    expected = 'WRONG: "notes.txt" is no file of a bundle: take it out of the folder.\n'
    assert (3, expected) == _run(unpacked)
