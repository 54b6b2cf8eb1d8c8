"""Audit one recorded hand: find its ruleset, in the program or in the ledger, and judge the record
by it, alike for the command line, the API and the pages.
"""

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from engine.changes import partner_of
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS
from engine.verdict import VERDICTS, Report, judge
from events.types import Events, HandStarted

if TYPE_CHECKING:
    from store.reader import Snapshot


UNKNOWN_RULESET = "no ruleset here has this fingerprint; --ruleset holds it against another"
VERDICT_CODES = {verdict: code for code, verdict in enumerate(VERDICTS, start=1)}
MOVELESS = 128  # beside a code: no chip goes elsewhere
_BY_FINGERPRINT = {fingerprint(game): game for game in RULESETS.values()}


class RulesetLookup:
    """Finds the ruleset that judges a record: `other` if given, else the one its first event names,
    in the program, or in the text that the ledger kept when a hand was dealt by it.
    """

    def __init__(self, ledger: "Snapshot", other: Game | None) -> None:
        self._ledger = ledger
        self._other = other
        self._known: dict[str, Game | None] = dict(_BY_FINGERPRINT)

    def of(self, record: Events) -> Game | None:
        """The ruleset for a record; None where neither the program nor the ledger has it."""
        return self._other or self.by_fingerprint(start_of(record).ruleset)

    def by_fingerprint(self, mark: str) -> Game | None:
        """The ruleset of a fingerprint; None where neither the program nor the ledger has it."""
        if mark not in self._known:
            self._known[mark] = kept_game(self._ledger.ruleset(mark), mark)
        return self._known[mark]


def start_of(record: Events) -> HandStarted:
    """The first event of a hand."""
    start = record[0]
    assert isinstance(start, HandStarted)
    return start


def ruleset_label(record: Events) -> str:
    """The name and the fingerprint of a hand's ruleset, as one text."""
    start = start_of(record)
    return f"{start.game} {start.ruleset}"


class AuditedHand(NamedTuple):
    """A record, the ruleset that judged it, and the report."""

    record: Events
    game: Game
    report: Report


def audit_record(record: Events, game: Game) -> AuditedHand:
    """Audit a record by a ruleset; by another than its own, its start is rewritten to name it."""
    start, mark = start_of(record), fingerprint(game)
    held = record
    if start.ruleset != mark:
        held = (replace(start, game=game.name, ruleset=mark), *record[1:])
    return AuditedHand(record, game, judge(game, held, partner_of(game)))


def verdict_code(report: Report) -> int:
    """A report's verdict as a byte that is never 0, for lists and filters."""
    return VERDICT_CODES[report.verdict] | MOVELESS * (report.moves == 0)
