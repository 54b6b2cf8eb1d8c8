"""`muckrake import`: foreign hand histories, put to their rules and written into the ledger."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

import click

from analytics.projections.facts import PROJECTION_NAMES
from api.cli.ledger import json_option, ledger_errors, ledger_option, witness_option, writing
from api.cli.options import (
    disclosure_option,
    import_rules,
    names_option,
    quiet_option,
    renames,
    rules_options,
    tag_records,
    tags_option,
)
from api.cli.output import (
    INTERRUPTED,
    WRONG,
    errors_as,
    note,
    print_list,
    progress_bar,
    say,
    stop_flag,
)
from api.importing.import_report import as_json, as_text, short_text
from api.importing.import_writer import ImportWriter
from api.importing.input_copies import InputFile, inputs
from api.importing.pool import outcomes
from api.importing.worker import ImportOptions, ImportOutcome
from api.jobs.requests import valid_match_name as named_match
from api.playing.names import InvalidName, filename_pattern
from events.match import Disclosure
from formats.rakes import RakeFrom
from formats.registry import FORMATS
from store.folder.disk import now_ms
from store.proof.ledger_secrets import SaltedSecret
from store.reader import Reader
from store.sql.query import Query

SCRATCH = ".import-"
RESOLVED_LATER = PROJECTION_NAMES  # --no-audit leaves these for later: compact makes them
ORGANISERS = ["A", "B"]  # as their engine calls the players
IN_FULL = 20  # files reported in several lines each; of more, one line for each that needs it


class ImportTally:
    """Results of the files so far, and the exit code that follows."""

    def __init__(self) -> None:
        self.files = self.hands = self.known = self.refused = self.differ = self.left_out = 0
        self.again = self.conflicts = 0
        self.nameless = self.stopped = False
        self.players = set[str]()

    def count(self, outcome: ImportOutcome, added: int) -> None:
        """Count one more file."""
        self.files += 1
        self.refused += outcome.refused is not None
        self.hands += added
        self.known += outcome.refused is None and not added
        self.differ += outcome.verdicts.get("differ", 0)
        self.left_out += len(outcome.skipped)
        self.again += outcome.again
        self.conflicts += len(outcome.conflicts)
        self.players.update(outcome.nets)
        self.nameless |= added > 0 and sorted(outcome.nets) == ORGANISERS

    @property
    def code(self) -> int:
        """Interrupted before refused before something wrong."""
        if self.stopped:
            return INTERRUPTED
        wrong = self.differ or self.left_out or self.conflicts
        return 1 if self.refused else WRONG if wrong else 0

    def summary(self, files: int, folder: Path) -> str:
        """A summary in one sentence: files and hands imported and left out."""
        known = f", {self.known} files were there already" if self.known else ""
        again = f", {self.again:,} hands were there already" if self.again else ""
        conflicts = f", {self.conflicts} of them in conflict" if self.conflicts else ""
        left = f", {self.left_out} hands left out" if self.left_out else ""
        refused = f", {self.refused} files refused" if self.refused else ""
        stopped = f"interrupted after {self.files} of {files} files: " if self.stopped else ""
        return (
            f"{stopped}{self.hands:,} hands of {self.files} files into {folder}"
            f"{known}{again}{conflicts}{left}{refused}"
        )


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE_OR_FOLDER...", type=Path)
@click.option(
    "--format",
    "named",
    type=click.Choice(list(FORMATS)),
    help="The format of the files; else found out.",
)
@rules_options("--game")
@click.option(
    "--rake",
    type=click.Choice(get_args(RakeFrom)),
    default="fitted",
    show_default=True,
    help="From where the rake of hands for money is, which no text says: fitted to the file; known,"
    " from the table of sites' rakes; undated, from its rows without a day, too.",
)
@click.option(
    "--match", metavar="MATCH", help="The name of a single file's match; else a name is made."
)
@names_option("Other names for players.")
@tags_option("one player at a time, by the name that he gets here")
@click.option(
    "--players",
    metavar="PATTERN",
    help="Names A and B by the name of each file: {a}__{b}__{n}.txt.",
)
@click.option(
    "--strict", is_flag=True, help="Refuse a file if a hand differs, is left out or in conflict."
)
@click.option("--no-audit", is_flag=True, help="Do not judge; audit --all does it later.")
@disclosure_option
@ledger_option
@witness_option
@json_option
@quiet_option
def import_(
    files: tuple[Path, ...],
    named: str | None,
    rules: str | None,
    settings: tuple[str, ...],
    rake: RakeFrom,
    match: str | None,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    players: str | None,
    strict: bool,
    no_audit: bool,
    disclosure: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Read each file (a folder: all in it), and write its hands into the ledger, each file whole
    or not at all; every hand is judged by the rules it was played by."""
    if strict and no_audit:
        raise click.UsageError("--strict is about what an audit finds: leave out --no-audit")
    ruleset_of = import_rules(rules, settings, rake)
    called = None if match is None else named_match(match)
    options = ImportOptions(
        named, ruleset_of, renames(names), strict, not no_audit, called, players=players
    )
    if players is not None:
        with errors_as(click.UsageError, InvalidName):
            filename_pattern(players)
    if names and players:
        raise click.UsageError("--names and --players both name players: leave one out")
    tally, begun, tagged = ImportTally(), time.monotonic(), tag_records(tags)
    with ledger_errors():
        every = list(inputs(files, folder))
    if called is not None and len(every) != 1:
        raise click.UsageError(f"--match {called} names one file, and there are {len(every)}")
    with writing(folder, "import") as ledger:
        for left in folder.glob(f"{SCRATCH}*"):  # by an import that was killed: nobody else writes
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=SCRATCH) as scratch:
            shown = cast(Disclosure, disclosure)
            without = () if options.audit else RESOLVED_LATER
            writer = ImportWriter(ledger, shown, without, strict=options.strict, tags=tagged)
            done = _import_files(writer, ledger.nonces, every, options, Path(scratch), tally)
            if as_document:
                print_list(
                    "muckrake.import/1", "files", (as_json(*one, not no_audit) for one in done)
                )
            else:
                in_full = len(every) <= IN_FULL
                for outcome, added in done:
                    lines = as_text(outcome, added) if in_full else short_text(outcome)
                    for line in lines:
                        say(line)
    if writer.judged:
        from api.questions.verdicts import keep_import_verdicts  # DuckDB comes with it

        keep_import_verdicts(folder, writer.judged)
    note(f"{tally.summary(len(every), folder)}, {time.monotonic() - begun:.1f} s")
    for player in dict.fromkeys(tag.player for tag in tagged if tag.player not in tally.players):
        note(f"no player of these files is called {player}: his tags are not kept")
    if tally.nameless:
        (found,) = Query(Reader(folder).snapshot()).rows(
            "SELECT count(*) AS matches FROM events WHERE number IS NULL AND type = 'MatchStarted'"
            """ AND players IN ('["A","B"]', '["B","A"]')"""
        )
        if (logs := int(found["matches"])) > 1:
            note(
                f"{logs} matches here call their players A and B, which makes two players of all"
                " their bots: unless they are, import with --players PATTERN or --names into a new"
                " ledger"
            )
    if tally.code:
        raise click.exceptions.Exit(tally.code)


def _import_files(
    writer: ImportWriter,
    nonces: SaltedSecret | None,
    files: list[InputFile],
    options: ImportOptions,
    scratch: Path,
    tally: ImportTally,
) -> Iterator[tuple[ImportOutcome, int]]:
    """Import files; yield each with the number of its new hands; after Ctrl-C no other is begun."""
    size = sum(file.size for file in files)
    with stop_flag() as stop, progress_bar("importing", size, "hands") as bar:

        def tick(hands: int) -> None:
            bar(0, hands)
            if stop():
                raise KeyboardInterrupt

        try:
            read = outcomes(files, options, scratch, now_ms(), nonces, tick, begun=writer.begun)
            for outcome, added in writer.write(read):
                tally.count(outcome, added)
                bar(outcome.file.size, 0)
                yield outcome, added
        except KeyboardInterrupt:
            tally.stopped = True
