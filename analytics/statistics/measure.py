"""One number about a player, by its name: what it says, and which SQL file counts it.

A share is `k` of `n` with a Wilson interval, a mean has Student's, a ratio of sums one with its
deals drawn again, a number has none.
"""

from typing import Literal, NamedTuple

Kind = Literal["share", "mean", "ratio", "number"]
Basis = Literal["own", "known"]
BASES: tuple[Basis, ...] = ("own", "known")


class Measure(NamedTuple):
    """One number about a player. Where it rests on a basis, that is the end of its name.

    An `amount` is one of what was played for, and no share, number or part of a pot.
    """

    name: str
    title: str
    meaning: str
    file: str
    kind: Kind = "mean"
    basis: Basis | None = None
    amount: bool = False

    @property
    def counted(self) -> str:
        """How its columns begin in the answer of its file."""
        return self.name.removesuffix(f"_{self.basis}")
