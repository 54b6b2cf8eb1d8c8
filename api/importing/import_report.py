"""Report the outcome of a file's import as JSON or as text."""

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from api.importing.worker import ImportOutcome
from engine.verdict import VERDICTS, Verdict
from formats.registry import FORMATS
from formats.source import Skipped

LISTED_MAX = 5  # hands, reasons or players that are named; --json names them all


def as_json(outcome: ImportOutcome, added: int, audited: bool) -> dict[str, Any]:
    """A file's entry in the document; what was not counted is null."""
    refused = outcome.refused
    judged = audited and refused is None
    return {
        "file": outcome.file.name,
        "format": outcome.format,
        "dialect": outcome.dialect or None,
        "game": ", ".join(outcome.games) or None,
        "match": None if refused else outcome.match,
        "hands": None if refused else outcome.hands,
        "imported": added,
        **{name: outcome.verdicts.get(name, 0) if judged else None for name in VERDICTS},
        "moveless": outcome.moveless if judged else None,
        "inferred": outcome.inferred,
        "repeated": outcome.again,
        "conflicts": [to_builtins(conflict) for conflict in outcome.conflicts],
        "skipped": [_place_json(one) for one in outcome.skipped],
        "refused": _place_json(refused) if refused else None,
    }


def as_text(outcome: ImportOutcome, added: int) -> Iterator[str]:
    """A file in a few lines: what it is, what its hands are worth, what to ask next."""
    if outcome.refused:
        yield from short_text(outcome)
        return
    called = FORMATS[outcome.format or ""].called
    dialect = f"dialect {outcome.dialect}" if outcome.dialect else ""
    count = f"{outcome.hands:,} hand{'s' * (outcome.hands != 1)}"
    players = " vs ".join(outcome.nets)
    if len(outcome.nets) > LISTED_MAX:
        players = f"{len(outcome.nets)} players"
    facts = (called, dialect, ", ".join(outcome.games), players, count)
    yield f"{outcome.file.name}  {', '.join(filter(None, facts))}"
    into = (
        f"{outcome.events:,} events into the ledger" if added else "there already: nothing is new"
    )
    words = [f" {outcome.match}  {into}"]  # agree 998   contested 2 (284, 586)   differ 0
    for name in VERDICTS:
        hands = outcome.verdicts.get(name, 0)
        if outcome.verdicts and (hands or name in ("agree", "differ")):
            still = f", {outcome.moveless} of them move no chip" if name == "differ" else ""
            end = still if outcome.moveless else ""
            words.append(f"{name} {hands}{_numbers(outcome, name)}{end}")
    yield "   ".join(words)
    if outcome.inferred:
        yield f" inferred   {'; '.join(outcome.inferred)}"
    if same := outcome.again - len(outcome.conflicts):
        yield f" again      {same:,} hand{'s' * (same != 1)} that the ledger has already"
    for again in outcome.conflicts[:LISTED_MAX]:
        yield f" conflict   hand {again.number}{_line(again.line)} is {again.hand}: {again.differs}"
    if len(outcome.conflicts) > LISTED_MAX:
        yield f" conflict   {len(outcome.conflicts) - LISTED_MAX} more: --json names them all"
    for one in outcome.skipped[:LISTED_MAX]:
        yield f" left out   line {one.line}: {one.reason}"
    if len(outcome.skipped) > LISTED_MAX:
        yield f" left out   {len(outcome.skipped) - LISTED_MAX} more: --json names them all"
    # The hand that is most worth a look, or how to judge them.
    doubtful: tuple[Verdict, ...] = ("differ", "contested", "unknown", "assuming")
    worth = next((number for name in doubtful for number in outcome.named.get(name, ())), None)
    if not outcome.verdicts:
        yield " next       muckrake audit --all"
    elif worth is None:
        yield f" next       muckrake hands --match {outcome.match}"
    else:
        hand = outcome.elsewhere.get(worth, f"{outcome.match}/{worth}")
        yield f" next       muckrake audit {hand}"


def short_text(outcome: ImportOutcome) -> Iterator[str]:
    """A line only where something is not as it should be."""
    name = outcome.file.name
    if outcome.refused:
        yield f"{name}  refused: {_place(outcome.refused)}{outcome.refused.reason}"
        return
    if differ := outcome.verdicts.get("differ"):
        yield f"{name}  {outcome.match}  differ {differ}{_numbers(outcome, 'differ')}"
    if outcome.conflicts:
        again = outcome.conflicts[0]
        first_one = f"hand {again.number}{_line(again.line)} is {again.hand}: {again.differs}"
        yield f"{name}  {len(outcome.conflicts)} in conflict, the first: {first_one}"
    if outcome.skipped:
        first = outcome.skipped[0]
        yield f"{name}  {len(outcome.skipped)} left out, the first: {_place(first)}{first.reason}"


def _numbers(outcome: ImportOutcome, name: Verdict) -> str:
    numbers = outcome.named.get(name, [])
    if not numbers:
        return ""
    more = ", ..." if outcome.verdicts[name] > LISTED_MAX else ""
    return f" ({', '.join(map(str, numbers[:LISTED_MAX]))}{more})"


def _line(line: int) -> str:
    return f", line {line}," if line else ""


def _place(skipped_hand: Skipped) -> str:
    return f"line {skipped_hand.line}: " if skipped_hand.line else ""


def _place_json(skipped_hand: Skipped) -> dict[str, Any]:
    return {"line": skipped_hand.line, "reason": skipped_hand.reason}  # the text is in the ledger
