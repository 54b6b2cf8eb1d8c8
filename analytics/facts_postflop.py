"""After the flop: who went on betting, who led, floated, check-raised and gave up."""

from collections.abc import Sequence

from analytics.facts_acts import STREETS, Act, Row, chance
from analytics.facts_preflop import Before


class _Street:
    """One round of betting, while its actions are read."""

    def __init__(self, name: str, heir: int | None) -> None:
        self.name = name
        self.heir = heir  # who may make the continuation bet
        self.bets = 0
        self.continued = False
        self.checked: set[int] = set()
        self.acted: set[int] = set()

    def add(self, act: Act) -> None:
        """The action is done."""
        if act.raises:
            self.continued = self.bets == 0 and act.seat == self.heir
            self.bets += 1
        elif act.kind == "check":
            self.checked.add(act.seat)
        self.acted.add(act.seat)


def postflop(done: Sequence[Act], before: Before, rows: dict[int, Row]) -> None:
    """Fill the rows street by street; the right to a continuation bet passes on by betting."""
    heir = before.aggressor
    for number, name in enumerate(STREETS[1:], start=1):
        street = _Street(name, heir)
        made = False
        for act in done:
            if act.street != number or not act.asked:
                continue
            row = rows.get(act.seat)
            if row is not None and act.counts:
                if street.bets:
                    _facing(row, act, street)
                else:
                    _open(row, act, street)
                    if number == 1:
                        _caller(row, act, street, before)
            street.add(act)
            made = made or street.continued
        heir = heir if made else None


def _open(row: Row, act: Act, street: _Street) -> None:
    """Nobody has bet yet."""
    bet = act.raises
    if act.seat == street.heir:
        chance(row, f"cbet_{street.name}", act.offered, bet)
    if street.checked and act.seat not in street.acted:
        chance(row, f"bet_when_checked_to_{street.name}", act.offered, bet)


def _caller(row: Row, act: Act, street: _Street, before: Before) -> None:
    """Who called before the flop may lead into the last raiser, or float behind him."""
    raiser = before.aggressor
    if raiser is None or act.seat not in before.callers:
        return
    if raiser in street.checked:
        if before.raises == 1:
            chance(row, "float_bet", act.offered, act.raises)
    elif raiser not in act.all_in:
        chance(row, "donk", act.offered, act.raises)


def _facing(row: Row, act: Act, street: _Street) -> None:
    """A bet is to be answered: the continuation bet itself, or any after an own check."""
    if street.continued and street.bets == 1:
        chance(row, f"fold_to_cbet_{street.name}", True, act.kind == "fold")
    if act.seat in street.checked:
        chance(row, f"check_raise_{street.name}", act.offered, act.raises)
