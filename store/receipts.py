"""Receipts, and the tree that they come from, for readers of a ledger.

The files of the tree hold the leaves that are sealed. Those of the hot log are hashed here, when
they are asked for: that takes the secret that nonces are derived from.

A receipt says that a leaf is in the tree of a signed checkpoint, as C2SP tlog-proof writes it. The
file is complete: with the leaf, and a key that the reader knows, it is checked on any machine.
The format's `extra` line is not written and not read: nobody signs it.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

from msgspec import Struct

from store.log.streams import Leaf
from store.proof.checkpoint import SignedCheckpoint, open_checkpoint, read_hash, read_number
from store.proof.ledger_secrets import salts_of
from store.proof.note import Key, to_base64
from store.proof.tree import (
    Frontier,
    Proof,
    Refuted,
    check_inclusion,
    frontier,
    inclusion,
    leaf_hash,
    node_hash,
)
from store.proof.tree_file import TreeFiles
from store.reader import Snapshot

HEADER = "c2sp.org/tlog-proof@v1"


class Receipt(Struct, frozen=True):
    """A receipt: the place of a leaf, the hashes from it to the root, the signed checkpoint."""

    index: int
    proof: Proof
    checkpoint: bytes

    def format(self) -> bytes:
        lines = [HEADER, f"index {self.index}", *map(to_base64, self.proof), ""]
        return "".join(f"{line}\n" for line in lines).encode() + self.checkpoint

    def check(
        self, leaf: bytes, keys: Iterable[Key], witnesses: Iterable[Key] = ()
    ) -> SignedCheckpoint:
        """The checkpoint, if it is signed by a known key and this leaf hash is in its tree."""
        opened = open_checkpoint(self.checkpoint, keys, witnesses)
        size, root = opened.checkpoint.size, opened.checkpoint.root
        check_inclusion(leaf, self.index, size, root, self.proof)
        return opened


def read_receipt(data: bytes) -> Receipt:
    """The parts of a receipt; `check` says whether they prove anything."""
    above, gap, checkpoint = data.partition(b"\n\n")
    try:
        header, *lines = above.decode().split("\n")
    except UnicodeDecodeError as reason:
        raise Refuted(f"a receipt that is not UTF-8 at byte {reason.start}") from None
    if header != HEADER:
        raise Refuted(f"a receipt begins with the line {HEADER}, not {header[:80]!r}")
    if not gap:
        raise Refuted("a receipt without the empty line that stands before its checkpoint")
    word, space, number = lines[0].partition(" ") if lines else ("", "", "")
    if word != "index" or not space:
        raise Refuted(f"the second line of a receipt is its index, not {''.join(lines[:1])[:80]!r}")
    return Receipt(
        read_number(number, "the index in a receipt"),
        tuple(read_hash(line, f"hash {at} of a receipt") for at, line in enumerate(lines[1:])),
        checkpoint,
    )


class Prover:
    """The tree of a ledger as it is now, and proofs from it under one of its checkpoints."""

    def __init__(
        self, ledger: Snapshot, nonces: bytes, known: dict[int, bytes] | None = None
    ) -> None:
        """`known` are hashes of leaves that are not sealed yet, for a caller who asks again."""
        self._ledger = ledger
        self._salts = salts_of(ledger.live.disk, nonces)
        self._known = {} if known is None else known
        self._files = TreeFiles(ledger.live.disk)
        self._sealed, self._closed = ledger.live.leaves_by_place()

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self._sealed + len(self._closed)

    def root_at(self, size: int) -> bytes:
        """The root over the first so many leaves."""
        return self.frontier(size).root()

    def frontier(self, size: int) -> Frontier:
        return frontier(size, self.hashes)

    def hashes(self, level: int, index: int) -> bytes:
        """The hash of a complete subtree of `2**level` leaves, stored or made now."""
        if (index + 1) << level <= self._sealed:
            return self._files(level, index)
        if level == 0:
            return self._hot[index - self._sealed]
        below = self.hashes(level - 1, 2 * index), self.hashes(level - 1, 2 * index + 1)
        return node_hash(*below)

    def leaf(self, stream: str) -> tuple[int, bytes]:
        """A hand's place among all that closed, and its leaf; refused if it has two."""
        hand_seq = self._ledger.hand_seq(stream)
        if hand_seq is None:
            raise Refuted(f"{stream} has not ended: only what has closed is in the tree")
        if len(closed := self._ledger.live.hand_seqs(stream)) > 1:
            places = " and ".join(map(str, sorted(closed)))
            raise Refuted(f"{stream} is in the tree as {places}: one hand has one record")
        recorded = self._ledger.read(stream)
        return hand_seq, self._salts.leaf(hand_seq, recorded)

    def leaves(self, begin: int, count: int) -> Iterator[bytes]:
        """The bytes of so many leaves in a row."""
        for leaf in islice(self._ledger.leaves(begin - 1), count):
            yield self._salts.leaf(leaf.hand_seq, leaf.recorded)

    def receipt(self, stream: str, known: SignedCheckpoint, note: bytes) -> tuple[bytes, Receipt]:
        """A hand's leaf, and the receipt that it stands under this checkpoint, given as signed."""
        hand_seq, leaf = self.leaf(stream)
        size = known.checkpoint.size
        if hand_seq >= size:
            raise Refuted(
                f"{stream} closed after the newest checkpoint was signed, for {size} closed"
                " streams: ask again in a second, or when its writer has ended"
            )
        proof = inclusion(hand_seq, size, self.hashes)
        receipt = Receipt(hand_seq, proof, note)
        receipt.check(leaf_hash(leaf), known.keys)
        return leaf, receipt

    def leaf_with_proof(self, one: Leaf, known: SignedCheckpoint) -> tuple[bytes, Proof]:
        """The bytes of a leaf that this checkpoint covers, and what leads from it to the root."""
        leaf = self._salts.leaf(one.hand_seq, one.recorded)
        return leaf, inclusion(one.hand_seq, known.checkpoint.size, self.hashes)

    @cached_property
    def _hot(self) -> list[bytes]:
        """The leaf hashes of what closed since the last seal, each made once."""
        for sealed in [place for place in self._known if place < self._sealed]:
            self._known.pop(sealed, None)
        for stream in self._closed:
            if stream.hand_seq not in self._known:
                leaf = self._salts.leaf(stream.hand_seq, stream.recorded())
                self._known[stream.hand_seq] = leaf_hash(leaf)
        return [self._known[stream.hand_seq] for stream in self._closed]
