"""Rulesets by their fingerprints, and which of them each of many hands was played by."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from analytics.replay.columns import ReplayColumns
from engine.followed import of_other_kinds, unknown
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS
from engine.policies import Policies, per_chip
from odds.batch import Showdown
from store.columns.cells import Column

T = TypeVar("T")
Text = Callable[[str], bytes | None]
Rules = Callable[[str], Game | None]


class Rulebook:
    """The program's own rulesets, and those whose text a ledger keeps."""

    def __init__(self, kept: Text) -> None:
        self._kept = kept
        self._known: dict[str, Game | None] = {fingerprint(one): one for one in RULESETS.values()}
        self._found: dict[tuple[str, Callable[[Game], Any]], Any] = {}

    def of(self, mark: str) -> Game | None:
        """The ruleset; None where nobody has its text."""
        if mark not in self._known:
            self._known[mark] = kept_game(self._kept(mark), mark)
        return self._known[mark]

    def showdown(self, mark: str) -> Showdown | None:
        """How its hands compare in columns; None where columns cannot say it."""
        return self.found(mark, comparable)

    def found(self, mark: str, question: Callable[[Game], T]) -> T | None:
        """What is found of a ruleset, once however many hands ask; None of nobody's."""
        if (mark, question) not in self._found:
            game = self.of(mark)
            self._found[mark, question] = None if game is None else question(game)
        return cast(T | None, self._found[mark, question])


# How columns compare hands: not where cards beyond five count. Who has to name five cards can name
# his best.
_COMPARED: dict[str, tuple[object, ...]] = {
    "ranking": ("standard", "urcs", "top_card"),
    "straights": ("standard", "cyclic"),
    "hole_min": (0, 1),
    "announce": ("cards_speak", "announced"),
}


def comparable(game: Policies) -> Showdown | None:
    """How this ruleset ranks hands; None where columns cannot say it."""
    followed = unknown(game, _COMPARED, of_other_kinds("rank")) is None
    return comparison(game) if followed else None


def comparison(game: Policies) -> Showdown:
    """How this ruleset ranks hands, as far as columns can say it."""
    return Showdown(game.straights, game.ranking, game.hole_min)


def games_of(hands: ReplayColumns, rules: Rules) -> tuple[list[Game | None], Column]:
    """The rulesets, and which of them each hand was played by; the last is nobody's."""
    which, words = hands.cells.words("ruleset", hands.heads)
    return [*map(rules, words.to_pylist()), None], np.where(hands.counted, which, len(words))


def units_of(games: Sequence[Game | None], ruleset: Column) -> Column:
    """How many of each hand's units make a chip; of unknown rules one."""
    found: Column = np.array([1 if it is None else per_chip(it.unit) for it in games]).take(ruleset)
    return found
