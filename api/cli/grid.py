"""`muckrake grid`: how a player plays each of the 169 classes of hole cards."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from analytics.replay.positions import POSITIONS
from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document
from api.cli.players import (
    files_option,
    game_option,
    match_option,
    questions,
    unit_option,
    vs_option,
    written,
)
from api.cli.tables import Cell, drawn
from api.cli.web import player_page, web_page
from events.cards import RANKS

FEW = 5  # hands of a class below which its cell is grey
MEASURES = ("vpip", "raise", "net", "n")


@click.command()
@click.argument("player")
@vs_option
@click.option(
    "--position", "positions", multiple=True, type=click.Choice(POSITIONS), help="Only there."
)
@game_option
@match_option
@click.option(
    "--show", type=click.Choice(MEASURES), default="vpip", show_default=True, help="In the cells."
)
@unit_option
@files_option()
@view_option
@ledger_option
@json_option
@web_page(player_page("grid", "vs", "match", "game", "unit", "show"))
def grid(
    player: str,
    vs: str | None,
    positions: tuple[str, ...],
    game: str | None,
    match: str | None,
    show: str,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """The 13 × 13 grid of a player: suited above the diagonal, offsuit below."""
    with questions(folder, view, unit) as viewed:
        from api.questions import grid as asking
        from api.questions.stats import chosen_of

        chosen = chosen_of(viewed, player, vs=vs, positions=positions, game=game, match=match)
        told = asking.grid(viewed, chosen)
    if csv or parquet:
        written([{"player": player, **row} for row in told.cells.values()], csv, parquet)
    elif as_document:
        document("muckrake.grid/1", **asking.document(told, player, view))
    else:
        foot = f"hole cards known in {told.known} of {told.hands} hands"
        if told.known < told.hands:
            foot += " (the others never shown: strong-hand bias)"
        about = {"vpip": "VPIP %", "raise": "raise %", "net": "net in big blinds", "n": "hands"}
        head = f"{player}   {about[show]}   viewpoint: {view}"
        lines = [_line(high, told.cells, show) for high in reversed(RANKS)]
        columns = ("", *reversed(RANKS))
        drawn(columns, lines, right=tuple(range(1, 14)), head=head, foot=foot)


def _line(row: str, cells: Mapping[str, Any], show: str) -> tuple[Cell, ...]:
    from api.questions.grid import name_of

    found = (cells.get(name_of(row, column)) for column in RANKS[::-1])
    return (Cell(row), *(_drawn(it, show) for it in found))


def _drawn(row: Mapping[str, Any] | None, show: str) -> Cell:
    """One cell; a class that never came is a dot."""
    if row is None:
        return Cell(".", few=True)
    few = row["hands"] < FEW
    if show == "n":
        return Cell(str(row["hands"]), few)
    if show == "net":
        net = row["net_bb"]
        return Cell("" if net is None else f"{net:+.1f}", few, None if net is None else _warm(net))
    name = "pfr" if show == "raise" else show
    if not row[f"{name}_n"]:
        return Cell(".", few=True)
    share = row[f"{name}_k"] / row[f"{name}_n"]
    return Cell(f"{100 * share:.0f}", few, share)


def _warm(net: float) -> float:
    """Losses are cold, wins warm."""
    return min(1.0, max(0.0, (net + 3) / 6))
