"""Rulesets by their fingerprints, for questions that need to know how hands compare."""

from collections.abc import Callable

from engine.game import Game, fingerprint, fingerprint_of, from_json
from engine.games import RULESETS
from odds.batch import Showdown

Text = Callable[[str], bytes | None]


class Rulebook:
    """The program's own rulesets, and those whose text a ledger keeps."""

    def __init__(self, kept: Text) -> None:
        self._kept = kept
        self._known: dict[str, Game | None] = {fingerprint(one): one for one in RULESETS.values()}

    def of(self, mark: str) -> Game | None:
        """The ruleset; None where nobody has its text."""
        if mark not in self._known:
            text = self._kept(mark)
            fits = text is not None and fingerprint_of(text) == mark
            self._known[mark] = from_json(text) if text is not None and fits else None
        return self._known[mark]

    def showdown(self, mark: str) -> Showdown | None:
        """How its hands compare in columns; None where columns cannot say it."""
        game = self.of(mark)
        if game is None or game.kickers != "five_cards":
            return None
        return Showdown(game.straights, game.ranking, game.hole_min)
