"""`muckrake counters`: what the organisers' own counters of a game say, with all their oddities."""

from pathlib import Path
from typing import Any

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document
from api.cli.players import files_option, game_option, match_option, questions, unit_option, written
from api.cli.tables import Cell, drawn, headed

BANKROLL = "bankroll"


@click.command()
@click.argument("player", required=False)
@match_option
@game_option
@unit_option
@files_option()
@view_option
@ledger_option
@json_option
def counters(
    player: str | None,
    match: str | None,
    game: str | None,
    unit: str | None,
    csv: Path | None,
    parquet: Path | None,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """To hold beside the organisers' numbers; what is odd in each is in docs/statistics.md."""
    with questions(folder, view, unit) as viewed:
        from analytics.results.counters import COUNTERS
        from analytics.results.counters import counters as counted
        from analytics.sql.chosen import table
        from api.questions.players import money_of
        from api.questions.stats import chosen_of

        chosen = chosen_of(viewed, player, match=match, game=game)
        counting = money_of(viewed, table(chosen, "NULL"))
        rows = [{**row, "unit": counting} for row in counted(viewed, chosen)]
    if csv or parquet:
        written([_flat(row) for row in rows], csv, parquet)
    elif as_document:
        told = {name: one._asdict() for name, one in COUNTERS.items()}
        told_of = {"as": view, "unit": counting, "counters": told, "matches": rows}
        document("muckrake.counters/1", **told_of)
    else:
        _drawn(rows, view, counting)


def _drawn(rows: list[dict[str, Any]], view: str, unit: str | None) -> None:
    """A line a match and player; then bankrolls, where a match is long enough."""
    from analytics.results.counters import COUNTERS

    names = [name for name in COUNTERS if name != BANKROLL]
    who = ("match", "player")
    lines = [tuple(Cell(_said(row[name])) for name in (*who, *names)) for row in rows]
    columns = (*who, *(COUNTERS[name].title for name in names))
    foot = "every line of a log counts, chosen or not: muckrake stats and bids count otherwise"
    right = tuple(range(2, len(columns)))
    drawn(columns, lines, right, head=headed(f"viewpoint: {view}", unit), foot=foot)
    hands = sorted({hand for row in rows for hand in row[BANKROLL]}, key=int)
    if hands:
        lines = [
            tuple(map(Cell, (row["match"], row["player"], *_bankrolls(row, hands)))) for row in rows
        ]
        columns = (*who, *(f"before {hand}" for hand in hands))
        drawn(columns, lines, tuple(range(2, len(columns))))


def _bankrolls(row: dict[str, Any], hands: list[str]) -> list[str]:
    return [_said(row[BANKROLL].get(hand)) for hand in hands]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A column for each hundred hands."""
    plain = {name: value for name, value in row.items() if name != BANKROLL}
    every = range(100, 1100, 100)
    return plain | {f"bankroll_{at}": row[BANKROLL].get(str(at)) for at in every}


def _said(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.10g}" if float(value).is_integer() else f"{value:,.2f}"
