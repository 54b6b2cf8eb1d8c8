"""`muckrake sql`: one question in SQL, read-only, to the ledger as it is at this moment."""

from pathlib import Path

import click

from api.cli.ledger import asking, auditor_only, json_option, ledger_option, view_option
from api.cli.output import cell, listed, table


@click.command()
@click.argument("query")
@view_option
@ledger_option
@json_option
def sql(query: str, view: str, folder: Path, as_document: bool) -> None:
    """Answer one SELECT over the views hands, events, players, bids, swaps and pots."""
    auditor_only(view, "sql")
    with asking(folder, ours=False) as views:
        from store.query import plain

        answer = views.ask(query)
        rows = plain(answer)
    if as_document:
        listed("muckrake.sql/1", "rows", rows)
    else:
        table(
            list(dict.fromkeys(answer.column_names)),
            [[cell(value) for value in row.values()] for row in rows],
        )
