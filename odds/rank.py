"""Rank one hand at a time: the value of cards, coarser rankings, and values in words.

Pure Python over the tables of `odds.tables`. A value is ``category << 12 | index``: higher wins,
equal ties. Values compare only under the same straight rule and the same ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations
from typing import Literal

from odds.tables import (
    FLUSH,
    FULL_HOUSE,
    HIGH_CARD,
    PAIR,
    QUADS,
    SIZES,
    STRAIGHT,
    STRAIGHT_FLUSH,
    TRIPS,
    Finish,
    ladder,
    runs,
    stored,
)
from odds.tables import Straights as Straights

Cards = tuple[str, ...]
Ranking = Literal["standard", "urcs", "top_card"]
"""How deep values compare: in full, or as the documents say (U22; P3 and P4)."""
HoleMin = Literal[0, 1]
"""How many hole cards the five must use at least (U21)."""

Flushes = Literal["best", "first_suit"]
"""Which flush counts where more than nine cards make two (V2)."""

RANKS = "23456789TJQKA"
SUITS = "cdhs"
BIT: dict[str, int] = {
    rank + suit: 1 << 13 * column + row
    for column, suit in enumerate(SUITS)
    for row, rank in enumerate(RANKS)
}
CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
RANK_NAMES = (
    *("two", "three", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "jack", "queen", "king", "ace"),
)


def mask(cards: Iterable[str]) -> int:
    """The cards as 52 bits: bit 13 * suit + rank, suits c d h s, deuce lowest."""
    cards = tuple(cards)
    try:
        bits = sum(map(BIT.__getitem__, cards))
    except KeyError:
        raise _refusal(cards) from None
    if bits.bit_count() != len(cards):
        raise _refusal(cards)
    return bits


@cache
def evaluator(straights: Straights, size: int) -> Callable[[int], int]:
    """The value, in full depth, of a mask of exactly `size` cards; nothing is checked."""
    suit, low = _shared_columns(straights)
    tables = stored()[straights]
    first, rank = _column(tables.high[size]), _column(tables.rank[size])

    def evaluate(mask: int) -> int:
        clubs, diamonds = mask & 8191, mask >> 13 & 8191
        hearts, spades = mask >> 26 & 8191, mask >> 39
        key = suit[clubs] + suit[diamonds] + suit[hearts] + suit[spades]
        value = rank[first[key >> 17 & 16383] + low[key & 131071]]
        flush = key >> 32
        if flush > value:  # max() would cost a call
            return flush
        return value

    return evaluate


@cache
def coarsening(ranking: Ranking, straights: Straights) -> tuple[int, ...]:
    """The value under a ranking, for each value in full depth.

    Every coarse comparison is the beginning of the full one, so walking up the ladder the coarse
    index rises or stands still. The best of many cards under the coarse ranking is therefore the
    coarse value of their best, and no second evaluator is needed.
    """
    coarse = [0] * (len(CATEGORIES) << 12)
    for kind, finishes in enumerate(ladder(straights)):
        compared = [_compared(kind, finish, ranking) for finish in finishes]
        index = 0
        for fine, finish in enumerate(compared):
            index += fine > 0 and finish != compared[fine - 1]
            coarse[kind << 12 | fine] = kind << 12 | index
    return tuple(coarse)


@cache
def ranker(
    straights: Straights = "standard",
    ranking: Ranking = "standard",
    hole_min: HoleMin = 0,
    flushes: Flushes = "best",
) -> Callable[[Cards, Cards], int]:
    """The value of hole and board under one policy, made once and called for each contender."""
    coarse = None if ranking == "standard" else coarsening(ranking, straights)
    bit = BIT.__getitem__

    def best(hole: Cards, board: Cards) -> int:
        cards = hole + board
        size = len(cards)
        try:
            bits = sum(map(bit, cards))
        except KeyError:
            raise _refusal(cards) from None
        # A repeated card carries into the next bit and always loses at least one.
        if bits.bit_count() != size or size < min(SIZES):
            raise _refusal(cards)
        if hole_min and len(board) > 4:
            fine = best_with_hole(bits, hole, board)
        elif size in SIZES:
            fine = evaluator(straights, size)(bits)
        else:
            fine = max(map(evaluator(straights, 5), _fives(bits, straights, flushes)))
        return fine if coarse is None else coarse[fine]

    def best_with_hole(bits: int, hole: Cards, board: Cards) -> int:
        """Five cards with a hole card use at most four of the board: leave out the others."""
        if not hole:
            raise ValueError("a hand must use a hole card here, and there is none")
        at_most_four = evaluator(straights, len(hole) + 4)
        left_out = map(sum, combinations(map(bit, board), len(board) - 4))
        return max([at_most_four(bits ^ out) for out in left_out])

    return best


def _fives(bits: int, straights: Straights, flushes: Flushes) -> Iterator[int]:
    """Fives of more cards than the tables know, with the best of every category among them."""
    suits = [bits >> 13 * column & 8191 for column in range(4)]
    flush = [column for column in (3, 0, 1, 2) if suits[column].bit_count() >= 5]
    for column in flush[:1] if flushes == "first_suit" else flush:
        cards = (1 << 13 * column + rank for rank in _downwards(suits[column]))
        yield from map(sum, combinations(cards, 5))
    held = [sum(suit >> rank & 1 for suit in suits) for rank in range(13)]
    shapes = ((4, 1), (3, 2), (3, 1, 1), (2, 2, 1), (2, 1, 1, 1), (1, 1, 1, 1, 1))
    for shape in shapes[:2] if flush else shapes:  # all others are less than a flush
        made: dict[int, int] = {}
        for count in shape:
            fit = (rank for rank in range(12, -1, -1) if held[rank] >= count and rank not in made)
            made[next(fit, 13)] = count
        if 13 not in made:
            yield _of_ranks(suits, made)
    for run in runs(straights) if not flush else ():
        if all(held[rank] for rank in _downwards(run)):
            yield _of_ranks(suits, dict.fromkeys(_downwards(run), 1))


def _of_ranks(suits: list[int], made: dict[int, int]) -> int:
    """A mask of `made` cards of each rank, of any suits."""
    bits = 0
    for rank, count in made.items():
        columns = [column for column, suit in enumerate(suits) if suit >> rank & 1][:count]
        bits |= sum(1 << 13 * column + rank for column in columns)
    return bits


def value(
    hole: Cards,
    board: Cards,
    *,
    straights: Straights = "standard",
    ranking: Ranking = "standard",
    hole_min: HoleMin = 0,
) -> int:
    """The value of the best five out of 5 cards or more."""
    return ranker(straights, ranking, hole_min)(hole, board)


def value_of_five(
    cards: Cards, *, straights: Straights = "standard", ranking: Ranking = "standard"
) -> int:
    """The value of exactly five cards: of a best hand, or as a player announces them (U19)."""
    if len(cards) != 5:
        raise ValueError(f"five cards are announced, not {len(cards)}")
    return ranker(straights, ranking)(cards, ())


def best_five(
    hole: Cards,
    board: Cards,
    *,
    straights: Straights = "standard",
    ranking: Ranking = "standard",
    hole_min: HoleMin = 0,
) -> Cards:
    """The five cards that make the value, in reading order: Kd Kh 9d 9s 4d.

    Of equal fives the first, hole before board. A coarser ranking never needs another five: the
    cards it does not compare are then simply the highest to be had.
    """
    value(hole, board, straights=straights, ranking=ranking, hole_min=hole_min)
    evaluate = evaluator(straights, 5)
    fives = (
        cards
        for cards in combinations(hole + board, 5)
        if not hole_min or not set(hole).isdisjoint(cards)
    )
    best = max(fives, key=lambda cards: evaluate(mask(cards)))
    return _in_reading_order(best, evaluate(mask(best)), straights)


def category(value: int) -> int:
    """0 for a high card up to 8 for a straight flush; `CATEGORIES` has their names."""
    return value >> 12


def describe(value: int, straights: Straights = "standard", ranking: Ranking = "standard") -> str:
    """A value in words, as the ranking compares it: two pair, kings and nines, ten kicker."""
    kind = category(value)
    main, rest = _finish(value, straights, ranking)
    made, kickers = _downwards(main), _downwards(rest)
    name = CATEGORIES[kind]
    if kind in (STRAIGHT, STRAIGHT_FLUSH):
        return f"{name}, {RANK_NAMES[made[0]]} high"
    if kind in (HIGH_CARD, FLUSH):
        return f"{name}, {_letters(kickers) if len(kickers) > 1 else RANK_NAMES[kickers[0]]}"
    made_of = " and ".join(map(_plural, made))
    if not kickers:
        return f"{name}, {made_of}"
    if kind == FULL_HOUSE:
        return f"{name}, {made_of} over {_plural(kickers[0])}"
    if len(kickers) == 1:
        return f"{name}, {made_of}, {RANK_NAMES[kickers[0]]} kicker"
    return f"{name}, {made_of}, {_letters(kickers)} kickers"


@cache
def _shared_columns(straights: Straights) -> tuple[tuple[int, ...], tuple[int, ...]]:
    tables = stored()[straights]
    return _column(tables.suit), _column(tables.low)


def _column(numbers: Iterable[int]) -> tuple[int, ...]:
    """A tuple, which reads faster than an array; equal numbers are one object, to stay in cache."""
    numbers = tuple(numbers)
    seen: dict[int, int] = {}
    return tuple(map(seen.setdefault, numbers, numbers))


def _compared(kind: int, finish: Finish, ranking: Ranking) -> Finish:
    """The part of a finish that a ranking looks at."""
    main, rest = finish
    if ranking == "urcs" and kind in (TRIPS, FULL_HOUSE, QUADS):
        return main, 0
    if ranking == "top_card" and kind in (HIGH_CARD, PAIR, TRIPS, FLUSH):
        return main, 1 << rest.bit_length() - 1
    return finish


def _finish(value: int, straights: Straights, ranking: Ranking) -> Finish:
    """The finish that a value stands for."""
    fine = coarsening(ranking, straights).index(value, category(value) << 12)
    return _compared(category(value), ladder(straights)[fine >> 12][fine & 4095], ranking)


def _downwards(ranks: int) -> list[int]:
    return [rank for rank in range(12, -1, -1) if ranks >> rank & 1]


def _letters(ranks: Iterable[int]) -> str:
    return " ".join(RANKS[rank] for rank in ranks)


def _plural(rank: int) -> str:
    return "sixes" if RANKS[rank] == "6" else RANK_NAMES[rank] + "s"


def _in_reading_order(cards: Cards, value: int, straights: Straights) -> Cards:
    """Sort five cards by how often their rank is held, then by rank; a straight from its top."""
    ranks = [card[0] for card in cards]
    main, _ = _finish(value, straights, "standard")
    top = main.bit_length() - 1 if category(value) in (STRAIGHT, STRAIGHT_FLUSH) else 12

    def place(card: str) -> tuple[int, int]:
        return -ranks.count(card[0]), (top - RANKS.index(card[0])) % 13

    return tuple(sorted(cards, key=place))


def _refusal(cards: Cards) -> ValueError:
    """The error of cards that have no value, in one sentence."""
    for place, card in enumerate(cards):
        if card not in BIT:
            return ValueError(f"{card} is not a card")
        if card in cards[:place]:
            return ValueError(f"{card} is already in this hand")
    return ValueError(f"a hand has 5 cards or more, not {len(cards)}")
