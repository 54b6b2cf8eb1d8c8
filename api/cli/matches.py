"""`muckrake matches`: the matches in the ledger, how long they went on and what they came to."""

from pathlib import Path
from typing import Any

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import cell, listed, table
from api.cli.viewing import viewing
from api.cli.web import web_page
from api.playing.recording import outcome

COLUMNS = (
    "match",
    "game",
    "ruleset",
    "players",
    "hands",
    "left_out",
    "first",
    "last",
    "nets",
    "unit",
    "status",
)
RESULT = ("winner", "leader", "draw", "places")


@click.command()
@view_option
@ledger_option
@json_option
@web_page(lambda to, asked: to.matches())
def matches(view: str, folder: Path, as_document: bool) -> None:
    """List the matches in the ledger, in the order of their first hands."""
    with viewing(folder, view) as viewed:
        from api.questions.matches import every

        rows = [{name: row[name] for name in COLUMNS + RESULT} for row in every(viewed)]
    if as_document:
        listed("muckrake.matches/1", "matches", rows)
        return
    table(
        (*COLUMNS, "result"),
        [
            [*(_told(row[column]) for column in COLUMNS), outcome(*(row[one] for one in RESULT))]
            for row in rows
        ],
    )


def _told(value: Any) -> str:
    return ", ".join(map(cell, value)) if isinstance(value, list) else cell(value)
