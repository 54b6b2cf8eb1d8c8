"""A spot with unseen cards, taken apart: the boards to come, and multisets of ranks.

`odds.unseen` explains what for.
"""

from functools import lru_cache, reduce
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odds.batch import (
    CHUNK,
    Masks,
    Showdown,
    Values,
    columns,
    keys_of,
    with_hole,
    worth,
    worth_of_keys,
)
from odds.equity import BOARD, subsets

SUIT = 8191
PLACES = np.arange(52, dtype=np.int64)
CODES = (1 << 31) - 1  # the part of a key that counts ranks; above it stands the flush
CELLS = CHUNK * 2  # as many comparisons at a time stay in the processor's cache
Counts = NDArray[np.int64]


class Spot(NamedTuple):
    """What is known, as masks, and how many unseen cards each side has besides."""

    mine: int
    theirs: int
    board: int
    rest: Masks
    drawn: int
    dealt: int
    rules: Showdown

    @property
    def size(self) -> int:
        """How many cards the rival's hand has in the end."""
        return self.theirs.bit_count() + self.dealt + BOARD


class Lines(NamedTuple):
    """Every board to come, a row each, and what both are worth there.

    `mine` has a column for each card of `drawn` (the empty mask where none is drawn); `possible`
    is false where that card lies on the board. `held` are the cards that come, by suit and rank,
    and `left` those that may. `by_ranks` is what each multiset of the rival's ranks is worth
    without a flush: a row for each kind of board, which `kind` tells.
    """

    run_outs: Masks
    drawn: Masks
    mine: Values
    possible: NDArray[np.bool_]
    held: Counts
    left: Counts
    kind: NDArray[np.intp]
    by_ranks: Values


def lines_of(spot: Spot) -> Lines:
    """Every board that can come from the cards that are left."""
    run_outs = subsets(spot.rest, BOARD - spot.board.bit_count())
    drawn = subsets(spot.rest, spot.drawn)
    hands = (run_outs | (spot.mine | spot.board))[:, None] | drawn
    size = spot.mine.bit_count() + spot.drawn + BOARD
    possible = (run_outs[:, None] & drawn) == 0
    # Where a card lies on the board already a hand is short, and its value means nothing.
    mine = worth(hands.ravel(), size, spot.rules)
    if spot.rules.hole_min:
        hole = np.full(len(run_outs), spot.mine, dtype=np.int64)
        with_hole(mine, hole, run_outs | spot.board, spot.mine.bit_count(), spot.rules)
    _, first, kind = np.unique(codes_of(run_outs), return_index=True, return_inverse=True)
    by_ranks = _by_ranks(spot, run_outs[first] | spot.board)
    return Lines(
        run_outs,
        drawn,
        mine.reshape(hands.shape),
        possible,
        by_suit(run_outs),
        by_suit(np.bitwise_or.reduce(spot.rest, keepdims=True)),
        kind,
        by_ranks,
    )


def _by_ranks(spot: Spot, boards: Masks) -> Values:
    """What every multiset of ranks makes with each board, flushes left out."""
    tables, (_, codes) = columns(spot.size, spot.rules), multisets(spot.dealt)
    keys = (codes_of(boards) + codes_of(spot.theirs))[:, None] + codes
    values = worth_of_keys(keys, tables)
    if not spot.rules.hole_min:
        return values
    # Where the board is played one of its cards is left out, as `batch.with_hole` has it (U21).
    fewer = columns(spot.size - 1, Showdown(spot.rules.straights))
    without = (keys - codes_of(card)[:, None] for card in each_card(boards))
    best = reduce(np.maximum, (worth_of_keys(key, fewer) for key in without))
    five = columns(BOARD, spot.rules)
    alone = worth_of_keys(codes_of(boards), five)[:, None]
    return np.where(
        values == alone, best if five.coarse is None else five.coarse.take(best), values
    )


def each_card(boards: Masks) -> list[Masks]:
    """The first card of every board, then the second, and so on."""
    cards = []
    for _ in range(BOARD):
        cards.append(boards & -boards)
        boards = boards ^ cards[-1]
    return cards


def codes_of(masks: Masks | int) -> Counts:
    """The base-5 codes of the ranks of each mask."""
    return keys_of(np.asarray(masks, dtype=np.int64), columns(BOARD)) & CODES


def by_suit(masks: Masks) -> Counts:
    """A row a mask: for each suit, for each rank, 1 if the card is there."""
    return (masks[:, None] >> PLACES & 1).reshape(len(masks), 4, 13)


@lru_cache(maxsize=8)
def multisets(size: int) -> tuple[Counts, Counts]:
    """Every multiset of so many ranks: the ranks, and their code; codes in rising order."""
    picks = np.array(list(combinations_with_replacement(range(13), size)), dtype=np.int64)
    of_one = columns(BOARD).suit.take(1 << PLACES[:13]) & CODES
    codes = of_one[picks].sum(axis=1)
    order = codes.argsort()
    return picks[order], codes[order]


def ways_to_take(left: Counts, picks: Counts) -> Counts:
    """In how many ways each multiset of ranks can be taken from the cards that are left."""
    ways = np.ones((len(left), len(picks)), dtype=np.int64)
    for place in range(picks.shape[1]):
        before = (picks[:, :place] == picks[:, place : place + 1]).sum(axis=1)
        # The k-th card of a rank: one of those left, and the order of k cards does not count.
        ways *= np.maximum(left[:, picks[:, place]] - before, 0)
        ways //= before + 1
    return ways
