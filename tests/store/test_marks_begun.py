"""The key of marks, and ledgers from before there were any: taken over once, and told."""

import shutil
from pathlib import Path

import pytest

from store.folder.disk import RealDisk
from store.folder.frames import Damaged, Marks, frame, frames
from store.ledger import FileLedger, open_ledger
from store.log import hot_log
from store.log.hot_log import to_payload
from store.proof.ledger_secrets import SecretFolder
from store.proof.notary import open_secrets
from store.reader import Reader
from store.recovery import check_files
from tests.store.small_hands import begun, noted, whole
from tests.store.test_marks import (
    KEY,
    NEW,
    OLD,
    log_of,
    next_pos,
    now_of,
    opened,
    other_time,
    refused,
    written,
)

FIRST = OLD._replace(marks=KEY._replace(strict=False))  # as the first writer of this version has it


def test_a_lost_key_is_no_reason_to_take_what_bears_no_mark(tmp_path: Path) -> None:
    written(tmp_path)
    told = "private/log.key is missing: without it nobody can tell what this ledger's writer"
    refused(tmp_path, told, OLD)
    other = Marks(bytes(32), strict=False)  # drawn anew
    gone = "does not bear the mark of private/log.key: that key is missing: put it back from a copy"
    refused(tmp_path, gone, OLD._replace(marks=other))


def test_the_key_is_drawn_once_and_takes_its_place_when_marks_are_there(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "test")
    assert ledger.marks is not None
    ledger.append(whole(1))
    ledger.close()
    lock.release()
    key = tmp_path / "private/log.key"
    assert 0o600 == key.stat().st_mode & 0o777
    assert (
        Marks(ledger.marks.key)
        == SecretFolder(tmp_path).marks()
        == SecretFolder(tmp_path).marks(draw=True)
    )
    assert not (tmp_path / "private/log.key.drawn").exists()
    now = now_of(tmp_path)
    assert 64 == len(now.begin)


def test_a_writer_that_died_while_marks_began_goes_on(tmp_path: Path) -> None:
    """Before the key took its place: with marks there already, and without."""
    for name, secrets in (("a", OLD), ("b", None)):
        folder = tmp_path / name
        folder.mkdir()
        if secrets:
            written(folder, secrets)
        drawn = SecretFolder(folder).marks(draw=True)
        assert drawn is not None
        assert not drawn.strict
        if not secrets:
            SecretFolder(folder).secrets()
            ledger = FileLedger(RealDisk(folder), secrets=open_secrets(folder, RealDisk(folder)))
            ledger.append(whole(1))
            ledger.close()
            key = SecretFolder(folder).marks()
            assert key == drawn
            assert now_of(folder).begin
        else:
            SecretFolder(folder).write("nonce.key", OLD.nonces.hex().encode() + b"\n")
            SecretFolder(folder).write("signing.key", OLD.signer.spelled())
        ledger, lock = open_ledger(folder, "test")
        ledger.close()
        lock.release()
        assert Marks(drawn.key) == SecretFolder(folder).marks()
        assert () == check_files(RealDisk(folder), SecretFolder(folder).marks())


def test_a_ledger_from_before_is_taken_over_whole(tmp_path: Path) -> None:
    written(tmp_path, OLD)
    assert not now_of(tmp_path).begin
    before = [*Reader(tmp_path).read_from(0)]
    note = (tmp_path / "tree/checkpoint").read_bytes()
    ledger = opened(tmp_path, FIRST)
    (told,) = ledger.notes
    assert told.startswith("this ledger is from before writers left marks; from now on nothing")
    assert told.endswith(". All 8 closed streams are those that were signed for")
    assert before == list(ledger.read_from(0))
    ledger.close()
    assert note == (tmp_path / "tree/checkpoint").read_bytes()
    ledger = opened(tmp_path)
    assert [] == ledger.notes
    ledger.append(whole(20))
    ledger.close()
    assert () == check_files(RealDisk(tmp_path), KEY)


def test_an_open_hand_of_a_ledger_from_before_is_voided(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(written(tmp_path, OLD)), secrets=OLD, clock=lambda: 0)
    ledger.append(begun(20))
    ledger.close()
    ledger = opened(tmp_path, FIRST)
    assert "m/20 was open: voided after 1 events" in ledger.notes
    ledger.close()
    opened(tmp_path).close()


@pytest.mark.parametrize("sealed", [0, 3])
def test_what_nobody_vouches_for_in_a_ledger_from_before_is_told(
    tmp_path: Path, sealed: int
) -> None:
    """A forger was there before: nothing can tell his hands, so they are counted and named."""
    written(tmp_path, OLD, sealed=sealed)
    at = next_pos(tmp_path)
    with log_of(tmp_path).open("ab") as log:
        log.write(frame(at, to_payload([whole(66)])))
        log.write(frame(at + 3, to_payload([whole(67)])))
    ledger = opened(tmp_path, FIRST)
    (told,) = ledger.notes
    assert told.endswith("Nobody vouches for 2 closed streams, from m/66 on")
    assert ledger.read("m/66")
    ledger.close()


def test_a_signed_hand_of_a_ledger_from_before_is_compared(tmp_path: Path) -> None:
    written(tmp_path, OLD)
    path = log_of(tmp_path)
    told = frames(path.read_bytes())
    path.write_bytes(b"".join(frame(*other_time(one)) for one in told))
    refused(tmp_path, "are not those that tree/checkpoint was signed for", FIRST)


def test_sealed_leaves_from_before_are_not_signed_before_they_are_compared(tmp_path: Path) -> None:
    """A forger who says that there was no tree yet had every segment signed for unseen."""
    written(tmp_path / "a", OLD, sealed=3, hot=0)
    forged = tmp_path / "b"
    forged.mkdir()
    ledger = FileLedger(RealDisk(forged))
    ledger.append(noted(0), *(whole(number, at=7) for number in range(5)))
    ledger.seal()
    ledger.close()
    shutil.copytree(tmp_path / "a/tree", forged / "tree")
    shutil.copy(tmp_path / "a/keys", forged / "keys")
    note = (forged / "tree/checkpoint").read_bytes()
    with pytest.raises(Damaged, match="are not those that tree/checkpoint was signed for"):
        opened(forged, FIRST)
    assert note == (forged / "tree/checkpoint").read_bytes()


def test_who_has_the_folder_and_not_the_key_has_no_mark(tmp_path: Path) -> None:
    """The key is in no file but its own."""
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.append(whole(1))
    ledger.close()
    lock.release()
    assert ledger.marks is not None
    key = ledger.marks.key
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.parent.name != "private":
            assert key not in path.read_bytes()
            assert key.hex().encode() not in path.read_bytes()


def test_a_mark_is_no_part_of_what_is_read(tmp_path: Path) -> None:
    """The same calls come out, with marks and without."""
    for name, secrets in (("a", OLD), ("b", NEW)):
        written(tmp_path / name, secrets)
    found = [hot_log.read(RealDisk(tmp_path / it), now_of(tmp_path / it).log).calls for it in "ab"]
    assert found[0] == found[1]
