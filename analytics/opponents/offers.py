"""What each action of many hands faced: what there was to call, whether a raise was on the menu.

The hands are walked as for facts (`replay.actions`), for the chips of each round and nothing else.
"""

from typing import NamedTuple

import numpy as np

from analytics.replay.actions import Step, Table, walks
from analytics.replay.layout import Laid
from analytics.replay.rounds import Rounds
from analytics.replay.seating import Named
from analytics.replay.streets import Streets
from engine.game import Game
from store.columns.cells import Column


class Offers(NamedTuple):
    """Of every action: what to call, whether it could have raised, whether anybody knows."""

    call: Column
    raising: Column
    told: Column


def offers(laid: Laid, games: list[Game | None], ruleset: Column, at: Named) -> Offers:
    """By the rulesets of the hands, as far as anybody has them."""
    size = len(laid.acts.row)
    found = Offers(np.zeros(size, dtype=np.int64), *np.zeros((2, size), dtype=bool))
    for walk in walks(laid, games, ruleset, at):
        walk.streets = _Heard(walk.table, at, walk.rounds, found, walk.menu is not None)
        walk.run()
    return found


class _Heard(Streets):
    """In place of the streets: it is told each step, and writes down what was faced."""

    def __init__(self, table: Table, at: Named, rounds: Rounds, found: Offers, knows: bool) -> None:
        super().__init__(table, at)
        self._rounds, self._found, self._knows = rounds, found, knows

    def take_in(self, street: Column) -> None:
        """A street begins: nothing to remember."""

    def words(self, it: Step, offered: Column, owed: Column, gone: Column) -> Column:
        """One step of many hands."""
        self._found.call[it.act] = np.maximum(0, self._rounds.bet[: it.live] - it.mine)
        self._found.raising[it.act] = offered
        self._found.told[it.act] = offered | self._knows  # who raises was offered it
        return np.zeros(it.live, dtype=np.int64)

    def remember(self, it: Step) -> None:
        """Nothing to remember either."""
