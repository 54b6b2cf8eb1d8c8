"""How the tests are run: how much they try, where their files lie, and `--accept`, which rewrites
the goldens."""

import atexit
import gc
import os
import shutil
import tarfile
import tempfile
import time
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import profiles

pytest.register_assert_rewrite("tests.laws")
os.environ["MUCKRAKE_CACHE"] = tempfile.mkdtemp(prefix="muckrake-cache-")  # not the user's own
os.environ["MUCKRAKE_KNOWN_KEYS"] = os.path.join(os.environ["MUCKRAKE_CACHE"], "known_keys")
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="muckrake-state-")
# Python 3.11.2, as Debian has it, can unpack without a filter only; 3.12 and 3.13 warn of that.
tarfile.TarFile.extraction_filter = staticmethod(getattr(tarfile, "data_filter", lambda it, _: it))
for _folder in ("MUCKRAKE_CACHE", "XDG_STATE_HOME"):
    atexit.register(shutil.rmtree, os.environ[_folder], ignore_errors=True)

MEMORY = Path("/dev/shm")
NEAREST, MINUTE_S = 40, 45  # test files of `--changed`, and seconds from when they are known
UNTIL = "MUCKRAKE_TESTS_UNTIL"
ROOM = 2 << 30  # bytes; a run of everything takes some hundred megabytes


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite goldens; then read the diff")
    parser.addoption(
        "--profile", choices=profiles.PROFILES, help="how much is tried: tests/profiles.py"
    )
    parser.addoption(
        "--changed",
        nargs="?",
        const="main",
        metavar="COMMIT",
        help="only test files that a change against it can reach; in profile quick for a minute",
    )
    parser.addoption("--slow", action="store_const", dest="profile", const="slow", help="all of it")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--profile"):
        os.environ[profiles.VARIABLE] = config.getoption("--profile")
    config.option.markexpr = config.option.markexpr or profiles.MARKED[profiles.chosen()]
    profiles.tell_hypothesis()
    if config.getoption("--changed"):
        given = getattr(config, "workerinput", {}).get("files")
        config.args[:] = given or _reached(config.getoption("--changed"))
    if config.getoption("--accept") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--accept writes files that several tests share: leave out -n")
    if config.getoption("numprocesses", None) and "TMPDIR" not in os.environ and _has_room():
        folder = tempfile.mkdtemp(prefix="muckrake-tests-", dir=MEMORY)
        Path(folder).chmod(0o755)  # a test that goes on as nobody must get through
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist what is reached: its command line does not name the files."""
    node.workerinput["files"] = node.config.args if node.config.getoption("--changed") else None


def _reached(commit: str) -> list[str]:
    """The test files to run; where none is reached or there is nothing to compare with, that is
    all there is to say."""
    from tests import changed

    try:
        changes = changed.changed(changed.ROOT, commit)
    except changed.NoSuchCommit as refused:
        raise pytest.UsageError(f"--changed {commit}: {refused}") from None
    found = changed.Tree(changed.ROOT).reached(changes)
    since = f"{len(changes)} files differ from {commit}"
    if not found:
        pytest.exit(f"{since}: no test can tell", returncode=0)
    print(f"{since}: {len(found)} test files can tell")
    if profiles.chosen() == "quick" and len(found) > NEAREST:
        print(f"the {NEAREST} nearest are run, for a minute; --profile ci runs them all")
        del found[NEAREST:]
        os.environ[UNTIL] = str(time.time() + MINUTE_S)
    return [str(changed.ROOT / path) for path in found]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Each process of a run of many tests, and none of a few, has its own to fork from."""
    if hasattr(session.config, "workerinput"):
        from tests.processes import begin_forks

        begin_forks()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        pytest.skip("the minute is over: --profile ci runs all that a change can reach")


def _has_room() -> bool:
    """Whether all tests at once may lie in memory: thousands of syncs, which take a disk minutes.

    What a sync is good for is proved on a disk that is simulated. Whoever runs a few tests finds
    their files where pytest keeps them; who names a TMPDIR, there.
    """
    if not (MEMORY.is_dir() and os.access(MEMORY, os.W_OK | os.X_OK)):
        return False
    there = os.statvfs(MEMORY)
    return there.f_bavail * there.f_frsize > ROOM and not there.f_flag & os.ST_NOEXEC


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests stay to the end: nobody looks for garbage among them, now or later; and
    less often than for every 700 objects, which were a hundredth of a run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20)
        gc.enable()


def pytest_report_header() -> str:
    from tests import chromium

    there = chromium.found()
    return f"profile: {profiles.chosen()}, browser: {there.file or there.reason}"


@pytest.fixture(autouse=True)
def by_itself(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test has its own memory of ledgers, whose copies go different ways, and its own loop.

    Playwright leaves its loop running between its tests: whoever else needs one has his own. This
    is one fixture and asks for no other: what is set up here is set up for thousands of tests.
    """
    item, state = request.node, os.environ["XDG_STATE_HOME"]
    os.environ["XDG_STATE_HOME"] = f"{state}/{abs(hash(item.nodeid))}"
    loop = None if item.get_closest_marker("browser") else _get_running_loop()
    if loop is not None:
        _set_running_loop(None)
    yield
    if loop is not None:
        _set_running_loop(loop)
    os.environ["XDG_STATE_HOME"] = state


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be rewritten instead of compared."""
    return bool(request.config.getoption("--accept"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of two matches that the command line has played, for looking at only."""
    from api.main import main
    from tests.sessions import PAIRS, SCRIM

    made = tmp_path_factory.mktemp("played") / "ledger"
    for words in (SCRIM, PAIRS):
        assert main(["play", *words, "--ledger", str(made)]) == 0
    return made


@pytest.fixture
def chosen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands without `--ledger` look at that one."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))


@pytest.fixture(scope="session")
def jobs_are_forked() -> Iterator[None]:
    """Applications in this process start their jobs by `tests/processes.py`."""
    from tests.processes import forks_for

    with forks_for("api.jobs.jobs"):
        yield


@pytest.fixture
def salted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same salt for every ledger: those of one secret and one record have one root."""
    monkeypatch.setattr(
        "store.proof.ledger_secrets.drawn_salt", lambda: b"the same salt for every ledger.."
    )
