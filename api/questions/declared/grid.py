"""How a player plays each of the 169 classes of hole cards.

On a grid of 13 × 13: suited above the diagonal, offsuit below. A class that never came has no cell.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import astuple

from analytics.intervals import rounded
from analytics.statistics.compute import sql_file_rows
from api.questions.player_measures import Positions, filters_of_params
from api.questions.question import (
    FILTER_NAMES,
    Filters,
    Name,
    Param,
    Question,
    Sheet,
    Table,
    owner_struct,
)
from api.questions.question import Cell as Text
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress, without_progress
from events.cards import RANKS
from odds.ranges import GRID

FEW_HANDS = 5  # hands of a class below which its cell is grey
SHOW_TITLES = {"vpip": "VPIP %", "raise": "raise %", "net": "net in big blinds", "n": "hands"}
RANK_ORDER = RANKS[::-1]


class GridParams(Filters, frozen=True):
    """Parameters of `grid`: whose, of which hands, and what people see in its cells."""

    player: Name
    positions: Positions = ()
    show: Annotated[Literal["vpip", "raise", "net", "n"], Param("In the cells.", people=True)] = (
        "vpip"
    )


class Cell(Struct, frozen=True):
    """A class of hole cards: its hands, and how many of them were entered, and raised."""

    name: str = field(name="class")
    hands: int
    vpip_k: Annotated[int, Meta(description="how often he put money in by choice")]
    vpip_n: Annotated[int, Meta(description="out of how many choices")]
    pfr_k: Annotated[int, Meta(description="how often he raised before the flop")]
    pfr_n: Annotated[int, Meta(description="out of how many choices")]
    net_bb: Annotated[float | None, Meta(description="his mean net, in big blinds")]


class Grid(Struct, frozen=True, tag_field="schema", tag="muckrake.grid/1"):
    """Cells row by row of the grid, and of how many hands of all the cards are known."""

    player: str
    viewpoint: str = field(name="as")
    hands: int
    known: int
    cells: list[Cell]


def grid(viewed: LedgerView, params: GridParams, watch: ShowProgress = without_progress) -> Grid:
    """The grid of one player."""
    chosen = filters_of_params(viewed, params)
    (dealt,) = sql_file_rows("dealt", viewed, chosen) or ({"hands": 0},)
    cells = []
    for row in sql_file_rows("grid", viewed, chosen):
        counted: dict[str, Any] = {it: rounded(row[it]) for it in Cell.__struct_fields__[1:]}
        cells.append(Cell(row["class"], **counted))
    cells.sort(key=lambda one: GRID.index(one.name))
    known = sum(cell.hands for cell in cells)
    return Grid(params.player, viewed.viewer.view, dealt["hands"], known, cells)


def sheets(answer: Grid, params: GridParams) -> Iterator[Sheet]:
    """The 13 rows of the grid."""
    foot = f"hole cards known in {answer.known} of {answer.hands} hands"
    if answer.known < answer.hands:
        foot += " (the others never shown: strong-hand bias)"
    head = f"{answer.player}   {SHOW_TITLES[params.show]}   viewpoint: {answer.viewpoint}"
    cells = {cell.name: cell for cell in answer.cells}
    every = [_cell_text(cells.get(name), params.show) for name in GRID]
    lines = [[Text(rank), *every[13 * at : 13 * at + 13]] for at, rank in enumerate(RANK_ORDER)]
    yield Sheet(("", *RANK_ORDER), lines, range(1, 14), head, foot)


def _cell_text(cell: Cell | None, show: str) -> Text:
    """The text of a grid's cell: a dot for a class that never came; losses are cold, wins warm."""
    if cell is None:
        return Text(".", few=True)
    few = cell.hands < FEW_HANDS
    if show == "n":
        return Text(str(cell.hands), few)
    if show == "net":
        net = cell.net_bb
        warmth = None if net is None else min(1.0, max(0.0, (net + 3) / 6))
        return Text("" if net is None else f"{net:+.1f}", few, warmth)
    k, n = (cell.pfr_k, cell.pfr_n) if show == "raise" else (cell.vpip_k, cell.vpip_n)
    return Text(f"{100 * k / n:.0f}", few, k / n) if n else Text(".", few=True)


LINE_STRUCT: Any = owner_struct(Cell, player=str)
QUESTION = Question(
    name="grid",
    text=__doc__,
    path="/players/{player}/grid",
    operation="player_grid",
    params=GridParams,
    answer=Grid,
    ask=grid,
    tables=(
        Table(
            "cells",
            LINE_STRUCT,
            lambda answer: [LINE_STRUCT(answer.player, *astuple(it)) for it in answer.cells],
        ),
    ),
    sheets=sheets,
    page="/players/{player}/grid",
    page_parameters=(*FILTER_NAMES, "show"),
)
