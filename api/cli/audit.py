"""`muckrake audit`: recorded hands decided again by the rules they name, or by others."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from api.cli import completing
from api.cli.games import game_of
from api.cli.ledger import (
    auditor_only,
    closed_hands,
    hand_of,
    json_option,
    ledger_option,
    reading,
    start_of,
    view_option,
    viewpoint_of,
)
from api.cli.output import CONTESTED, WRONG, NotFound, listed, note, progress, say, table
from api.cli.players import files_option
from api.cli.web import web_page
from api.judging import Judged, by_rules
from api.report import as_json, as_text, plain
from api.rules import UNKNOWN, Rules
from engine.game import Game
from engine.verdict import Verdict
from events.ledger import closes
from events.types import Events

if TYPE_CHECKING:
    from analytics.screen.ledger import Batch
    from store.reader import Snapshot

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
NAMED_MAX = 10  # hands that a summary names: more is what --json is for


class Tally:
    """Verdicts by match and ruleset, and the hands that somebody must look at."""

    def __init__(self) -> None:
        self.verdicts: dict[tuple[str, str], Counter[Verdict]] = {}
        self.differ: list[str] = []
        self.moveless = 0
        self.homeless: Counter[str] = Counter()
        self.left_out: dict[str, int] = {}
        self.conflicts: dict[str, int] = {}

    def look(self, ledger: "Snapshot") -> None:
        """Count, by match, the hands that an import left out or found in conflict."""
        from api.viewpoints.records import conflicts, left_out

        for match in ledger.matches():
            if count := left_out(ledger, match):
                self.left_out[match] = count
            if count := conflicts(ledger, match):
                self.conflicts[match] = count

    @property
    def beside(self) -> dict[str, dict[str, int]]:
        """What a document says of them."""
        return {"left_out": self.left_out, "conflicts": self.conflicts}

    def count(self, one: Judged) -> Judged:
        """Count one more verdict."""
        hand = start_of(one.record).hand
        match, _, _ = hand.rpartition("/")
        self.verdicts.setdefault((match, one.game.name), Counter())[one.report.verdict] += 1
        if one.report.verdict == "differ":
            self.differ.append(hand)
            self.moveless += one.report.moves == 0
        return one

    def total(self, verdict: Verdict) -> int:
        """How many hands have this verdict."""
        return sum(counter[verdict] for counter in self.verdicts.values())


@click.command()
@click.argument("hands", nargs=-1, metavar="HAND...", shell_complete=completing.hands)
@click.option("--all", "every", is_flag=True, help="Every hand that is over, counted by match.")
@click.option("--engine", is_flag=True, help="With --all: every hand by the engine.")
@click.option("--ruleset", metavar="R", help="Decide by these rules instead of the hand's own.")
@click.option(
    "--evidence",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.zip",
    help="Write the evidence of the one HAND, for whom --as names, to send to somebody.",
)
@files_option("Each hand, pot and seat, all by the engine.", "The same in Parquet.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 6 if a hand is contested, or agrees assuming something.",
)
@view_option
@ledger_option
@json_option
@web_page(lambda to, asked: to.hand(asked["hands"][0], "audit") if asked["hands"] else to.home())
def audit(
    hands: tuple[str, ...],
    every: bool,
    engine: bool,
    ruleset: str | None,
    evidence: Path | None,
    csv: Path | None,
    parquet: Path | None,
    strict: bool,
    view: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Decide each HAND (MATCH/NUMBER) again, and say whether it was paid by its rules."""
    if bool(hands) == every:
        raise click.UsageError("name the hands to audit, or all of them with --all")
    if engine and not every:
        raise click.UsageError("--engine is for --all: hands that are named are always its own")
    if evidence is not None and (csv or parquet):
        raise click.UsageError("--evidence is one file: --csv and --parquet are others")
    if evidence is None:
        auditor_only(view, "audit")
    elif len(hands) != 1:
        raise click.UsageError("--evidence is of one hand: name that one")
    other = game_of(ruleset) if ruleset else None
    tally = Tally()
    with reading(folder) as ledger:
        rules = Rules(ledger, other)
        if every:
            tally.look(ledger)
        if every and not (engine or csv or parquet):
            _through_the_screen(ledger, rules, other, tally, as_document)
            _answer(tally, strict)
            return
        if every:
            records = progress(closed_hands(ledger.read_from(0)), "judging")
            judged = _judged_all(records, rules, tally)
        else:
            judged = _judged_each([hand_of(ledger, hand) for hand in hands], rules)
        counted: Iterable[Judged] = (tally.count(one) for one in judged)
        if evidence is not None:
            counted = _kept(evidence, view, ledger, counted)
        if view != "auditor":
            for _ in counted:  # what is printed names every card; the bundle is for this viewpoint
                pass
        elif csv or parquet:
            from api.cli.audited import written  # pyarrow comes with it

            written(counted, csv, parquet)
        elif as_document:
            entries = (_entry(one) if every else as_json(*one) for one in counted)
            rest = tally.beside if every else {}
            listed("muckrake.audit/1", "hands", entries, lambda: rest)
        elif every:
            _summary(counted, tally)
        else:
            for number, (record, game, report) in enumerate(counted):
                if number:
                    say("")
                say(as_text(game, record, report))
    _answer(tally, strict)


def _through_the_screen(
    ledger: "Snapshot", rules: Rules, other: Game | None, tally: Tally, as_document: bool
) -> None:
    """Every hand: those that the screen finds fine are counted, the engine explains the others."""
    from analytics.screen.ledger import HANDS
    from api.screening import screened

    found = progress(screened(ledger, rules, other), "screening", ledger.next_seq // HANDS + 1)
    entries = _entries(found, rules, tally, fine=as_document)
    if as_document:
        listed("muckrake.audit/1", "hands", entries, lambda: tally.beside)
    else:
        for _ in entries:
            pass
        _summary((), tally)


def _entries(
    found: "Iterable[Batch]", rules: Rules, tally: Tally, *, fine: bool
) -> Iterator[dict[str, Any]]:
    """The hands in order, as a document has them; without the `fine` ones, which are counted."""
    from api.screening import agreed

    for batch in found:
        for key, count in batch.fine().items():
            tally.verdicts.setdefault(key, Counter())["agree"] += count
        for place in range(len(batch)) if fine else sorted(batch.records):
            if (entry := agreed(batch, place)) is not None:
                if place in batch.records:
                    key = entry["hand"].rpartition("/")[0], entry["ruleset"]
                    tally.verdicts.setdefault(key, Counter())[entry["verdict"]] += 1
                yield entry
            else:
                for one in _judged_all((batch.records[place],), rules, tally):
                    tally.count(one)
                    yield _entry(one)


def _entry(one: Judged) -> dict[str, Any]:
    """The entry of one hand among many; how its pots were cut is left to `audit HAND`."""
    if one.report.verdict in ("agree", "assuming"):
        return plain(one.record, one.report)
    return as_json(*one)


def _kept(file: Path, view: str, ledger: "Snapshot", judged: Iterable[Judged]) -> Iterator[Judged]:
    """The one hand, and its evidence written beside the answer."""
    from api.evidence.make import Unproved, evidence, save

    for one in judged:
        viewpoint_of(view, one.record, ledger)
        text = json.dumps(as_json(*one), indent=2, ensure_ascii=False)
        report = as_text(one.game, one.record, one.report), f"{text}\n".encode()
        try:
            save(file, evidence(ledger, start_of(one.record).hand, view, report))
        except Unproved as reason:
            raise click.ClickException(str(reason)) from None
        yield one
        note(f"evidence for {view} in {file}: muckrake verify {file}")


def _judged_each(records: list[Events], rules: Rules) -> Iterator[Judged]:
    """Hands that were asked for by name: each must be over, and its ruleset must be here."""
    for record in records:
        start = start_of(record)
        if not closes(start.hand, record):
            raise click.ClickException(f"{start.hand} is not over: it cannot be judged yet")
        game = rules.of(record)
        if game is None:
            raise NotFound(f"{start.hand} is of {_named(record)}: {UNKNOWN}")
        yield by_rules(record, game)


def _judged_all(records: Iterable[Events], rules: Rules, tally: Tally) -> Iterator[Judged]:
    """Whatever can be judged; hands of rulesets that are not here are counted apart."""
    for record in records:
        game = rules.of(record)
        if game is None:
            tally.homeless[_named(record)] += 1
        else:
            yield by_rules(record, game)


def _named(record: Events) -> str:
    start = start_of(record)
    return f"{start.game} {start.ruleset}"


def _summary(judged: Iterable[Judged], tally: Tally) -> None:
    """Verdicts by match and ruleset; hands that differ are named, for a closer look."""
    for _ in judged:
        pass
    rows = [
        (match, game, str(counter.total()), *(str(counter[verdict]) for verdict in VERDICTS))
        for (match, game), counter in tally.verdicts.items()
    ]
    table(("match", "ruleset", "hands", *VERDICTS), rows)
    for hand in tally.differ[:NAMED_MAX]:
        note(f"{hand} differs: muckrake audit {hand}")
    if len(tally.differ) > NAMED_MAX:
        note(f"and {len(tally.differ) - NAMED_MAX} more differ: --json names them all")
    if tally.moveless:
        note(f"of those that differ {tally.moveless} move no chip: muckrake hands moveless")


def _answer(tally: Tally, strict: bool) -> None:
    """The exit code: something wrong before something contested before something not judged."""
    for named, hands in tally.homeless.items():
        note(f"{hands} hands are of {named}: {UNKNOWN}")
    for match, hands in tally.left_out.items():
        note(
            f"{match} was imported without {hands} hands that no record can be of: muckrake matches"
        )
    for match, hands in tally.conflicts.items():
        note(
            f"{match} was imported without {hands} hands that contradict one of the ledger: "
            "import its file again to see each"
        )
    if tally.differ or tally.left_out or tally.conflicts:
        raise click.exceptions.Exit(WRONG)
    if strict and (tally.total("contested") or tally.total("assuming")):
        raise click.exceptions.Exit(CONTESTED)
    if tally.homeless:
        raise click.exceptions.Exit(1)
