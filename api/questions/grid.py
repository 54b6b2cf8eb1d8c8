"""How a player plays each of the 169 classes of hole cards, as far as the viewer knows them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from analytics.confidence.intervals import steady
from analytics.sql.chosen import Chosen
from analytics.statistics.answers import rows_of
from api.viewpoints.views import Viewed
from events.cards import RANKS

Row = dict[str, Any]
NAMES = ("hands", "vpip_k", "vpip_n", "pfr_k", "pfr_n", "net_bb")


class Grid(NamedTuple):
    """Cells by class, and of how many hands of all the cards are known."""

    cells: dict[str, Row]
    hands: int
    known: int


def grid(viewed: Viewed, chosen: Chosen) -> Grid:
    """One player's grid; a class that never came has no cell."""
    found = rows_of("grid", viewed, chosen)
    (dealt,) = rows_of("dealt", viewed, chosen) or ({"hands": 0},)
    cells = {row["class"]: _cell(row) for row in found}
    ordered = {name: cells[name] for name in classes() if name in cells}
    return Grid(ordered, dealt["hands"], sum(row["hands"] for row in found))


def document(told: Grid, player: str, view: str) -> Row:
    """As plain values, cells row by row of the grid."""
    about = {"player": player, "as": view, "hands": told.hands, "known": told.known}
    return {**about, "cells": list(told.cells.values())}


def classes() -> tuple[str, ...]:
    """All 169, row by row."""
    order = RANKS[::-1]
    return tuple(name_of(row, column) for row in order for column in order)


def name_of(row: str, column: str) -> str:
    """Pairs on the diagonal, suited above it, offsuit below."""
    if row == column:
        return row + column
    above = RANKS.index(row) > RANKS.index(column)
    return f"{row}{column}s" if above else f"{column}{row}o"


def _cell(row: Mapping[str, Any]) -> Row:
    """A class as plain values: hands, and how many of them were entered and raised."""
    return {"class": row["class"], **{name: steady(row[name]) for name in NAMES}}
