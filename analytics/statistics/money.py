"""What players won and lost, and how steadily: `winnings.sql` in columns, without a database.

The SQL says what is meant; tests hold the two together.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Column = NDArray[np.float64]
NEEDED = ("showdown", "per_chip", "big_blind", "big_bet", "hands", "nets", "squares")


class Money:
    """Rows of nets: of so many hands each, their sum and the sum of their squares."""

    def __init__(self, rows: pa.Table) -> None:
        # As fractions, because a number that nobody knows is then none.
        self._told: dict[str, Column] = {
            name: rows[name].cast(pa.float64()).to_numpy() for name in NEEDED
        }

    def of(self, at: NDArray[np.int64]) -> dict[str, Any]:
        """The columns of `winnings.sql` of these rows."""
        told = {name: column[at] for name, column in self._told.items()}
        chips = _in("per_chip", told)
        found: dict[str, Any] = {"net_sum": chips.sum, "net_n": chips.n}
        shown = told["showdown"] == 1
        for name, rows in (("net_showdown", shown), ("net_without", ~shown)):
            some = chips.only(rows)
            found |= {f"{name}_sum": some.sum, f"{name}_n": some.n}
        units = {"net_hand": chips, "bb": _in("big_blind", told), "big_bet": _in("big_bet", told)}
        for name, one in units.items():
            found |= {f"{name}_mean": one.mean, f"{name}_sd": one.deviation, f"{name}_n": one.n}
        return found


class _Nets(NamedTuple):
    """Sums of nets and of their squares, of so many hands, all in one unit."""

    nets: Column
    squares: Column
    hands: Column

    def only(self, rows: NDArray[np.bool_]) -> "_Nets":
        return _Nets(*(column[rows] for column in self))

    @property
    def n(self) -> int:
        return int(self.hands.sum())

    @property
    def sum(self) -> float | None:
        return float(self.nets.sum()) if len(self.nets) else None

    @property
    def mean(self) -> float | None:
        return float(self.nets.sum()) / self.n if self.n else None

    @property
    def deviation(self) -> float | None:
        """From the mean of squares about the mean."""
        if self.n < 2:
            return None
        total = float(self.nets.sum())
        rest = float(self.squares.sum()) - total * total / self.n
        return sqrt(rest / (self.n - 1)) if rest > 0 else 0.0


def _in(unit: str, told: dict[str, Column]) -> _Nets:
    """Nets counted in a unit, where it is known."""
    size = told[unit]
    every = _Nets(told["nets"] / size, told["squares"] / size / size, told["hands"])
    return every.only(~np.isnan(size))
