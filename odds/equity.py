"""What known hands are worth against each other: every board that can still come, none sampled.

Exact, so whole numbers: in how many deals a hand is best, alone or with how many others. Boards
are taken a chunk at a time. Hands that are not known are the business of `odds.unseen`.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from odds.batch import STANDARD, Masks, Showdown, worth_on_board
from odds.rank import Cards, mask

DECK = (1 << 52) - 1
BOARD = 5


class Odds(Struct, frozen=True):
    """Of so many equally likely deals, in how many a hand is one of k + 1 best: `best[k]`."""

    deals: int
    best: tuple[int, ...]

    @property
    def wins(self) -> int:
        return self.best[0]

    @property
    def ties(self) -> int:
        return sum(self.best[1:])

    @property
    def losses(self) -> int:
        return self.deals - sum(self.best)

    @property
    def share(self) -> Fraction:
        """The part of a pot that this hand wins on average: the equity."""
        won = (Fraction(count, among) for among, count in enumerate(self.best, start=1))
        return sum(won, Fraction()) / self.deals


def equities(
    holes: Sequence[Cards], board: Cards = (), dead: Cards = (), rules: Showdown = STANDARD
) -> tuple[Odds, ...]:
    """The odds of each of two or more known hands, whose sizes may differ; `dead` never comes."""
    held = [mask(hole) for hole in holes]
    table, gone = mask(board), mask(dead)
    known = disjoint(*held, table, gone)
    if len(held) < 2:
        raise ValueError("hands are compared with each other: one alone has no odds")
    if len(board) > BOARD:
        raise ValueError(f"a board has at most five cards, not {len(board)}")
    enough(known, BOARD - len(board))
    best = np.zeros((len(held), len(held)), dtype=np.int64)
    for boards in run_outs(unseen(known), BOARD - len(board)):
        dealt = boards | table
        values = np.array([worth_on_board(hole, dealt, hole.bit_count(), rules) for hole in held])
        is_best = values == values.max(axis=0)
        among = is_best.sum(axis=0)
        best += np.array([np.bincount(among[row], minlength=len(held) + 1)[1:] for row in is_best])
    deals = comb(52 - known.bit_count(), BOARD - len(board))
    return tuple(Odds(deals, tuple(map(int, row))) for row in best)


def disjoint(*groups: int) -> int:
    """All these cards together, of which none may be in two places."""
    together = 0
    for cards in groups:
        if together & cards:
            raise ValueError("a card is in two places: no deal can be like that")
        together |= cards
    return together


def enough(known: int, needed: int) -> None:
    """So many cards must still be there to be dealt."""
    left = 52 - known.bit_count()
    if left < needed:
        raise ValueError(f"{needed} more cards are needed, and {left} are left")


def unseen(known: int) -> Masks:
    """The other cards of the deck, a bit each."""
    rest = [1 << at for at in range(52) if not known >> at & 1]
    return np.array(rest, dtype=np.int64)


def subsets(cards: Masks, size: int) -> Masks:
    """Every choice of so many of these cards, as masks, in the order of their first card."""
    if size > 3:
        parts = list(run_outs(cards, size))
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    if size == 0:
        return np.zeros(1, dtype=np.int64)
    chosen: Masks = np.bitwise_or.reduce(cards[_choices(len(cards), size)], axis=0)
    return chosen


@lru_cache(maxsize=256)
def _choices(count: int, size: int) -> NDArray[np.intp]:
    """Which of so many things are chosen: a row for the first, a row for the second, and so on."""
    chosen = list(combinations(range(count), size))
    return np.array(chosen, dtype=np.intp).reshape(len(chosen), size).T.copy()


def run_outs(cards: Masks, size: int) -> Iterator[Masks]:
    """The same choices in parts, one for each first card, so that five cards stay small too."""
    if size < 3:
        yield subsets(cards, size)
        return
    rest = subsets(cards, size - 1)
    for at, card in enumerate(cards):
        chosen = card | rest[len(rest) - comb(len(cards) - 1 - at, size - 1) :]
        if len(chosen):
            yield chosen
