"""Which rules a recorded hand was dealt by, the program's own or the text that the ledger kept, and
what the record is held against them: what the command line and every other door calls an audit.
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


UNKNOWN = "no ruleset here has this fingerprint; --ruleset holds it against another"
CODES = {verdict: code for code, verdict in enumerate(VERDICTS, start=1)}
MOVELESS = 128  # beside a code: no chip goes elsewhere
_BY_MARK = {fingerprint(game): game for game in RULESETS.values()}


class Rules:
    """Which ruleset judges a record: the one asked for, or the one its first event names.

    That one is the program's own, or else the text that the ledger kept when it was dealt by.
    """

    def __init__(self, ledger: "Snapshot", other: Game | None) -> None:
        self._ledger = ledger
        self._other = other
        self._known: dict[str, Game | None] = dict(_BY_MARK)

    def of(self, record: Events) -> Game | None:
        """The ruleset, or None where neither the program nor the ledger has it."""
        return self._other or self.marked(start_of(record).ruleset)

    def marked(self, mark: str) -> Game | None:
        """The ruleset of a fingerprint, or None where neither the program nor the ledger has it."""
        if mark not in self._known:
            self._known[mark] = kept_game(self._ledger.ruleset(mark), mark)
        return self._known[mark]


def start_of(record: Events) -> HandStarted:
    """The first event of a hand."""
    start = record[0]
    assert isinstance(start, HandStarted)
    return start


def ruleset_of(record: Events) -> str:
    """The game and the fingerprint that a hand names."""
    start = start_of(record)
    return f"{start.game} {start.ruleset}"


class Judged(NamedTuple):
    """A record, the ruleset it was held against, and what came of it."""

    record: Events
    game: Game
    report: Report


def by_rules(record: Events, game: Game) -> Judged:
    """The verdict under this ruleset; under another than its own, the start says so."""
    start, mark = start_of(record), fingerprint(game)
    held = record
    if start.ruleset != mark:
        held = (replace(start, game=game.name, ruleset=mark), *record[1:])
    return Judged(record, game, judge(game, held, partner_of(game)))


def code_of(report: Report) -> int:
    """A verdict as a byte, which lists and filters ask for: never 0."""
    return CODES[report.verdict] | MOVELESS * (report.moves == 0)
