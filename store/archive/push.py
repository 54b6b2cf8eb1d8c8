"""`push`: what is sealed of a ledger goes into an archive, whole files first, the index last.

What an archive holds is the ledger as it was when it was last sealed, byte for byte: the manifest,
what it names, so much of the log and of the tree as it speaks of, and a checkpoint over that. A
ledger with another history is refused: the tree must contain the archive's.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from msgspec import Struct

from store.archive import index
from store.archive.cached_disk import ArchiveDisk
from store.archive.index import ArchivedFile, FilePart, Index, IndexedFiles
from store.archive.object_storage import ObjectStorage
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.folder.manifest import Manifest, Segment
from store.proof.checkpoint import ROLLBACKS, Checkpoint, open_checkpoint, sign
from store.proof.ledger_secrets import SALTS_FILE as NONCES
from store.proof.ledger_secrets import SecretFolder
from store.proof.notary import CHECKPOINT, KEYS, REPLACED, last_checkpoint, public_keys
from store.proof.tree import Hashes, Refuted, check_consistency, consistency, frontier
from store.proof.tree_file import TreeFiles, level_file_sizes, path_of
from store.proof.witness_policy import BEFORE, POLICY, PUBLISHED
from store.segments.reading import SegmentFiles

TRIES = 20
INLINE = 1 << 14  # bytes of a file that are put into the index itself
TREE_PART = 1 << 22


class PushResult(Struct, frozen=True):
    """The result of a push: what the archive holds now, and what was sent."""

    url: str
    closed: int
    segments: int
    sent: int
    sent_bytes: int
    is_new: bool


def push(
    disk: RealDisk | ArchiveDisk,
    private: SecretFolder,
    storage: ObjectStorage,
    watch: Callable[[Collection[Any]], Iterable[Any]] = iter,
) -> PushResult:
    """Bring an archive up to this ledger's last seal; `Refuted` if it is of another history. What
    is sent goes through `watch`."""
    moved = False
    for _ in range(TRIES):
        now = manifest.read(disk)
        try:
            pushed = _Push(disk, private, storage, moved).done(watch)
        except (FileNotFoundError, Damaged) as failure:
            newer = manifest.read(disk)
            if now and newer and newer.number != now.number:
                continue  # sealed or compacted meanwhile: the newer manifest names other files
            if isinstance(failure, FileNotFoundError):
                gone = f"{failure.filename} is gone, and {manifest.PATH} names it"
                raise Damaged(gone) from None
            raise
        if pushed is not None:
            return pushed
        moved = True
    raise Damaged(f"{storage.url} changes faster than it can be written")


class _Push:
    """One try of a push: the manifest of now over the index of now."""

    def __init__(
        self,
        disk: RealDisk | ArchiveDisk,
        private: SecretFolder,
        storage: ObjectStorage,
        moved: bool,
    ) -> None:
        self._disk, self._private, self._storage = disk, private, storage
        self._root = b""  # of what is sealed
        self._moved = moved  # an earlier try found that somebody else had pushed
        self._sent = self._bytes = 0
        self._found = storage.get(index.PATH)
        self._old: Index | None = None
        if self._found is not None:
            self._old = index.decode(self._found[0], storage.url)
        known = self._old.files.values() if self._old else ()
        self._there = {part for file in known for part in file.parts}

    def done(self, watch: Callable[[Collection[Any]], Iterable[Any]]) -> PushResult | None:
        """None if somebody else has replaced the index meanwhile."""
        raw = self._disk.read(manifest.PATH)
        now = manifest.decode_manifest(raw)
        self._root = sealed_root(self._disk, now)
        if self._old is not None and not self._goes_on(now):
            return self._pushed(now, is_new=False)
        files = {manifest.PATH: ArchivedFile(raw), now.log: self._log(now)}
        for segment in watch(now.segments):
            files |= {path: self._sealed(segment, name) for name, path in segment.files.items()}
        files |= dict(self._tree(now))
        for path in self._others(now):
            files[path] = self._stored(path, self._disk.read(path))
        files[CHECKPOINT] = ArchivedFile(self._checkpoint(now))
        data = index.encode(Index(files))
        tag = None if self._found is None else self._found[1]
        if self._found is not None and self._found[0] == data:
            return self._pushed(now, is_new=False)
        return self._pushed(now) if self._storage.put_if_unchanged(index.PATH, data, tag) else None

    def _pushed(self, now: Manifest, is_new: bool = True) -> PushResult:
        url, count = self._storage.url, len(now.segments)
        return PushResult(url, now.next_seq, count, self._sent, self._bytes, is_new)

    def _goes_on(self, now: Manifest) -> bool:
        """Whether the ledger says more than the archive; `Refuted` if it says something else."""
        assert self._old is not None
        archived = IndexedFiles(self._storage, self._old)
        before = manifest.decode_manifest(archived.read(manifest.PATH))
        url, ours = self._storage.url, TreeFiles(self._disk)
        why = f"{url} is the archive of"
        try:
            note = open_checkpoint(archived.read(CHECKPOINT), public_keys(self._disk)).checkpoint
        except Refuted as reason:
            raise Refuted(f"{why} another ledger: {reason}") from None
        if (before.tree, before.next_pos) > (now.tree, now.next_pos):
            check_history(why, now.tree, self._root, before.tree, TreeFiles(archived))
            if self._moved:
                return False
            raise Refuted(
                f"{url} has {before.next_seq:,} closed streams, and this ledger {now.next_seq:,} of"
                " them: it is an older copy, or another one was pushed from"
            )
        if before.root:
            check_history(why, before.tree, bytes.fromhex(before.root), now.tree, ours)
        check_history(why, note.size, note.root, now.tree, ours)
        return True

    def _sealed(self, segment: Segment, name: str) -> ArchivedFile:
        """A segment's file, under its own name, which holds a digest."""
        path, sha256 = segment.files[name], segment.sha256[name]
        known = self._old.files.get(path) if self._old else None
        if known and [one.sha256 for one in known.parts] == [sha256]:
            return known
        size = SegmentFiles(self._disk).check(segment, name)
        part = FilePart(_object(path, sha256), size, sha256)
        if self._storage.size(part.object) != size:
            self._storage.put(part.object, self._disk.local(path))
            self._count(size)
        return ArchivedFile(parts=(part,))

    def _log(self, now: Manifest) -> ArchivedFile:
        """The part of the log that was open at the last seal; the rest is not sealed."""
        data = self._disk.read(now.log, 0, now.log_size)
        if len(data) < now.log_size:
            why = f"{now.log} ends at byte {len(data)}, and {now.log_size} were durable"
            raise Damaged(why)
        return self._stored(now.log, data)

    def _stored(self, path: str, data: bytes) -> ArchivedFile:
        """A file in the index, or if it is large, in an object."""
        return (
            ArchivedFile(data)
            if len(data) <= INLINE
            else ArchivedFile(parts=(self._part(path, data),))
        )

    def _part(self, path: str, data: bytes) -> FilePart:
        sha256 = hashlib.sha256(data).hexdigest()
        part = FilePart(_object(path, sha256), len(data), sha256)
        if part not in self._there and self._storage.size(part.object) != part.size:
            self._storage.put(part.object, data)
            self._count(len(data))
        return part

    def _tree(self, now: Manifest) -> Iterator[tuple[str, ArchivedFile]]:
        """The files of the tree, each level as far as the manifest covers it."""
        for level, size in enumerate(level_file_sizes(now.tree)):
            path = path_of(level)
            parts = []
            for at in range(0, size, TREE_PART):
                data = self._disk.read(path, at, min(size, at + TREE_PART))
                if len(data) != min(size - at, TREE_PART):
                    raise Damaged(f"{path} ends before byte {size}", at + len(data))
                parts.append(self._part(f"{path}-{at:012}", data))
            yield path, ArchivedFile(parts=tuple(parts))

    def _others(self, now: Manifest) -> Iterator[str]:
        """Rulesets, and who signed: but of checkpoints only those of what is sealed."""
        names = set(self._disk.names(""))
        yield from (path for path in (KEYS, POLICY, ROLLBACKS) if path in names)
        if NONCES.rpartition("/")[2] in self._disk.names(NONCES.rpartition("/")[0]):
            yield NONCES
        for folder in (manifest.RULESETS, REPLACED, PUBLISHED, BEFORE):
            for name in self._disk.names(folder) if folder in names else ():
                path = f"{folder}/{name}"
                if name.endswith(".tmp"):
                    continue
                if folder in (PUBLISHED, BEFORE) and self._size(path) > now.tree:
                    continue
                yield path

    def _size(self, path: str) -> int:
        """The number of leaves that a checkpoint was signed for."""
        try:
            return open_checkpoint(self._disk.read(path), public_keys(self._disk)).checkpoint.size
        except Refuted as reason:
            raise Damaged(f"{path} cannot be believed: {reason}") from None

    def _checkpoint(self, now: Manifest) -> bytes:
        """The newest one; if it speaks of what is not sealed yet, one over what is."""
        known = last_checkpoint(self._disk)
        if known is None:
            raise Damaged(f"{CHECKPOINT} is missing, and {now.next_seq:,} streams have closed")
        if known.checkpoint.size <= now.tree:
            return self._disk.read(CHECKPOINT)
        signer = self._private.signer()
        if signer is None:
            raise Refuted(
                f"the newest checkpoint is of {known.checkpoint.size:,} closed streams, and"
                f" {now.tree:,} are sealed: only who has private/signing.key can sign for those;"
                " muckrake compact seals the others"
            )
        return sign(Checkpoint(signer.key.name, now.tree, self._root), signer)

    def _count(self, size: int) -> None:
        self._sent, self._bytes = self._sent + 1, self._bytes + size


def _object(path: str, sha256: str) -> str:
    """The name of an object with these bytes of a file: it holds the digest."""
    if sha256[:12] in path:
        return path
    stem, dot, kind = path.rpartition(".")
    return f"{stem}-{sha256[:12]}.{kind}" if dot else f"{path}-{sha256[:12]}"


def sealed_root(disk: RealDisk | ArchiveDisk, now: Manifest) -> bytes:
    """The head of the tree over what is sealed; `Refuted` if nothing is, or the tree lacks some."""
    if now.tree < now.next_seq:
        raise Refuted(
            f"{now.next_seq} streams are sealed and {now.tree} are in the tree:"
            " whoever writes to this ledger next adds the others"
        )
    if not now.next_seq:
        raise Refuted("nothing is sealed yet: muckrake compact seals what has closed")
    root = frontier(now.tree, TreeFiles(disk)).root()
    if now.root not in ("", root.hex()):
        raise Damaged(f"{path_of(0)} is not the tree whose head is in {manifest.PATH}")
    return root


def check_history(claim: str, old: int, root: bytes, new: int, hashes: Hashes) -> None:
    """`Refuted` unless a tree of `old` leaves with this root is the beginning of the other; `claim`
    begins the sentence."""
    try:
        head = frontier(new, hashes).root()
        check_consistency(old, root, new, head, consistency(old, new, hashes))
    except Refuted:
        raise Refuted(
            f"{claim} another history: its first {old:,} closed streams are not"
            " those of this ledger, and nothing was changed there"
        ) from None
