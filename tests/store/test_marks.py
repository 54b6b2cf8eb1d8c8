"""No hand enters without the key: whoever can write the folder, and has not read `private/`, cannot
put anything there that a writer signs for.

The forger knows the format and makes every checksum and digest right again.
"""

import hashlib
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.frames import MARK_BYTES, Damaged, Frame, Marks, frame, frames
from store.folder.manifest import Manifest
from store.ledger import FileLedger
from store.log.hot_log import to_payload
from store.log.streams import publish_watermark
from store.proof.ledger_secrets import Secrets
from store.proof.notary import last_checkpoint
from store.proof.note import Signer
from store.reader import Reader
from store.recovery import check_files
from store.segments.staged_batches import make_batch
from store.tables.projection import STANDARD
from store.verify import Verifier
from tests.profiles import sized
from tests.store.small_hands import begun, ended, noted, whole

KEY = Marks(bytes(range(1, 33)))
OLD = Secrets(bytes(range(32)), Signer("m.local/marks", bytes(32)))  # of before there were marks
NEW = OLD._replace(marks=KEY)


def written(folder: Path, secrets: Secrets = NEW, sealed: int = 3, hot: int = 3) -> Path:
    """Some hands and records that are sealed, and some in the log."""
    folder.mkdir(exist_ok=True)
    ledger = FileLedger(RealDisk(folder), secrets=secrets, clock=lambda: 0)
    if sealed:
        ledger.append(noted(0), *(whole(number) for number in range(sealed)))
        ledger.seal()
    for number in range(sealed, sealed + hot):
        ledger.append(whole(number))
    ledger.append(noted(1 if sealed else 0))
    ledger.close()
    return folder


def opened(folder: Path, secrets: Secrets = NEW) -> FileLedger:
    return FileLedger(RealDisk(folder), secrets=secrets, clock=lambda: 0)


def now_of(folder: Path) -> Manifest:
    now = manifest.read(RealDisk(folder))
    assert now is not None
    return now


def log_of(folder: Path) -> Path:
    return folder / now_of(folder).log


def next_pos(folder: Path) -> int:
    return Reader(folder).snapshot().next_pos


def refused(folder: Path, sentence: str, secrets: Secrets = NEW) -> Damaged:
    """The writer refuses, and nothing is lost, changed or signed."""
    before = contents(folder)
    with pytest.raises(Damaged, match=sentence) as told:
        opened(folder, secrets)
    assert before == contents(folder)
    return told.value


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def named_by_all(folder: Path, sentence: str) -> None:
    """The doctor and the verifier name it, too, if they have the key."""
    assert any(
        sentence in one.sentence for one in check_files(RealDisk(folder), KEY) if not one.note
    )
    verifier = Verifier(Reader(folder).snapshot(), NEW.nonces, marks=KEY)
    for _ in verifier.leaves():
        pass
    found = verifier.verified()
    assert not found.ok
    assert any(sentence in one.sentence for one in found.wrong)


# The log.


@pytest.mark.parametrize("mark", [b"", bytes(MARK_BYTES)], ids=["none", "a wrong one"])
@pytest.mark.parametrize("sealed", [0, 3], ids=["the first log", "a later one"])
def test_a_forged_hand_in_the_log_is_refused_and_named(
    tmp_path: Path, mark: bytes, sealed: int
) -> None:
    """With its checksum right and its position the next; a writer signed for it."""
    written(tmp_path, sealed=sealed)
    at, size = next_pos(tmp_path), log_of(tmp_path).stat().st_size
    with log_of(tmp_path).open("ab") as log:
        log.write(frame(at, to_payload([whole(66)]), mark))
    told = refused(tmp_path, f"holds an append at byte {size}, after m .*, without the mark of")
    assert (size, "m") == (told.place, told.hand)
    (finding,) = check_files(RealDisk(tmp_path), KEY)
    assert (size, False) == (finding.place, finding.note)


def test_what_a_forged_watermark_calls_durable_is_named(tmp_path: Path) -> None:
    """So that readers see it, too."""
    written(tmp_path)
    at = next_pos(tmp_path)
    with log_of(tmp_path).open("ab") as log:
        log.write(frame(at, to_payload([whole(66)])))
    now = now_of(tmp_path)
    publish_watermark(RealDisk(tmp_path), now.log, log_of(tmp_path).stat().st_size)
    assert Reader(tmp_path).read("m/66"), "who only reads cannot tell"
    named_by_all(tmp_path, "without the mark of private/log.key")


def moved(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    """The frames of a log in another order, or not all, or some twice."""

    def forge(folder: Path) -> None:
        path = log_of(folder)
        data = path.read_bytes()
        ends = [0, *(one.end for one in frames(data))]
        pieces = [data[a:b] for a, b in pairwise(ends)]
        path.write_bytes(b"".join(change(pieces)))

    return forge


def remade(change: Callable[[Frame], tuple[int, bytes]]) -> Callable[[Path], None]:
    """Frames made again with their old marks."""

    def forge(folder: Path) -> None:
        path = log_of(folder)
        told = frames(path.read_bytes())
        path.write_bytes(b"".join(frame(*change(one), one.mark) for one in told))

    return forge


def other_time(one: Frame) -> tuple[int, bytes]:
    return one.pos, one.payload.replace(b'"at":0', b'"at":1')


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(moved(lambda all_: [all_[0], all_[2], *all_[1:2], *all_[3:]]), id="reordered"),
        pytest.param(moved(lambda all_: [all_[0], *all_[2:]]), id="left out"),
        pytest.param(moved(lambda all_: all_[1:]), id="the first left out"),
        pytest.param(moved(lambda all_: [*all_, all_[-1]]), id="repeated"),
        pytest.param(remade(other_time), id="changed"),
        pytest.param(remade(lambda one: (one.pos + 1, one.payload)), id="elsewhere"),
    ],
)
def test_frames_stay_where_they_were_written(tmp_path: Path, forge: Callable[[Path], None]) -> None:
    forge(written(tmp_path))
    refused(tmp_path, "without the mark of private/log.key")


def test_a_frame_of_another_log_is_refused(tmp_path: Path) -> None:
    """Of the same ledger and key, and for the same place: each log begins its marks anew."""
    written(tmp_path / "a", sealed=0, hot=2)
    for name in ("b", "c"):
        shutil.copytree(tmp_path / "a", tmp_path / name)
        ledger = opened(tmp_path / name)
        ledger.seal()
        ledger.append(whole(5 if name == "b" else 6))
        ledger.close()
    taken = log_of(tmp_path / "b").read_bytes()
    log_of(tmp_path / "c").write_bytes(taken)
    (tmp_path / "c/tree/checkpoint").write_bytes((tmp_path / "b/tree/checkpoint").read_bytes())
    refused(tmp_path / "c", "holds an append at byte 0, .* without the mark")


def test_a_torn_write_is_recovered_as_before(tmp_path: Path) -> None:
    """At every byte of the last frame, also within its mark; in `quick` at every third."""
    written(tmp_path, hot=2)
    data = log_of(tmp_path).read_bytes()
    *_, before, last = frames(data)
    shutil.copytree(tmp_path, tmp_path / "copy")
    log = log_of(tmp_path / "copy")
    for size in range(before.end + 1, last.end, sized(3, 2, 1)):
        (tmp_path / "copy/watermark").unlink()
        (tmp_path / "copy/tree/checkpoint").unlink()  # which speaks of what was torn off
        log.write_bytes(data[:size])
        ledger = opened(tmp_path / "copy")
        assert "a write was cut short" in ledger.notes[0]
        ledger.append(noted(1, "again"))
        ledger.close()
        ledger = opened(tmp_path / "copy")
        assert [] == ledger.notes
        ledger.close()


@pytest.mark.parametrize("sealed", [0, 2])
def test_marks_go_on_over_openings_seals_runs_and_compaction(tmp_path: Path, sealed: int) -> None:
    written(tmp_path, sealed=sealed, hot=1)
    ledger = FileLedger(RealDisk(tmp_path), STANDARD, secrets=NEW, seal_hands=2)
    ledger.append(begun(20))
    for number in range(30, 35):
        ledger.append(whole(number))
    ledger.append_batches([make_batch(ledger.nonces, [whole(40), whole(41)])])
    ledger.append(ended(20))
    ledger.compact(grace_ms=0)
    ledger.append(whole(50))
    ledger.close()
    ledger = opened(tmp_path)
    assert [] == ledger.notes
    ledger.close()
    assert () == check_files(RealDisk(tmp_path), KEY)
    known = last_checkpoint(RealDisk(tmp_path))
    assert known is not None
    assert Reader(tmp_path).snapshot().next_seq == known.checkpoint.size


# What is sealed.


def rewritten(
    folder: Path, change: Callable[[Manifest], Manifest], mark: str | None = None
) -> None:
    """The manifest with its digest right; its mark stays as it was, unless one is given."""
    path = folder / manifest.PATH
    told = msgspec.json.decode(path.read_bytes())
    body = msgspec.json.encode(change(now_of(folder)), order="sorted")
    new = {"manifest": msgspec.Raw(body), "sha256": hashlib.sha256(body).hexdigest()}
    kept = told.get("mark", "") if mark is None else mark
    path.write_bytes(msgspec.json.encode(new | ({"mark": kept} if kept else {}), order="sorted"))


def forged_segment(folder: Path) -> None:
    """A segment more, with its digest in the manifest and its leaf in the tree."""
    forger = folder.parent / "forger"
    shutil.copytree(folder, forger)
    (forger / "watermark").unlink()
    rewritten(forger, lambda now: replace(now, begin=""), mark="")
    log_of(forger).write_bytes(
        b"".join(frame(one.pos, one.payload) for one in frames(log_of(forger).read_bytes()))
    )
    ledger = opened(forger, OLD)
    ledger.append(whole(66))
    ledger.seal()
    ledger.close()
    for name in ("segments", "log", "tree"):
        shutil.rmtree(folder / name)
        shutil.copytree(forger / name, folder / name)
    shutil.copy(forger / "manifest.json", folder / "manifest.json")


def test_a_log_cannot_be_made_an_old_one(tmp_path: Path) -> None:
    """The forger makes all of it a ledger of the version that knew no marks, and adds his hand."""
    folder = written(tmp_path / "a")
    note = (folder / "tree/checkpoint").read_bytes()
    forged_segment(folder)
    (folder / "tree/checkpoint").write_bytes(note)  # he has no key
    refused(folder, "manifest.json does not bear the mark of private/log.key")
    named_by_all(folder, "manifest.json does not bear the mark")


@pytest.mark.parametrize("mark", [None, "", "00" * MARK_BYTES], ids=["old", "none", "wrong"])
def test_a_manifest_that_somebody_else_wrote_is_refused(tmp_path: Path, mark: str | None) -> None:
    written(tmp_path)
    rewritten(tmp_path, lambda now: replace(now, number=now.number + 1), mark)
    refused(tmp_path, "manifest.json does not bear the mark of private/log.key")
    named_by_all(tmp_path, "manifest.json does not bear the mark")


def test_an_older_manifest_does_not_fit_what_was_signed(tmp_path: Path) -> None:
    written(tmp_path)
    before = (tmp_path / "manifest.json").read_bytes(), log_of(tmp_path).read_bytes()
    path = log_of(tmp_path)
    ledger = opened(tmp_path)
    ledger.append(whole(20))
    ledger.seal()
    ledger.close()
    (tmp_path / "manifest.json").write_bytes(before[0])
    path.write_bytes(before[1])
    refused(tmp_path, "tree/checkpoint was signed for 9 closed streams, and 8 are there")


def test_a_leaf_that_was_never_signed_for_cannot_be_swapped(tmp_path: Path) -> None:
    """The writer died between the manifest of a staged batch and its checkpoint."""
    written(tmp_path)
    note = (tmp_path / "tree/checkpoint").read_bytes()
    ledger = FileLedger(RealDisk(tmp_path), STANDARD, secrets=NEW, clock=lambda: 0)
    ledger.append_batches([make_batch(ledger.nonces, [whole(40), whole(41)])])
    ledger.close()
    (tmp_path / "tree/checkpoint").write_bytes(note)
    shutil.copytree(tmp_path, tmp_path.with_name("sound"))
    opened(tmp_path.with_name("sound")).close()
    tree = tmp_path / "tree/0"
    tree.write_bytes(tree.read_bytes()[:-32] + bytes(32))
    refused(tmp_path, "tree/0 is not the tree whose head")
