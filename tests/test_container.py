"""The container: what its file says, everywhere; the container itself, where one can be started."""

import itertools
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.test_service_unit import serving

ROOT = Path(__file__).parents[1]
FILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
BASE = "python:3.13-slim"
NAME = "muckrake-test"  # of the image, its volume and its container
LEDGER = "/var/lib/muckrake/ledger"


def said(word: str) -> list[str]:
    """What follows an instruction, line by line."""
    return re.findall(rf"^ *{word} (.*)$", FILE, re.MULTILINE)


def command(word: str) -> list[str]:
    """The last such instruction, as the words that are run."""
    words = json.loads(said(word)[-1])
    assert isinstance(words, list)
    return words


def carried() -> list[str]:
    """The tracked files that the build is given, by `.dockerignore`: its last line that fits."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    names = []
    for name in filter(None, listed.stdout.split("\0")):
        top = name.split("/")[0]
        fits = [one for one in rules if fnmatch(top, one.removeprefix("!"))]
        if fits and fits[-1].startswith("!"):
            names.append(name)
    return names


def test_the_build_is_given_what_runs_and_nothing_else() -> None:
    assert [". .", "--from=build /opt/muckrake /opt/muckrake"] == said("COPY")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    rooms = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["rooms"]
    sources = runpy.run_path(str(ROOT / "mr"))["SOURCES"].values()  # it makes a digest of each
    files = {"LICENSE", "mr", *itertools.chain(*sources)}
    assert {"muckrake", *rooms, *files} == {name.split("/")[0] for name in carried()}


def test_it_runs_as_nobody_in_particular_and_writes_in_one_folder() -> None:
    user, group = said("USER")[-1].split(":")
    assert int(user) > 999
    assert int(group) > 999
    (volume,) = said("VOLUME")
    assert f"RUN install -d -o {user} -g {group} -m 700 {volume}" in FILE
    assert LEDGER.startswith(f"{volume}/")
    for variable in re.findall(r"(?<==)/\S+", said("ENV")[-1]):
        assert variable.startswith((volume, "/tmp")), "else the root could not be read-only"
    assert ["SIGTERM"] == said("STOPSIGNAL")


def test_its_base_has_a_python_that_muckrake_runs_on() -> None:
    assert [f"BASE={BASE}"] == said("ARG")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert f"Programming Language :: Python :: {BASE[7:11]}" in project["project"]["classifiers"]


@pytest.mark.ci  # before, the command of a unit serves: tests/test_service_unit.py
def test_its_command_serves_and_its_health_is_asked_there(tmp_path: Path) -> None:
    assert ["/opt/muckrake/.venv/bin/muckrake"] == command("ENTRYPOINT")
    words = command("CMD")
    port = words[words.index("--port") + 1]
    assert [port] == said("EXPOSE")
    words[words.index("--host") + 1] = "127.0.0.1"
    python, *health = json.loads(said("HEALTHCHECK")[0].partition("CMD ")[2])
    assert "/opt/muckrake/.venv/bin/python" == python
    with serving([*words, "--ledger", str(tmp_path / "ledger")]) as address:
        ours = [word.replace(f"http://127.0.0.1:{port}/", address) for word in health]
        assert ours != health
        assert 0 == subprocess.run([sys.executable, *ours], timeout=60).returncode
    gone = subprocess.run([sys.executable, *ours], capture_output=True, timeout=60)
    assert gone.returncode


def done(*words: str | Path, folder: Path = ROOT) -> str:
    """What a step says."""
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=900)
    assert 0 == ran.returncode, f"{words}\n{ran.stdout}{ran.stderr}"
    return ran.stdout.strip()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[str]:
    """podman or docker, with our image; a sentence says where one of these is not to be had.

    MUCKRAKE_CONTAINER_BASE names another base than the usual one, MUCKRAKE_CONTAINER_WHEELS a
    folder of wheels for its Python, MUCKRAKE_CONTAINER_BUILD more words for the build.
    """
    base = os.environ.get("MUCKRAKE_CONTAINER_BASE", BASE)
    names = [name for name in ("podman", "docker") if shutil.which(name)]
    tried = "there is neither podman nor docker"
    for name in names:
        probe = [name, "run", "--rm", "--network=none", base, "python3", "--version"]
        ran = subprocess.run(probe, capture_output=True, text=True, timeout=600)
        if not ran.returncode:
            break
        tried = f"{name} starts no container of {base}: {ran.stderr.strip()[-200:]}"
    else:
        pytest.skip(tried)
    for file in [*carried(), "Dockerfile", ".dockerignore"]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    if wheels := os.environ.get("MUCKRAKE_CONTAINER_WHEELS"):
        shutil.copytree(wheels, tmp_path / "wheels")
    more = shlex.split(os.environ.get("MUCKRAKE_CONTAINER_BUILD", ""))
    done(name, "build", *more, "--build-arg", f"BASE={base}", "-t", NAME, ".", folder=tmp_path)
    try:
        yield name
    finally:
        subprocess.run([name, "rm", "-f", NAME], capture_output=True)
        subprocess.run([name, "volume", "rm", NAME], capture_output=True)
        subprocess.run([name, "rmi", NAME], capture_output=True)


@pytest.mark.ci
def test_a_container_serves_keeps_its_ledger_and_ends_well(engine: str) -> None:
    """As docs/serving.md says it: a root that nobody can write, no capability, one volume."""
    page = (ROOT / "docs/serving.md").read_text("utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"^\$ (docker run .*)$", page, re.MULTILINE)
    words = shlex.split(line)
    words[0], words[-1] = engine, NAME
    words[words.index("-v") + 1] = f"{NAME}:/var/lib/muckrake"
    words[2:2] = ["--name", NAME]
    words[words.index("-p") + 1] = "127.0.0.1::8000"
    for hands in (3, 5):
        done(*words)
        answered(engine)
        play = ("play", "auction-2024", "--hands", str(hands), "--match", f"of-{hands}")
        done(engine, "exec", NAME, "/opt/muckrake/.venv/bin/muckrake", *play)
        assert "10001" == done(engine, "exec", NAME, "id", "-u")
        assert subprocess.run([engine, "exec", NAME, "touch", "/opt/x"]).returncode
        matches = done(engine, "exec", NAME, "/opt/muckrake/.venv/bin/muckrake", "matches")
        assert "of-3" in matches
        done(engine, "stop", "-t", "20", NAME)
        state = json.loads(done(engine, "inspect", NAME))[0]["State"]
        assert 0 == state["ExitCode"], "SIGTERM ends it well"
        done(engine, "rm", NAME)


def answered(engine: str) -> None:
    """Wait until the port that the engine chose answers."""
    port = done(engine, "port", NAME, "8000").splitlines()[0].rpartition(":")[2]
    for _ in range(60):
        try:
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
                assert 200 == answer.status
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"nothing answered: {done(engine, 'logs', NAME)}")
