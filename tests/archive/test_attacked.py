"""Who can write to an archive changes it, whole in itself: each attack is found as on a disk."""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from api.main import main
from events.ledger import Append
from events.types import HandStarted
from store.archive import index
from store.archive.index import ArchivedFile, Index, pull
from store.archive.object_storage import FolderStorage
from store.archive.push import push as sent
from store.folder import manifest
from store.folder.disk import RealDisk
from store.log.streams import HotLeaf, LogEntry
from store.proof.ledger_secrets import SecretFolder
from store.reader import Reader
from store.segments.sealed_segments import write_segment
from store.tables.projection import STANDARD
from tests.archive.ledgers import forge, index_in, resealed

Captured = pytest.CaptureFixture[str]
Attack = Callable[[Path, Path], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger, its archive, what that was before, and what was signed last."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MUCKRAKE_WITNESS", str(folder / "seen"))
        more(folder, "scrim")
        shutil.copytree(folder / "archive", folder / "old")
        more(folder, "final")
    return folder


@pytest.fixture
def world(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that once more, and a reader who remembers what was signed and has the secrets."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MUCKRAKE_WITNESS", str(tmp_path / "seen"))
    monkeypatch.setenv("MUCKRAKE_PRIVATE", str(tmp_path / "ledger/private"))
    return tmp_path


def more(world: Path, match: str) -> None:
    ledger = str(world / "ledger")
    words = ("play", "auction-2024", "--hands", "20", "--seed", match, "--match", match)
    for each in (words, ("compact",), ("push", str(world / "archive"))):
        assert main([*each, "--ledger", ledger]) == 0


def changed_hands(archive: Path, copy: Path) -> None:
    """Segments made anew with other names in a hand, and a manifest and an index to match."""
    pull(FolderStorage(archive), copy)
    disk = RealDisk(copy)
    now = manifest.read(disk)
    assert now
    closed, version = [], dict[str, int]()
    for leaf in Reader(copy).snapshot().leaves():
        events = tuple(one.event for one in leaf.recorded)
        if leaf.stream == "scrim/3":
            assert isinstance(events[0], HandStarted)
            events = (msgspec.structs.replace(events[0], players=("crook", "lynx")), *events[1:])
        append = Append(leaf.stream, leaf.recorded[0].index, events, leaf.recorded[0].at)
        before = version.get(leaf.stream, 0)
        version[leaf.stream] = before + len(events)
        placed = (LogEntry(leaf.recorded[0].pos, append),)
        closed.append(HotLeaf(leaf.hand_seq, leaf.stream, before, placed))
    segment = write_segment(disk, closed, STANDARD)

    def change(told: dict) -> None:  # type: ignore[type-arg]
        told["segments"] = msgspec.to_builtins((segment,))

    (copy / manifest.PATH).write_bytes(resealed((copy / manifest.PATH).read_bytes(), change))
    shutil.rmtree(archive)
    sent(disk, SecretFolder(copy), FolderStorage(archive))


def changed_manifest(archive: Path, copy: Path) -> None:
    """The manifest says that the last segment never was."""

    def change(found: Index) -> Index:
        def cut(told: dict) -> None:  # type: ignore[type-arg]
            last = told["segments"].pop()
            told.update(next_seq=last["first_seq"], next_pos=last["first_pos"])
            told.update(tree=last["first_seq"], root="")

        raw = resealed(found.files[manifest.PATH].data, cut)
        return Index({**found.files, manifest.PATH: ArchivedFile(raw)})

    forge(archive, change)


def rolled_back(archive: Path, copy: Path) -> None:
    """An older archive is put into the place of the newest, whole as it was."""
    shutil.copy(archive.parent / "old" / index.PATH, archive / index.PATH)
    shutil.copytree(archive.parent / "old", archive, dirs_exist_ok=True)


def mixed(archive: Path, copy: Path) -> None:
    """The tree and checkpoint of the newest archive, the manifest and segments of an older one."""
    old = index_in(archive.parent / "old").files
    now = index_in(archive).files
    trust = {path: file for path, file in now.items() if path.startswith(("tree/", "keys"))}
    shutil.copytree(archive.parent / "old", archive, dirs_exist_ok=True)
    forge(archive, lambda _: Index({**old, **trust}))


def another(archive: Path, copy: Path) -> None:
    """The archive of another ledger, signed by another key."""
    world = archive.parent
    (world / "strange").mkdir()
    shutil.rmtree(archive)
    words = ("play", "auction-2024", "--hands", "40", "--seed", "x", "--match", "scrim")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MUCKRAKE_WITNESS", str(world / "strange/seen"))
        for each in (words, ("compact",), ("push", str(archive))):
            assert main([*each, "--ledger", str(world / "strange/ledger")]) == 0


ATTACKS: dict[Attack, str] = {
    changed_hands: "its events are not the ones whose digest was signed",
    changed_manifest: "the end of the ledger is lost",
    rolled_back: "the end of the ledger is lost",
    mixed: "the end of the ledger is lost",
}


def test_a_sound_archive_verifies(world: Path, capsys: Captured) -> None:
    capsys.readouterr()
    place = ("--ledger", str(world / "archive"))
    assert main(["verify", "--all", *place]) == 7  # sound, and nobody said whose key it is
    assert main(["verify", "--all", "--key", str(world / "ledger/keys"), *place]) == 0
    assert main(["doctor", *place]) == 0


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda it: it.__name__)
def test_an_attack_on_an_archive_is_found(world: Path, capsys: Captured, attack: Attack) -> None:
    attack(world / "archive", world / "copy")
    capsys.readouterr()
    assert main(["verify", "--all", "--ledger", str(world / "archive")]) == 3
    assert ATTACKS[attack] in capsys.readouterr().out


def test_marks_tell_their_writer_that_a_manifest_is_not_his(world: Path, capsys: Captured) -> None:
    changed_manifest(world / "archive", world / "copy")
    capsys.readouterr()
    assert main(["doctor", "--ledger", str(world / "archive")]) == 3
    assert "manifest.json does not bear the mark" in capsys.readouterr().out


@pytest.mark.parametrize("attack", [changed_manifest, rolled_back], ids=lambda it: it.__name__)
def test_who_reads_an_older_archive_hears_of_it(
    world: Path, capsys: Captured, attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any secret: a checkpoint that is remembered says how much there was."""
    monkeypatch.delenv("MUCKRAKE_PRIVATE")
    attack(world / "archive", world / "copy")
    capsys.readouterr()
    assert main(["hands", "--ledger", str(world / "archive")]) == 0
    assert "its end is lost, or this is an older copy" in capsys.readouterr().err
    assert main(["doctor", "--ledger", str(world / "archive")]) == 3


def test_the_archive_of_another_ledger_is_not_of_a_known_key(world: Path, capsys: Captured) -> None:
    another(world / "archive", world / "copy")
    capsys.readouterr()
    words = ("verify", "--all", "--json", "--key", str(world / "ledger/keys"))
    assert main([*words, "--ledger", str(world / "archive")]) == 3
    assert "not by a key that you know" in capsys.readouterr().out


def test_what_an_attacker_has_done_is_not_pushed_over(world: Path, capsys: Captured) -> None:
    """The owner's next push says so, and leaves everything as it is, for whoever looks into it."""
    another(world / "archive", world / "copy")
    before = (world / "archive" / index.PATH).read_bytes()
    capsys.readouterr()
    assert main(["push", str(world / "archive"), "--ledger", str(world / "ledger")]) == 1
    assert "is the archive of another ledger" in capsys.readouterr().err
    assert (world / "archive" / index.PATH).read_bytes() == before
