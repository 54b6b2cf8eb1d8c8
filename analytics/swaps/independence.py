"""What swaps must not depend on: one card's on the other's, and a player's act on his rival's swap.

Each question is a table of two by two with Fisher's exact p. All tables of one answer are a family,
judged together by Holm's correction at 1 %: who asks many questions finds something by chance.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from analytics.confidence.p_values import fisher, holm
from analytics.fairness.dealing import LEVEL

Row = dict[str, Any]
ACTS = ("bet", "check", "fold")


class Apart(NamedTuple):
    """One table: `cells` both, one, other, neither; `owed` is what chance owes the first."""

    player: str
    question: str
    game: str | None
    street: str | None
    cells: tuple[int, int, int, int]
    n: int
    owed: float
    p: float
    counted: float

    @property
    def verdict(self) -> str:
        """Whether it is as chance would have it."""
        return "ok" if self.counted >= LEVEL else "NOT CHANCE"


def apart(slots: Sequence[Row], behaviour: Sequence[Row]) -> list[Apart]:
    """Every table that has hands, each p as it counts among all of them."""
    found = [*_slots(slots), *_responses(behaviour)]
    counted = holm([one.p for one in found])
    return [one._replace(counted=p) for one, p in zip(found, counted, strict=True)]


def _slots(rows: Sequence[Row]) -> Iterator[Apart]:
    """Rows of `swaps_apart`."""
    for row in sorted(rows, key=lambda it: (it["player"], it["game"], it["street"])):
        cells = tuple(int(row[f"{name}_changed"]) for name in ("both", "first", "second", "none"))
        yield _table(row["player"], "both cards", row["game"], row["street"], cells)


def _responses(rows: Sequence[Row]) -> Iterator[Apart]:
    """Rows of `swaps_behaviour`: acts after a swap of the rival, beside acts after none."""
    for row in sorted(rows, key=lambda it: str(it["player"])):
        for act in ACTS:
            did, of, did_else, of_else = (
                int(row[f"{act}_rival_{what}_{end}"] or 0)
                for what in ("swapped", "kept")
                for end in "kn"
            )
            if of and of_else:
                cells = did, of - did, did_else, of_else - did_else
                yield _table(row["player"], f"{act}s after the rival's swap", None, None, cells)


def _table(
    player: str, question: str, game: str | None, street: str | None, cells: tuple[int, ...]
) -> Apart:
    a, b, c, d = cells
    n = a + b + c + d
    owed = (a + b) * (a + c) / n
    return Apart(player, question, game, street, (a, b, c, d), n, owed, fisher(a, b, c, d), 1.0)
