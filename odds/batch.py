"""Arrays of hands: the values of millions of card masks, and the exact equity of known hands.

A column is an array of 52-bit masks (`odds.rank.mask`), one hand a row, all of one size. The
values are those of `odds.rank`, row by row. Rows are taken a chunk at a time, small enough that
its temporaries stay in the processor's cache, so memory does not grow with what is asked.

What hands win against each other is exact, so whole numbers: in how many deals of every board that
can still come, none sampled, a hand is best, alone or with how many others. Before the flop those
are 1,712,304 boards, and most of them can make nobody a flush: they are counted together where
they have the same ranks, at most 6,175 multisets, and only the others are looked at one by one.
Hands that are not known are the business of `odds.unseen`.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache, reduce
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from odds.rank import Cards, HoleMin, Ranking, coarsening, mask
from odds.tables import SIZES, Straights, stored

Masks = NDArray[np.int64]
Keys = NDArray[np.int64]
Values = NDArray[np.uint16]
Counts = NDArray[np.int64]

CHUNK = 1 << 14
SUIT = 8191  # the ranks of one suit of a mask
RANK_CARDS = np.int64(1) << np.arange(13, dtype=np.int64)  # a card of each rank
CODES = (1 << 31) - 1  # the part of a key that counts ranks; above it stands the flush


class Showdown(Struct, frozen=True):
    """The policies that say how hands compare, as far as a column of values can express them."""

    straights: Straights = "standard"
    ranking: Ranking = "standard"
    hole_min: HoleMin = 0
    kickers: Literal["five_cards", "all_seven"] = "five_cards"

    def __post_init__(self) -> None:
        if self.kickers != "five_cards":
            raise ValueError(
                "a column of values compares five cards: where all seven count, "
                "hands are ranked one at a time"
            )


STANDARD = Showdown()


class Columns(NamedTuple):
    """The tables of `odds.tables` as arrays; `coarse` where a ranking compares less than all."""

    suit: NDArray[np.int64]
    high: NDArray[np.uint32]
    low: NDArray[np.uint16]
    rank: Values
    coarse: Values | None


def column(hands: Iterable[Iterable[str]]) -> Masks:
    """A column of masks, one for each hand of named cards."""
    return np.array([mask(hand) for hand in hands], dtype=np.int64)


@cache
def columns(size: int, rules: Showdown = STANDARD) -> Columns:
    """The tables for hands of `size` cards, as arrays."""
    if size not in SIZES:
        raise ValueError(f"a hand has {SIZES[0]} to {SIZES[-1]} cards, not {size}")
    tables = stored()[rules.straights]
    coarse = None
    if rules.ranking != "standard":
        coarse = np.array(coarsening(rules.ranking, rules.straights), dtype=np.uint16)
    return Columns(
        np.array(tables.suit, dtype=np.int64),
        np.array(tables.high[size], dtype=np.uint32),
        np.array(tables.low, dtype=np.uint16),
        np.array(tables.rank[size], dtype=np.uint16),
        coarse,
    )


def worth(masks: Masks, size: int, rules: Showdown = STANDARD) -> Values:
    """The value of each mask of exactly `size` cards, by any five of them; nothing is checked."""
    tables = columns(size, rules)
    values = np.empty(len(masks), dtype=np.uint16)
    for start in range(0, len(masks), CHUNK):
        chunk = masks[start : start + CHUNK]
        values[start : start + CHUNK] = worth_of_keys(keys_of(chunk, tables), tables)
    return values


def keys_of(masks: Masks, tables: Columns) -> Keys:
    """The added entries of the `suit` table for each mask (`odds.tables`, point 4)."""
    keys: Keys = tables.suit.take(masks & SUIT)
    keys += tables.suit.take(masks >> 13 & SUIT)
    keys += tables.suit.take(masks >> 26 & SUIT)
    keys += tables.suit.take(masks >> 39)
    return keys


def worth_of_keys(keys: Keys, tables: Columns) -> Values:
    """The values that keys stand for; for a hand that cannot be, any value and no error."""
    values = tables.rank.take(slots_of(keys, tables), mode="clip")
    np.maximum(values, (keys >> 32).astype(np.uint16), out=values)
    return values if tables.coarse is None else tables.coarse.take(values)


def slots_of(keys: Keys, tables: Columns) -> NDArray[np.uint32]:
    """The number of each multiset of ranks among all of its size."""
    slots = tables.high.take(keys >> 17 & 16383, mode="clip")
    slots += tables.low.take(keys & 131071, mode="clip")
    return slots


def codes_of(masks: Masks | int) -> Counts:
    """The base-5 codes of the ranks of each mask."""
    return keys_of(np.asarray(masks, dtype=np.int64), columns(BOARD)) & CODES


def worth_of_ranks(
    hands: Counts, boards: Counts, cards: Iterable[Counts], size: int, rules: Showdown
) -> Values:
    """The values of hands of `size` cards, flushes left out: the codes of all their ranks, of those
    on the board, and of each of its five cards."""
    values = worth_of_keys(hands, columns(size, rules))
    if not rules.hole_min:
        return values
    # Where the board is played one of its cards is left out, as `with_hole` has it (U21).
    fewer, five = columns(size - 1, Showdown(rules.straights)), columns(BOARD, rules)
    best = reduce(np.maximum, (worth_of_keys(hands - card, fewer) for card in cards))
    return np.where(
        values == worth_of_keys(boards, five),
        best if five.coarse is None else five.coarse.take(best),
        values,
    )


def worth_on_board(hole: Masks | int, board: Masks, held: int, rules: Showdown) -> Values:
    """The value of each hole of `held` cards with the five of its board; nothing is checked."""
    values = worth(hole | board, held + 5, rules)
    if rules.hole_min:
        with_hole(values, np.broadcast_to(hole, board.shape), board, held, rules)
    return values


def showdown(hole: Masks, board: Masks, rules: Showdown = STANDARD) -> Values:
    """The value of each hole with the board beside it, under the whole of the rules, checked."""
    if not len(hole):
        return np.empty(0, dtype=np.uint16)
    held, dealt = _size(hole, "hole cards"), _size(board, "board cards")
    if ((hole & board) != 0).any():
        row = int(((hole & board) != 0).argmax())
        raise ValueError(f"row {row} has a card in the hole and on the board")
    if rules.hole_min and not held:
        raise ValueError("a hand must use a hole card here, and there is none")
    if rules.hole_min and dealt > 5:
        raise ValueError(f"a hole card is counted beside at most five board cards, not {dealt}")
    values = worth(hole | board, held + dealt, rules)
    if rules.hole_min and dealt > 4:
        with_hole(values, hole, board, held, rules)
    return values


def with_hole(values: Values, hole: Masks, board: Masks, held: int, rules: Showdown) -> None:
    """Amend, in place, the values of hands that must use a hole card and play the board (U21).

    Only where a hand is worth no more than its board alone can the board be its best five. There
    the five with a hole card use at most four of the board: leave out each card in turn.
    """
    fine = Showdown(rules.straights)
    played = (values == worth(board, 5, rules)).nonzero()[0]
    hands, rest = hole[played] | board[played], board[played]
    best = np.zeros(len(played), dtype=np.uint16)
    for _ in range(5):
        out = rest & -rest
        np.maximum(best, worth(hands ^ out, held + 4, fine), out=best)
        rest = rest ^ out
    coarse = columns(held + 4, rules).coarse
    values[played] = best if coarse is None else coarse.take(best)


def _size(masks: Masks, kind: str) -> int:
    """The number of cards that every row has."""
    counts = np.bitwise_count(masks)
    least, most = int(counts.min()), int(counts.max())
    if least != most:
        raise ValueError(f"every row has as many {kind}, not {least} here and {most} there")
    return least


DECK = (1 << 52) - 1
BOARD = 5


class Odds(Struct, frozen=True):
    """Equity as counts: of equally likely `deals` a hand is one of k + 1 best in `best[k]`."""

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
    to_come, rest = BOARD - len(board), unseen(known)
    together = to_come > 2  # fewer boards than that are soonest looked at
    best = np.zeros((len(held), len(held)), dtype=np.int64)
    alone = np.zeros(len(columns(BOARD).rank), dtype=np.int64)
    for boards in flush_boards(held, table, rest) if together else [subsets(rest, to_come)]:
        dealt = boards | table
        values = [worth_on_board(hole, dealt, hole.bit_count(), rules) for hole in held]
        best += _best(np.array(values), np.ones(len(dealt), dtype=np.int64))
        if together:
            slots = slots_of(codes_of(dealt), columns(BOARD))
            alone += np.bincount(slots, minlength=len(alone))
    if together:
        left = np.bincount(np.bitwise_count(rest - 1) % 13, minlength=13)
        picks, codes = multisets(to_come)
        ways = ways_to_take(left[None], picks)[0]
        possible = ways > 0  # nobody has five of a rank, and no code stands for them
        picks, on_board = picks[possible], codes[possible] + codes_of(table)
        ways = ways[possible] - alone[slots_of(on_board, columns(BOARD))]
        cards = [*codes_of(RANK_CARDS[picks].T), *codes_of(column([card] for card in board))]
        values = [
            worth_of_ranks(
                on_board + codes_of(hole), on_board, cards, hole.bit_count() + BOARD, rules
            )
            for hole in held
        ]
        best += _best(np.array(values), ways)
    deals = comb(len(rest), to_come)
    return tuple(Odds(deals, tuple(map(int, row))) for row in best)


def _best(values: Values, ways: Counts) -> Counts:
    """How often each hand, a row of `values`, is one of 1, 2, ... best, on boards that count so
    many `ways`."""
    is_best = values == values.max(axis=0)
    among = is_best.sum(axis=0)
    places = range(1, len(values) + 1)
    return np.array([[ways[row & (among == one)].sum() for one in places] for row in is_best])


def flush_boards(held: Sequence[int], table: int, rest: Masks) -> Iterator[Masks]:
    """The boards to come, in parts, that give one of these hands a flush or may, each once."""
    to_come = BOARD - table.bit_count()
    before: list[tuple[int, int]] = []
    for suit in range(0, 52, 13):
        needed = BOARD - max((hole >> suit & SUIT).bit_count() for hole in held)
        of_suit = (rest >> suit & SUIT) != 0
        for more in range(max(0, needed - (table >> suit & SUIT).bit_count()), to_come + 1):
            inside, outside = subsets(rest[of_suit], more), subsets(rest[~of_suit], to_come - more)
            boards = (inside[:, None] | outside).ravel()
            for other, needed_there in before:
                if needed + needed_there <= BOARD:  # else no board has enough of both
                    there = np.bitwise_count((boards | table) >> other & SUIT)
                    boards = boards[there < needed_there]
            yield boards
        before.append((suit, needed))


@lru_cache(maxsize=8)
def multisets(size: int) -> tuple[Counts, Counts]:
    """Every multiset of so many ranks: the ranks, and their code; codes in rising order."""
    picks = np.array(list(combinations_with_replacement(range(13), size)), dtype=np.int64)
    codes = codes_of(RANK_CARDS)[picks].sum(axis=1)
    order = codes.argsort()
    return picks[order], codes[order]


def ways_to_take(left: Counts, picks: Counts) -> Counts:
    """The number of ways to take each multiset of ranks from the cards that are left."""
    ways = np.ones((len(left), len(picks)), dtype=np.int64)
    for place in range(picks.shape[1]):
        before = (picks[:, :place] == picks[:, place : place + 1]).sum(axis=1)
        # The k-th card of a rank: one of those left, and the order of k cards does not count.
        ways *= np.maximum(left[:, picks[:, place]] - before, 0)
        ways //= before + 1
    return ways


def disjoint(*groups: int) -> int:
    """The union of card masks; a card in two of them is an error."""
    together = 0
    for cards in groups:
        if together & cards:
            raise ValueError("a card is in two places: no deal can be like that")
        together |= cards
    return together


def enough(known: int, needed: int) -> None:
    """Check that `needed` cards are left to be dealt."""
    left = 52 - known.bit_count()
    if left < needed:
        raise ValueError(f"{needed} more cards are needed, and {left} are left")


def unseen(known: int) -> Masks:
    """The unseen cards of the deck, a mask each."""
    rest = [1 << at for at in range(52) if not known >> at & 1]
    return np.array(rest, dtype=np.int64)


def subsets(cards: Masks, size: int) -> Masks:
    """All subsets of `size` cards, as masks, in the order of their first card."""
    if size > 3:
        parts = list(run_outs(cards, size))
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    if size == 0:
        return np.zeros(1, dtype=np.int64)
    chosen: Masks = np.bitwise_or.reduce(cards[_choices(len(cards), size)], axis=0)
    return chosen


@lru_cache(maxsize=256)
def _choices(count: int, size: int) -> NDArray[np.intp]:
    """Indices of all combinations: a row for the first item, a row for the second, and so on."""
    chosen = list(combinations(range(count), size))
    return np.array(chosen, dtype=np.intp).reshape(len(chosen), size).T.copy()


def run_outs(cards: Masks, size: int) -> Iterator[Masks]:
    """The subsets of `size` cards in parts, one for each first card, so that memory stays small."""
    if size < 3:
        yield subsets(cards, size)
        return
    rest = subsets(cards, size - 1)
    for at, card in enumerate(cards):
        chosen = card | rest[len(rest) - comb(len(cards) - 1 - at, size - 1) :]
        if len(chosen):
            yield chosen
