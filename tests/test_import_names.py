"""What an import is called, and that the same content is the same match in one ledger."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from api.importing.index import MatchNaming
from api.main import main
from events.ledger import Appended
from store.ledger import FileLedger
from store.reader import Reader
from tests.foreign import ROUNDS, gamelog, misjudged
from tests.sessions import Captured, kept, printed, said
from tests.test_cli_import import size, told


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands without `--ledger` write this one."""
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    return folder


def test_the_name_of_the_match_follows_from_the_content_in_this_ledger_only(
    capsys: Captured, tmp_path: Path
) -> None:
    """Whoever has the file and not the ledger's secret cannot tell what it is called there."""
    log = gamelog(tmp_path / "gamelog.txt")
    (here,) = told(capsys, log)
    (again,) = told(capsys, log)
    (there,) = told(capsys, log, "--ledger", tmp_path / "another")
    assert re.fullmatch("[0-9a-f]{12}", here["match"])
    assert here["match"] == again["match"] != there["match"]
    assert hashlib.sha256(log.read_bytes()).hexdigest()[:12] not in (here["match"], there["match"])


def test_a_single_file_is_called_as_asked(capsys: Captured, tmp_path: Path, ledger: Path) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    for imported in (ROUNDS, 0):
        (one,) = told(capsys, log, "--match", "scrim")
        assert ("scrim", imported) == (one["match"], one["imported"])
    assert kept(ledger, "scrim/1")
    other = gamelog(tmp_path / "other.txt", seed="8")
    (one,) = told(capsys, other, "--match", "scrim", code=1)
    assert "there is another match scrim in the ledger already" == one["refused"]["reason"]


def test_a_match_of_another_name_is_found_by_its_content(capsys: Captured, tmp_path: Path) -> None:
    log = gamelog(tmp_path / "gamelog.txt")
    (one,) = told(capsys, log, "--match", "evening")
    (again,) = told(capsys, log)
    assert ("evening", "evening", 0) == (one["match"], again["match"], again["imported"])


def test_a_name_is_for_one_file(capsys: Captured, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        gamelog(tmp_path / name, rounds=1, seed=name)
    sentence = "--match scrim names one file, and there are 2: see muckrake import --help"
    assert sentence == said(capsys, 2, "import", str(tmp_path), "--match", "scrim")
    one = str(tmp_path / "a.txt")
    assert said(capsys, 2, "import", one, "--match", "a/b").startswith("'a/b' cannot name a match")


def test_a_ledger_of_before_keeps_its_names(
    capsys: Captured, tmp_path: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a file that was begun then, and is gone on with now."""
    log, cut = gamelog(tmp_path / "a.txt"), gamelog(tmp_path / "b.txt", rounds=100, seed="8")
    monkeypatch.setattr("formats.mit.parts.PART_HANDS", 20)
    with monkeypatch.context() as before:
        before.setattr(MatchNaming, "name", lambda self, sha256: sha256[:12])
        told(capsys, log)
        before.setattr(FileLedger, "append_spelled", _failing_after(2))
        assert main(["import", str(cut)])
        capsys.readouterr()
    known = size(ledger)
    (one,) = told(capsys, log)
    name = hashlib.sha256(log.read_bytes()).hexdigest()[:12]
    assert (name, 0) == (one["match"], one["imported"])
    assert known == size(ledger)
    (one,) = told(capsys, cut)
    assert (hashlib.sha256(cut.read_bytes()).hexdigest()[:12], 60) == (
        one["match"],
        one["imported"],
    )
    assert 2 == len(Reader(ledger).snapshot().matches())


def _failing_after(calls: int) -> Callable[[FileLedger, bytes], tuple[Appended, ...]]:
    """The power is gone after so many calls."""
    append, left = FileLedger.append_spelled, [calls]

    def appended(self: FileLedger, payload: bytes) -> tuple[Appended, ...]:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("the power is gone")
        return append(self, payload)

    return appended


def test_the_same_content_again_changes_nothing(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    log = misjudged(tmp_path / "gamelog.txt")
    (first,) = told(capsys, log, code=3)
    before = size(ledger)
    elsewhere = tmp_path / "renamed.txt"
    elsewhere.write_bytes(log.read_bytes())
    (again,) = told(capsys, elsewhere, code=3)
    assert first | {"file": str(elsewhere), "imported": 0} == again
    assert before == size(ledger)
    assert "there already" in printed(capsys, "import", str(log), code=3)


def test_the_same_content_twice_in_one_call_is_one_match(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    log = gamelog(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_bytes(log.read_bytes())
    assert [ROUNDS, 0] == [one["imported"] for one in told(capsys, log, tmp_path / "b.txt")]
    assert 1 == len(list(Reader(ledger).snapshot().matches()))
