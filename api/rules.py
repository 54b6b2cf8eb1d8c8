"""Which rules a recorded hand was dealt by: the program's own, or the text that the ledger kept."""

from typing import TYPE_CHECKING

from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS
from events.types import Events, HandStarted

if TYPE_CHECKING:
    from store.reader import Snapshot

UNKNOWN = "no ruleset here has this fingerprint; --ruleset holds it against another"
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
        return self._other or self.marked(_start(record).ruleset)

    def marked(self, mark: str) -> Game | None:
        """The ruleset of a fingerprint, or None where neither the program nor the ledger has it."""
        if mark not in self._known:
            self._known[mark] = kept_game(self._ledger.ruleset(mark), mark)
        return self._known[mark]


def _start(record: Events) -> HandStarted:
    start = record[0]
    assert isinstance(start, HandStarted)
    return start
