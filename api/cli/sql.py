"""`muckrake sql`: answer one SELECT over the ledger's views, here or in Spark."""

import io
from csv import writer as csv_writer
from pathlib import Path
from typing import Any

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.options import files_of, files_option, open_output
from api.cli.output import cell_text, note, print_list, print_table
from api.cli.questions import on_option, spark_session, viewing


@click.command()
@click.argument("query")
@view_option
@ledger_option
@json_option
@on_option
@files_option("The rows as a file, CSV or Parquet.")
def sql(
    query: str,
    view: str,
    folder: Path,
    as_document: bool,
    on: str | None,
    out: Path | None,
    kind: str | None,
    csv: Path | None,
    parquet: Path | None,
) -> None:
    """Answer one SELECT over the views hands, events, players, bids, swaps, pots, decisions and
    rulesets.

    Amounts count what the column `unit` beside them says: chips, half chips, cents.
    """
    files = files_of(out, kind, csv, parquet)
    with viewing(folder, view) as viewed:
        from store.sql.result_values import json_rows

        if on is None:
            answer = viewed.ask_untrusted(query)
        else:
            with spark_session(on) as spark:  # the same views, asked in Spark's SQL
                from api.cluster import spark as cluster

                cluster.views(spark, folder, view)
                answer = cluster.answer(spark, query)
        rows = json_rows(answer)
    if files:
        for to, file in files:
            with open_output(file) as sink:
                if to == "csv":  # a list or a struct is JSON there; in Parquet it stays one
                    text = io.StringIO(newline="")
                    sheet = csv_writer(text, lineterminator="\n")
                    sheet.writerows([answer.column_names, *_cells(rows)])
                    sink.write(text.getvalue().encode())
                else:
                    from pyarrow.parquet import write_table

                    write_table(answer, sink)
            if file is not None:
                note(f"{answer.num_rows} rows into {file}")
    elif as_document:
        print_list("muckrake.sql/1", "rows", rows)
    else:
        print_table(answer.column_names, _cells(rows))


def _cells(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [[cell_text(value) for value in row.values()] for row in rows]
