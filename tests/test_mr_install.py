"""How `./mr` gets its packages: which pip fetches uv, what uv is told, what a reader is told."""

import fcntl
import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.test_mr import LOCKS, ROOT, mr, steps

__all__ = ["mr", "steps"]

OFFLINE = "  cause: dns error\\n  cause: failed to lookup address information"


def program(path: Path, script: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def without_pip(mr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A Python that has no pip installed."""
    python = program(tmp_path / "python3", "exit 1")
    monkeypatch.setattr(mr, "base_python", lambda: python)
    monkeypatch.setenv("PATH", str(tmp_path))
    return python


@pytest.fixture
def asked(mr: Any, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The steps, noted and not taken; nothing is on PATH, and pip is as it comes."""
    taken: list[list[str]] = []
    monkeypatch.setattr(mr, "run", lambda command, folder=None: taken.append(command))
    monkeypatch.setattr(mr, "on_path", lambda name: None)
    monkeypatch.setattr(mr, "find_pip", lambda folder: ["pip"])
    monkeypatch.setattr(mr, "pip_is_set_up", lambda pip: False)
    monkeypatch.setattr(mr, "unpack_uv", lambda wheels, folder: f"uv of {wheels}")
    monkeypatch.setattr(mr, "happens", lambda command: False)
    return taken


# Which pip.


def test_a_python_without_pip_has_one_in_its_ensurepip(mr: Any, without_pip: str) -> None:
    pytest.importorskip("ensurepip")
    python, wheel = mr.find_pip("/nowhere")
    assert without_pip == python
    assert Path(wheel).parent.is_file()
    assert "pip" == Path(wheel).name


def test_debians_python_without_ensurepip_gets_pip_from_apt_as_any_user(
    mr: Any, without_pip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apt keeps its state, lists and packages in a folder of ours: it needs no rights."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    log = tmp_path / "log"
    program(
        tmp_path / "apt-get",
        f'echo "$@" >> {log}; case "$*" in *download*) : > python3-pip-whl_23_all.deb;; esac',
    )
    folder = tmp_path / "scratch"
    folder.mkdir()
    wheel = folder / "usr/share/python-wheels/pip-23.whl"
    program(tmp_path / "dpkg-deb", f"/bin/mkdir -p {wheel.parent}; : > {wheel}")
    assert [without_pip, f"{wheel}/pip"] == mr.find_pip(str(folder))
    update, download = log.read_text().splitlines()
    assert update.endswith(" update")
    assert download.endswith(" download python3-pip-whl")
    for line in (update, download):
        assert f"Dir::State={folder}/state" in line
        assert f"Dir::Cache={folder}/cache" in line


def test_where_there_is_no_pip_at_all_it_says_what_to_install(
    mr: Any, without_pip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"has no pip to fetch packages with.*: install pip or uv"):
        mr.find_pip("/nowhere")


# What uv is told.


def test_uv_is_fetched_by_pip_as_the_dev_lock_pins_it(
    mr: Any, asked: list[list[str]], tmp_path: Path
) -> None:
    mr.install_lock("the.lock", str(tmp_path))
    fetch, install = asked
    assert ["pip", "download"] == fetch[:2]
    assert {"--require-hashes", "--no-deps", str(tmp_path / "uv.txt")} <= set(fetch)
    pin, *hashes = (tmp_path / "uv.txt").read_text().splitlines()
    assert pin.startswith("uv==")
    assert hashes
    assert all(line.lstrip().startswith(("--hash=sha256:", "# via")) for line in hashes)
    assert [f"uv of {tmp_path}", "pip", "install", "--python", mr.PYTHON] == install[:5]
    assert ["--require-hashes", "-r", "the.lock"] == install[5:8]
    assert "--no-index" not in install


def test_where_pip_is_told_where_to_look_pip_fetches_everything(
    mr: Any, asked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mr, "pip_is_set_up", lambda pip: True)
    mr.install_lock("the.lock", str(tmp_path))
    _, everything, install = asked
    assert {"download", "the.lock", str(tmp_path / "wheels")} <= set(everything)
    assert ["--no-index", "--find-links", str(tmp_path / "wheels")] == install[8:11]


def test_what_is_there_already_is_not_fetched_again(
    mr: Any, asked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit of a lock leaves most of an environment as it is, and uv remembers what it had."""
    monkeypatch.setattr(mr, "pip_is_set_up", lambda pip: True)
    monkeypatch.setattr(mr, "happens", lambda command: command[-1] == "--offline")
    mr.install_lock("the.lock", str(tmp_path))
    fetch, install = asked
    assert str(tmp_path / "uv.txt") in fetch
    assert "--no-index" not in install


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("global.index-url='https://mirror/simple'", True),
        (":env:.cert='/etc/company.pem'\nglobal.timeout='60'", True),
        (":env:.disable-pip-version-check='1'", False),
        ("", False),
    ],
)
def test_pip_is_set_up_if_it_is_told_where_or_how_to_look(
    mr: Any, tmp_path: Path, said: str, expected: bool
) -> None:
    (tmp_path / "said").write_text(said)
    pip = program(tmp_path / "pip", f'test "$*" = "config list" && /bin/cat {tmp_path}/said')
    assert expected is mr.pip_is_set_up([pip])


def test_a_folder_of_wheels_takes_the_place_of_pip_and_network(
    mr: Any, asked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mr, "find_pip", None)
    Path(mr.WHEELS).mkdir()
    mr.install_lock("the.lock", str(tmp_path))
    ((uv, *words),) = asked
    assert f"uv of {mr.WHEELS}" == uv
    assert ["--no-index", "--find-links", mr.WHEELS] == words[7:10]


@pytest.mark.parametrize(
    ("more", "expected"),
    [([], LOCKS[0]), (["test"], LOCKS[1]), (["dev"], LOCKS[2]), (["docs"], LOCKS[3])],
)
def test_vendor_fetches_uv_and_a_lock_into_wheels(
    mr: Any, asked: list[list[str]], more: list[str], expected: str
) -> None:
    assert 0 == mr.main(["vendor", *more])
    assert all([mr.WHEELS] == command[-1:] for command in asked)
    assert ["uv.txt", expected] == [Path(command[-3]).name for command in asked]


def test_vendor_of_something_else_is_refused(mr: Any, asked: list[list[str]]) -> None:
    with pytest.raises(
        SystemExit, match=r"mr: vendor takes nothing, test, dev or docs, and not: everything"
    ):
        mr.main(["vendor", "everything"])
    assert [] == asked


def test_only_the_uv_that_is_pinned_is_run(
    mr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "uv-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr(f"uv-1.data/scripts/uv{mr.EXE}", "a program")
    with pytest.raises(SystemExit, match=r"is not the uv that requirements-dev.txt pins"):
        mr.unpack_uv(str(tmp_path), str(tmp_path))
    pin = f"uv==1 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    monkeypatch.setattr(mr, "uv_lines", lambda: pin)
    uv = Path(mr.unpack_uv(str(tmp_path), str(tmp_path)))
    assert "a program" == uv.read_text()
    assert uv.stat().st_mode & 0o111
    wheel.unlink()
    with pytest.raises(SystemExit, match=r"has no wheel of uv: ./mr vendor makes it complete"):
        mr.unpack_uv(str(tmp_path), str(tmp_path))


def test_a_cache_that_cannot_be_written_is_not_used(
    mr: Any, asked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mr.can_write(str(tmp_path / "not" / "yet"))
    for writable in (True, False):
        monkeypatch.setattr(mr, "can_write", lambda folder, writable=writable: writable)
        mr.install_lock("the.lock", str(tmp_path))
        assert writable is ("--no-cache" not in asked[-1])


# What a reader is told.


def test_large_downloads_are_told_and_the_rest_only_if_a_step_fails(
    mr: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = "Resolved 5 packages\\nDownloading pyarrow (52.5MiB)\\nDownloading click (126 kB)"
    mr.run([sys.executable, "-c", f"print('{lines}')"])
    assert ("", "mr:   Downloading pyarrow (52.5MiB)\n") == capfd.readouterr()
    with pytest.raises(SystemExit) as stopped:
        mr.run([sys.executable, "-c", "print('it is broken'); raise SystemExit(3)"])
    assert "mr: failed (exit 3), the next ./mr tries again: " in str(stopped.value)
    assert ("", "it is broken\n") == capfd.readouterr()


def test_without_a_network_one_sentence_says_what_to_do(
    mr: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        mr.run([sys.executable, "-c", f"print('{OFFLINE}'); raise SystemExit(2)"])
    assert ("", "") == capfd.readouterr()
    assert (
        "mr: the packages cannot be fetched without a network: connect, or run ./mr vendor where"
        " there is one and bring its folder wheels here; the next ./mr tries again"
    ) == stopped.value.code


def test_a_folder_of_wheels_that_lacks_one_says_so(
    mr: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"wheels lacks what this needs: ./mr vendor dev"):
        mr.run([sys.executable, "-c", "print('no duckdb'); raise SystemExit(1)", mr.WHEELS])
    assert ("", "no duckdb\n") == capfd.readouterr()


def test_an_install_says_first_what_it_fetches_keeps_and_takes(
    mr: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for step in ("make_venv", "write_launcher"):
        monkeypatch.setattr(mr, step, lambda: None)
    monkeypatch.setattr(mr, "install_lock", lambda lock, folder: None)
    Path(mr.VENV).mkdir()
    mr.ensure("runtime")
    first, last = capfd.readouterr().err.splitlines()
    assert f"mr: making {mr.VENV} from requirements.txt: {mr.COSTS['runtime']}" == first
    assert last.startswith("mr: ready after ")
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    for figure in ("185 MB", "535 MB", "195 MB", "570 MB", "360 MB", "1.2 GB"):
        assert figure in readme, figure
        assert any(figure in cost for cost in mr.COSTS.values()), figure


def test_a_second_one_says_that_it_waits(mr: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with open(mr.__file__) as held, open(mr.__file__) as ours:
        fcntl.flock(held, fcntl.LOCK_EX)
        threading.Timer(0.2, fcntl.flock, (held, fcntl.LOCK_UN)).start()
        mr.wait_for_lock(ours)
    assert "mr: waiting for another ./mr, which is installing\n" == capfd.readouterr().err


def test_help_without_a_stdout_is_no_traceback(mr: Any) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} {mr.ROOT}/mr help >&-"], capture_output=True
    )
    assert (0, b"") == (done.returncode, done.stderr)


def test_the_generator_of_the_site_is_added_to_what_is_there(mr: Any, steps: list[str]) -> None:
    for level in ("dev", "docs", "docs", "test", "runtime"):
        mr.ensure(level)
    assert ["venv", "requirements-dev.txt", "requirements-docs.txt"] == steps


def test_the_site_is_built_by_its_own_level_where_the_caller_says(mr: Any, tmp_path: Path) -> None:
    assert ("docs", [["-m", "docs.site"]]) == mr.plan(["docs"])
    assert [["-m", "docs.site", os.path.abspath("here")]] == mr.plan(["docs", "here"])[1]
