"""An import by several processes, broken off in every way: whole files are in, and nothing else."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.importing import pool
from api.importing.import_writer import ImportWriter
from api.importing.input_copies import InputFile, inputs
from api.importing.pool import outcomes
from api.importing.worker import ImportOptions, ImportOutcome
from api.main import main
from events.ledger import Appended
from events.match import MatchEnded
from formats.mit import parts
from store.ledger import FileLedger
from store.reader import Reader
from tests.foreign import gamelog, opened
from tests.processes import Popen
from tests.profiles import sized

AT = 1_700_000_000_000


def nobody(hands: int) -> None:
    """Nobody watches."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[InputFile, ...]:
    """Five logs, the middle one cut off."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for seed in range(5):
        gamelog(logs / f"{seed}.txt", rounds=20, seed=str(seed))
    cut = logs / "2.txt"
    cut.write_text(cut.read_text().rpartition("\nFinal")[0])
    return tuple(inputs([logs], tmp_path / "ledger"))


def test_two_processes_come_to_what_one_does(
    files: tuple[InputFile, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "JOB_BYTES", 1)  # each file is a job of its own
    ledgers = []
    for processes in (1, 2):
        scratch = tmp_path / f"scratch-{processes}"
        scratch.mkdir()
        with opened(tmp_path / f"ledger-{processes}") as ledger:
            found = outcomes(files, ImportOptions(), scratch, AT, ledger.nonces, nobody, processes)
            added = [count for _, count in ImportWriter(ledger, "sealed").write(found)]
            assert [20, 20, 0, 20, 20] == added
            assert [] == list(scratch.iterdir())
            ledgers.append([(one.stream, one.event) for one in ledger.read_from(0)])
    assert ledgers[0] == ledgers[1]


def test_where_processes_cannot_share_memory_one_does_it(
    files: tuple[InputFile, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In some containers /dev/shm is read-only, and there is no lock for several processes."""

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("multiprocessing.synchronize._multiprocessing.SemLock", refused)
    found = outcomes(files, ImportOptions(), tmp_path, AT, None, nobody, 2)
    assert [20, 20, 0, 20, 20] == [one.hands for one in found]


def test_small_files_are_gathered_into_jobs(files: tuple[InputFile, ...]) -> None:
    assert [files] == list(pool.job_files(files))


def test_hands_are_told_while_they_are_read(files: tuple[InputFile, ...], tmp_path: Path) -> None:
    told: list[int] = []
    list(outcomes(files, ImportOptions(), tmp_path, AT, None, told.append, 1))
    assert 80 == sum(told)


def test_after_ctrl_c_whole_files_are_in(
    files: tuple[InputFile, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer is asked to stop while the fourth file is read."""
    monkeypatch.setattr(pool, "JOB_BYTES", 1)
    ticks: list[int] = []

    def stop_at_third(hands: int) -> None:
        ticks.append(hands)
        if len(ticks) == 3:
            raise KeyboardInterrupt

    with opened(tmp_path / "ledger") as ledger:
        found = outcomes(files, ImportOptions(), tmp_path, AT, ledger.nonces, stop_at_third, 1)
        with pytest.raises(KeyboardInterrupt):
            list(ImportWriter(ledger, "sealed").write(found))
    snapshot = Reader(tmp_path / "ledger").snapshot()
    for match in snapshot.matches():
        assert isinstance(snapshot.read(match)[-1].event, MatchEnded)


def test_a_file_that_was_cut_off_in_the_middle_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine fails after two of five calls; the second import adds the other three."""
    monkeypatch.setattr(parts, "PART_HANDS", 20)
    log = gamelog(tmp_path / "log.txt", rounds=100)
    files = tuple(inputs([log], tmp_path))
    with opened(tmp_path / "ledger") as ledger:
        monkeypatch.setattr(ledger, "append_spelled", _failing(ledger, 2))
        with pytest.raises(OSError, match="the power is gone"):
            list(ImportWriter(ledger, "sealed").write(_found(ledger, files, tmp_path)))
    assert 40 == _hands(tmp_path / "ledger")
    with opened(tmp_path / "ledger") as ledger:
        (done,) = ImportWriter(ledger, "sealed").write(_found(ledger, files, tmp_path))
        assert 60 == done[1]
        (again,) = ImportWriter(ledger, "sealed").write(_found(ledger, files, tmp_path))
        assert 0 == again[1]
    assert 100 == _hands(tmp_path / "ledger")
    (match,) = Reader(tmp_path / "ledger").snapshot().matches()
    end = Reader(tmp_path / "ledger").read(match)[-1].event
    assert isinstance(end, MatchEnded)
    assert 0 == sum(end.nets)


def test_it_is_not_gone_on_with_under_other_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_HANDS", 20)
    files = tuple(inputs([gamelog(tmp_path / "log.txt", rounds=100)], tmp_path))
    with opened(tmp_path / "ledger") as ledger:
        monkeypatch.setattr(ledger, "append_spelled", _failing(ledger, 1))
        with pytest.raises(OSError, match="the power is gone"):
            list(ImportWriter(ledger, "sealed").write(_found(ledger, files, tmp_path)))
    with opened(tmp_path / "ledger") as ledger:
        ((found, added),) = ImportWriter(ledger, "open").write(_found(ledger, files, tmp_path))
    assert 0 == added
    assert found.refused is not None
    assert "was begun with other options" in found.refused.reason


def test_a_spool_that_was_spoilt_is_not_written(
    files: tuple[InputFile, ...], tmp_path: Path
) -> None:
    with opened(tmp_path / "ledger") as ledger:
        read = outcomes(files[:1], ImportOptions(), tmp_path, AT, ledger.nonces, nobody, 1)
        with pytest.raises(OSError, match="is not what was written to it"):
            list(ImportWriter(ledger, "sealed").write(map(_spoilt, read)))
        assert 0 == ledger.next_pos


FILES, ROUNDS = sized((5, 200), (6, 300), (12, 400))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_leaves_a_ledger_that_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    text = gamelog(tmp_path / "one.txt", rounds=ROUNDS).read_text()
    for at in range(FILES):
        (logs / f"{at:02}.txt").write_text(text.replace("random-0", f"bot {at}"))
    ledger = tmp_path / "ledger"
    words = ["import", str(logs), "--ledger", str(ledger)]
    call = "from api.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    with Popen(
        [sys.executable, "-c", call, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        while process.poll() is None and not any(ledger.glob(".import-*/*.spill")):
            time.sleep(0.02)
        time.sleep(sized(0.1, 0.2, 0.3))
        os.killpg(process.pid, number) if number == signal.SIGINT else process.kill()
        assert process.stderr is not None
        said = process.stderr.read().decode()
        process.wait()
    if number == signal.SIGINT and process.returncode:
        assert (130, True) == (process.returncode, "interrupted after " in said)
    assert main(words) == 0
    assert FILES * ROUNDS == _hands(ledger)
    assert [] == list(ledger.glob(".import-*"))


def _found(
    ledger: FileLedger, files: tuple[InputFile, ...], scratch: Path
) -> Iterator[ImportOutcome]:
    return outcomes(files, ImportOptions(audit=False), scratch, AT, ledger.nonces, nobody, 1)


def _failing(ledger: FileLedger, calls: int) -> Callable[[bytes], tuple[Appended, ...]]:
    """An append that works so many times."""
    real = ledger.append_spelled
    left = [calls]

    def append(payload: bytes) -> tuple[Appended, ...]:
        if not left[0]:
            raise OSError("the power is gone")
        left[0] -= 1
        return real(payload)

    return append


def _spoilt(found: ImportOutcome) -> ImportOutcome:
    path = Path(found.spill)
    path.write_bytes(path.read_bytes().replace(b"raised", b"RAISED").replace(b'"A', b'"K', 1))
    return found


def _hands(folder: Path) -> int:
    snapshot = Reader(folder).snapshot()
    streams = {one.stream for one in snapshot.read_from(0)}
    return sum("/" in stream for stream in streams)
