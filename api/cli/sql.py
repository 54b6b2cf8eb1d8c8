"""`muckrake sql`: one question in SQL, read-only, to the ledger as it is at this moment."""

import io
from csv import writer as csv_writer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.options import File, files_of, files_option, written
from api.cli.output import cell, listed, note, table
from api.cli.viewpoint import on_option, spark_on, viewing

if TYPE_CHECKING:
    import pyarrow as pa


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
        from store.sql.answers import plain

        if on is None:
            answer = viewed.stranger(query)
        else:
            with spark_on(on) as spark:  # the same views, asked in Spark's SQL
                from api.cluster import spark as cluster

                cluster.views(spark, folder, view)
                answer = cluster.answer(spark, query)
        rows = plain(answer)
    if files:
        for file in files:
            _write(answer, rows, file)
    elif as_document:
        listed("muckrake.sql/1", "rows", rows)
    else:
        table(answer.column_names, _cells(rows))


def _cells(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [[cell(value) for value in row.values()] for row in rows]


def _write(answer: "pa.Table", rows: list[dict[str, Any]], to: File) -> None:
    """Write the rows into a file: a list or a struct is JSON in CSV, and stays one in Parquet."""
    kind, file = to
    with written(file) as sink:
        if kind == "csv":
            text = io.StringIO(newline="")
            sheet = csv_writer(text, lineterminator="\n")
            sheet.writerows([answer.column_names, *_cells(rows)])
            sink.write(text.getvalue().encode())
        else:
            from pyarrow.parquet import write_table

            write_table(answer, sink)
    if file is not None:
        note(f"{answer.num_rows} rows into {file}")
