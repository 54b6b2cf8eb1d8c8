"""The notary: what has closed becomes a leaf of the Merkle tree, and checkpoints are signed.

    tree/0, tree/1, ...   the hashes of leaves, and of complete subtrees of 256, 65,536, ...
    tree/checkpoint       the signed head; the newest that anybody may have been given
    tree/nonces           the secret that nonces are derived from, by name, and their salts
    keys                  the public keys that signed for this ledger, the newest last

Leaves are hashed before a checkpoint or a seal, not at every append. A checkpoint never speaks of
what is not durable, so a ledger that is behind its checkpoint has lost something, and a ledger
with another head under the same leaves has been changed. Both are refused at opening.

A signing key that is replaced signs a statement over the new one first:

    replaced/N    the N-th statement: a note of four lines, signed by the old key and by the new

        muckrake key replaced v1
        OLD KEY
        NEW KEY
        SIZE ROOT

SIZE and ROOT are those of the last checkpoint that the old key signed; 0 and the head of nothing,
if there was none. The statement is durable before the new key signs anything. A key that was put
away by hand, or is lost, leaves none: then nobody but the owner says that the next one is his.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from events.ledger import Recorded
from store.folder.disk import Disk, replace_file
from store.folder.frames import Damaged
from store.log.streams import HotLeaf, Leaf
from store.proof.checkpoint import (
    Checkpoint,
    CheckpointMemory,
    SignedCheckpoint,
    open_checkpoint,
    read_hash,
    read_number,
)
from store.proof.checkpoint import sign as sign_checkpoint
from store.proof.ledger_secrets import (
    SIGNING,
    SecretFolder,
    Secrets,
    check_secret,
    has_salts,
    salts_of,
    writer_salts,
)
from store.proof.note import Key, Signer, open_note, sign, to_base64
from store.proof.tree import EMPTY, Refuted, frontier, leaf_hash
from store.proof.tree_file import FOLDER, GrowingTree, TreeFiles, check_reach, open_tree

CHECKPOINT = "tree/checkpoint"
KEYS = "keys"
EVERY_LEAVES = 1_000  # a checkpoint is signed for so many new leaves ...
EVERY_MS = 1_000  # ... or after so long, if there is any


class Notary:
    """The tree of a ledger that is being written: one notary, as there is one writer."""

    def __init__(
        self, disk: Disk, secrets: Secrets, sealed: int, remembered: CheckpointMemory | None = None
    ) -> None:
        """`sealed` leaves are durable in the tree's files. No file is changed before `begin`."""
        self._remembered = remembered
        self._disk = disk
        self._secrets = secrets
        self._files: GrowingTree | None = None
        self._there = sealed
        check_reach(disk, sealed)
        self._sealed = self._all = frontier(sealed, TreeFiles(disk))
        self._caught: list[bytes] = []  # that are sealed, and not yet in the tree's files
        self._hot: list[bytes] = []  # of what closed since the last seal
        check_secret(disk, secrets.nonces)
        self.salts = salts_of(disk, secrets.nonces)
        known = last_checkpoint(disk)
        self.signed = known.checkpoint.size if known else 0
        self._expected = known.checkpoint if known else None
        self._is_new = known is not None and secrets.signer.key not in known.keys

    @property
    def size(self) -> int:
        """The number of leaves in the tree's files."""
        return self._sealed.size

    @property
    def root(self) -> str:
        """The head of what is sealed."""
        return self._sealed.root().hex()

    def check(self, closed: Sequence[HotLeaf]) -> Iterator[tuple[Path, str]]:
        """Damage, unless the tree begins with all that was signed for last.

        That goes for what is remembered elsewhere, too, unless it is to be accepted: then where it
        stands, and what is wrong with it.
        """
        if self._expected and (sentence := self._differs(self._expected, CHECKPOINT, closed)):
            raise Damaged(sentence)
        keys = (*public_keys(self._disk), self._secrets.signer.key)
        known = self._remembered.of(keys) if self._remembered else []
        for path, expected in sorted(known, key=lambda one: one[1].size):
            if sentence := self._differs(expected, str(path), closed):
                if not (self._remembered and self._remembered.accepting):
                    raise Damaged(f"{sentence}; muckrake restored goes on from here all the same")
                yield path, sentence

    def _differs(self, expected: Checkpoint, name: str, closed: Sequence[HotLeaf]) -> str | None:
        """The sentence about a ledger that does not begin as this checkpoint says, or None."""
        there = self._sealed.size + len(closed)
        if there < expected.size:
            return (
                f"{name} was signed for {expected.size} closed streams, and {there} are"
                " there: the end of the ledger is lost, or an old copy was put in its place"
            )
        if expected.size > self._sealed.size:
            self._hash(closed)
        begin = frontier(min(expected.size, self._there), TreeFiles(self._disk))
        more = (*self._caught, *self._hot)[: max(0, expected.size - self._there)]
        root = begin.added(more).root()
        if root == expected.root:
            return None
        return (
            f"the first {expected.size} closed streams are not those that {name} was"
            " signed for: muckrake verify --all says which"
        )

    def begin(self, next_seq: int) -> None:
        """Open the tree for growing, once all that was signed for is there; cut off a leftover.

        The leaf that closes next will be number `next_seq`.
        """
        self._files = open_tree(self._disk, self._there)
        self._keep(self._caught)
        self._keep_key()
        self.salts = writer_salts(self._disk, self._secrets.nonces, next_seq)

    def remember(self) -> str | None:
        """The newest checkpoint is kept outside this folder, too; why not, if it cannot be."""
        if self._remembered and CHECKPOINT.removeprefix(f"{FOLDER}/") in self._disk.names(FOLDER):
            keys = (*public_keys(self._disk), self._secrets.signer.key)
            return self._remembered.keep(keys, self._disk.read(CHECKPOINT))
        return None

    def is_due(self, closed: int, elapsed_ms: int) -> bool:
        """Whether enough has closed, or time gone by, for another checkpoint."""
        new = self._sealed.size + closed - self.signed
        return new >= EVERY_LEAVES or (new > 0 and abs(elapsed_ms) >= EVERY_MS)

    def sign(self, closed: Sequence[HotLeaf]) -> None:
        """A checkpoint over everything that has closed, durable on return; a new key signs anew."""
        self._hash(closed)
        if self._all.size > self.signed or self._is_new:
            signer = self._secrets.signer
            now = Checkpoint(signer.key.name, self._all.size, self._all.root())
            replace_file(self._disk, CHECKPOINT, sign_checkpoint(now, signer))
            self.signed, self._is_new = now.size, False
            self.remember()

    def seal(self, closed: Sequence[HotLeaf]) -> int:
        """What has closed goes into the tree's files and is signed for; how many leaves they have.

        The manifest that says so is written afterwards: until then the next opening cuts the files
        and hashes the log again.
        """
        self._hash(closed)
        self._keep(self._hot)
        self.sign(closed)
        self._hot, self._sealed = [], self._all
        return self.size

    def append_hashes(self, hashes: Sequence[bytes]) -> int:
        """Append leaf hashes computed elsewhere; return the number of leaves in the files.

        They are signed only once the manifest names them.
        """
        assert not self._hot, "what is sealed comes first"
        self._keep(hashes)
        self._all = self._sealed = self._sealed.added(hashes)
        return self.size

    def catch_up(self, leaves: Iterable[Leaf]) -> None:
        """Sealed leaves from before there was a tree, before it grows."""
        new = [self._leaf(leaf.hand_seq, leaf.recorded) for leaf in leaves]
        self._caught += new
        self._all = self._sealed = self._sealed.added(new)

    def _hash(self, closed: Sequence[HotLeaf]) -> None:
        new = [self._leaf(one.hand_seq, one.recorded()) for one in closed[len(self._hot) :]]
        self._hot += new
        self._all = self._all.added(new)

    def _leaf(self, hand_seq: int, recorded: Sequence[Recorded]) -> bytes:
        return leaf_hash(self.salts.leaf(hand_seq, recorded))

    def _keep(self, hashes: Sequence[bytes]) -> None:
        """Appended to the tree's files, and durable."""
        assert self._files is not None, "it has begun"
        self._files.append(hashes)
        self._files.sync()

    def _keep_key(self) -> None:
        """A new signing key joins the others."""
        key = self._secrets.signer.key
        known = public_keys(self._disk)
        if key not in known:
            text = "".join(f"{known_key.text()}\n" for known_key in (*known, key))
            replace_file(self._disk, KEYS, text.encode())


def open_secrets(folder: Path, disk: Disk) -> Secrets:
    """The secrets of a folder's ledger; drawn for a new one, and a lost signing key drawn anew.

    A lost nonce secret cannot be drawn anew: no record of this ledger could be verified again.
    """
    private = SecretFolder(folder)
    begun = has_salts(disk)
    marks = private.marks()
    if marks and marks.strict and not begun:
        raise Damaged(
            "tree/nonces is missing: without it no record of this ledger can be verified;"
            " put it back from a copy"
        )
    if begun and private.nonces() is None:
        raise Damaged(
            "private/nonce.key is missing: without it no record of this ledger"
            " can be verified; put it back from a copy, or begin a new ledger"
        )
    known = public_keys(disk)
    drawn = private.secrets(known[-1].name if known else None)
    return drawn._replace(marks=private.marks(draw=True))


def public_keys(disk: Disk) -> tuple[Key, ...]:
    """Every key that has signed for this ledger, the newest last."""
    if KEYS not in disk.names(""):
        return ()
    try:
        return tuple(Key.read(line) for line in disk.read(KEYS).decode().splitlines())
    except ValueError as reason:
        raise Damaged(f"{KEYS} cannot be read: {reason}") from None


def last_checkpoint(disk: Disk) -> SignedCheckpoint | None:
    """The newest checkpoint, its signature checked; None if nothing was ever signed for."""
    if FOLDER not in disk.names("") or "checkpoint" not in disk.names(FOLDER):
        return None
    try:
        return open_checkpoint(disk.read(CHECKPOINT), public_keys(disk))
    except Refuted as reason:
        raise Damaged(f"{CHECKPOINT} cannot be believed: {reason}") from None


REPLACED = "replaced"
HEADER = "muckrake key replaced v1"


class KeyReplacement(NamedTuple):
    """A signed statement that one key replaces another, from so many leaves on."""

    old: Key
    new: Key
    size: int
    root: bytes


def replace_signer(disk: Disk, private: SecretFolder, old: Signer) -> Signer:
    """A new key in the place of the old one, its statement durable first.

    The next writer of the ledger adds it to the known keys, and signs with it.
    """
    new = Signer.new(old.key.name)
    known = last_checkpoint(disk)
    size, root = (known.checkpoint.size, known.checkpoint.root) if known else (0, EMPTY)
    lines = [HEADER, old.key.text(), new.key.text(), f"{size} {to_base64(root)}"]
    text = "".join(f"{line}\n" for line in lines)
    disk.make_folder(REPLACED)
    replace_file(disk, f"{REPLACED}/{len(_names(disk)) + 1}", sign(text, old, new))
    private.write(SIGNING, new.spelled())
    return new


def read_replacement(note: bytes) -> KeyReplacement:
    """Read a statement that one key replaces another; both must have signed it."""
    lines = note.partition(b"\n\n")[0].decode(errors="replace").split("\n")
    if len(lines) != 4 or lines[0] != HEADER:
        raise Refuted(f"a statement over a key is four lines, the first of them {HEADER!r}")
    keys = Key.read(lines[1]), Key.read(lines[2])
    _, signed = open_note(note, keys)
    if {signature.key for signature in signed} != set(keys):
        raise Refuted("a statement over a key is signed by the old key and by the new one")
    size, _, root = lines[3].partition(" ")
    return KeyReplacement(
        *keys, read_number(size, "the size in it"), read_hash(root, "the root in it")
    )


def key_doubts(disk: Disk) -> tuple[list[str], list[str]]:
    """The faults of the statements over this ledger's keys, and the keys without one."""
    known = public_keys(disk)
    stated, wrong = set(), []
    for name in _names(disk):
        try:
            statement = read_replacement(disk.read(f"{REPLACED}/{name}"))
        except (Refuted, ValueError) as reason:
            wrong.append(f"{REPLACED}/{name}: {reason}")
        else:
            stated.add((statement.old, statement.new))
    unstated = [
        f"{new.text()} took the place of {old.text()} without a statement by the old key"
        for old, new in pairwise(known)
        if (old, new) not in stated
    ]
    return wrong, unstated


def successors(disk: Disk, known: set[str]) -> set[str]:
    """The lines of these keys, and of those over which one of them has signed a statement."""
    found = set(known)
    for name in _names(disk):
        with suppress(Refuted, ValueError):  # what is wrong with it, `key_doubts` says
            statement = read_replacement(disk.read(f"{REPLACED}/{name}"))
            if statement.old.text() in found:
                found.add(statement.new.text())
    return found


def _names(disk: Disk) -> list[str]:
    if REPLACED not in disk.names(""):
        return []
    return sorted((it for it in disk.names(REPLACED) if it.isascii() and it.isdigit()), key=int)
