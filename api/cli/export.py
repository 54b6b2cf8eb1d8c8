"""`muckrake export`: matches and hands in the formats of others, as a viewpoint may see them."""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click
import msgspec

from api.auditing.record import UNKNOWN_RULESET, RulesetLookup, start_of
from api.cli import completion
from api.cli.ledger import (
    archive_objects,
    check_viewpoint,
    json_option,
    ledger_name,
    ledger_option,
    reading,
    view_option,
)
from api.cli.options import Option, atomic_file, dialect_option, format_of, out_option, quiet_option
from api.cli.output import (
    NotFound,
    NotPermitted,
    binary_stdout,
    errors_as,
    note,
    print_json,
    progress,
    say,
)
from api.cli.questions import on_option, spark_session
from api.viewpoints.viewer import Viewer
from events.ledger import is_match
from events.types import Events
from store.proof.tree import Refuted

if TYPE_CHECKING:
    from api.exporting.lakehouse import Lakehouse
    from engine.game import Game
    from store.log.streams import Leaf
    from store.reader import Snapshot

LOGS = ("mit-gamelog", "phh", "acpc", "ohh", "pokerstars")
TABULAR = ("ndjson", "csv", "parquet", "arrow")
LAKEHOUSES = ("delta", "iceberg")
FORMATS = (*LOGS, *TABULAR, *LAKEHOUSES)
ARROW_FILE = "arrow-file"  # what `api/exporting/table_files.py` writes where there is an --out
BINARY = ("parquet", "arrow")
TABLES = ("events", "hands", "players", "bids", "swaps", "pots", "decisions", "facts")
TASK_HANDS = 1 << 13  # of one task of Spark
LOST_FACTS = "who threw a hand away, which choices were made by default"


@click.command()
@click.argument("names", nargs=-1, metavar="[MATCH_OR_HAND]...", shell_complete=completion.hands)
@click.option(
    "--format",
    "to",
    cls=Option,
    formerly=["--to"],
    type=click.Choice(FORMATS),
    help="The format; else as the name of --out ends.",
)
@click.option("--table", type=click.Choice(TABLES), help="Which table.  [default: events]")
@out_option(
    "Into this file, which is replaced when all of it is written; else to stdout. Of a lakehouse"
    " the folder or URL below which it keeps what it knows of the tables.",
    name="place",
    kind=str,
)
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="CSV in which no text is a formula: one that would be begins with a quote more.",
)
@click.option("--lossy", is_flag=True, help=f"Leave out what acpc has no word for: {LOST_FACTS}.")
@dialect_option
@view_option
@ledger_option
@json_option
@quiet_option
@on_option
def export(
    names: tuple[str, ...],
    to: str | None,
    table: str | None,
    place: str | None,
    spreadsheet: bool,
    lossy: bool,
    dialect: str | None,
    view: str,
    folder: Path,
    as_document: bool,
    on: str | None,
) -> None:
    """Write matches and hands (MATCH/NUMBER), or all that are over, in another format."""
    out = None if place is None else Path(place)
    to = format_of(to, out, FORMATS)
    if to in LAKEHOUSES:
        if names or lossy or dialect or spreadsheet or on is not None:
            raise click.UsageError(f"{to} takes whole segments: it has no hand's name, no option")
        _register_tables(to, (table,) if table else TABLES, place, view, folder, as_document)
        return
    _check_options(names, to, table, out, lossy, as_document)
    if dialect and to != "mit-gamelog":
        raise click.UsageError(f"--dialect is for mit-gamelog, not {to}")
    if spreadsheet and to != "csv":
        raise click.UsageError(f"--spreadsheet is for csv, not {to}")
    if on is not None and (names or to in LOGS):
        raise click.UsageError(f"--on is for all hands, as {', '.join(TABULAR)}")
    check_viewpoint(view)
    begun, hands, rows = time.monotonic(), _HandCounter(), None
    with reading(folder) as snapshot, _export_errors():
        from api.viewpoints.hand_selection import leaves, selections
        from api.viewpoints.redaction import Redactor

        chosen, redactor = selections(snapshot, names), Redactor(snapshot, Viewer(view))
        if to in TABULAR:
            table = table or "events"
        # Who sits at no table of a match cannot see it from a seat; a hand that is named is one
        # that he may see.
        matches = [hand.match for hand in chosen if hand.match is not None]
        for match in matches:
            redactor.check_seat(match)
        for hand in chosen:
            if hand.number is not None:
                redactor.check_visible(f"{hand.match}/{hand.number}")
        if not matches:
            redactor.check_any_seat(snapshot.matches())
        every = redactor.visible_leaves(
            chain.from_iterable(leaves(snapshot, one) for one in chosen)
        )
        seen = hands.counted(progress(every, "exporting", None if names else snapshot.next_seq))
        written_as = ARROW_FILE if to == "arrow" and out is not None else to
        with _output(out, spooled=to in LOGS) as sink:
            if on is not None and snapshot.next_seq:
                hands.count, rows = _export_by_spark(
                    sink, on, snapshot, written_as, table or "events", view, spreadsheet
                )
            elif to in LOGS:
                from api.exporting.hand_logs import TEXT_FORMATS, ExportRequest

                rules, suffix = _ruleset_finder(snapshot), "" if out is None else out.suffix
                sink.writelines(
                    TEXT_FORMATS[to](
                        ExportRequest(snapshot, seen, redactor, rules, suffix, lossy, dialect)
                    )
                )
            else:
                from api.exporting.redacted_tables import write_view
                from api.exporting.table_files import without_controls, without_formulas

                assert table is not None
                shown = without_controls if out is None and sys.stdout.isatty() else None
                texts = without_formulas if spreadsheet else shown
                rows = write_view(sink, written_as, seen, table, redactor, texts)
    if as_document:
        result = {"format": to, "table": table, "view": view, "out": str(out)}
        print_json("muckrake.export/1", **result, hands=hands.count, rows=rows)
    if lossy:
        note(f"left out, if there was any: {LOST_FACTS}")
    what = f"{hands.count} hand{'s' * (hands.count != 1)}"
    what += "" if rows is None else f", {rows} rows of {table}"
    where = "" if out is None else f" in {out}"
    seconds = time.monotonic() - begun
    note(f"{what} as {to} for {view}{where}, {seconds:.1f} s")


def _register_tables(
    to: str, tables: tuple[str, ...], place: str | None, view: str, folder: Path, as_document: bool
) -> None:
    """Tell a lakehouse where the ledger's sealed files are, in one commit a table."""
    if place is None:
        raise click.UsageError(f"{to} keeps what it knows of the tables in --out FOLDER: name one")
    check_viewpoint(view)
    if view != "auditor":
        raise NotPermitted(
            f"{to} reads the ledger's own files, and they show every card: only an auditor may"
            f" have them so, not {view}; --format parquet writes what others may see"
        )
    out = archive_objects(place)
    with reading(folder) as snapshot:
        from api.exporting.lakehouse import CannotRegister, is_within, register

        if is_within(place, snapshot.live.disk):
            raise click.UsageError(
                f"{place} is in the ledger {ledger_name(folder)}: name another folder"
            )
        lakehouse: Lakehouse
        if to == "delta":
            from api.exporting.lakehouse import DeltaTables

            lakehouse = DeltaTables(out)
        else:
            try:
                from api.exporting.iceberg import IcebergTables
            except ImportError:
                raise click.ClickException(
                    "there is no pyiceberg here: pip install 'muckrake-poker[lakehouse]' brings it"
                ) from None
            with errors_as(click.ClickException, CannotRegister):
                lakehouse = IcebergTables(out)
        with errors_as(click.ClickException, CannotRegister, Refuted):
            registered = register(snapshot, tables, out, lakehouse)
        unsealed = snapshot.next_seq - registered.closed
    if as_document:
        content = msgspec.to_builtins(registered)
        print_json("muckrake.lakehouse/1", format=to, out=place, **content, unsealed=unsealed)
    else:
        for table in registered.tables:
            say(
                f"{table.table}: version {table.version}, {table.added:,} files added and"
                f" {table.removed:,} removed; {table.files:,} files, {table.rows:,} rows"
            )
    if unsealed > 0:
        note(f"{unsealed:,} closed streams are not sealed yet: muckrake compact seals them")


def _export_by_spark(
    sink: BinaryIO, on: str, snapshot: "Snapshot", to: str, table: str, view: str, quoted: bool
) -> tuple[int, int]:
    """Export a table of all hands by Spark's workers; return the numbers of hands and rows."""
    import pyarrow as pa

    from api.cluster.tasks import ExportedRows, export, tasks
    from api.exporting.table_files import table_writer

    every = tasks(snapshot, TASK_HANDS)
    binary = to in (*BINARY, ARROW_FILE)
    work = partial(export, table=table, to="arrow" if binary else to, view=view, quoted=quoted)
    hands = rows = 0
    out = None
    with spark_session(on) as spark:
        from api.cluster.spark import answers

        for number, answer in enumerate(
            progress(answers(spark, every, work), "exporting", len(every))
        ):
            one = msgspec.msgpack.decode(answer, type=ExportedRows)
            hands, rows = hands + one.hands, rows + one.rows
            if binary:
                batch = pa.ipc.open_stream(one.content).read_all()
                out = out or table_writer(sink, to, batch.schema)
                out.write(batch)
            else:
                head = one.content.index(b"\n") + 1 if number and to == "csv" else 0
                sink.write(one.content[head:])
        if out is not None:
            out.close()
    return hands, rows


def _check_options(
    names: tuple[str, ...],
    to: str,
    table: str | None,
    out: Path | None,
    lossy: bool,
    as_document: bool,
) -> None:
    """Refuse options that contradict each other, before any ledger is opened."""
    if table and to in LOGS:
        raise click.UsageError(f"--table is for {', '.join(TABULAR)}: {to} has hands, no tables")
    if lossy and to != "acpc":
        raise click.UsageError("--lossy is for acpc")
    if to == "mit-gamelog" and (len(names) != 1 or "/" in names[0]):
        raise click.UsageError("a gamelog holds one match: name it, and nothing else")
    if as_document and out is None:
        raise click.UsageError("--json needs --out FILE: without it the export is on stdout")
    if out is not None and out.is_dir():
        raise click.UsageError(f"{out} is a folder: {to} is one file")
    if out is not None and not out.parent.is_dir():
        raise click.UsageError(f"there is no folder {out.parent} for {out.name}")
    if to in BINARY and out is None and sys.stdout.isatty():
        raise click.UsageError(f"{to} is not for a terminal: name a file with --out")


def _ruleset_finder(snapshot: "Snapshot") -> "Callable[[Events], Game]":
    """A function that finds the ruleset of a hand, without which no log can be written."""
    rules = RulesetLookup(snapshot, None)

    def of(record: Events) -> "Game":
        game = rules.of(record)
        if game is None:
            start = start_of(record)
            why = UNKNOWN_RULESET.partition(";")[0]
            raise NotFound(f"{start.hand} is of {start.game} {start.ruleset}: {why}")
        return game

    return of


class _HandCounter:
    """Counts hands that pass by."""

    count = 0

    def counted(self, leaves: "Iterable[Leaf]") -> "Iterator[Leaf]":
        """Pass the leaves on and count them."""
        for leaf in leaves:
            self.count += not is_match(leaf.stream)
            yield leaf


@contextmanager
def _export_errors() -> Iterator[None]:
    """Turn refusals of an export into sentences with exit codes."""
    from api.exporting.hand_logs import CannotExport, ViewpointRefused
    from api.viewpoints.hand_selection import NotInLedger, Unfinished
    from api.viewpoints.redaction import NoAccess

    with (
        errors_as(click.ClickException, Unfinished, CannotExport),
        errors_as(NotPermitted, NoAccess, ViewpointRefused),
        errors_as(NotFound, NotInLedger),
    ):
        yield


@contextmanager
def _output(out: Path | None, spooled: bool) -> Iterator[BinaryIO]:
    """Open the output for bytes: a file, or spooled bytes, appears whole or not at all."""
    if out is None and not spooled:
        with binary_stdout() as sink:
            yield sink
    elif out is None:
        with tempfile.TemporaryFile() as spool:
            yield cast(BinaryIO, spool)
            spool.seek(0)
            with binary_stdout() as sink:
                shutil.copyfileobj(spool, sink)
    else:
        with atomic_file(out) as sink:
            yield sink
