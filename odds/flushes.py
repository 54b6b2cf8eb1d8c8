"""What a rival's flushes change of the odds that ranks alone give: part two of `odds.unseen`.

Only hands with enough cards of one suit are looked at. Those cards are named, for they make the
flush; of the others the ranks are enough. Each hand is compared twice, as what it is and as what
its ranks make.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odds.batch import Masks, Values, columns
from odds.equity import BOARD, subsets
from odds.spot import (
    CELLS,
    SUIT,
    Counts,
    Lines,
    Spot,
    by_suit,
    codes_of,
    each_card,
    multisets,
    ways_to_take,
)

Cells = NDArray[np.bool_]


class Flush(NamedTuple):
    """Rival hands with so many cards of a suit: which of it, and every multiset of other ranks.

    `ranks` tells which multiset both make together: a row for each of `inside`.
    """

    suit: int
    inside: Masks
    picks: Counts
    ranks: NDArray[np.intp]


def by_flushes(spot: Spot, lines: Lines) -> Counts:
    """What is won and tied more or less because the rival has a flush."""
    sums = np.zeros(2, dtype=np.int64)
    for suit in range(0, 52, 13):
        there = np.bitwise_count((lines.run_outs | spot.board | spot.theirs) >> suit & SUIT)
        for have in range(max(0, BOARD - spot.dealt), int(there.max()) + 1):
            rows = (there == have).nonzero()[0]
            for of_suit in range(max(0, BOARD - have), spot.dealt + 1):
                flush = _flush(spot, suit, of_suit)
                step = max(1, CELLS // max(1, flush.ranks.size))
                for start in range(0, len(rows), step):
                    sums += _difference(spot, lines, rows[start : start + step], flush)
    return sums


def _flush(spot: Spot, suit: int, of_suit: int) -> Flush:
    cards = spot.rest[(spot.rest >> suit & SUIT) != 0]
    inside = subsets(cards, of_suit)
    picks, codes = multisets(spot.dealt - of_suit)
    whole = codes_of(inside)[:, None] + codes
    return Flush(suit, inside, picks, np.searchsorted(multisets(spot.dealt)[1], whole))


def _difference(spot: Spot, lines: Lines, rows: Counts, flush: Flush) -> Counts:
    """Wins and ties of these boards, as hands are, less those that ranks alone would give."""
    run_outs = lines.run_outs[rows]
    kinds = lines.kind[rows] * lines.by_ranks.shape[1]
    ranks = lines.by_ranks.ravel().take(kinds[:, None, None] + flush.ranks)
    whole = np.maximum(ranks, _flush_values(spot, run_outs | spot.board, flush)[:, :, None])
    apart = (run_outs[:, None] & flush.inside) == 0
    others = [suit for suit in range(4) if suit * 13 != flush.suit]
    left = (lines.left - lines.held[rows])[:, others].sum(axis=1)
    gone = by_suit(lines.drawn)[:, others].sum(axis=1)
    ways = {one.tobytes(): ways_to_take(left - one, flush.picks) for one in np.unique(gone, axis=0)}
    sums = np.zeros(2, dtype=np.int64)
    for column, drawn in enumerate(lines.drawn):
        mine = lines.mine[rows, column][:, None, None]
        free = apart & ((flush.inside & drawn) == 0) & lines.possible[rows, column][:, None]
        each = ways[gone[column].tobytes()]
        # A flush is worth no less than its ranks: it only takes wins away.
        sums[0] -= _weighed((ranks < mine) & (whole >= mine), free, each)
        sums[1] += _weighed(whole == mine, free, each) - _weighed(ranks == mine, free, each)
    return sums


def _flush_values(spot: Spot, boards: Masks, flush: Flush) -> Values:
    """What the flushes are worth: a row a board, a column for the cards of the suit."""
    tables, inside = columns(spot.size, spot.rules), flush.inside >> flush.suit

    def values(known: Masks) -> Values:
        keys = tables.suit.take((known >> flush.suit & SUIT)[:, None] | inside)
        return (keys >> 32).astype(np.uint16)

    found = values(boards | spot.theirs)
    if spot.rules.hole_min:
        # At most four cards of the board count (U21): matters where all five are of the suit.
        five = np.bitwise_count(boards >> flush.suit & SUIT) == BOARD
        known = boards[five]
        if len(known):
            each = [values((known ^ card) | spot.theirs) for card in each_card(known)]
            found[five] = np.max(each, axis=0)
    return found if tables.coarse is None else tables.coarse.take(found)


def _weighed(cells: Cells, free: Cells, ways: Counts) -> int:
    """How many deals these cells are: board, cards of the suit, ranks of the others."""
    if ways.shape[1] == 1:  # there are no others
        return int(np.count_nonzero(cells[:, :, 0] & free))
    return int(((cells & free[:, :, None]).sum(axis=1) * ways).sum())
