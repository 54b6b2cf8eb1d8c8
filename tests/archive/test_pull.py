"""What `pull` makes of an archive in a folder, and what it refuses to make."""

import shutil
from pathlib import Path

import pytest

from store.archive import index
from store.archive.index import ArchivedFile, Index, NoArchive, pull
from store.archive.object_storage import FolderStorage
from store.folder import manifest
from store.folder.frames import Damaged
from store.proof.tree import Refuted
from store.reader import Reader
from tests.archive.ledgers import files, forge, grow, index_in, push


def test_a_copy_is_brought_up_to_date_and_fetches_only_what_is_new(
    ledger: Path, archive: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    pull(FolderStorage(archive), copy)
    grow(ledger, 40, 60)
    pushed = push(ledger, archive)
    pulled = pull(FolderStorage(archive), copy)
    assert pulled.fetched == pushed.sent
    assert list(Reader(copy).hands()) == list(Reader(ledger).hands())
    assert pull(FolderStorage(archive), copy).fetched == 0


def test_a_pull_that_was_cut_short_is_gone_on_with(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"

    class Cut(FolderStorage):
        left = 2

        def range(self, name: str, start: int, end: int) -> bytes:
            self.left -= 1
            if self.left < 0:
                raise ConnectionResetError
            return super().range(name, start, end)

    with pytest.raises(ConnectionResetError):
        pull(Cut(archive), copy)
    assert not (copy / manifest.PATH).exists()
    whole = sum(len(file.parts) for file in index_in(archive).files.values())
    assert pull(FolderStorage(archive), copy).fetched == whole - 2


def test_a_folder_with_something_else_is_left_alone(
    ledger: Path, archive: Path, tmp_path: Path
) -> None:
    before = files(ledger)
    with pytest.raises(Refuted, match="is a ledger that is written here"):
        pull(FolderStorage(archive), ledger)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter.txt").write_text("dear")
    with pytest.raises(Refuted, match=r"holds letter\.txt: a ledger is pulled into a new folder"):
        pull(FolderStorage(archive), tmp_path / "home")
    other = tmp_path / "other"
    grow(other, 1, 40)
    shutil.rmtree(other / "private")
    with pytest.raises(Refuted, match="not the beginning of"):
        pull(FolderStorage(archive), other)
    assert {path: it for path, it in files(ledger).items() if path != "lock"} == {
        path: it for path, it in before.items() if path != "lock"
    }


def test_nothing_is_pulled_from_nowhere(tmp_path: Path) -> None:
    with pytest.raises(NoArchive, match="there is no archive at file://"):
        pull(FolderStorage(tmp_path / "nowhere"), tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["events-", "hands-", "0-0"])
def test_every_changed_cut_or_missing_object_is_found(
    archive: Path, tmp_path: Path, kind: str
) -> None:
    path = next(path for path in archive.rglob("*") if path.name.startswith(kind))
    data = path.read_bytes()
    name = path.relative_to(archive)
    for spoilt, told in (
        (data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], f"{name} is not as it was sent"),
        (data[:-1], f"{name} ends at byte {len(data) - 1} of {len(data)}"),
    ):
        path.write_bytes(spoilt)
        with pytest.raises(Damaged, match=told):
            pull(FolderStorage(archive), tmp_path / "copy")
    path.unlink()
    with pytest.raises(Damaged, match=f"{name} is missing, and the archive names it"):
        pull(FolderStorage(archive), tmp_path / "copy")
    assert not (tmp_path / "copy" / manifest.PATH).exists()


def test_an_index_whole_in_itself_that_names_another_file_is_found(
    archive: Path, tmp_path: Path
) -> None:
    """The manifest says which digest a sealed file has; the index alone convinces nobody."""
    before = index_in(archive).files
    first, second = sorted(path for path in before if path.startswith("segments/"))[:2]
    forge(archive, lambda it: Index({**it.files, first: it.files[second]}))
    with pytest.raises(Damaged, match="is not the file that the manifest names"):
        pull(FolderStorage(archive), tmp_path / "copy")


@pytest.mark.parametrize(
    "path",
    ["../outside", "private/signing.key", "log/../../x", "/etc/passwd", "segments/a/b", "lock"],
)
def test_an_index_names_no_file_but_a_ledgers(archive: Path, tmp_path: Path, path: str) -> None:
    forge(archive, lambda it: Index({**it.files, path: ArchivedFile(b"evil")}))
    with pytest.raises(Damaged, match="which no file of a ledger is called"):
        pull(FolderStorage(archive), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_damaged_or_newer_index_is_said_to_be_one(archive: Path, tmp_path: Path) -> None:
    data = (archive / index.PATH).read_bytes()
    for spoilt, told in (
        (data[:-40], "cannot be read"),
        (data.replace(b'"version":1', b'"version":2'), "does not have the digest"),
        (index.encode(Index(index_in(archive).files, 2)), "a newer muckrake reads it"),
        (index.encode(Index({})), "names no manifest.json"),
    ):
        (archive / index.PATH).write_bytes(spoilt)
        with pytest.raises(Damaged, match=told):
            pull(FolderStorage(archive), tmp_path / "copy")
