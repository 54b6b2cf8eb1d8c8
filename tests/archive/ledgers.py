"""Ledgers of small hands that are sealed and pushed, and archives that somebody has changed."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from store.archive import index
from store.archive.index import Index
from store.archive.object_storage import FolderStorage, ObjectStorage
from store.archive.push import PushResult
from store.archive.push import push as sent
from store.folder.disk import RealDisk
from store.ledger import open_ledger
from store.proof.checkpoint import CheckpointMemory
from store.proof.ledger_secrets import SecretFolder
from tests.store.small_hands import begun, noted, whole


def grow(folder: Path, first: int, last: int, *, sealed: bool = True, opened: bool = False) -> None:
    """Hands from one number to another; with `opened`, one more that is begun, and a record."""
    remembered = CheckpointMemory(folder.parent / f"{folder.name}.seen")  # a copy is a fork, too
    ledger, lock = open_ledger(folder, "a test", remembered=remembered)
    ledger.keep_ruleset("ruleset", b'{"name":"a game"}')
    ledger.append(*(whole(number) for number in range(first, last + 1)))
    if opened:
        ledger.append(begun(last + 1), noted(0, "a record"))
    if sealed:
        ledger.seal()
    ledger.close()
    lock.release()


def push(folder: Path, storage: ObjectStorage | Path) -> PushResult:
    """Push a ledger into a folder, or into another storage."""
    there = FolderStorage(storage) if isinstance(storage, Path) else storage
    return sent(RealDisk(folder), SecretFolder(folder), there)


def index_in(archive: Path) -> Index:
    """The index of an archive in a folder."""
    return index.decode((archive / index.PATH).read_bytes(), "test")


def forge(archive: Path, change: Callable[[Index], Index]) -> None:
    """Whoever can write to an archive writes another index, whole in itself."""
    (archive / index.PATH).write_bytes(index.encode(change(index_in(archive))))


def resealed(raw: bytes, change: Callable[[dict], None]) -> bytes:  # type: ignore[type-arg]
    """A manifest with something changed, and a digest that is right again."""
    sealed = msgspec.json.decode(raw)
    change(sealed["manifest"])
    body = msgspec.json.encode(sealed["manifest"], order="sorted")
    sealed["sha256"] = hashlib.sha256(body).hexdigest()
    return msgspec.json.encode(sealed, order="sorted")


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
