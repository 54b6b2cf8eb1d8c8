"""`muckrake swaps`: the luck of swaps and all-ins, and what winnings were without it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analytics.swaps.measures import MEASURES
from api.cli.bids import FEW, SPOTS, drawn_again, interval, said
from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document, progress
from api.cli.players import files_option, game_option, match_option, unit_option
from api.cli.spots import spots_option
from api.cli.tables import Cell, drawn, headed
from api.cli.viewing import viewing
from api.cli.web import player_page, web_page

if TYPE_CHECKING:
    from analytics.statistics.measured import Measured
    from analytics.swaps.independence import Apart
    from analytics.swaps.luck import By, Luck, Row

RUNOUTS = 2_000
BYS = ("seat", "match", "game")
TABLES = ("measures", "rates", "curve", "independence")
OVERVIEW = (
    *("hands", "net", "net_ev", "luck", "net_hand", "net_ev_hand", "blue", "red"),
    *("mirrored", "mirrored_variance", "swap", "swap_luck_sum"),
)
_BARS = "▁▂▃▄▅▆▇█"


@click.command()
@click.argument("player", required=False)
@match_option
@game_option
@click.option("--by", type=click.Choice(BYS), help="Split.")
@spots_option(SPOTS, "Of how many swapped cards, evenly spread, the equity is counted.")
@spots_option(
    RUNOUTS,
    "Of how many hands that closed with cards to come, evenly spread, luck is counted.",
    "--runouts",
)
@click.option(
    "--table",
    "which",
    type=click.Choice(TABLES),
    default="measures",
    show_default=True,
    help="What a file gets: measures, swap rates, winnings hand by hand, or tests.",
)
@unit_option
@files_option()
@view_option
@ledger_option
@json_option
@web_page(player_page("swaps", "match", "game", "unit"))
def swaps(
    player: str | None,
    match: str | None,
    game: str | None,
    by: "By | None",
    spots: int | None,
    runouts: int | None,
    which: str,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Swaps, run-outs and mirrored deals; what a row means is in docs/auctions.md."""
    with viewing(folder, view, unit) as viewed:
        from api.questions import swaps as asking

        again = bool(csv or parquet or as_document or player)
        asked = asking.Asked(player, match, game, by, spots, runouts, again)
        told = asking.luck(viewed, asked, progress)
        if csv or parquet:
            from api.cli.players import written

            rows: Sequence[Any] = told.found
            if which != "measures":
                rows = asking.table(told, which)
            written(rows, csv, parquet)
        elif as_document:
            document("muckrake.swaps/1", **asking.document(told, view))
        elif player is None:
            _overview(told.found, by, headed(f"viewpoint: {view}", told.unit), told.told)
        else:
            _one(told.luck, player, told.found, headed(f"viewpoint: {view}", told.unit), told.told)


def _one(
    asked: "Luck", player: str, found: "Sequence[Measured]", viewpoint: str, told: dict[str, int]
) -> None:
    """One player: a line for each measure with something behind it, and his curve."""
    curve = [row["net"] for row in asked.curve(player)]
    for part in dict.fromkeys(one.part for one in found):
        head = [player, part, viewpoint, spark(curve) if not part else ""]
        lines = [_line(one) for one in found if one.part == part and one.n]
        columns = ("", "value", "95 % interval", "k/n", "")
        drawn(columns, lines, (1, 2, 3), head="   ".join(filter(None, head)), foot=_valued_of(told))
    _rates(asked.rates(player))
    _apart(asked.apart(player))


def _line(one: "Measured") -> tuple[Cell, ...]:
    measure = MEASURES[one.statistic]
    few = one.n < FEW and measure.kind != "number"
    count = f"{one.k}/{one.n}" if one.k is not None else f"{one.n}"
    cells = (measure.title, said(measure, one.value), interval(measure, one), count)
    return tuple(Cell(text, few) for text in (*cells, "too few" if few else drawn_again(one)))


def _overview(
    found: "Sequence[Measured]", by: "By | None", head: str, told: dict[str, int]
) -> None:
    """All players, a few measures each; columns that nobody fills are left out."""
    by_name: dict[tuple[str, str], dict[str, Measured]] = {}
    for one in found:
        by_name.setdefault((one.player, one.part), {})[one.statistic] = one
    shown = [it for it in OVERVIEW if any(mine[it].n for mine in by_name.values())]
    lines = []
    for (player, part), mine in by_name.items():
        cells = [Cell(player), *([Cell(part)] if by else [])]
        cells += [Cell(said(MEASURES[it], mine[it].value)) for it in shown]
        lines.append(tuple(cells))
    columns = ["player", *([by] if by else []), *(MEASURES[it].title for it in shown)]
    right = tuple(range(1 + bool(by), len(columns)))
    drawn(columns, lines, right, head=head, foot=_valued_of(told))


def _rates(rows: "Sequence[Row]") -> None:
    """How often each slot was swapped, beside the stated chance."""
    lines = [
        tuple(
            map(
                Cell,
                (
                    row["game"],
                    row["street"],
                    str(row["slot"]),
                    f"{100 * row['k'] / row['n']:.1f} %",
                    f"{100 * row['low']:.1f} - {100 * row['high']:.1f}",
                    f"{row['k']}/{row['n']}",
                    "" if row["stated"] is None else f"{100 * row['stated']:g} %",
                    "" if row["p"] is None else f"{row['p']:.2g}",
                ),
            )
        )
        for row in rows
    ]
    if lines:
        columns = ("game", "street", "slot", "swapped", "95 % interval", "k/n", "stated", "p")
        drawn(columns, lines, right=(3, 4, 5, 6, 7))


def _apart(tables: "Sequence[Apart]") -> None:
    """Whether his swaps depend on what they must not, all tables judged together."""
    lines = []
    for one in tables:
        a, b, c, d = one.cells
        said = (one.question, one.game or "", one.street or "", f"{a}/{b}/{c}/{d}")
        p = (f"{one.owed:.1f}", f"{one.p:.2g}", f"{one.counted:.2g}", one.verdict)
        lines.append(tuple(map(Cell, (*said, *p))))
    if lines:
        columns = ("independent", "game", "street", "both/one/other/neither")
        foot = f"p of all is Holm's over these {len(lines)} tables, judged at 1 %"
        drawn((*columns, "owed", "p", "p of all", ""), lines, right=(3, 4, 5, 6), foot=foot)


def _valued_of(told: dict[str, int]) -> str:
    """What was counted, and how to count it all."""
    said = []
    if told["swaps"]:
        said.append(f"equity of {told['valued']} of {told['swaps']} swaps between known hands")
        said += ["--spots all counts all"] if told["valued"] < told["swaps"] else []
    if told["run_out"] < told["closed"]:
        said.append(
            f"luck of {told['run_out']} of {told['closed']} hands closed with cards to come"
        )
        said.append("--runouts all counts all")
    return "; ".join(said)


def spark(values: Sequence[float], width: int = 40) -> str:
    """A curve in one line: its lowest point low, its highest high."""
    if not values:
        return ""
    points = [values[at * (len(values) - 1) // (width - 1)] for at in range(width)]
    low, high = min(points), max(points)
    reach = (high - low) or 1
    return "".join(_BARS[int((one - low) / reach * (len(_BARS) - 1))] for one in points)
