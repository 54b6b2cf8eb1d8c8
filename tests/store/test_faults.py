"""What a failing disk, a second writer, a wrong clock or a careless caller can do to a ledger."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from events.ledger import Append, Ledger
from events.types import HandVoided
from store.folder.disk import Disk, LedgerLocked, RealDisk
from store.folder.frames import Damaged
from store.ledger import VOID, FileLedger, LedgerBroken, open_ledger
from tests.store.cheap_segments import cheap_segments
from tests.store.faulty_disk import FaultyDisk
from tests.store.memory import MemoryLedger
from tests.store.simulated_disk import SimulatedDisk
from tests.store.small_hands import begun, ended, noted, whole

CALLS: tuple[tuple[Append, ...], ...] = (
    (noted(0),),
    (begun(1),),
    (whole(2), whole(3)),  # three have closed: the first seal, with one hand carried
    (ended(1),),
    (begun(4), whole(5)),
    (noted(1),),  # the second
    (whole(6),),
)
FAULTS = {
    "no space left": (errno.ENOSPC, False),
    "no space left after half": (errno.ENOSPC, True),
    "an error": (errno.EIO, False),
    "an error after half": (errno.EIO, True),
    "a read-only file system": (errno.EROFS, False),
}
OPENING = """
make log
make segments
create log/00000000.log
write log/00000000.log
sync log/00000000.log
sync folder log
create manifest.json.tmp
write manifest.json.tmp
sync manifest.json.tmp
rename to manifest.json
sync folder .
publish watermark
"""
APPEND = """
write log/00000000.log
sync log/00000000.log
publish watermark
"""
SEAL = """
create segments/events-000000000000-000000000002.parquet.tmp
write segments/events-000000000000-000000000002.parquet.tmp
sync segments/events-000000000000-000000000002.parquet.tmp
rename to segments/events-000000000000-000000000002.parquet
sync folder segments
create log/00000001.log
write log/00000001.log
sync log/00000001.log
sync folder log
create manifest.json.tmp
write manifest.json.tmp
sync manifest.json.tmp
rename to manifest.json
sync folder .
remove log/00000000.log
publish watermark
"""
FIRST_OF_SEAL = "create segments/events-000000000000-000000000002.parquet.tmp"


@pytest.fixture
def cheap() -> Iterator[None]:
    with cheap_segments():
        yield


@pytest.mark.usefixtures("cheap")
def test_what_is_written_and_synced_in_which_order() -> None:
    disk = FaultyDisk(SimulatedDisk("order"))
    worked(disk, CALLS[:3])
    told = (OPENING + APPEND * 3 + SEAL).replace("\n\n", "\n")
    assert told.strip().split("\n") == disk.points


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_at_any_write_point_harms_nothing(fault: str) -> None:
    """One clear error, then nothing is touched any more; opened again, the ledger is whole."""
    number, half = FAULTS[fault]
    points = FaultyDisk(SimulatedDisk("count"))
    worked(points, CALLS)
    assert 60 < len(points.points)
    for at in range(len(points.points)):
        inner = SimulatedDisk("fault")
        disk = FaultyDisk(inner, at, number, half=half)
        acknowledged, ledger, sentence = worked(disk, CALLS)
        point = points.points[at]
        assert os.strerror(number) in sentence, point
        assert point.split()[-1].removeprefix(".") in sentence, point
        touched = len(disk.points)
        if ledger is not None:
            refused_for_good(ledger, sentence)
        assert touched == len(disk.points) == at + 1, f"{point}: {disk.points[at:]}"
        is_whole(FaultyDisk(inner), acknowledged, point)


def worked(
    disk: Disk, calls: tuple[tuple[Append, ...], ...]
) -> tuple[MemoryLedger, FileLedger | None, str]:
    """What was acknowledged before the disk failed, and what was said then."""
    acknowledged = MemoryLedger()
    try:
        ledger = FileLedger(disk, seal_hands=3, clock=lambda: 0)
    except LedgerBroken as failure:
        return acknowledged, None, str(failure)
    try:
        for call in calls:
            assert ledger.append(*call) == acknowledged.append(*call)
        ledger.read("m")
    except LedgerBroken as failure:
        return acknowledged, ledger, str(failure)
    return acknowledged, ledger, ""


def refused_for_good(ledger: FileLedger, sentence: str) -> None:
    """Every call hears the same, the second time too."""
    for _ in range(2):
        with pytest.raises(LedgerBroken) as told:
            ledger.append(whole(9))
        assert sentence == str(told.value)
    for call in (ledger.seal, lambda: ledger.read("m"), lambda: list(ledger.follow(0))):
        with pytest.raises(LedgerBroken) as told:
            call()
        assert sentence == str(told.value)
    ledger.close()


def is_whole(disk: Disk, acknowledged: MemoryLedger, point: str) -> None:
    """Everything acknowledged is there, of the next call all or nothing, and life goes on."""
    ledger = FileLedger(disk, seal_hands=3, clock=lambda: 0)
    known = list(acknowledged.read_from(0))
    there = list(ledger.read_from(0))
    assert known == there[: len(known)], point
    rest = tuple(one.event for one in there[len(known) :] if one.event != HandVoided(VOID))
    asked = [tuple(event for one in call for event in one.events) for call in CALLS]
    assert rest in ((), *asked), point
    assert ledger.append(whole(100))[0].version == 3
    assert ledger.read("m/100")


@pytest.mark.usefixtures("cheap")
def test_a_failed_sync_is_not_tried_again() -> None:
    disk = FaultyDisk(SimulatedDisk("sync"), at=13, errno=errno.EIO)
    ledger = FileLedger(disk)
    with pytest.raises(LedgerBroken) as told:
        ledger.append(whole(1))
    assert str(told.value) == (
        "writing failed: log/00000000.log: Input/output error; "
        "what was acknowledged is safe: open the ledger again"
    )
    assert disk.points[13:] == ["sync log/00000000.log"]
    with pytest.raises(LedgerBroken):
        ledger.append(whole(1))
    assert disk.points[13:] == ["sync log/00000000.log"]


@pytest.mark.usefixtures("cheap")
def test_an_append_is_answered_though_the_seal_after_it_fails() -> None:
    inner = SimulatedDisk("seal")
    at = (OPENING + APPEND + SEAL).strip().replace("\n\n", "\n").split("\n").index(FIRST_OF_SEAL)
    disk = FaultyDisk(inner, at, errno.ENOSPC)
    ledger = FileLedger(disk, seal_hands=1)
    assert 0 == ledger.append(whole(1))[0].hand_seq
    with pytest.raises(
        LedgerBroken, match=r"^sealing failed: segments/.*: No space left on device; "
    ):
        ledger.append(whole(2))
    assert FileLedger(inner, seal_hands=1).read("m/1")


@pytest.mark.usefixtures("cheap")
def test_an_interrupt_inside_a_write_is_no_half_written_log() -> None:
    """Ctrl-C between a write and its sync: memory and disk may differ, so nothing more is taken."""
    inner = SimulatedDisk("interrupt")
    disk = Interrupted(inner)
    ledger = FileLedger(disk)
    ledger.append(whole(1))
    disk.now = True
    with pytest.raises(KeyboardInterrupt):
        ledger.append(whole(2))
    with pytest.raises(LedgerBroken, match="writing failed: KeyboardInterrupt; "):
        ledger.append(whole(3))
    assert ["m/1", "m/2"] == hands_of(FileLedger(inner))


class Interrupted(FaultyDisk):
    """Somebody presses Ctrl-C at the next sync of the log."""

    now = False

    def point(self, what: str, path: str) -> None:
        if self.now and what == "sync":
            raise KeyboardInterrupt


# Folders.


def test_a_read_only_folder_is_one_sentence(open_to_all: Path) -> None:
    folder = open_to_all / "ledger"
    ledger, lock = open_ledger(folder, "a test")
    ledger.append(whole(1))
    ledger.close()
    lock.release()
    with as_nobody(), pytest.raises(LedgerBroken) as told:
        open_ledger(folder, "a test")
    assert f"{folder} cannot be written: {folder}/lock: Permission denied" == str(told.value)
    with as_nobody(), pytest.raises(LedgerBroken) as told:
        open_ledger(open_to_all / "new", "a test")
    assert str(told.value).endswith("/new: Permission denied")
    ledger, lock = open_ledger(folder, "a test")
    assert ["m/1"] == hands_of(ledger)
    ledger.close()
    lock.release()


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that others can enter and not change; pytest's own are private."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


class as_nobody:  # noqa: N801
    """For root no folder is read-only: for a moment we are not root."""

    def __enter__(self) -> None:
        if os.geteuid() != 0:
            pytest.skip(
                "only root can make a folder that it cannot write, and become somebody else"
            )
        os.seteuid(65534)

    def __exit__(self, *_: object) -> None:
        os.seteuid(0)


def test_a_new_folder_is_durable_in_the_one_that_holds_it(tmp_path: Path) -> None:
    synced: list[Path] = []
    real = RealDisk.sync_folder

    def sync_folder(disk: RealDisk, folder: str) -> None:
        synced.append(disk.root / folder)
        real(disk, folder)

    with patch.object(RealDisk, "sync_folder", sync_folder):
        ledger, lock = open_ledger(tmp_path / "new" / "ledger", "a test")
    ledger.close()
    lock.release()
    assert [tmp_path, tmp_path / "new"] == synced[:2]
    assert tmp_path / "new" / "ledger" in synced


def test_a_second_writer_hears_who_the_first_is(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "muckrake play")
    with pytest.raises(LedgerLocked) as told:
        open_ledger(tmp_path, "muckrake import")
    assert (
        f"{tmp_path} is being written by muckrake play (process {os.getpid()}): only one may write"
        == str(told.value)
    )
    ledger.close()
    lock.release()
    lock.release()  # twice is once
    second, lock = open_ledger(tmp_path, "muckrake import")
    second.close()
    lock.release()


def test_a_ledger_that_cannot_be_opened_is_not_held(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    for _ in range(2):
        with pytest.raises(Damaged, match=r"manifest\.json cannot be read"):
            open_ledger(tmp_path, "a test")


@pytest.mark.parametrize("gone", ["manifest.json", "log/00000001.log", "segments/*.parquet"])
def test_a_missing_file_is_named_and_nothing_else_is_removed(gone: str, tmp_path: Path) -> None:
    """A ledger without its manifest is not a new ledger."""
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=1)
    ledger.append(whole(1))
    ledger.append(begun(2))
    ledger.close()
    for path in tmp_path.glob(gone):
        path.unlink()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Damaged, match=f"^{gone.replace('*', '.*')} is missing"):
        FileLedger(RealDisk(tmp_path))
    assert before == sorted(tmp_path.rglob("*"))


def test_what_a_crash_left_is_swept_and_what_others_left_is_not(tmp_path: Path) -> None:
    FileLedger(RealDisk(tmp_path)).close()
    for name in ("log/00000001.log", "segments/events-0-1.parquet.tmp", "segments/notes.txt"):
        (tmp_path / name).write_text("left over")
    FileLedger(RealDisk(tmp_path)).close()
    assert ["notes.txt"] == [one.name for one in (tmp_path / "segments").iterdir()]
    assert ["00000000.log"] == [one.name for one in (tmp_path / "log").iterdir()]


def hands_of(ledger: Ledger) -> list[str]:
    return sorted({one.stream for one in ledger.read_from(0) if "/" in one.stream})
