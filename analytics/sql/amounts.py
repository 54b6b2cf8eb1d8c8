"""What the amounts of chosen hands are: chips, dollars, euros or pounds.

Those of one money add up exactly, half chips to chips and cents to dollars. Those of several have
no sum, and no mean: what asks for one is told so.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from analytics.sql.chosen import Chosen, quoted, table
from engine.units import money, per_chip

Parts = dict[tuple[str, str], str | None]


class Counted(Protocol):
    """Rows in SQL, and the units that their amounts may count in."""

    @property
    def units(self) -> set[str]: ...

    def rows(self, sql: str) -> list[dict[str, Any]]: ...


def moneys(units: Iterable[str]) -> list[str]:
    """What is played for where amounts count in these units."""
    return sorted(set(map(money, units)))


def moneys_of(facts: Counted, rows: str) -> list[str]:
    """What rows with a `unit` were played for; they are looked at only if that can differ."""
    known = moneys(facts.units)
    if len(known) < 2:
        return known
    found = facts.rows(f"SELECT DISTINCT unit FROM ({rows}) WHERE unit IS NOT NULL")
    return moneys(row["unit"] for row in found)


def by_part(facts: Counted, chosen: Chosen) -> Parts:
    """What each player's part was played for; None where that is several, of all if it is one."""
    rows = facts.rows(
        f"SELECT DISTINCT player, part, unit FROM ({table(chosen, 'NULL')}) WHERE unit IS NOT NULL"
    )
    found: Parts = {}
    for row in rows:
        key, one = (row["player"], row["part"]), money(row["unit"])
        found[key] = one if found.get(key, one) == one else None
    return found


def in_money(amount: str, units: Iterable[str]) -> str:
    """An amount of rows with a `unit`, in SQL: how much of their money it is."""
    parts = {unit: str(per_chip(unit)) for unit in sorted(units) if per_chip(unit) != 1}
    return f"CAST({amount} AS DOUBLE) / {_case('unit', parts, '1')}" if parts else amount


def money_in(units: Iterable[str], unit: str = "unit") -> str:
    """What rows with a `unit` are played for, in SQL."""
    return _case(unit, {one: quoted(money(one)) for one in sorted(units)}, unit)


def _case(unit: str, cases: Mapping[str, str], otherwise: str) -> str:
    told = " ".join(f"WHEN {quoted(one)} THEN {what}" for one, what in cases.items())
    return f"CASE {unit} {told} ELSE {otherwise} END"
