"""What `push` sends, what it refuses, and what `pull` makes of it: over folders."""

import os
import shutil
from pathlib import Path

import pytest

from store.archive import index
from store.archive.index import ArchivedFile, Index, pull
from store.archive.object_storage import FolderStorage, InvalidUrl, storage_of
from store.archive.push import INLINE
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import open_ledger
from store.proof.checkpoint import CheckpointMemory
from store.proof.ledger_secrets import SecretFolder
from store.proof.notary import last_checkpoint
from store.proof.tree import Refuted
from store.reader import Reader
from tests.archive.ledgers import files, forge, grow, index_in, push, resealed
from tests.archive.ledgers import push as pushed_to

FROZEN = Path(__file__).parents[1] / "store/frozen"


def test_what_is_sealed_comes_back_to_the_byte(ledger: Path, archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    pulled = pull(FolderStorage(archive), copy)
    ours, theirs = files(ledger), files(copy)
    log = manifest.decode_manifest(ours["manifest.json"]).log
    assert (
        theirs.pop(log) == ours.pop(log)[: manifest.decode_manifest(ours["manifest.json"]).log_size]
    )
    writers = [path for path in ours if path.startswith("private/")] + ["lock", "watermark"]
    assert {path: ours[path] for path in ours if path not in writers} == {
        path: theirs[path] for path in theirs if path != "lock"
    }
    assert pulled.closed == 31
    assert list(Reader(copy).read_from(0)) == [
        one for one in Reader(ledger).read_from(0) if one.pos < Reader(copy).snapshot().next_pos
    ]


def test_every_file_of_a_ledger_is_sent_or_is_one_that_never_is(
    ledger: Path, archive: Path
) -> None:
    """A new kind of file must be put into the archive, or named here."""
    never = {"private", "lock", "watermark", "jobs"}
    sent = {path.split("/")[0] for path in index_in(archive).files}
    assert {path.name for path in ledger.iterdir()} <= sent | never


def test_no_secret_is_anywhere_in_the_archive(ledger: Path, archive: Path) -> None:
    everything = b"".join(files(archive).values())
    secrets = [path for path in (ledger / "private").rglob("*") if path.is_file()]
    assert secrets
    for secret in secrets:
        for spelled in secret.read_bytes().split():
            assert len(spelled) < 20 or spelled not in everything, secret


def test_a_hand_that_was_open_is_still_open_in_the_copy(archive: Path, tmp_path: Path) -> None:
    pull(FolderStorage(archive), tmp_path / "copy")
    copy = Reader(tmp_path / "copy")
    assert len(copy.read("m/31")) == 1
    assert copy.snapshot().hand_seq("m/31") is None


def test_what_is_there_is_not_sent_again(ledger: Path, archive: Path) -> None:
    assert not push(ledger, archive).is_new
    before = files(archive)
    grow(ledger, 40, 60)
    pushed = push(ledger, archive)
    after = files(archive)
    assert pushed.is_new
    assert pushed.sent == len(set(after) - set(before))
    assert all(after[path] == before[path] for path in before if path != index.PATH)
    assert not push(ledger, archive).is_new


def test_whole_files_come_first_and_the_index_last(ledger: Path, tmp_path: Path) -> None:
    order: list[str] = []

    class Watched(FolderStorage):
        def _put(self, name: str, data: bytes | Path) -> None:
            order.append(name)
            super()._put(name, data)

    push(ledger, Watched(tmp_path / "archive"))
    assert order[-1] == index.PATH
    assert order.count(index.PATH) == 1
    assert len(order) > 3


def test_a_push_that_is_cut_short_anywhere_changes_nothing_and_is_gone_on_with(
    ledger: Path, archive: Path
) -> None:
    grow(ledger, 40, 60)
    before = (archive / index.PATH).read_bytes()

    class Cut(FolderStorage):
        left = 0

        def _put(self, name: str, data: bytes | Path) -> None:
            if not self.left:
                raise ConnectionResetError
            self.left -= 1
            super()._put(name, data)

    left = sent = 0
    while True:
        cut = Cut(archive)
        cut.left = left
        try:
            sent += push(ledger, cut).sent
            break
        except ConnectionResetError:
            assert (archive / index.PATH).read_bytes() == before
            left = 1  # every later try sends one object more
    assert sent <= 1
    assert (archive / index.PATH).read_bytes() != before


def test_another_history_is_refused_and_nothing_changes(
    ledger: Path, archive: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(ledger, other)
    grow(ledger, 100, 110)
    push(ledger, archive)
    grow(other, 200, 230)  # as many and more, and others
    before = files(archive)
    with pytest.raises(Refuted, match="another history: its first 43 closed streams are not those"):
        push(other, archive)
    grow(tmp_path / "stranger", 1, 90)
    with pytest.raises(Refuted):
        push(tmp_path / "stranger", archive)
    assert files(archive) == before


def test_an_older_copy_is_refused(ledger: Path, archive: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(ledger, old)
    grow(ledger, 40, 60)
    push(ledger, archive)
    with pytest.raises(Refuted, match="has 53 closed streams, and this ledger 31 of them"):
        push(old, archive)


def test_of_two_pushers_at_once_one_replaces_the_index_and_the_other_looks_again(
    ledger: Path, archive: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    grow(ledger, 40, 60)
    shutil.copytree(ledger, old)
    grow(ledger, 70, 80)

    class Overtaken(FolderStorage):
        def put_if_unchanged(self, name: str, data: bytes, tag: str | None) -> bool:
            push(ledger, archive)  # somebody is faster, and has more
            return super().put_if_unchanged(name, data, tag)

    assert not pushed_to(old, Overtaken(archive)).is_new
    assert manifest.decode_manifest(index_in(archive).files[manifest.PATH].data).next_seq == 64


def test_a_ledger_that_is_sealed_and_compacted_meanwhile_is_pushed_as_it_is_then(
    ledger: Path, archive: Path
) -> None:
    grow(ledger, 40, 60)

    class Slow(FolderStorage):
        asked = False

        def size(self, name: str) -> int | None:
            if not self.asked:
                type(self).asked = True
                grow(ledger, 70, 80)
                one, lock = open_ledger(ledger, "compact")
                one.compact(grace_ms=-1)
                one.close()
                lock.release()
            return super().size(name)

    push(ledger, Slow(archive))
    pull(FolderStorage(archive), archive.parent / "copy")
    assert Reader(archive.parent / "copy").snapshot().next_seq == Reader(ledger).snapshot().next_seq


def test_a_checkpoint_of_more_than_is_sealed_is_not_sent(ledger: Path, tmp_path: Path) -> None:
    grow(ledger, 40, 50, sealed=False)
    newest = last_checkpoint(RealDisk(ledger))
    assert newest
    assert newest.checkpoint.size > 31
    push(ledger, tmp_path / "archive")
    pull(FolderStorage(tmp_path / "archive"), tmp_path / "copy")
    copied = last_checkpoint(RealDisk(tmp_path / "copy"))
    assert copied
    assert copied.checkpoint.size == 31
    (ledger / "private/signing.key").unlink()
    with pytest.raises(Refuted, match=r"only who has private/signing\.key can sign for those"):
        push(ledger, tmp_path / "another")


def test_a_ledger_without_anything_sealed_is_not_pushed(tmp_path: Path) -> None:
    grow(tmp_path / "ledger", 1, 3, sealed=False)
    with pytest.raises(Refuted, match="nothing is sealed yet: muckrake compact seals"):
        push(tmp_path / "ledger", tmp_path / "archive")
    assert not (tmp_path / "archive").exists()


def test_a_damaged_segment_is_not_sent(ledger: Path, tmp_path: Path) -> None:
    path = next((ledger / "segments").glob("hands-*"))
    data = bytearray(path.read_bytes())
    data[50] ^= 1
    path.write_bytes(data)
    with pytest.raises(Damaged, match=r"hands-\S+ is not as it was sealed"):
        push(ledger, tmp_path / "archive")
    assert not (tmp_path / "archive" / index.PATH).exists()


def test_a_copy_with_its_secrets_goes_on_being_written(archive: Path, tmp_path: Path) -> None:
    """An archive is a backup, as far as it was sealed; private/ must come from another."""
    copy = tmp_path / "copy"
    pull(FolderStorage(archive), copy)
    shutil.copytree(tmp_path / "ledger/private", copy / "private")
    grow(copy, 500, 520)
    assert Reader(copy).snapshot().next_seq == 31 + 22  # m/31 was voided: its writer was gone


def test_a_manifest_with_another_root_is_found_by_whoever_pushes(
    ledger: Path, archive: Path
) -> None:
    def change(found: Index) -> Index:
        raw = resealed(found.files[manifest.PATH].data, lambda it: it.update(root="00" * 32))
        return Index({**found.files, manifest.PATH: ArchivedFile(raw)})

    forge(archive, change)
    grow(ledger, 40, 60)
    with pytest.raises(Refuted, match="another history"):
        push(ledger, archive)


def test_large_files_are_not_in_the_index(archive: Path) -> None:
    for path, file in index_in(archive).files.items():
        assert path == manifest.PATH or len(file.data) <= INLINE


@pytest.mark.parametrize("url", ["ftp://x/y", "s3://", "file://host/x", "s3://b/p?x=1", "file:///"])
def test_a_url_that_names_nothing_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        storage_of(url)


def test_a_file_url_and_a_folder_are_one(tmp_path: Path) -> None:
    spaced = tmp_path / "my archive"
    assert storage_of(spaced.as_uri()).url == storage_of(str(spaced)).url == spaced.as_uri()


def test_others_may_not_read_an_archive_in_a_folder(archive: Path) -> None:
    assert os.stat(archive).st_mode & 0o077 == 0


def test_a_private_folder_elsewhere_is_not_asked_for(tmp_path: Path, archive: Path) -> None:
    """A copy can be pushed again by who has no secret: its checkpoint is of what is sealed."""
    pull(FolderStorage(archive), tmp_path / "copy")
    assert SecretFolder(tmp_path / "copy").signer() is None
    push(tmp_path / "copy", tmp_path / "mirror")
    assert index_in(tmp_path / "mirror") == index_in(archive)


def test_a_ledger_of_the_first_version_is_archived_when_it_has_been_opened(tmp_path: Path) -> None:
    """Its files have names without digests, and nothing signed for them before."""
    ledger, archive = tmp_path / "frozen", tmp_path / "archive"
    shutil.copytree(FROZEN / "v1/ledger", ledger)
    with pytest.raises(Refuted, match="whoever writes to this ledger next adds the others"):
        push(ledger, archive)
    before = list(Reader(ledger).read_from(0))
    one, lock = open_ledger(ledger, "a test", remembered=CheckpointMemory(tmp_path / "seen"))
    one.seal()
    one.close()
    lock.release()
    push(ledger, archive)
    pull(FolderStorage(archive), tmp_path / "copy")
    assert list(Reader(tmp_path / "copy").read_from(0))[: len(before)] == before
