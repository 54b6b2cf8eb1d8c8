"""Whoever makes a ledger's folder makes it for its owner alone, and what is secret in it, too."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.http.credentials import Keys, login_url
from api.http.limits import Limits
from api.http.uploads import admit_upload
from api.jobs.jobs import Jobs
from api.main import main
from tests.http.test_jobs_import import log_of


@pytest.fixture(autouse=True)
def everybody_may_read_what_is_made() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def command(*words: str) -> Callable[[Path], object]:
    return lambda folder: main([*words, "--ledger", str(folder)])


def imported(folder: Path) -> None:
    log = folder.parents[1] / "game.log"
    log.write_bytes(log_of(2))
    assert 0 == main(["import", str(log), "--ledger", str(folder)])


MAKERS: dict[str, Callable[[Path], object]] = {
    "init": command("init"),
    "play": command("play", "site-nl", "--hands", "1"),
    "play --live": command("play", "site-nl", "--hands", "1", "--live", "--think-ms", "0"),
    "demo": command("demo"),
    "import": imported,
    "a key of the server": lambda folder: Keys(folder).make(("audit:read",)),
    "a login": lambda folder: login_url(folder, "http://127.0.0.1", ("audit:read",), "/"),
    "a job": lambda folder: Jobs(folder).room(),
    "a job of a key": lambda folder: admit_upload(Jobs(folder), "x", Limits(keep_free=0)),
}


SLOW = {"demo"}


@pytest.mark.parametrize(
    "maker",
    [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in MAKERS],
)
def test_a_ledgers_folder_is_its_owners_alone(maker: str, tmp_path: Path) -> None:
    folder = tmp_path / "above" / "ledger"
    MAKERS[maker](folder)
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert 0o755 == stat.S_IMODE(folder.parent.stat().st_mode), "what lies above is as ever"
    for secret in ("private", "jobs"):
        if (folder / secret).exists():
            assert 0o700 == stat.S_IMODE((folder / secret).stat().st_mode)


def test_a_folder_that_was_opened_up_stays_so(tmp_path: Path) -> None:
    """Who opens it to a group chooses to."""
    folder = tmp_path / "ledger"
    folder.mkdir(0o750)
    assert 0 == main(["play", "site-nl", "--hands", "1", "--ledger", str(folder)])
    assert 0o750 == stat.S_IMODE(folder.stat().st_mode)
