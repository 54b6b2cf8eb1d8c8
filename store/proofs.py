"""Receipts, and the tree that they come from, for whoever reads a ledger.

The files of the tree hold the leaves that are sealed. Those of the hot log are hashed here, when
they are asked for: that takes the secret that nonces are derived from.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from events.lines import leaf_bytes
from store.log.leaf import Leaf
from store.proof.checkpoint import Opened
from store.proof.nonces import salts_of
from store.proof.receipt import Receipt
from store.proof.tree import Frontier, Proof, Refuted, frontier, inclusion, leaf_hash, node_hash
from store.proof.tree_file import TreeFiles
from store.reader import Snapshot


class Prover:
    """The tree of a ledger as it is now, and proofs from it under one of its checkpoints."""

    def __init__(
        self, ledger: Snapshot, nonces: bytes, known: dict[int, bytes] | None = None
    ) -> None:
        """`known` are hashes of leaves that are not sealed yet, for whoever asks again."""
        self._ledger = ledger
        self._salts = salts_of(ledger.live.disk, nonces)
        self._known = {} if known is None else known
        self._files = TreeFiles(ledger.live.disk)
        self._sealed, self._closed = ledger.live.leaves_by_place()

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._sealed + len(self._closed)

    def head(self, size: int) -> bytes:
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
        return hand_seq, leaf_bytes(hand_seq, recorded, self._salts.of(stream, hand_seq))

    def leaves(self, begin: int, count: int) -> Iterator[bytes]:
        """The bytes of so many leaves in a row."""
        for leaf in islice(self._ledger.leaves(begin - 1), count):
            nonces = self._salts.of(leaf.stream, leaf.hand_seq)
            yield leaf_bytes(leaf.hand_seq, leaf.recorded, nonces)

    def receipt(self, stream: str, known: Opened, note: bytes) -> tuple[bytes, Receipt]:
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

    def proved(self, one: Leaf, known: Opened) -> tuple[bytes, Proof]:
        """The bytes of a leaf that this checkpoint covers, and what leads from it to the root."""
        leaf = leaf_bytes(one.hand_seq, one.recorded, self._salts.of(one.stream, one.hand_seq))
        return leaf, inclusion(one.hand_seq, known.checkpoint.size, self.hashes)

    @cached_property
    def _hot(self) -> list[bytes]:
        """Of what closed since the last seal; hashed once, as long as it is not sealed."""
        for sealed in [place for place in self._known if place < self._sealed]:
            self._known.pop(sealed, None)
        for one in self._closed:
            if one.hand_seq not in self._known:
                nonces = self._salts.of(one.stream, one.hand_seq)
                leaf = leaf_bytes(one.hand_seq, one.recorded(), nonces)
                self._known[one.hand_seq] = leaf_hash(leaf)
        return [self._known[one.hand_seq] for one in self._closed]
