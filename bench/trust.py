"""What it costs to make a record believable, a step at a time: the tree, signatures, proofs.

Beside each step stands what it cannot do without, done alone: so many calls of the same hash
function or of the same signature. Proofs come from a tree of a million hands in files. `hashlib`
and `cryptography` are ours, too: there is nobody to win against here.
"""

import atexit
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench import trust_bundles, trust_hands
from bench.runner import Bench, Contender, one_by_one
from store.folder.disk import RealDisk
from store.proof.checkpoint import Checkpoint, open_checkpoint, sign
from store.proof.note import Signer
from store.proof.tree import Frontier, check_inclusion, frontier, inclusion
from store.proof.tree_file import TreeFiles, open_tree

HANDS = 1_000_000
TOGETHER = 1_000
SEED = bytes(range(32))


def benches() -> list[Bench]:
    """In the order in which a hand meets them."""
    hands = [trust_hands.canonical(), trust_hands.committing(), trust_hands.verifying()]
    bundles = [trust_bundles.writing(), trust_bundles.checking()]
    return [*hands, tree(), signing(), opening(), proving(), checking(), *bundles]


def tree() -> Bench:
    leaves = [sha256(b"%d" % number).digest() for number in range(10_000)]
    return Bench(
        "A hand into the tree",
        "hand",
        "hand",
        (
            Contender("muckrake, one at a time", lambda count: _grown(leaves, count, 1)),
            Contender(
                "muckrake, a thousand at once", lambda count: _grown(leaves, count, TOGETHER)
            ),
            Contender("one SHA-256 of 65 bytes", one_by_one(_hashed, list(pairwise(leaves)))),
        ),
        micros=True,
    )


def signing() -> Bench:
    signer = Signer("muckrake.local/bench", SEED)
    private, text = Ed25519PrivateKey.from_private_bytes(SEED), _checkpoint().text().encode()
    return Bench(
        "A checkpoint signed",
        "checkpoint",
        "checkpoint",
        (
            Contender("muckrake", _each(lambda: sign(_checkpoint(), signer))),
            Contender("Ed25519 alone", _each(lambda: private.sign(text)), "cryptography"),
        ),
        micros=True,
    )


def opening() -> Bench:
    signer = Signer("muckrake.local/bench", SEED)
    note = sign(_checkpoint(), signer)
    private, text = Ed25519PrivateKey.from_private_bytes(SEED), _checkpoint().text().encode()
    public, signed = private.public_key(), private.sign(text)
    return Bench(
        "A checkpoint opened: read, its signature checked",
        "checkpoint",
        "checkpoint",
        (
            Contender("muckrake", _each(lambda: open_checkpoint(note, [signer.key]))),
            Contender("Ed25519 alone", _each(lambda: public.verify(signed, text)), "cryptography"),
        ),
        micros=True,
    )


def proving() -> Bench:
    stored, indexes = _large(), [number * 7_919 % HANDS for number in range(1_000)]
    return Bench(
        f"A hand proved to be among {HANDS:,}, from files",
        "proof",
        "proof",
        (
            Contender("muckrake", one_by_one(lambda at: inclusion(at, HANDS, stored), indexes)),
            Contender("the head of the tree", _each(lambda: frontier(HANDS, stored).root())),
        ),
        micros=True,
    )


def checking() -> Bench:
    stored, at = _large(), HANDS // 3
    root, leaf = frontier(HANDS, stored).root(), stored(0, at)
    proof = inclusion(at, HANDS, stored)
    pairs = list(pairwise((leaf, *proof)))
    return Bench(
        f"Such a proof checked: {len(proof)} hashes",
        "proof",
        "proof",
        (
            Contender("muckrake", _each(lambda: check_inclusion(leaf, at, HANDS, root, proof))),
            Contender(
                f"{len(proof)} times SHA-256", _each(lambda: [_hashed(pair) for pair in pairs])
            ),
        ),
        micros=True,
    )


def _checkpoint() -> Checkpoint:
    return Checkpoint("muckrake.local/bench", HANDS, SEED)


def _each(act: Callable[[], object]) -> Callable[[int], int]:
    return one_by_one(lambda _: act(), (None,))


def _hashed(pair: tuple[bytes, bytes]) -> bytes:
    return sha256(b"\x01" + pair[0] + pair[1]).digest()


def _grown(leaves: list[bytes], count: int, together: int) -> int:
    """So many leaves, rounded up to what comes together."""
    grown = Frontier()
    while grown.size < count:
        at = grown.size % len(leaves)
        grown = grown.added(leaves[at : at + together])
    return grown.size


@cache
def _large() -> TreeFiles:
    """A tree of that many hands on disk, until this process ends."""
    folder = TemporaryDirectory(prefix="muckrake-bench-")
    atexit.register(folder.cleanup)
    disk = RealDisk(Path(folder.name))
    grown = open_tree(disk, 0)
    grown.append([sha256(b"%d" % number).digest() for number in range(HANDS)])
    grown.sync()
    grown.close()
    return TreeFiles(disk)
