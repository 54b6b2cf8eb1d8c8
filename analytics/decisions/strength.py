"""How strong a hand was when its player decided, as far as he could know: his cards and the board.

Before the flop its tenth of all hands of two, afterwards the category of the best five.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from analytics.replay.seen import classes
from odds.batch import Showdown, showdown
from odds.counting import CLASSES, class_of, hands_of
from odds.preflop import stored
from odds.tables import SIZES
from store.columns.cells import Column


@cache
def _tenths(rules: Showdown) -> dict[str, int]:
    """Each class of two cards in its tenth of all 1,326 hands, the weakest first."""
    odds = stored()[rules]
    order = sorted(CLASSES, key=lambda name: (2 * odds[name][0] + odds[name][1], name))
    found, below = {}, 0
    for name in order:
        hands = len(hands_of(name))
        found[name] = 1 + 10 * (2 * below + hands) // (2 * 1_326)
        below += hands
    return found


def tenth(hole: Sequence[str], rules: Showdown) -> int | None:
    """1, the weakest tenth of all hands, to 10; the middle of its class decides."""
    return _tenths(rules)[class_of(tuple(hole))] if len(hole) == 2 else None


def tenths(kind: Column, ruleset: Column, rules: Sequence[Showdown | None]) -> Column:
    """The tenths of these classes of cards, by the rules of each hand; 0 where there is none."""
    known = np.zeros((len(rules), len(classes()[0]) + 1), dtype=np.int32)  # at the end: no class
    for at, how in enumerate(rules):
        if how is not None:
            known[at, :-1] = [_tenths(how)[name] for name in classes()[0]]
    found: Column = known[ruleset, kind]
    return found


def made(hole: Column, board: Column, ruleset: Column, rules: Sequence[Showdown | None]) -> Column:
    """The category of the best five of cards and board, as masks, by the rules of each hand; less
    than nothing where there is none.
    """
    cards, common = np.bitwise_count(hole), np.bitwise_count(board)
    found = np.full(len(hole), -1, dtype=np.int8)
    size = cards + common
    can = (cards > 0) & (common > 0) & ((hole & board) == 0) & np.isin(size, SIZES) & (common <= 5)
    kinds = (ruleset * np.int64(16) + cards) * 8 + common
    for kind in np.unique(kinds[can]).tolist():
        rows = np.flatnonzero(can & (kinds == kind))
        if (how := rules[kind >> 7]) is not None:
            found[rows] = showdown(hole[rows], board[rows], how) >> 12  # `odds.rank.category`
    return found
