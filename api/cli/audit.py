"""`muckrake audit`: decide recorded hands again by the rules they name, or by others."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from msgspec import Struct

from api.auditing.hand_report import audit_entry, audit_text, short_audit_entry
from api.auditing.record import (
    UNKNOWN_RULESET,
    AuditedHand,
    RulesetLookup,
    audit_record,
    ruleset_label,
    start_of,
)
from api.cli import completion
from api.cli.ledger import (
    auditor_only,
    closed_hands,
    hand_of,
    json_option,
    ledger_option,
    reading,
    view_option,
    viewpoint_of,
)
from api.cli.options import (
    Option,
    OutputFile,
    files_of,
    files_option,
    open_output,
    quiet_option,
    rules_of,
    ruleset_option,
)
from api.cli.output import (
    CONTESTED,
    WRONG,
    NotFound,
    errors_as,
    exit_wrong,
    note,
    print_list,
    print_table,
    progress,
    progress_bar,
    say,
)
from api.cli.questions import on_option, spark_session
from api.cli.serve import web_page
from engine.game import Game
from engine.games import RULESETS
from engine.verdict import VERDICTS, Verdict
from events.ledger import closes, is_match
from events.types import Events
from store.folder.frames import Damaged

if TYPE_CHECKING:
    from api.auditing.batches import BatchAudit
    from store.reader import Snapshot

HANDS_NAMED_MAX = 10  # hands that a summary names: more is what --json is for


class Tally:
    """Verdicts counted by match and ruleset, and the hands that need a closer look."""

    def __init__(self, ledger: "Snapshot", request: "AuditOptions") -> None:
        self.request = request
        self.verdicts: dict[tuple[str, str], Counter[Verdict]] = {}
        self.differ: list[str] = []
        self.moveless = 0
        self.unknown_rulesets: Counter[str] = Counter()
        self.left_out: dict[str, int] = {}
        self.conflicts: dict[str, int] = {}
        self.damaged = 0
        if request.every or request.match is not None:
            self._count_left_out(ledger)

    def _count_left_out(self, ledger: "Snapshot") -> None:
        """Count, by match, the hands that an import left out or found in conflict."""
        from api.viewpoints.hand_selection import conflict_count, left_out_count

        for match in ledger.matches():
            if self.request.match not in (None, match):
                continue
            try:
                left, against = left_out_count(ledger, match), conflict_count(ledger, match)
            except Damaged:
                if not self.request.skip_damaged:
                    raise
                continue  # its hands cannot be read, either, and are named
            self.left_out |= {match: left} if left else {}
            self.conflicts |= {match: against} if against else {}

    def count(self, judged: AuditedHand) -> AuditedHand:
        """Count one more verdict."""
        hand = start_of(judged.record).hand
        match, _, _ = hand.rpartition("/")
        self.verdicts.setdefault((match, judged.game.name), Counter())[judged.report.verdict] += 1
        if judged.report.verdict == "differ":
            self.differ.append(hand)
            self.moveless += judged.report.moves == 0
        return judged

    def add(self, audited: "BatchAudit", advance: Callable[..., None]) -> list[dict[str, Any]]:
        """Count a batch and return its entries; damage ends the audit, or is noted and counted."""
        if audited.damaged is not None:
            if not self.request.skip_damaged:
                exit_wrong(audited.damaged)
            note(f"not judged: {audited.damaged}")
            self.damaged += 1
        for match, ruleset, verdicts in audited.verdicts:
            self.verdicts.setdefault((match, ruleset), Counter()).update(verdicts)
        for entry in audited.entries:
            if entry["verdict"] == "differ":
                self.differ.append(entry["hand"])
                self.moveless += entry["moves"] == 0
        self.unknown_rulesets.update(audited.unknown_rulesets)
        hands = sum(sum(verdicts.values()) for _, _, verdicts in audited.verdicts)
        advance(hands, hands)
        return audited.entries

    def total(self, verdict: Verdict) -> int:
        """The number of hands with this verdict."""
        return sum(counter[verdict] for counter in self.verdicts.values())


class AuditOptions(Struct, frozen=True):
    """The options of `audit`: which hands, who does the work, and how the answer is written."""

    hands: tuple[str, ...]
    match: str | None
    every: bool
    engine: bool
    workers: int | None
    on: str | None
    skip_damaged: bool
    evidence: Path | None
    files: list[OutputFile]
    view: str
    as_document: bool

    @property
    def shared(self) -> bool:
        """Whether other processes or Spark do the work."""
        return self.workers is not None or self.on is not None

    @property
    def in_batches(self) -> bool:
        """Whether hands are audited in batches first; hands that pass have no pots for files."""
        return self.every and not (self.engine or self.files)

    def check(self) -> None:
        """Refuse options that contradict each other."""
        if [bool(self.hands), self.every, self.match is not None].count(True) != 1:
            raise click.UsageError("name the hands to audit, or a --match, or all with --all")
        if self.engine and not self.every:
            raise click.UsageError("--engine is for --all: others are always the engine's")
        if self.shared and not self.in_batches:
            raise click.UsageError(
                "--workers and --on are for --all, without --engine and without files"
            )
        if self.workers is not None and self.on is not None:
            raise click.UsageError(
                "--workers is for processes of this machine, --on for Spark: name one"
            )
        if self.skip_damaged and not self.shared:
            raise click.UsageError("--skip-damaged is for --workers and --on")
        if self.evidence is None:
            auditor_only(self.view, "audit")
        elif self.files:
            raise click.UsageError("--evidence is one file: --out is another")
        elif len(self.hands) != 1:
            raise click.UsageError("--evidence is of one hand: name that one")


@click.command()
@click.argument("hands", nargs=-1, metavar="HAND...", shell_complete=completion.hands)
@click.option("--match", metavar="MATCH", help="Only this match's hands, counted.")
@click.option("--all", "every", is_flag=True, help="Every hand that is over, counted by match.")
@click.option("--engine", is_flag=True, help="With --all: every hand by the engine.")
@click.option(
    "--workers",
    cls=Option,
    formerly=["--jobs"],
    type=click.IntRange(1, 256),
    metavar="N",
    help="With --all: by so many processes.",
)
@on_option
@click.option(
    "--skip-damaged",
    is_flag=True,
    help="With --workers or --on: name hands that cannot be read, and go on with the others.",
)
@ruleset_option("Decide by these rules instead of the hand's own")
@click.option(
    "--evidence",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.zip",
    help="Write the evidence of the one HAND, for whom --as names, to send to somebody.",
)
@files_option("Each hand, pot and seat into a file, CSV or Parquet, all by the engine.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 6 if a hand is contested, or agrees assuming something.",
)
@view_option
@ledger_option
@json_option
@quiet_option
@web_page(lambda to, values: to.hand(values["hands"][0], "audit") if values["hands"] else to.home())
def audit(
    folder: Path,
    rules: str | None,
    strict: bool,
    out: Path | None,
    kind: str | None,
    csv: Path | None,
    parquet: Path | None,
    **options: Any,
) -> None:
    """Decide each HAND (MATCH/NUMBER) again, and say whether it was paid by its rules."""
    request = AuditOptions(files=files_of(out, kind, csv, parquet), **options)
    request.check()
    other = rules_of(None, rules) if rules else None
    if request.shared and other is not None and RULESETS.get(other.name) != other:
        raise click.UsageError(f"other processes know no ruleset {other.name}: judge it here")
    with reading(folder) as ledger:
        tally = Tally(ledger, request)
        if request.in_batches:
            bar = progress_bar("judging", ledger.next_seq, "hands")
            with _batch_audits(ledger, other, request) as parts, bar as advance:
                entries = (entry for part in parts for entry in tally.add(part, advance))
                _print_entries(entries, tally)
        else:
            records: Iterable[Events] = [hand_of(ledger, hand) for hand in request.hands]
            if not request.hands:
                of_match = ledger.matches().get(request.match or "")
                total = ledger.next_seq if request.every else of_match
                records = progress(_closed_records(ledger, request.match), "judging", total)
            rulesets = RulesetLookup(ledger, other)
            _write_verdicts(_audit_by_engine(records, rulesets, tally), ledger, tally)
    # The exit code: something wrong before something contested before something not judged.
    for named, hands in tally.unknown_rulesets.items():
        note(f"{hands} hands are of {named}: {UNKNOWN_RULESET}")
    for match, hands in tally.left_out.items():
        why = "that no record can be of: muckrake matches"
        note(f"{match} was imported without {hands} hands {why}")
    for match, hands in tally.conflicts.items():
        why = "that contradict one of the ledger: import its file again to see each"
        note(f"{match} was imported without {hands} hands {why}")
    if tally.differ or tally.left_out or tally.conflicts or tally.damaged:
        raise click.exceptions.Exit(WRONG)
    if strict and (tally.total("contested") or tally.total("assuming")):
        raise click.exceptions.Exit(CONTESTED)
    if tally.unknown_rulesets:
        raise click.exceptions.Exit(1)


def _audit_by_engine(
    records: Iterable[Events], rules: RulesetLookup, tally: Tally
) -> Iterator[AuditedHand]:
    """Audit and count hands by the engine; those named must be closed and of a known ruleset."""
    named = bool(tally.request.hands)
    for record in records:
        hand, game = start_of(record).hand, rules.of(record)
        if named and not closes(hand, record):
            raise click.ClickException(f"{hand} is not over: it cannot be judged yet")
        if game is not None:
            yield tally.count(audit_record(record, game))
        elif named:
            raise NotFound(f"{hand} is of {ruleset_label(record)}: {UNKNOWN_RULESET}")
        else:
            tally.unknown_rulesets[ruleset_label(record)] += 1


def _closed_records(ledger: "Snapshot", match: str | None) -> Iterator[Events]:
    """The records of all closed hands, or of a match's."""
    if match is None:
        yield from closed_hands(ledger.read_from(0))
        return
    from api.viewpoints.hand_selection import Selection, leaves

    if match not in ledger.matches():
        raise NotFound(f"there is no match {match}: muckrake matches lists those there are")
    for leaf in leaves(ledger, Selection(match)):
        if not is_match(leaf.stream):
            yield cast(Events, tuple(recorded.event for recorded in leaf.recorded))


def _write_verdicts(judged: Iterable[AuditedHand], ledger: "Snapshot", tally: Tally) -> None:
    """Write the verdicts: into files, or as a document, a summary, or a report for each hand."""
    request = tally.request
    if request.evidence is not None:
        judged = _with_evidence(request.evidence, request.view, ledger, judged)
    if request.view != "auditor":
        for _ in judged:  # what is printed names every card; the bundle is for this viewpoint
            pass
    elif request.files:
        from api.auditing.batches import POT_SCHEMA, pot_tables  # pyarrow comes with it
        from api.exporting.table_files import table_writer

        count = 0
        with ExitStack() as stack:
            sinks = [(kind, stack.enter_context(open_output(path))) for kind, path in request.files]
            outs = [table_writer(sink, kind, POT_SCHEMA) for kind, sink in sinks]
            for rows in pot_tables(judged):
                for out in outs:
                    out.write(rows)
                count += rows.num_rows
            for out in outs:
                out.close()
        for _, path in request.files:
            if path is not None:
                note(f"{count} rows into {path}")
    elif request.as_document:
        entries = ((audit_entry if request.hands else short_audit_entry)(*one) for one in judged)
        _print_entries(entries, tally)
    elif not request.hands:
        _print_entries(judged, tally)
    else:
        for number, (record, game, report) in enumerate(judged):
            if number:
                say("")
            say(audit_text(game, record, report))


@contextmanager
def _batch_audits(
    ledger: "Snapshot", other: Game | None, request: AuditOptions
) -> "Iterator[Iterable[BatchAudit]]":
    """Audit all hands in batches: in this process, in several, or in Spark."""
    all_entries = request.as_document
    if not request.shared:
        from api.auditing.batches import audit_batches

        yield audit_batches(ledger, RulesetLookup(ledger, other), other, all_entries=all_entries)
        return
    from api.cluster import tasks as cluster

    every = cluster.tasks(ledger)
    work = partial(cluster.audit, ruleset=other.name if other else None, all_entries=all_entries)
    if request.on is None:
        yield map(
            cluster.decode_audit, cluster.answers_of_processes(every, work, request.workers or 1)
        )
        return
    with spark_session(request.on) as spark:
        from api.cluster.spark import answers

        yield map(cluster.decode_audit, answers(spark, every, work))


def _with_evidence(
    file: Path, view: str, ledger: "Snapshot", judged: Iterable[AuditedHand]
) -> Iterator[AuditedHand]:
    """Write the evidence of the one hand, and pass the hand on."""
    from api.evidence.bundle import NoEvidence, make_bundle, save_bundle

    for one in judged:
        viewpoint_of(view, one.record, ledger)
        text = json.dumps(audit_entry(*one), indent=2, ensure_ascii=False)
        report = audit_text(one.game, one.record, one.report), f"{text}\n".encode()
        with errors_as(click.ClickException, NoEvidence):
            save_bundle(file, make_bundle(ledger, start_of(one.record).hand, view, report))
        yield one
        note(f"evidence for {view} in {file}: muckrake verify {file}")


def _print_entries(entries: Iterable[Any], tally: Tally) -> None:
    """Print entries as a document; or a table of verdicts and the names of hands that differ."""
    if tally.request.as_document:
        last = {"left_out": tally.left_out, "conflicts": tally.conflicts}
        last = {} if tally.request.hands else last
        print_list("muckrake.audit/1", "hands", entries, lambda: last)
        return
    for _ in entries:
        pass
    rows = [
        (match, game, str(counter.total()), *(str(counter[verdict]) for verdict in VERDICTS))
        for (match, game), counter in tally.verdicts.items()
    ]
    print_table(("match", "ruleset", "hands", *VERDICTS), rows)
    for hand in tally.differ[:HANDS_NAMED_MAX]:
        note(f"{hand} differs: muckrake audit {hand}")
    if len(tally.differ) > HANDS_NAMED_MAX:
        note(f"and {len(tally.differ) - HANDS_NAMED_MAX} more differ: --json names them all")
    if tally.moveless:
        note(f"of those that differ {tally.moveless} move no chip: muckrake hands moveless")
