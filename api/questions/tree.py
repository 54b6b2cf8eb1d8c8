"""The tree over a ledger for whoever asks: its checkpoint, its keys, its tiles, and proofs from it.

All of it is public and opens nothing: hashes of public lines, in which what is hidden is committed
to. Nothing beyond the newest signed checkpoint is told.

Who is told of a match later than it is played is told of the tree later, too: its size would say
how many hands there are that he may not know of. For him a checkpoint over what he knows is signed
when he asks. It is one that the log could have signed then: of one log and one time there is but
one root. A ledger with witnesses shows him the newest that they have cosigned of what he knows.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

from store.proof import tree_file
from store.proof.checkpoint import Checkpoint, open_checkpoint, sign
from store.proof.notary import public_keys
from store.proof.note import Key
from store.proof.policy import policy_of, published
from store.proof.private import Private
from store.proof.tree import Proof, Refuted, consistency
from store.proof.tree_file import Tile
from store.proofs import Prover
from store.reader import Snapshot
from store.snapshot import Live

_hashed: WeakKeyDictionary[Live, dict[int, bytes]] = WeakKeyDictionary()


NOTHING = "nothing was signed for in this ledger yet: ask again in a second"
UNSEEN = "no checkpoint of this ledger has been cosigned by enough witnesses yet: ask again later"


class Unsigned(Exception):
    """Nothing was signed for that would answer this."""


class NoSecrets(Exception):
    """The folder of secrets is not here: what is not sealed cannot be hashed, nor be opened."""


class Grown(NamedTuple):
    """That the first tree is the beginning of the second."""

    old: int
    old_root: bytes
    new: int
    new_root: bytes
    proof: Proof


class Tree:
    """What the log of a snapshot's ledger has signed for, as of now."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._disk = snapshot.live.disk
        if snapshot.early and not snapshot.next_seq:
            raise Unsigned(NOTHING)
        is_witnessed = policy_of(self._disk) is not None
        known = published(
            self._disk, snapshot.next_seq if snapshot.early and is_witnessed else None
        )
        if known is None:
            raise Unsigned(UNSEEN if is_witnessed else NOTHING)
        self.newest, self.note = known
        self._prover: Prover | None = None
        if snapshot.early and self.size > snapshot.next_seq:
            self.note = self._earlier(self.newest.checkpoint.origin, snapshot.next_seq)
            self.newest = open_checkpoint(self.note, self.keys)

    @property
    def size(self) -> int:
        """How many leaves were signed for."""
        return self.newest.checkpoint.size

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every key that has signed for this ledger, the newest last."""
        return public_keys(self._disk)

    @property
    def prover(self) -> Prover:
        """Proofs from the tree; hashes that were made for one are kept for the next."""
        if self._prover is None:
            live = self._snapshot.live
            nonces = Private(live.folder).nonces()
            if nonces is None:
                raise NoSecrets("the secrets of this ledger are not here: nothing is proved")
            self._prover = Prover(self._snapshot, nonces, _hashed.setdefault(live, {}))
        return self._prover

    def tile(self, path: str) -> bytes:
        """The bytes of a tile by its C2SP name; `Refuted` if it is none, or beyond the tree."""
        return b"".join(self._hashes(self._tile(f"tile/{path}")))

    def entries(self, path: str) -> bytes:
        """The leaves of a tile of level 0, each after its length in two bytes."""
        tile = self._tile(f"tile/0/{path}")
        leaves = self.prover.leaves(tile.number * tree_file.SPAN, tile.width)
        return b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in leaves)

    def grown(self, old: int, new: int) -> Grown:
        """The proof that a tree of `old` leaves is the beginning of one of `new`."""
        if not 0 <= old <= new <= self.size:
            raise Refuted(f"there is no proof from {old} to {new}: 0 <= from <= to <= {self.size}")
        proof = consistency(old, new, self.prover.hashes)
        return Grown(old, self.prover.head(old), new, self.prover.head(new), proof)

    def _earlier(self, origin: str, size: int) -> bytes:
        """A checkpoint of a tree that has been, as a signed note."""
        signer = Private(self._snapshot.live.folder).signer()
        if signer is None:
            raise NoSecrets("the secrets of this ledger are not here: nothing is signed for")
        return sign(Checkpoint(origin, size, self.prover.head(size)), signer)

    def _tile(self, path: str) -> Tile:
        tile = tree_file.read_path(path)
        if tile.width > tree_file.width(tile, self.size):
            raise Refuted(f"{path} is not in a tree of {self.size} leaves")
        return tile

    def _hashes(self, tile: Tile) -> list[bytes]:
        begin, level = tile.number * tree_file.SPAN, tile.level * tree_file.HEIGHT
        return [self.prover.hashes(level, begin + place) for place in range(tile.width)]
