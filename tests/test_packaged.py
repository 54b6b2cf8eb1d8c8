"""The wheel and the sdist, made and tried in an empty environment."""

import ast
import email
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from hatch_build import moved
from tests.profiles import sized

ROOT = Path(__file__).parents[1]
OFFLINE = ("dns error", "Failed to fetch", "error sending request", "NewConnectionError")
UV = (sys.executable, "-m", "uv")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ROOMS = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["rooms"]


def known(folder: Path) -> dict[str, str]:
    """What a step knows of this machine: a HOME of its own, and what uv has fetched before."""
    names = ("PYTHON", "MUCKRAKE", "XDG", "PIPX", "UV_TOOL", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    cache = subprocess.run([*UV, "cache", "dir"], capture_output=True, text=True, check=True)
    path = f"{folder}/.local/bin:{os.environ['PATH']}"
    variables |= {"UV_CACHE_DIR": cache.stdout.strip(), "HOME": str(folder), "PATH": path}
    return variables | {"CI": "1"}


def done(*words: str | Path, folder: Path) -> str:
    """What a step says; without an index to ask, the test is skipped."""
    ran = subprocess.run(
        words, cwd=folder, env=known(folder), capture_output=True, text=True, timeout=900
    )
    if ran.returncode and any(sign in ran.stderr for sign in OFFLINE):
        pytest.skip("no package index can be reached from here: the build backend is fetched")
    assert 0 == ran.returncode, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist of the files that git knows of, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("built")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "source" / name)
    done(*UV, "build", "-q", "-o", folder / "dist", folder / "source", folder=folder)
    return folder / "dist"


@pytest.mark.ci
def test_the_wheel_says_whose_it_is_and_holds_no_tests(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        told = email.message_from_bytes(opened.read(metadata))
    assert "muckrake-poker" == told["Name"]
    assert "text/markdown" == told["Description-Content-Type"]
    assert "# muckrake" in told.get_payload()
    assert {"muckrake"} == {name.split("/")[0] for name in names if ".dist-info/" not in name}
    inside = {name.split("/")[1] for name in names if name.count("/") > 1}
    assert {*ROOMS, "LICENSE"} == inside - {"licenses"} | {"LICENSE"}
    assert "muckrake/py.typed" in names
    for kind in (".html", ".css", ".js", ".sql", ".bin", ".sh"):
        there = {str(path.relative_to(ROOT)) for room in ROOMS for path in committed(room, kind)}
        assert there, f"no room has a file of {kind}"
        assert there == {name.removeprefix("muckrake/") for name in names if name.endswith(kind)}


def committed(room: str, kind: str) -> list[Path]:
    """The files of a room that git knows of."""
    listed = subprocess.run(["git", "ls-files", room], cwd=ROOT, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\n") if name.endswith(kind)]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("from engine.games import GAMES\n", "from muckrake.engine.games import GAMES\n"),
        ("if True:\n    from api import x, y\n", "if True:\n    from muckrake.api import x, y\n"),
        ("from events import (\n  a,\n)\n", "from muckrake.events import (\n  a,\n)\n"),
        ("import os, api.main as main\n", "import os, muckrake.api.main as main\n"),
        ("é = 'x'; from store import y\n", "é = 'x'; from muckrake.store import y\n"),
        ("from .engine import a\nfrom enginex import b\n", None),
        ("from muckrake import ask\nimport events_other\n", None),
        ("x = 'from engine import y'  # from api import z\n", None),
    ],
)
def test_an_import_of_a_room_says_where_it_is_in_a_wheel(text: str, made: str | None) -> None:
    assert (made or text) == moved(text, ROOMS)


def test_an_import_that_would_mean_something_else_in_a_wheel_is_refused() -> None:
    with pytest.raises(ValueError, match=r"import engine\.games: in a wheel it has another name"):
        moved("import engine.games\n", ROOMS)


def test_no_room_names_a_module_in_a_text() -> None:
    """A module that is found by its name is named from `__package__`: a wheel moves it."""
    modules = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
    }
    named = re.compile(rf"[\"'](?:{'|'.join(ROOMS)})\.")  # a file without need not be parsed
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        for text in [file.read_text("utf-8")]
        if named.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in modules
    ]
    assert [] == wrong


def environment(file: Path, folder: Path) -> list[str | Path]:
    """An empty environment, which nobody has activated; the module works there, too."""
    made = folder / "environment"
    done(*UV, "venv", "-q", "--python", sys.executable, made, folder=folder)
    python = made / "bin" / "python"
    done(*UV, "pip", "install", "-q", "--python", python, file, folder=folder)
    assert "muckrake, version" in done(python, "-m", "muckrake", "--version", folder=folder)
    play = ("play", "auction-2024", "--hands", "3", "--seed", "1", "--match", "scrim")
    assert "3 hands" in done(made / "bin" / "muckrake-poker", *play, folder=folder)
    assert "<title>" in done(python, "-m", "muckrake", "get", "/hands/scrim/1", folder=folder)
    for room in ROOMS:  # a team's own modules have such names, too, and stand before ours
        (folder / f"{room}.py").write_text("raise SystemExit('this is the module of a team')")
    asked = "import muckrake; print(*muckrake.GAMES, *muckrake.ask('vpip', 'ledger')['player'])"
    assert {"auction-2024", "random-1"} <= {*done(python, "-c", asked, folder=folder).split()}
    return [made / "bin" / "muckrake"]


def tool(file: Path, folder: Path) -> list[str | Path]:
    """`uv tool install`, which puts the command among the user's own."""
    done(*UV, "tool", "install", "-q", "--python", sys.executable, file, folder=folder)
    return [folder / ".local" / "bin" / "muckrake"]


def once(file: Path, folder: Path) -> list[str | Path]:
    """`uvx`, which keeps nothing but its cache."""
    return [*UV, "tool", "run", "-q", "--python", sys.executable, "--from", file, "muckrake"]


def by_pipx(file: Path, folder: Path) -> list[str | Path]:
    """`pipx install`; where it is absent, uv runs the newest."""
    there = shutil.which("pipx")
    pipx = [there] if there else [*UV, "tool", "run", "-q", "pipx"]
    done(*pipx, "install", "-q", "--python", sys.executable, file, folder=folder)
    return [folder / ".local" / "bin" / "muckrake"]


WAYS = {"uv pip": environment, "uv tool": tool, "uvx": once, "pipx": by_pipx}
ALL = [(kind, way) for kind in ("*.whl", "*.tar.gz") for way in WAYS]
TRIED = [("*.whl", "uv pip")]  # it is made of the sdist; `slow` tries every way


@pytest.mark.ci
@pytest.mark.parametrize(("kind", "way"), sized(TRIED, TRIED, ALL))
def test_each_way_to_have_it_brings_commands_that_work_from_any_folder(
    way: str, kind: str, built: Path, tmp_path: Path
) -> None:
    (file,) = built.glob(kind)
    muckrake = WAYS[way](file, tmp_path)
    assert "muckrake, version" in done(*muckrake, "--version", folder=tmp_path)
    page = done(*muckrake, "demo", "--hands", "2", folder=tmp_path)
    (last,) = re.findall("^  (.* serve --ledger .* --web)$", page, re.MULTILINE)
    elsewhere = tmp_path / "another folder"
    elsewhere.mkdir()
    # The port is the one word that is ours: whoever tests may have a server at the usual one.
    line = ["sh", "-c", f"exec {last} --port 0"]
    browser = {"BROWSER": "true"}  # a browser that goes away at once
    with subprocess.Popen(
        line, cwd=elsewhere, env=known(tmp_path) | browser, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[0]
            with urlopen(f"{address}healthz", timeout=60) as answer:
                assert 200 == answer.status
            question = b'{"q": "SELECT 7 AS seven"}'  # a process of its own answers it
            json = {"content-type": "application/json"}
            asked = Request(f"{address}api/v1/sql", question, json)
            with urlopen(asked, timeout=60) as answer:
                assert b"seven" in answer.read()
        finally:
            server.terminate()
    assert 0 == server.returncode
