"""`muckrake replay`, `hud` and `sql`: a hand line by line, the statistics of a match while it is
played, and the rows of a question in SQL.
"""

import io
from csv import writer as csv_writer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from api.cli import completion
from api.cli.ledger import hand_of, json_option, ledger_option, reading, view_option, viewpoint_of
from api.cli.options import files_of, files_option, open_output, quiet_option
from api.cli.output import (
    cell_text,
    note,
    print_cells,
    print_json,
    print_json_line,
    print_list,
    print_table,
    progress,
    repeat_every,
    say,
)
from api.cli.questions import on_option, spark_on, viewing
from api.cli.serve import web_page
from events.match import MatchEnded
from events.views import see
from store.folder.disk import holder

if TYPE_CHECKING:
    from api.questions.declared.stats import Stats

LOOK_S = 0.5  # between two looks: a match of quick bots plays some hundred hands meanwhile


@click.command()
@click.argument("hand", shell_complete=completion.hands)
@click.option(
    "--at", metavar="N", type=int, help="The table after this event, instead of every line."
)
@view_option
@ledger_option
@json_option
@web_page(lambda to, values: to.hand(values["hand"], event=values["at"]))
def replay(hand: str, at: int | None, view: str, folder: Path, as_document: bool) -> None:
    """Show a recorded HAND (MATCH/NUMBER): its events, numbered from 0, or its table after one."""
    from api.viewpoints.redaction import lines, table_after, table_as_json, table_as_text

    with reading(folder) as reader:
        record = hand_of(reader, hand)
        who = viewpoint_of(view, record, reader)
    seen = see(record, who)
    if at is not None and not 0 <= at < len(seen):
        raise click.UsageError(f"--at {at}: {hand} has events 0 to {len(seen) - 1} for {view}")
    shown = seen if at is None else seen[: at + 1]
    if as_document:
        content = {"hand": hand, "view": view, "events": msgspec.to_builtins(shown)}
        after = None if at is None else table_as_json(table_after(shown))
        print_json("muckrake.replay/1", **content, at=at, table=after)
        return
    numbered = list(enumerate(lines(record, who)))
    for number, text in numbered if at is None else numbered[at : at + 1]:
        say(f"{number:3}  {text}")
    if at is not None:
        say("")
        say(table_as_text(table_after(shown)))


class Look(NamedTuple):
    """The statistics after so many hands; nothing, as long as there are no new ones to tell."""

    hands: int
    over: bool
    gone: bool  # whether it has no end, and nobody writes the ledger
    stats: "Stats | None"


@click.command()
@click.argument("match", shell_complete=completion.hands)
@click.option(
    "--every",
    "step",
    metavar="N",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Tell after each so many hands, and at the end.",
)
@view_option
@ledger_option
@click.option("--json", "as_document", is_flag=True, help="A line of JSON each time.")
@quiet_option
def hud(match: str, step: int, view: str, folder: Path, as_document: bool) -> None:
    """Follow a match and tell its players' statistics until it is over, or until Ctrl-C."""
    # Each look opens the ledger anew, and disturbs no writer. What it shows after 300 hands is what
    # `muckrake stats --match MATCH --numbers 1-300` says, whenever it is asked.
    look = _look(folder, view, match, step, 0)
    hands = _tell(match, look, as_document)
    for _ in repeat_every(None if look.over or look.gone else LOOK_S):
        look = _look(folder, view, match, step, hands)
        hands = _tell(match, look, as_document) or hands
        if look.over or look.gone:
            break
    if look.gone:
        why = "its writer is gone, and nobody goes on with it"
        raise click.ClickException(f"{match} has no end: {why}")
    if look.over and not hands:
        note(f"{match} is over, and {view} is told of none of its hands")


def _look(folder: Path, view: str, match: str, step: int, known: int) -> Look:
    """The ledger as it is now: the last full step that is played, or all of a match that is over.

    A match that nobody announced is one that nobody plays. Of an archive nobody knows who writes.
    """
    # Before the ledger is read: a writer who leaves in between has written the end.
    is_left = (folder / "lock").exists() and holder(folder) is None
    with viewing(folder, view) as viewed:
        from analytics.sql.chosen import quoted
        from api.questions.declared.matches import played_of
        from api.questions.declared.stats import StatsParams, stats
        from api.viewpoints.selection import records

        own = [record.event for record in records(viewed.snapshot, match)]
        over = not own or any(isinstance(one, MatchEnded) for one in own)
        played_of(viewed, match)  # `Absent` if there is no match
        sql = f"SELECT max(number) AS last FROM hands WHERE match = {quoted(match)}"
        last = next(iter(viewed.rows(sql)))["last"] or 0
        gone = is_left and not over
        hands = last if over or gone else last - last % step
        if hands <= known:
            return Look(hands, over, gone, None)
        params = StatsParams(match=match, hands=f"0-{hands}")
        return Look(hands, over, gone, stats(viewed, params, progress))


def _tell(match: str, look: Look, as_document: bool) -> int:
    """Write the statistics of now; return after how many hands."""
    if look.stats is None:
        return 0
    if as_document:
        content = msgspec.to_builtins(look.stats)
        kept = {name: content[name] for name in ("as", "players")}
        print_json_line("muckrake.hud/1", match=match, hands=look.hands, over=look.over, **kept)
        return look.hands
    from api.questions.declared.stats import StatsParams, sheets

    (sheet,) = sheets(look.stats, StatsParams(match=match))
    head = f"{match}   after hand {look.hands}{', the last' if look.over else ''}"
    print_cells(
        sheet.columns, sheet.rows, sheet.right, f"{head}   viewpoint: {look.stats.viewpoint}"
    )
    say("")
    return look.hands


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
