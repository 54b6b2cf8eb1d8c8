"""The tree as RFC 6962 section 2.1 defines it, over leaves, recursively: slow and plain."""

from collections.abc import Sequence
from hashlib import sha256

Leaves = Sequence[bytes]


def head(leaves: Leaves) -> bytes:
    """MTH(D)"""
    if not leaves:
        return sha256().digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = split(len(leaves))
    return sha256(b"\x01" + head(leaves[:k]) + head(leaves[k:])).digest()


def path(m: int, leaves: Leaves) -> list[bytes]:
    """PATH(m, D)"""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if m < k:
        return [*path(m, leaves[:k]), head(leaves[k:])]
    return [*path(m - k, leaves[k:]), head(leaves[:k])]


def proof(m: int, leaves: Leaves, whole: bool = True) -> list[bytes]:
    """SUBPROOF(m, D, b), and PROOF(m, D) with the third left out"""
    if m == len(leaves):
        return [] if whole else [head(leaves)]
    k = split(len(leaves))
    if m <= k:
        return [*proof(m, leaves[:k], whole), head(leaves[k:])]
    return [*proof(m - k, leaves[k:], False), head(leaves[:k])]


def split(size: int) -> int:
    """The largest power of two smaller than the size."""
    k = 1
    while 2 * k < size:
        k *= 2
    return k
