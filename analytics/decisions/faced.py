"""What each fold, check, call, bet and raise of many hands faced, found in lock-step."""

from typing import NamedTuple

import numpy as np

from analytics.decisions.hands import Hands
from analytics.replay.actions import walks
from analytics.replay.raises import sizes
from store.columns.cells import Column


class Faced(NamedTuple):
    """Of every action: the bet to match and what its seat had in, the most that it could still
    lose, whether it could raise and whether anybody knows that, and to which totals (`ranged`,
    where the rules say so).
    """

    bet: Column
    mine: Column
    effective: Column
    raising: Column
    told: Column
    ranged: Column
    low: Column
    high: Column


def faced_by(hands: Hands) -> Faced:
    """By the rulesets of the hands, as far as anybody has them."""
    size = len(hands.laid.acts.row)
    bet, mine, effective, low, high = np.zeros((5, size), dtype=np.int64)
    raising, told, ranged = np.zeros((3, size), dtype=bool)
    for walk in walks(hands.laid, hands.games, hands.ruleset):
        rounds, menu = walk.rounds, walk.menu
        for it in walk.steps():
            act = it.act
            bet[act], mine[act] = rounds.bet[: it.live], it.mine
            others = rounds.deepest(it, able=True) - it.mine
            effective[act] = np.maximum(np.minimum(others, it.chips), 0)
            raising[act] = it.offered
            told[act] = it.offered | (menu is not None)  # who raises was offered it
            if menu is not None and it.facing is not None and it.vetoed is not None:
                ranged[act] = it.asked & ~it.vetoed
                low[act], high[act] = sizes(menu, it.facing, rounds.reach(it, menu))
    return Faced(bet, mine, effective, raising, told, ranged, low, high)
