"""What each seat put in and took out; an uncalled bet is neither wagered nor won (G4)."""

from typing import NamedTuple

import numpy as np

from analytics.replay.columns import ReplayColumns
from store.columns.cells import Column


class Money(NamedTuple):
    """Chips of every place; who splits has won, so `won` asks what was collected."""

    put_in: Column
    collected: Column
    net: Column
    won: Column


def money(hands: ReplayColumns) -> Money:
    """What became of everybody's chips."""
    acts, moves = hands.acts, hands.stack_changes
    spent = np.zeros(hands.places + 1, dtype=np.int64)
    np.add.at(spent, acts.place, acts.amount)
    np.subtract.at(spent, moves.place, moves.amount)
    stake = spent.copy()
    np.add.at(stake, moves.place, moves.amount * moves.dead)
    collected = hands.collected
    back = np.minimum(_uncalled(hands, stake[: hands.places]), collected)
    put_in = spent[: hands.places] - back
    taken = collected - back
    return Money(put_in, taken, taken - put_in, taken > 0)


def _uncalled(hands: ReplayColumns, stake: Column) -> Column:
    """Rulesets that leave an uncalled bet in the pot pay it out as one more side pot."""
    most, matched = np.full((2, hands.count), -(1 << 62))
    np.maximum.at(most, hands.place_hand, stake)
    top = stake == most.take(hands.place_hand)
    alone = top & (np.bincount(hands.place_hand, top, hands.count) == 1).take(hands.place_hand)
    if not alone.any():
        return np.zeros(hands.places, dtype=np.int64)
    np.maximum.at(matched, hands.place_hand, np.where(alone, matched[0], stake))
    return (stake - matched.take(hands.place_hand)) * alone
