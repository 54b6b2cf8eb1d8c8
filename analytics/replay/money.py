"""What each seat put in and took out; an uncalled bet is neither wagered nor won (G4)."""

from typing import NamedTuple

import numpy as np

from analytics.replay.layout import Laid
from store.columns.cells import Column


class Money(NamedTuple):
    """Chips of every place; who splits has won, so `won` asks what was collected."""

    put_in: Column
    collected: Column
    net: Column
    won: Column


def money(laid: Laid) -> Money:
    """What became of everybody's chips."""
    acts, moves = laid.acts, laid.moves
    spent = np.zeros(laid.places + 1, dtype=np.int64)
    np.add.at(spent, acts.place, acts.amount)
    np.subtract.at(spent, moves.place, moves.amount)
    stake = spent.copy()
    np.add.at(stake, moves.place, moves.amount * moves.dead)
    collected = laid.collected[: laid.places]
    back = np.minimum(_uncalled(laid, stake[: laid.places]), collected)
    put_in = spent[: laid.places] - back
    taken = collected - back
    return Money(put_in, taken, taken - put_in, taken > 0)


def _uncalled(laid: Laid, stake: Column) -> Column:
    """Rulesets that leave an uncalled bet in the pot pay it out as one more side pot."""
    most, matched = np.full((2, laid.count), -(1 << 62))
    np.maximum.at(most, laid.place_hand, stake)
    top = stake == most.take(laid.place_hand)
    alone = top & (np.bincount(laid.place_hand, top, laid.count) == 1).take(laid.place_hand)
    if not alone.any():
        return np.zeros(laid.places, dtype=np.int64)
    np.maximum.at(matched, laid.place_hand, np.where(alone, matched[0], stake))
    return (stake - matched.take(laid.place_hand)) * alone
