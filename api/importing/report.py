"""What came of a file, for people and for programs."""

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from api.importing.worker import Outcome
from engine.verdict import VERDICTS, Verdict
from formats.known import FORMATS
from formats.source import Skipped

LISTED = 5  # hands, reasons or players that are named; --json names them all


def as_json(found: Outcome, added: int, audited: bool) -> dict[str, Any]:
    """A file's entry in the document; what was not counted is null."""
    refused = found.refused
    judged = audited and refused is None
    return {
        "file": found.file.name,
        "format": found.format,
        "dialect": found.dialect or None,
        "game": ", ".join(found.games) or None,
        "match": None if refused else found.match,
        "hands": None if refused else found.hands,
        "imported": added,
        **{name: found.verdicts.get(name, 0) if judged else None for name in VERDICTS},
        "moveless": found.moveless if judged else None,
        "inferred": found.inferred,
        "repeated": found.again,
        "conflicts": [to_builtins(conflict) for conflict in found.conflicts],
        "skipped": [_placed(one) for one in found.skipped],
        "refused": _placed(refused) if refused else None,
    }


def as_text(found: Outcome, added: int) -> Iterator[str]:
    """A file in a few lines: what it is, what its hands are worth, what to ask next."""
    if found.refused:
        yield from in_short(found)
        return
    called = FORMATS[found.format or ""].called
    dialect = f"dialect {found.dialect}" if found.dialect else ""
    count = f"{found.hands:,} hand{'s' * (found.hands != 1)}"
    facts = (called, dialect, ", ".join(found.games), _players(tuple(found.nets)), count)
    yield f"{found.file.name}  {', '.join(filter(None, facts))}"
    into = f"{found.events:,} events into the ledger" if added else "there already: nothing is new"
    yield "   ".join((f" {found.match}  {into}", *_verdicts(found)))
    if found.inferred:
        yield f" inferred   {'; '.join(found.inferred)}"
    if same := found.again - len(found.conflicts):
        yield f" again      {same:,} hand{'s' * (same != 1)} that the ledger has already"
    for again in found.conflicts[:LISTED]:
        yield f" conflict   hand {again.number}{_at(again.line)} is {again.hand}: {again.differs}"
    if len(found.conflicts) > LISTED:
        yield f" conflict   {len(found.conflicts) - LISTED} more: --json names them all"
    for one in found.skipped[:LISTED]:
        yield f" left out   line {one.line}: {one.reason}"
    if len(found.skipped) > LISTED:
        yield f" left out   {len(found.skipped) - LISTED} more: --json names them all"
    yield f" next       {_next(found)}"


def in_short(found: Outcome) -> Iterator[str]:
    """A line only where something is not as it should be."""
    name = found.file.name
    if found.refused:
        yield f"{name}  refused: {_where(found.refused)}{found.refused.reason}"
        return
    if differ := found.verdicts.get("differ"):
        yield f"{name}  {found.match}  differ {differ}{_numbers(found, 'differ')}"
    if found.conflicts:
        again = found.conflicts[0]
        first_one = f"hand {again.number}{_at(again.line)} is {again.hand}: {again.differs}"
        yield f"{name}  {len(found.conflicts)} in conflict, the first: {first_one}"
    if found.skipped:
        first = found.skipped[0]
        yield f"{name}  {len(found.skipped)} left out, the first: {_where(first)}{first.reason}"


def _verdicts(found: Outcome) -> Iterator[str]:
    """agree 998   contested 2 (284, 586)   differ 0"""
    for name in VERDICTS:
        count = found.verdicts.get(name, 0)
        if found.verdicts and (count or name in ("agree", "differ")):
            still = f", {found.moveless} of them move no chip" if name == "differ" else ""
            yield f"{name} {count}{_numbers(found, name)}{still if found.moveless else ''}"


def _numbers(found: Outcome, name: Verdict) -> str:
    numbers = found.named.get(name, [])
    if not numbers:
        return ""
    more = ", ..." if found.verdicts[name] > LISTED else ""
    return f" ({', '.join(map(str, numbers[:LISTED]))}{more})"


def _players(players: tuple[str, ...]) -> str:
    """ursa vs lynx; of more than a few, how many."""
    return " vs ".join(players) if len(players) <= LISTED else f"{len(players)} players"


def _next(found: Outcome) -> str:
    """The hand that is most worth a look, or how to judge them."""
    if not found.verdicts:
        return "muckrake audit --all"
    for name in ("differ", "contested", "unknown", "assuming"):
        for number in found.named.get(name, ()):
            return f"muckrake audit {found.elsewhere.get(number, f'{found.match}/{number}')}"
    return f"muckrake hands --match {found.match}"


def _at(line: int) -> str:
    return f", line {line}," if line else ""


def _where(one: Skipped) -> str:
    return f"line {one.line}: " if one.line else ""


def _placed(one: Skipped) -> dict[str, Any]:
    return {"line": one.line, "reason": one.reason}  # the text is in the ledger
