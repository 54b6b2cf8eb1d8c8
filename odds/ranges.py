"""Ranges of hands as `QQ+, AKs`, their equity, the 169 classes, hands that differ in suits alone.

What two ranges are worth is exact, as all of `odds`: every two hands that can be dealt together
count once, on every board. Before the flop boards that differ in suits alone are one, if a range
has all suits of its hands. What one hand is worth there against any other is looked up in a table
that `odds.preflop` counts.
"""

import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, groupby, islice, product
from math import comb, factorial, prod
from pathlib import Path
from sys import byteorder
from typing import get_args

import numpy as np

from odds.batch import (
    BOARD,
    STANDARD,
    Odds,
    Showdown,
    column,
    disjoint,
    enough,
    equities,
    run_outs,
    unseen,
    worth_on_board,
)
from odds.rank import BIT, RANKS, SUITS, Cards, HoleMin, Ranking, mask
from odds.tables import Straights

_DOWN = RANKS[::-1]

CLASSES: tuple[str, ...] = tuple(
    high + low + kind
    for at, high in enumerate(_DOWN)
    for low in _DOWN[at:]
    for kind in (("",) if high == low else ("s", "o"))
)
"""The 169 kinds of two cards, from AA, AKs and AKo down to 22."""
GRID: tuple[str, ...] = tuple(
    f"{column}{row}o" if across < down else f"{row}{column}{'s' if across > down else ''}"
    for down, row in enumerate(_DOWN)
    for across, column in enumerate(_DOWN)
)
"""The same as a square, row by row: pairs on the diagonal, suited above it, offsuit below."""

Range = str | Iterable[Cards]
PART = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)(\+|-([2-9TJQKA])([2-9TJQKA])([so]?))?")
BOARDS_AT_ONCE = 64
HOW = "QQ+, 99-66, AKs, A5s-A2s, KQo, AJ+, AsKd, random"


def hole_class(hole: Cards) -> str:
    """The class of two hole cards: AKs for Ks As, TT for Th Tc."""
    if len(hole) != 2:
        raise ValueError(f"a starting hand has two cards, not {len(hole)}")
    first, second = sorted(hole, key=lambda card: _DOWN.index(card[0]))
    if first[0] == second[0]:
        return first[0] * 2
    return first[0] + second[0] + ("s" if first[1] == second[1] else "o")


def hands_of(name: str) -> tuple[Cards, ...]:
    """Every two cards of a class: six of a pair, four suited, twelve offsuit."""
    high, low, kind = name[0], name[1], name[2:]
    if high == low:
        return tuple((high + suit, low + other) for suit, other in combinations(SUITS, 2))
    return tuple(
        (high + suit, low + other)
        for suit, other in product(SUITS, repeat=2)
        if (suit == other) == (kind == "s")
    )


def canonical(*groups: int) -> tuple[int, ...]:
    """Rename the suits of masks to the one order that all their renamings share.

    Suits are sorted by what each holds of every group, so that what differs in suits alone is
    the same key.
    """
    suits = sorted(tuple(group >> suit & 8191 for group in groups) for suit in (0, 13, 26, 39))
    return tuple(
        sum(held[at] << 13 * place for place, held in enumerate(suits)) for at in range(len(groups))
    )


def hands_up_to_suits(size: int) -> Iterator[tuple[int, int]]:
    """One mask for all hands of so many cards that differ in suits alone, and how many they are."""
    of_suit = [
        [sum(1 << rank for rank in ranks) for ranks in combinations(range(13), cards)]
        for cards in range(size + 1)
    ]
    for shape in combinations_with_replacement(range(size, -1, -1), 4):
        if sum(shape) != size:
            continue
        alike = [
            combinations_with_replacement(of_suit[cards], len(list(same)))
            for cards, same in groupby(shape)
        ]
        for groups in product(*alike):
            suits = [held for group in groups for held in group]
            repeats = prod(map(factorial, Counter(suits).values()))
            yield sum(held << 13 * place for place, held in enumerate(suits)), 24 // repeats


def kept(chances: Sequence[tuple[int, int]]) -> Fraction:
    """The chance that a card survives swaps of so many in so many each: 10 in 100, 5 in 100."""
    return prod((Fraction(of - chance, of) for chance, of in chances), start=Fraction(1))


def survivors(cards: Cards, keep: Fraction) -> Iterator[tuple[Fraction, Cards]]:
    """Every set of these cards that may be left, each card kept with this chance, and its own."""
    for count in range(len(cards), -1, -1):
        chance = keep**count * (1 - keep) ** (len(cards) - count)
        for left in combinations(cards, count):
            yield chance, left


def hands_in(text: str) -> tuple[Cards, ...]:
    """Every two cards of a range, each once: `QQ+` is QQ, KK, AA; `A9s+` A9s to AKs; `JTs-87s`
    JTs, T9s, 98s, 87s; `AK` is suited or not; `AsKd` these two cards; `random` any two."""
    hands: dict[frozenset[str], Cards] = {}
    for part in filter(None, re.split(r"[,\s]+", text)):
        for hand in _hands(part):
            hands.setdefault(frozenset(hand), hand)
    if not hands:
        raise ValueError(f"a range has a hand or more, as in {HOW}")
    return tuple(hands.values())


def range_equity(
    one: Range, other: Range, board: Cards = (), dead: Cards = (), rules: Showdown = STANDARD
) -> Odds:
    """The odds of a hand of the first range against one of the second; each is a text or hands."""
    table, gone = mask(board), mask(dead)
    known = disjoint(table, gone)
    if len(board) not in (0, 3, 4, 5):
        raise ValueError(f"a board has none, three, four or five cards, not {len(board)}")
    enough(known, 4 + BOARD - len(board))
    sides = []  # of each the hands that can be dealt
    for side in (one, other):
        hands = hands_in(side) if isinstance(side, str) else [*side]
        if any(len(hand) != 2 for hand in hands):
            raise ValueError("a hand of a range has two cards")
        sides.append([hand for hand in hands if not mask(hand) & known])
    left, right = sides
    pairs = [(a, b) for a in left for b in right if not {*a} & {*b}]
    if not pairs:
        raise ValueError("no hand of the one range can be dealt beside one of the other")
    each = comb(52 - known.bit_count() - 4, BOARD - len(board))
    if board:
        boards = (
            (int(dealt), 1)
            for chunk in run_outs(unseen(known), BOARD - len(board))
            for dealt in chunk | table
        )
        wins, ties = _counted(left, right, boards, rules)
    elif not dead and _has_all_suits(right):
        wins, ties = _by_class(left, right, rules)
    elif not dead and _has_all_suits(left):
        losses, ties = _by_class(right, left, rules)
        wins = len(pairs) * each - losses - ties
    else:
        # Hand against hand, those that differ in suits alone once.
        alike, first = Counter[tuple[int, ...]](), dict[tuple[int, ...], tuple[Cards, Cards]]()
        for a, b in pairs:
            key = canonical(mask(a), mask(b), gone)
            alike[key] += 1
            first.setdefault(key, (a, b))
        found = [(equities(first[key], (), dead, rules)[0], many) for key, many in alike.items()]
        wins = sum(it.wins * many for it, many in found)
        ties = sum(it.ties * many for it, many in found)
    return Odds(len(pairs) * each, (wins, ties))


def _hands(part: str) -> Iterable[Cards]:
    """The hands of one part of a text."""
    if part == "random":
        return list(combinations(BIT, 2))
    if len(part) == 4 and part[:2] in BIT and part[2:] in BIT and part[:2] != part[2:]:
        return [(part[:2], part[2:])]
    parsed = PART.fullmatch(part)
    if parsed is None:
        raise ValueError(f"{part!r} is no part of a range: those are like {HOW}")
    high, low, kind, more, *end = parsed.groups()
    first = _places(high, low, kind, part)
    if more is None:
        places = [first]
    elif more == "+":
        top = len(RANKS) - 1
        pair = first[0] == first[1]
        places = [(at, at) for at in range(first[0], top + 1)] if pair else [
            (first[0], at) for at in range(first[1], first[0])
        ]  # fmt: skip
    else:
        last = _places(end[0], end[1], end[2], part)
        down = [(first[0] - at, first[1] - at) for at in range(first[1] - last[1] + 1)]
        kept = [(first[0], first[1] - at) for at in range(first[1] - last[1] + 1)]
        places = down if down and down[-1] == last else kept
        if end[2] != kind or not places or places[-1] != last:
            raise ValueError(
                f"{part!r} is no part of a range: it goes down, as in 99-66, A5s-A2s or JTs-87s"
            )
    kinds = ("",) if places[0][0] == places[0][1] else (kind,) if kind else ("s", "o")
    names = (f"{RANKS[a]}{RANKS[b]}{one}" for a, b in places for one in kinds)
    return [hand for name in names for hand in hands_of(name)]


def _places(high: str, low: str, kind: str, part: str) -> tuple[int, int]:
    """The places of two ranks in the order of ranks."""
    at, under = RANKS.index(high), RANKS.index(low)
    if at < under or (at == under and kind):
        why = "the higher rank comes first" if at < under else "a pair is neither suited nor not"
        raise ValueError(f"{part!r} is no part of a range: {why}")
    return at, under


def _has_all_suits(hands: Iterable[Cards]) -> bool:
    """Whether a range has every hand of each of its classes, once."""
    counts = Counter(map(hole_class, hands))
    return all(count == len(hands_of(name)) for name, count in counts.items()) and len(
        {frozenset(hand) for hand in hands}
    ) == sum(counts.values())


def _by_class(left: list[Cards], right: list[Cards], rules: Showdown) -> tuple[int, int]:
    """Count wins and ties by class: against a range with all suits, hands of a class win alike."""
    if _has_all_suits(left):
        return _counted(left, right, hands_up_to_suits(BOARD), rules)
    wins = ties = 0
    for name, count in Counter(map(hole_class, left)).items():
        alike = [*hands_of(name)]
        won, tied = _counted(alike, right, hands_up_to_suits(BOARD), rules)
        wins += won * count // len(alike)
        ties += tied * count // len(alike)
    return wins, ties


def _counted(
    left: list[Cards], right: list[Cards], boards: Iterable[tuple[int, int]], rules: Showdown
) -> tuple[int, int]:
    """Count the deals that hands on the left win and tie, over boards that stand for several."""
    ours, theirs = column(left), column(right)
    together = (ours[:, None] & theirs) == 0
    wins = ties = 0
    waiting = iter(boards)
    while batch := tuple(islice(waiting, BOARDS_AT_ONCE)):
        table = np.array([board for board, _ in batch], dtype=np.int64)
        mine, others = (  # a row a board: what each hand is worth on it
            worth_on_board(
                np.tile(hands, len(table)), np.repeat(table, len(hands)), 2, rules
            ).reshape(len(table), len(hands))
            for hands in (ours, theirs)
        )
        mine[(ours & table[:, None]) != 0] = 0  # below all, and equal to none
        others[(theirs & table[:, None]) != 0] = np.iinfo(np.uint16).max
        for (_, alike), a, b in zip(batch, mine, others, strict=True):
            wins += alike * int(np.count_nonzero((a[:, None] > b) & together))
            ties += alike * int(np.count_nonzero((a[:, None] == b) & together))
    return wins, ties


STORED_AT = Path(__file__).with_name("preflop.bin")
DEALS = comb(50, 2) * comb(48, 5)
ALL_RULES: tuple[Showdown, ...] = tuple(
    Showdown(straights, ranking, hole_min)
    for straights, hole_min, ranking in product(
        get_args(Straights), get_args(HoleMin), get_args(Ranking)
    )
)
"""Every ruleset that a column of values can express, in the order of the stored file."""


def before_flop(hole: Cards, rules: Showdown) -> Odds:
    """The odds of two hole cards against two unseen ones, over every board."""
    wins, ties = stored()[rules][hole_class(hole)]
    return Odds(DEALS, (wins, ties))


@cache
def stored() -> dict[Showdown, dict[str, tuple[int, int]]]:
    """The tables as shipped, read once per process: wins and ties of each class."""
    numbers = array("q", zlib.decompress(STORED_AT.read_bytes()))
    if byteorder == "big":
        numbers.byteswap()
    pairs = iter(zip(numbers[::2], numbers[1::2], strict=True))
    return {rules: {name: next(pairs) for name in CLASSES} for rules in ALL_RULES}
