"""`muckrake export`: matches and hands in the formats of others, as a viewpoint may see them."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from api.cli import completing
from api.cli.ledger import check_spelling, json_option, ledger_option, reading, view_option
from api.cli.output import NotFound, NotPermitted, data, document, note, progress
from events.ledger import is_match
from events.types import Events

if TYPE_CHECKING:
    from api.viewpoints.redaction import Redactor
    from api.viewpoints.selection import Wanted
    from engine.game import Game
    from store.log.leaf import Leaf
    from store.reader import Snapshot

LOGS = ("mit-gamelog", "phh", "acpc")
TABULAR = ("ndjson", "csv", "parquet", "arrow")
BINARY = ("parquet", "arrow")
TABLES = ("events", "hands", "players", "bids", "swaps", "pots", "decisions")
DROPPED = "who threw a hand away, which choices were made by default"


@click.command()
@click.argument("names", nargs=-1, metavar="[MATCH_OR_HAND]...", shell_complete=completing.hands)
@click.option("--to", type=click.Choice((*LOGS, *TABULAR)), help="The format; must be given.")
@click.option("--table", type=click.Choice(TABLES), help="Which table.  [default: events]")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Into this file, which is replaced when all of it is written; else to stdout.",
)
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="CSV in which no text is a formula: one that would be begins with a quote more.",
)
@click.option("--lossy", is_flag=True, help=f"Leave out what acpc has no word for: {DROPPED}.")
@view_option
@ledger_option
@json_option
def export(
    names: tuple[str, ...],
    to: str | None,
    table: str | None,
    out: Path | None,
    spreadsheet: bool,
    lossy: bool,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Write matches and hands (MATCH/NUMBER), or all that are over, in another format."""
    if to is None:
        raise click.UsageError(f"--to says which format: {', '.join((*LOGS, *TABULAR))}")
    _check_words(names, to, table, out, lossy, as_document)
    if spreadsheet and to != "csv":
        raise click.UsageError(f"--spreadsheet is for csv, not {to}")
    check_spelling(view)
    begun, hands, rows = time.monotonic(), _Hands(), None
    with reading(folder) as snapshot, _refusals():
        from api.viewpoints.redaction import Redactor
        from api.viewpoints.selection import leaves, wanted

        asked, redactor = wanted(snapshot, names), Redactor(snapshot, view)
        _check_seat(snapshot, redactor, asked)
        every = redactor.among(chain.from_iterable(leaves(snapshot, one) for one in asked))
        told = hands.counted(progress(every, "exporting"))
        with _sink(out, spooled=to in LOGS) as sink:
            if to in LOGS:
                suffix = "" if out is None else out.suffix
                _log(sink, to, snapshot, told, redactor, suffix, lossy)
            else:
                from api.exporting.files import no_controls, no_formulas, written

                table = table or "events"
                shown = no_controls if out is None and sys.stdout.isatty() else None
                texts = no_formulas if spreadsheet else shown
                rows = written(sink, to, told, table, redactor, texts)
    if as_document:
        made = {"format": to, "table": table, "view": view, "out": str(out)}
        document("muckrake.export/1", **made, hands=hands.count, rows=rows)
    if lossy:
        note(f"left out, if there was any: {DROPPED}")
    what = f"{hands.count} hand{'s' * (hands.count != 1)}"
    what += "" if rows is None else f", {rows} rows of {table}"
    where = "" if out is None else f" in {out}"
    seconds = time.monotonic() - begun
    note(f"{what} as {to} for {view}{where}, {seconds:.1f} s")


def _check_words(
    names: tuple[str, ...],
    to: str,
    table: str | None,
    out: Path | None,
    lossy: bool,
    as_document: bool,
) -> None:
    """What makes no sense together, before any ledger is opened."""
    if table and to in LOGS:
        raise click.UsageError(f"--table is for {', '.join(TABULAR)}: {to} has hands, no tables")
    if lossy and to != "acpc":
        raise click.UsageError("--lossy is for acpc")
    if to == "mit-gamelog" and (len(names) != 1 or "/" in names[0]):
        raise click.UsageError("a gamelog holds one match: name it, and nothing else")
    if as_document and out is None:
        raise click.UsageError("--json needs --out FILE: without it the export is on stdout")
    if out is not None and not out.parent.is_dir():
        raise click.UsageError(f"there is no folder {out.parent} for {out.name}")
    if to in BINARY and out is None and sys.stdout.isatty():
        raise click.UsageError(f"{to} is not for a terminal: name a file with --out")


def _check_seat(snapshot: "Snapshot", redactor: "Redactor", asked: "tuple[Wanted, ...]") -> None:
    """Whoever sits at no table of a match may not look at it from a seat; a hand that is named is
    one that may be told."""
    named = [one.match for one in asked if one.match is not None]
    for match in named:
        redactor.check(match)
    for one in asked:
        if one.number is not None:
            redactor.check_told(f"{one.match}/{one.number}")
    if not named:
        redactor.check_any(snapshot.matches())


def _log(
    sink: BinaryIO,
    to: str,
    snapshot: "Snapshot",
    told: "Iterable[Leaf]",
    redactor: "Redactor",
    suffix: str,
    lossy: bool,
) -> None:
    from api.exporting.texts import TEXTS, ExportRequest

    asked = ExportRequest(snapshot, told, redactor, _rules(snapshot), suffix, lossy)
    sink.writelines(TEXTS[to](asked))


def _rules(snapshot: "Snapshot") -> "Callable[[Events], Game]":
    """The ruleset that a hand was dealt by; without it a log cannot say what was played."""
    from api.cli.ledger import start_of
    from api.rules import UNKNOWN, Rules

    rules = Rules(snapshot, None)

    def of(record: Events) -> "Game":
        game = rules.of(record)
        if game is None:
            start = start_of(record)
            said = UNKNOWN.partition(";")[0]
            raise NotFound(f"{start.hand} is of {start.game} {start.ruleset}: {said}")
        return game

    return of


class _Hands:
    """Hands going by."""

    count = 0

    def counted(self, leaves: "Iterable[Leaf]") -> "Iterator[Leaf]":
        """Pass the leaves on and count them."""
        for leaf in leaves:
            self.count += not is_match(leaf.stream)
            yield leaf


@contextmanager
def _refusals() -> Iterator[None]:
    """Why something is not exported, with its exit code."""
    from api.exporting.texts import CannotExport, ViewpointRefused
    from api.viewpoints.redaction import Absence
    from api.viewpoints.selection import Absent, Unfinished

    try:
        yield
    except Absent as absent:
        raise NotFound(str(absent)) from None
    except (Absence, ViewpointRefused) as hidden:
        raise NotPermitted(str(hidden)) from None
    except (Unfinished, CannotExport) as reason:
        raise click.ClickException(str(reason)) from None


@contextmanager
def _sink(out: Path | None, spooled: bool) -> Iterator[BinaryIO]:
    """Where the bytes go. A file is there whole or not at all, and so is what may be refused."""
    if out is None and not spooled:
        with data() as sink:
            yield sink
    elif out is None:
        with tempfile.TemporaryFile() as spool:
            yield cast(BinaryIO, spool)
            spool.seek(0)
            with data() as sink:
                shutil.copyfileobj(spool, sink)
    else:
        with whole(out) as sink:
            yield sink


@contextmanager
def whole(out: Path) -> Iterator[BinaryIO]:
    """A file that is there whole or not at all."""
    if out.exists() and not out.is_file():  # a pipe or a device: nothing can take its place
        with out.open("wb") as sink:
            yield sink
    else:
        aside = out.with_name(f"{out.name}.{os.getpid()}.part")
        try:
            with aside.open("xb") as sink:
                yield sink
            aside.replace(out)
        finally:
            aside.unlink(missing_ok=True)
