"""Before the flop: who entered, raised, re-raised and stole, out of those who could.

The big blind is level one, so the first raise makes two: `raises` counts from nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analytics.facts_acts import Act, Row, chance
from analytics.facts_seats import STEALING


class Before(NamedTuple):
    """What the flop inherits: how many raises, who made the last, who called last of all."""

    raises: int
    aggressor: int | None
    callers: frozenset[int]


class _Pot:
    """Who is in so far, while the actions are read."""

    def __init__(self) -> None:
        self.raisers: list[int] = []
        self.callers = 0  # since the last raise, or limpers
        self.stealer: int | None = None
        self.last: dict[int, str] = {}

    @property
    def raises(self) -> int:
        return len(self.raisers)

    def add(self, act: Act, position: str) -> None:
        """The action is done."""
        if act.raises:
            unopened = not self.raisers and not self.callers
            self.stealer = act.seat if unopened and position in STEALING else None
            self.raisers.append(act.seat)
            self.callers = 0
        elif act.kind == "call":
            self.callers += 1
        self.last[act.seat] = act.kind


def preflop(done: Sequence[Act], at: Mapping[int, str], rows: dict[int, Row]) -> Before:
    """Fill the rows of the seats that acted; what is left empty was no opportunity."""
    pot = _Pot()
    for act in done:
        row = rows.get(act.seat)
        if row is not None and act.counts:
            raised = act.raises
            chance(row, "vpip", True, raised or act.kind == "call")
            chance(row, "pfr", True, raised)
            if act.asked:
                chance(row, "pfr_able", act.offered, raised)
                _FACING.get(pot.raises, _nothing)(row, act, pot, at[act.seat])
                if pot.raises == 0 and act.seat not in pot.last:
                    chance(row, "limp", act.owed, act.kind == "call")
        pot.add(act, at.get(act.seat, ""))
    callers = frozenset(seat for seat, kind in pot.last.items() if kind == "call")
    return Before(pot.raises, pot.raisers[-1] if pot.raisers else None, callers)


def _unraised(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """Nobody has raised; who comes after a limper opens nothing."""
    if pot.callers:
        return
    raised = act.raises
    chance(row, "rfi", act.offered, raised)
    if position in STEALING:
        chance(row, "steal", act.offered, raised)


def _raised_once(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """One raise to face, perhaps with callers, perhaps a steal."""
    raised = act.raises
    chance(row, "three_bet", act.offered, raised)
    if pot.callers:
        chance(row, "squeeze", act.offered, raised)
    elif pot.stealer is not None and position in ("SB", "BB"):
        chance(row, f"fold_to_steal_{position.lower()}", True, act.kind == "fold")
        chance(row, "resteal", act.offered, raised)


def _raised_twice(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """A 3-bet to face: as the opener, or cold."""
    raised, folded = act.raises, act.kind == "fold"
    chance(row, "four_bet", act.offered, raised)
    chance(row, "fold_to_3bet", True, folded)
    if act.seat == pot.raisers[0]:
        chance(row, "four_bet_opener", act.offered, raised)
        chance(row, "fold_to_3bet_opener", True, folded)
    if act.seat not in pot.raisers:
        chance(row, "cold_four_bet", act.offered, raised)


def _nothing(row: Row, act: Act, pot: _Pot, position: str) -> None:
    """A fourth raise and those after it have no statistic."""


_FACING = {0: _unraised, 1: _raised_once, 2: _raised_twice}
