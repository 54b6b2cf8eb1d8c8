"""The Merkle tree of RFC 6962 over all leaves: roots, proofs, and the checking of proofs.

A tree of `size` leaves is a row of complete subtrees, the largest first, one for each bit of the
size. Complete subtrees never change when leaves are added. So nothing here needs leaves: a
caller passes `hashes(level, index)`, which knows the hash of the complete subtree of
`2**level` leaves that begins at leaf `index * 2**level`. `tree_file.py` answers from files.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct

WIDTH = 32  # bytes of a hash
EMPTY = sha256().digest()  # the head of a tree without leaves

Hashes = Callable[[int, int], bytes]
Proof = tuple[bytes, ...]


class Refuted(ValueError):
    """A proof, signature or document is wrong; the sentence says how."""


class Frontier(Struct, frozen=True):
    """The edge of a tree, enough to add leaves: the hashes of its complete subtrees."""

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def added(self, leaf_hashes: Iterable[bytes]) -> "Frontier":
        """The tree with these leaves after its own."""
        size, hashes = self.size, list(self.hashes)
        for hashed in leaf_hashes:
            size += 1
            rest, right = size, hashed
            while not rest & 1:  # what now stands beside a subtree of its own size is one with it
                right = node_hash(hashes.pop(), right)
                rest >>= 1
            hashes.append(right)
        return Frontier(size, tuple(hashes))

    def root(self) -> bytes:
        """The tree's head."""
        return _head(self.hashes)


def leaf_hash(data: bytes) -> bytes:
    """A leaf and a node can never have the same hash: each begins with a byte of its own."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def frontier(size: int, hashes: Hashes) -> Frontier:
    """The frontier of the first `size` leaves, from stored hashes."""
    return Frontier(size, tuple(hashes(level, index) for level, index in _complete(0, size)))


def inclusion(index: int, size: int, hashes: Hashes) -> Proof:
    """The hashes that lead from leaf `index` to the head of the first `size` leaves."""
    _in_tree(index, size)
    sides = _siblings(index + 1, size, of_leaf=True)
    return tuple(_span_hash(side, hashes) for side in sides)


def consistency(old: int, new: int, hashes: Hashes) -> Proof:
    """The hashes that show the first `old` leaves of a tree of `new` to be the old tree."""
    _no_shrinking(old, new)
    if old in (0, new):
        return ()
    level = (old & -old).bit_length() - 1  # of the old tree's last and smallest complete subtree
    seed = () if _is_whole(old) else (hashes(level, (old >> level) - 1),)
    return seed + tuple(_span_hash(side, hashes) for side in _siblings(old, new))


def check_inclusion(
    leaf: bytes, index: int, size: int, root: bytes, proof: Sequence[bytes]
) -> None:
    """`Refuted` unless this leaf hash stands at this index of the tree of that size and head."""
    _in_tree(index, size)
    sides = _siblings(index + 1, size, of_leaf=True)
    claim = f"leaf {index} of {size}"
    _measured(claim, proof, len(sides))
    head = leaf
    for side, hashed in zip(sides, proof, strict=True):
        head = node_hash(hashed, head) if side.left else node_hash(head, hashed)
    if head != root:
        raise Refuted(
            f"{claim} is not proved: leaf and proof lead to the root {head.hex()}, not {root.hex()}"
        )


def check_consistency(
    old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """`Refuted` unless the tree of `new` leaves begins with the whole tree of `old` leaves."""
    _no_shrinking(old, new)
    claim = f"that the first {old} of {new} leaves are unchanged"
    if old in (0, new):
        _measured(claim, proof, 0)
        known = EMPTY if old == 0 else new_root
        if old_root != known:
            raise Refuted(f"two trees of {old} leaves: {old_root.hex()} and {known.hex()}")
        return
    sides = _siblings(old, new)
    _measured(claim, proof, len(sides) + (not _is_whole(old)))
    seed, *rest = (old_root, *proof) if _is_whole(old) else proof
    then = now = seed
    for side, hashed in zip(sides, rest, strict=True):
        now = node_hash(hashed, now) if side.left else node_hash(now, hashed)
        then = node_hash(hashed, then) if side.left else then
    for name, found, root in (("old", then, old_root), ("new", now, new_root)):
        if found != root:
            raise Refuted(
                f"{claim} is not proved: the proof leads to the {name} root {found.hex()},"
                f" not {root.hex()}"
            )


class Span(NamedTuple):
    """Leaves `begin` to before `end`; `left` if they stand left of what a proof begins with."""

    begin: int
    end: int
    left: bool


def _siblings(leaves: int, size: int, *, of_leaf: bool = False) -> list[Span]:
    """Beside what a proof climbs, from the bottom up, in a tree of `size`: it begins with the last
    complete subtree of the first `leaves`, or with the last of these leaves."""
    sides = []
    begin, end = 0, size
    while end != leaves or (of_leaf and end - begin > 1):
        # The largest power of two below the size: so many leaves are on the left.
        middle = begin + (1 << (end - begin - 1).bit_length() - 1)
        if leaves <= middle:
            sides.append(Span(middle, end, left=False))
            end = middle
        else:
            sides.append(Span(begin, middle, left=True))
            begin = middle
    return sides[::-1]


def _span_hash(span: Span, hashes: Hashes) -> bytes:
    return _head([hashes(level, index) for level, index in _complete(span.begin, span.end)])


def _complete(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The complete subtrees in a row that make up these leaves, as level and index."""
    while begin < end:
        level = (end - begin).bit_length() - 1
        yield level, begin >> level
        begin += 1 << level


def _head(subtrees: Sequence[bytes]) -> bytes:
    """The root over a row of ever smaller subtrees: the two smallest are joined first."""
    if not subtrees:
        return EMPTY
    return reduce(lambda right, left: node_hash(left, right), reversed(subtrees))


def _is_whole(size: int) -> bool:
    """Whether so many leaves are one complete subtree: then the old root is a node of the new."""
    return size & (size - 1) == 0


def _in_tree(index: int, size: int) -> None:
    if not 0 <= index < size:
        raise Refuted(f"there is no leaf {index} in a tree of {size}")


def _no_shrinking(old: int, new: int) -> None:
    if not 0 <= old <= new:
        raise Refuted(f"a tree of {old} leaves cannot have become one of {new}: it only grows")


def _measured(claim: str, proof: Sequence[bytes], count: int) -> None:
    if len(proof) != count:
        raise Refuted(f"{claim} is proved by {count} hashes, not {len(proof)}")
    for hashed in proof:
        if len(hashed) != WIDTH:
            raise Refuted(f"{claim} is proved by hashes of {WIDTH} bytes, not {len(hashed)}")
