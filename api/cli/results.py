"""`muckrake results`: what winnings are made of: luck, play, rake; and how they grew."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document, note, progress
from api.cli.players import (
    files_option,
    game_option,
    match_option,
    questions,
    unit_option,
    vs_option,
    written,
)
from api.cli.spots import spots_option
from api.cli.tables import Cell, drawn, headed

if TYPE_CHECKING:
    from analytics.results.players import By
    from api.questions.results import Results

SPOTS = 100
POINTS = 500
FEW = 30
BYS = ("street", "position", "window", "pot", "auction", "swap")
UNITS = {"hand": "net of a hand", "deck": "net of a deck", "price": "price of a card"}
OVERVIEW = ("net", "net_showdown", "net_without", "bb_100")


@click.command()
@click.argument("player", required=False)
@vs_option
@match_option
@game_option
@click.option("--by", type=click.Choice(BYS), help="Net by parts; a window is 100 hands.")
@spots_option(SPOTS, "In how many hands, evenly spread, luck is counted street by street.")
@click.option(
    "--points",
    type=click.IntRange(min=12),
    default=POINTS,
    show_default=True,
    help="How many points of the graph are told.",
)
@click.option("--adjusted", is_flag=True, help="With the line without run-out luck; it is slow.")
@unit_option
@files_option("The graph.", "The graph, in Parquet.")
@view_option
@ledger_option
@json_option
def results(
    player: str | None,
    vs: str | None,
    match: str | None,
    game: str | None,
    by: "By | None",
    spots: int | None,
    points: int,
    adjusted: bool,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """What results are made of; a row's meaning is in docs/results.md."""
    if player is None and (csv or parquet or adjusted):
        raise click.UsageError("a graph is somebody's: name the player")
    with questions(folder, view, unit) as viewed:
        from api.questions import results as asking
        from api.questions.winnings import rows

        about = asking.About(player, vs, match, game, spots, points, adjusted, by)
        if csv or parquet:
            graph = asking.graph(viewed, about, progress)
            written(list(rows(graph)), csv, parquet)
            return
        if by and not as_document:
            seats, counting = asking.seats(viewed, about), asking.unit_of(viewed, about)
            _drawn_parts(
                asking.parts(viewed, about), by, player, headed(f"viewpoint: {view}", counting)
            )
            _balance(seats, player)
            return
        told = asking.results(viewed, about, progress)
    if as_document:
        document("muckrake.results/1", **asking.document(told, view))
    else:
        _drawn(told.nets, told.rakes, headed(f"viewpoint: {view}", told.unit))
        _drawn_rates(told, player)
        _drawn_streets(told, player)
        _balance(told.seats, player)


def _drawn(
    overview: dict[str, dict[str, Any]], raked: dict[str, dict[str, float]], head: str
) -> None:
    """A line a player; rake where any was taken."""
    from analytics.results.players import METHODS
    from analytics.statistics.catalogue import STATISTICS

    methods = tuple(METHODS) if raked else ()
    titles = [STATISTICS[name].title for name in OVERVIEW]
    columns = ("player", "hands", *titles, *(f"rake, {name}" for name in methods))
    lines = [
        tuple(
            Cell(text)
            for text in (
                name,
                str(row["hands"]),
                *(_chips(row[one]) for one in OVERVIEW),
                *(_chips(raked.get(name, {}).get(one)) for one in methods),
            )
        )
        for name, row in overview.items()
    ]
    drawn(columns, lines, tuple(range(1, len(columns))), head=head)


def _drawn_rates(told: "Results", player: str | None) -> None:
    """What each player wins, or pays, on average: Student's interval, and the same drawn again."""
    lines = []
    for who, rows in told.rates.items():
        for row in rows:
            again = _between({"low": row["drawn_low"], "high": row["drawn_high"]})
            cells = (UNITS[row["unit"]], _chips(row["mean"]), _between(row), again, str(row["n"]))
            name = () if player else (who,)
            lines.append(tuple(Cell(text, row["n"] < FEW) for text in (*name, *cells)))
    amount = f"{told.unit or 'chip'}s"
    columns = (*(() if player else ("player",)), "mean", amount, "95 %", "drawn again", "n")
    drawn(columns, lines, tuple(range(len(columns) - 4, len(columns))))


def _drawn_streets(told: "Results", player: str | None) -> None:
    """Of each player what every chance came to."""
    if not told.streets:
        return
    lines = []
    for row in told.streets:
        cells = (row["chance"], _chips(row["chips"]), _chips(row["mean"]), _between(row))
        few = row["times"] < FEW
        name = () if player else (row["player"],)
        lines.append(tuple(Cell(text, few) for text in (*name, *cells, str(row["times"]))))
    amount = f"{told.unit or 'chip'}s"
    columns = (*(() if player else ("player",)), "luck of", amount, "each", "95 %", "times")
    foot = f"of {told.counted} of {told.known} hands with all cards known"
    if told.counted < (told.known or 0):
        foot += "; --spots all counts all"
    drawn(columns, lines, tuple(range(len(columns) - 4, len(columns))), foot=foot)


def _drawn_parts(rows: list[dict[str, Any]], by: str, player: str | None, viewpoint: str) -> None:
    """A line a player and part."""
    lines = []
    for row in rows:
        cells = (row["part"], str(row["n"]), _chips(row["net"]), _chips(row["mean"]), _between(row))
        name = () if player else (row["player"],)
        lines.append(tuple(Cell(text, row["n"] < FEW) for text in (*name, *cells)))
    columns = (*(() if player else ("player",)), by, "hands", "net", "each", "95 %")
    head = "   ".join(filter(None, (player, viewpoint)))
    drawn(columns, lines, tuple(range(len(columns) - 4, len(columns))), head=head)


def _balance(seats: dict[str, dict[str, Any]], player: str | None) -> None:
    """A word on somebody who was dealt one seat of a heads-up game more often than the other."""
    each = seats.get(player or "")
    if each and not each["balanced"]:
        dealer, big_blind = each["dealer"]["n"], each["big_blind"]["n"]
        hands = "hand" if dealer == 1 else "hands"
        both = f"dealer in {dealer} {hands}, big blind in {big_blind}"
        note(f"{both}: the seats are not balanced")


def _between(row: dict[str, Any]) -> str:
    return "" if row["low"] is None else f"{_chips(row['low'])} to {_chips(row['high'])}"


def _chips(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}".removesuffix(".00")
