"""The set-up: what `./mr` and the locks promise. Nothing here needs the network."""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEAREST = "loadfile --no-loadscope-reorder"  # files in their order, each by one process
LOCKS = (
    "requirements.txt",
    "requirements-test.txt",
    "requirements-dev.txt",
    "requirements-docs.txt",
)


def load(path: Path) -> Any:
    """`mr` has no `.py` to its name, so it is loaded by hand."""
    loader = SourceFileLoader("mr", str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def mr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script in a folder of its own, with what it reads; no environment yet."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("mr", "pyproject.toml", *LOCKS):
        shutil.copy(ROOT / name, tmp_path / name)
    return load(tmp_path / "mr")


@pytest.fixture
def steps(mr: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps of an install, noted and not taken."""
    taken: list[str] = []

    def make_venv() -> None:
        pretend_venv(mr)
        taken.append("venv")

    def install_lock(lock: str, folder: str) -> None:
        assert not Path(mr.STAMP).exists(), "an install under way must not look finished"
        taken.append(Path(lock).name)

    monkeypatch.setattr(mr, "make_venv", make_venv)
    monkeypatch.setattr(mr, "install_lock", install_lock)
    monkeypatch.setattr(mr, "write_launcher", lambda: None)
    return taken


def pretend_venv(mr: Any) -> None:
    """An environment whose Python says what it is asked to run, and exits 6."""
    Path(mr.BIN).mkdir(parents=True, exist_ok=True)
    python = Path(mr.PYTHON)
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD" "$@"\nexit 6\n')
    python.chmod(0o755)


# Old Pythons.


def test_the_script_parses_on_a_python_that_is_too_old() -> None:
    source = (ROOT / "mr").read_text(encoding="ascii")
    tree = ast.parse(source, feature_version=(3, 4))
    newer_than_2 = (
        ast.JoinedStr | ast.AnnAssign | ast.NamedExpr | ast.Nonlocal | ast.AsyncFunctionDef
        | ast.YieldFrom | ast.Starred
    )  # fmt: skip
    for node in ast.walk(tree):
        assert not isinstance(node, newer_than_2), f"mr:{node.lineno} is not Python 2"
        match node:
            case ast.FunctionDef(args=ast.arguments(posonlyargs=[], kwonlyargs=[], args=args)):
                assert all(arg.annotation is None for arg in args), f"mr:{node.lineno}"
                assert node.returns is None, f"mr:{node.lineno}"
            case ast.FunctionDef():
                pytest.fail(f"mr:{node.lineno} has arguments that are not Python 2")
            case ast.Raise(cause=cause):
                assert cause is None, f"mr:{node.lineno} raises from"
            case ast.Call(func=ast.Name(id="print")):
                pytest.fail(f"mr:{node.lineno} prints: a statement in Python 2")
            case ast.ClassDef(keywords=keywords):
                assert not keywords, f"mr:{node.lineno}"


@pytest.mark.parametrize("name", ["python2.7", "python3.6", "python3.10"])
def test_an_old_python_says_in_one_sentence_what_to_install(name: str) -> None:
    python = shutil.which(name)
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no {name} here")
    done = subprocess.run(
        [python, ROOT / "mr", "demo"], env={"PATH": "/nowhere"}, capture_output=True, text=True
    )
    assert (1, "") == (done.returncode, done.stdout)
    assert 1 == done.stderr.count("\n")
    assert "needs Python 3.11 or newer" in done.stderr


def test_the_sentence_for_an_old_python_names_both_versions(mr: Any) -> None:
    expected = (
        "mr: muckrake needs Python 3.11 or newer and this is 2.7: install a newer one"
        " (or put it on PATH as python3.13), then run ./mr again"
    )
    assert expected == mr.too_old((2, 7, 18, "final", 0))


def test_a_name_on_path_that_leads_nowhere_is_not_a_newer_python(mr: Any, tmp_path: Path) -> None:
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\necho not installed >&2\nexit 127\n")
    shim.chmod(0o755)
    assert not mr.is_new_enough(str(shim))
    assert mr.is_new_enough(sys.executable)


# Verbs.


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["test"], ["-m pytest -n auto --maxprocesses 8 --dist worksteal"]),
        (["test", "--slow"], ["-m pytest -n auto --maxprocesses 8 --dist worksteal --slow"]),
        (
            ["test", "--profile", "ci"],
            ["-m pytest -n auto --maxprocesses 8 --dist worksteal --profile ci"],
        ),
        (
            ["test", "--changed"],
            [f"-m pytest -n auto --maxprocesses 8 --dist {NEAREST} --changed"],
        ),
        (
            ["test", "--changed", "HEAD~2", "--slow"],
            [f"-m pytest -n auto --maxprocesses 8 --dist {NEAREST} --changed HEAD~2 --slow"],
        ),
        (["test", "--profile=ci", "-x"], ["-m pytest --profile=ci -x"]),
        (["test", "tests/test_mr.py", "-x"], ["-m pytest tests/test_mr.py -x"]),
        (["lint"], ["-m ruff format --check .", "-m ruff check ."]),
        (["format"], ["-m ruff check --fix .", "-m ruff format ."]),
        (["types"], ["-m mypy"]),
        (["bench", "replay"], ["-m bench replay"]),
        (["fuzz", "--seed", "7"], ["tests/fuzz.py --seed 7"]),
        (["house", "HEAD"], ["tests/house.py HEAD"]),
        (["rehearse", "bookworm"], ["tests/rehearse.py bookworm"]),
        (["accept"], ["-m pytest -p tests.accepted --accept"]),
    ],
)
def test_a_verb_is_these_commands(mr: Any, words: list[str], expected: list[str]) -> None:
    _, commands = mr.plan(words)
    assert expected == [" ".join(command) for command in commands]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("games", "runtime"),
        ("test", "test"),
        ("test tests/test_mr.py -k check", "test"),
        ("test --profile quick", "test"),
        ("test --changed", "test"),
        ("docs", "docs"),
        ("test --slow", "dev"),
        ("test --profile ci", "dev"),
        ("test --profile=slow -x", "dev"),
        ("check", "dev"),
        ("accept", "dev"),
        ("lint", "dev"),
    ],
)
def test_browsers_and_other_engines_come_only_with_what_asks_for_more(
    mr: Any, words: str, expected: str
) -> None:
    assert expected == mr.plan(words.split())[0]


def test_the_tests_of_every_day_bring_no_browser_no_other_engine_and_no_server_of_others() -> None:
    light = pins(ROOT / "requirements-test.txt").keys()
    heavy = {"playwright", "pytest-playwright", "open-spiel", "pokerkit", "phevaluator", "eval7"}
    heavy |= {"texasholdem", "scipy", "moto", "boto3", "flask", "schemathesis", "mypy", "pyspark"}
    assert set() == heavy & light


def test_check_runs_format_lint_types_and_tests_each_once(mr: Any) -> None:
    _, commands = mr.plan(["check"])
    parts = [mr.plan([verb])[1] for verb in ("lint", "types", "test")]
    assert [command for part in parts for command in part] == commands


def test_every_verb_is_in_the_help(mr: Any) -> None:
    for verb in (*mr.VERBS, "vendor"):
        assert f"  ./mr {verb} " in mr.usage()
    assert "Anything else goes to muckrake" in mr.usage()


def test_what_mr_does_not_know_goes_to_muckrake_and_its_exit_code_comes_back(
    mr: Any, tmp_path: Path
) -> None:
    """From the caller's own folder, for that is where `./ledger` is meant to be."""
    pretend_venv(mr)
    mr.write(mr.STAMP, "".join(f"{level} {said}\n" for level, said in mr.digests().items()))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [sys.executable, tmp_path / "mr", "audit", "a b/1", "--json"],
        cwd=elsewhere, capture_output=True, text=True,
    )  # fmt: skip
    expected = [str(elsewhere.resolve()), mr.LAUNCHER, "audit", "a b/1", "--json"]
    assert (6, "", expected) == (done.returncode, done.stderr, done.stdout.splitlines())


def test_every_command_of_a_verb_runs_even_after_one_failed(
    mr: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    pretend_venv(mr)
    assert 6 == mr.run_all([["-m", "first"], ["-m", "second"]], mr.ROOT)
    assert "second" in capfd.readouterr().out


def test_the_checks_compile_a_module_once_even_where_nobody_wants_that_beside_the_sources(
    mr: Any, tmp_path: Path
) -> None:
    pretend_venv(mr)
    mr.write(mr.STAMP, "".join(f"{level} {said}\n" for level, said in mr.digests().items()))
    Path(mr.PYTHON).write_text('#!/bin/sh\necho "$PYTHONDONTWRITEBYTECODE:$PYTHONPYCACHEPREFIX"\n')
    for words, expected in (
        (["types"], f":{Path(mr.VENV).resolve() / 'compiled'}"),
        (["games"], "1:"),
    ):
        environment = {name: value for name, value in os.environ.items() if "PYC" not in name}
        done = subprocess.run(
            [sys.executable, tmp_path / "mr", *words],
            env=environment | {"PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True,
        )  # fmt: skip
        assert (0, expected) == (done.returncode, done.stdout.strip()), done.stderr


# Installing.


def test_each_level_is_installed_once(mr: Any, steps: list[str]) -> None:
    for level in ("runtime", "runtime", "test", "runtime", "test", "dev", "dev", "test", "runtime"):
        mr.ensure(level)
    assert ["venv", *LOCKS[:3]] == steps


def test_a_fresh_dev_install_brings_the_levels_above_it(mr: Any, steps: list[str]) -> None:
    for level in ("dev", "test", "runtime"):
        mr.ensure(level)
    assert ["venv", "requirements-dev.txt"] == steps


@pytest.mark.parametrize("name", ["pyproject.toml", "requirements.txt"])
def test_an_edit_installs_again_into_the_same_environment(
    mr: Any, steps: list[str], tmp_path: Path, name: str
) -> None:
    mr.ensure("dev")
    with (tmp_path / name).open("a") as file:
        file.write("# edited\n")
    mr.ensure("runtime")
    mr.ensure("dev")
    assert ["venv", "requirements-dev.txt", "requirements.txt", "requirements-dev.txt"] == steps


def test_an_edit_of_the_dev_lock_leaves_the_runtime_alone(mr: Any, tmp_path: Path) -> None:
    before = mr.digests()
    (tmp_path / "requirements-dev.txt").write_text("")
    after = mr.digests()
    assert ["dev"] == [level for level in before if before[level] != after[level]]


def test_a_folder_that_moved_or_another_python_is_a_new_environment(
    mr: Any, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mr.ensure("runtime")
    monkeypatch.setattr(sys, "base_prefix", "/another/python")
    mr.ensure("runtime")
    assert ["venv", "requirements.txt", "venv", "requirements.txt"] == steps


def test_an_interrupted_install_is_done_again_from_nothing(
    mr: Any, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mr.ensure("runtime")

    def interrupted(lock: str, folder: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(mr, "install_lock", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mr.ensure("dev")
    mr.ensure("dev")
    assert ["venv", "requirements.txt", "venv", "requirements-dev.txt"] == steps


@pytest.mark.slow
def test_a_real_environment_runs_the_folders_where_they_stand(tmp_path: Path) -> None:
    """With nothing to install, and uv on PATH, making it needs no network."""
    pytest.importorskip("uv")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    folder = tmp_path / "a folder's name"
    (folder / "api").mkdir(parents=True)
    shutil.copy(ROOT / "mr", folder / "mr")
    for name in ("pyproject.toml", *LOCKS):
        (folder / name).touch()
    (folder / "api" / "main.py").write_text(
        "import sys\ndef main():\n    print(sys.argv[1:])\n    return 5\n"
    )
    for command in ([sys.executable, folder / "mr"], [folder / ".venv" / "bin" / "muckrake"]):
        done = subprocess.run(
            [*command, "x"], cwd="/", env=environment, capture_output=True, text=True
        )
        assert (5, "['x']\n") == (done.returncode, done.stdout), done.stderr


# Locks and packaging.


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_of_a_lock_is_pinned_and_hashed(name: str) -> None:
    joined = (ROOT / name).read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]
    assert lines
    for line in lines:
        assert re.match(r"[a-z0-9-]+==[0-9][^ ]* .*--hash=sha256:[0-9a-f]{64}", line), line
        assert "://" not in line, line
        assert " --find-links" not in line, line


def test_the_locks_agree_on_versions_and_hold_what_pyproject_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime, test, dev, site = (pins(ROOT / name) for name in LOCKS)
    assert runtime.items() <= test.items() <= dev.items()
    assert runtime.items() <= site.items()
    assert all(dev.get(name, version) == version for name, version in site.items())
    assert asked(project["project"]["dependencies"]) <= runtime.keys()
    groups = project["dependency-groups"]
    assert asked(groups["test"]) <= test.keys()
    assert asked(groups["docs"]) <= site.keys()
    first, *rest = groups["dev"]
    assert {"include-group": "test"} == first
    assert asked(rest) <= dev.keys()


def pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", lock.read_text(), re.MULTILINE))


def asked(requirements: list[str]) -> set[str]:
    return {re.split(r"[^a-z0-9-]", line)[0] for line in requirements}


def test_every_package_of_the_distribution_is_a_folder_with_code() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["rooms"]
    assert packages
    for name in packages:
        assert list((ROOT / name).glob("*.py")), f"{name}/ has no code"


def test_no_file_names_the_host_of_a_package_registry() -> None:
    """Whoever builds this may have a mirror: installers know where to ask, our files do not."""
    git = shutil.which("git")
    listed = git and subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if not listed or listed.returncode:
        pytest.skip("not a git checkout")
    hosts = [b"pypi" + b".org", b"python" + b"hosted", b"npm" + b"js", b"unpkg" + b".com"]
    hosts += [b"jsdelivr" + b".net", b"anaconda" + b".org"]
    for name in filter(None, listed.stdout.split(b"\0")):
        path = ROOT / name.decode()
        if path.is_file():
            content = path.read_bytes()
            assert not [host for host in hosts if host in content], name.decode()


def test_the_launcher_starts_nothing_in_the_processes_that_a_command_starts(
    mr: Any, tmp_path: Path
) -> None:
    """A new process reads the script once more before it does its work."""
    venv = Path(mr.VENV)
    for folder in (venv / "bin", Path(sysconfig.get_path("purelib", "venv", {"base": str(venv)}))):
        folder.mkdir(parents=True, exist_ok=True)
    mr.write_launcher()
    runpy.run_path(mr.LAUNCHER, run_name="__mp_main__")
