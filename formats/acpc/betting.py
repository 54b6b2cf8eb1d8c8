"""The betting of an ACPC hand, whose letters name no seat: who acts follows from what was done.

Position 0 is the first seat left of the button, so the button is the last; between two players
with reversed blinds, position 0 is the big blind. A raise is the total over the whole hand.
"""

import re

from msgspec import Struct

from formats.acpc.definitions import Definition
from formats.source import Act

_MOVES = re.compile(r"[fc]|r\d{0,15}")


QUOTED = 60  # characters of a file in a sentence about it


class Wrong(ValueError):
    """Something that no dealer writes."""


class Table(Struct):
    """What every position has put in, over the hand and before this street."""

    stack: int
    paid: list[int]
    folded: set[int]
    top: int
    before: int = 0

    def may_act(self, seat: int) -> bool:
        return seat not in self.folded and self.paid[seat] < self.stack


def streets(text: str, game: Definition, stack: int, per: int) -> tuple[list[list[Act]], set[int]]:
    """The choices of every street, and who folded; amounts in units."""
    if text.count("/") > 3:
        raise Wrong(f"{text[:QUOTED]!r} has more than four streets")
    blinds = [min(blind * per, stack) for blind in game.blinds]
    table = Table(stack, blinds, set(), max(game.blinds) * per)
    found = []
    for at, moves in enumerate(text.split("/")):
        if not re.fullmatch(rf"(?:{_MOVES.pattern})*", moves):
            why = "is no betting: f, c and r, with an amount where none is fixed"
            raise Wrong(f"{moves[:QUOTED]!r} {why}")
        seat = game.first if at == 0 else 0
        size = game.sizes[at] * per if game.limit else None
        found.append(_street(table, _MOVES.findall(moves), seat, size, per))
        table.before = table.top
    return found, table.folded


def _street(table: Table, moves: list[str], seat: int, size: int | None, per: int) -> list[Act]:
    acts = []
    for move in moves:
        seat = _next(table, seat)
        acts.append(_act(table, move, seat, size, per))
        seat += 1
    return acts


def _next(table: Table, seat: int) -> int:
    """The first position from here on that has cards and chips."""
    players = len(table.paid)
    for place in range(seat, seat + players):
        if table.may_act(place % players):
            return place % players
    raise Wrong("the betting goes on although nobody can act any more")


def _act(table: Table, move: str, seat: int, size: int | None, per: int) -> Act:
    if move == "f":
        table.folded.add(seat)
        return Act(seat, "fold")
    if move == "c":
        owes = table.top > table.paid[seat]
        table.paid[seat] = max(table.paid[seat], min(table.top, table.stack))
        return Act(seat, "call" if owes else "check")
    if (size is None) == (move == "r"):
        raise Wrong(f"{move} {'lacks its' if size is None else 'has an'} amount")
    total = int(move[1:]) * per if size is None else table.top + size
    if total > table.stack or total < table.before:
        raise Wrong(f"{move} is not between what was put in before and a stack of {table.stack}")
    table.paid[seat] = total
    table.top = max(total, table.top)
    return Act(seat, "raise", total - table.before)
