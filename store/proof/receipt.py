"""Receipts, as C2SP tlog-proof writes them: that a leaf is in the tree of a signed checkpoint.

The file is complete: with the leaf, and a key that the reader knows, it is checked on any machine.
The format's `extra` line is not written and not read: nobody signs it.
"""

from collections.abc import Iterable

from msgspec import Struct

from store.proof.checkpoint import Opened, open_checkpoint, read_hash, read_number
from store.proof.note import Key, to_base64
from store.proof.tree import Proof, Refuted, check_inclusion

HEADER = "c2sp.org/tlog-proof@v1"


class Receipt(Struct, frozen=True):
    """Where the leaf stands, the hashes from it to the root, and the checkpoint as signed."""

    index: int
    proof: Proof
    checkpoint: bytes

    def format(self) -> bytes:
        lines = [HEADER, f"index {self.index}", *map(to_base64, self.proof), ""]
        return "".join(f"{line}\n" for line in lines).encode() + self.checkpoint

    def check(self, leaf: bytes, keys: Iterable[Key], witnesses: Iterable[Key] = ()) -> Opened:
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
