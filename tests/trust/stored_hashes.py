"""Hashes of complete subtrees from a list of leaf hashes: every level, all in memory."""

from collections.abc import Sequence

from store.proof.tree import node_hash


class InMemory:
    """What proofs ask for; `asked` counts how often."""

    def __init__(self, leaf_hashes: Sequence[bytes]) -> None:
        self.levels = [list(leaf_hashes)]
        while len(below := self.levels[-1]) > 1:
            self.levels.append(
                [node_hash(below[i], below[i + 1]) for i in range(0, len(below) - 1, 2)]
            )
        self.asked = 0

    def __call__(self, level: int, index: int) -> bytes:
        self.asked += 1
        return self.levels[level][index]
