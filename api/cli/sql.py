"""`muckrake sql`: one question in SQL, read-only, to the ledger as it is at this moment."""

from pathlib import Path

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import cell, listed, table
from api.cli.viewing import viewing


@click.command()
@click.argument("query")
@view_option
@ledger_option
@json_option
def sql(query: str, view: str, folder: Path, as_document: bool) -> None:
    """Answer one SELECT over the views hands, events, players, bids, swaps, pots, decisions and
    rulesets.

    Amounts count what the column `unit` beside them says: chips, half chips, cents.
    """
    with viewing(folder, view) as viewed:
        from store.sql.answers import plain

        answer = viewed.stranger(query)
        rows = plain(answer)
    if as_document:
        listed("muckrake.sql/1", "rows", rows)
    else:
        table(
            answer.column_names,
            [[cell(value) for value in row.values()] for row in rows],
        )
