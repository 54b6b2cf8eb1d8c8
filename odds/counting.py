"""How many hands are alike: starting hands by class, cards up to a change of suits, cards kept."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, groupby, product
from math import factorial, prod

from odds.rank import RANKS, SUITS, Cards

_DOWN = RANKS[::-1]

CLASSES: tuple[str, ...] = tuple(
    high + low + kind
    for at, high in enumerate(_DOWN)
    for low in _DOWN[at:]
    for kind in (("",) if high == low else ("s", "o"))
)
"""The 169 kinds of two cards, from AA, AKs and AKo down to 22."""


def class_of(hole: Cards) -> str:
    """AKs for Ks As, TT for Th Tc."""
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
    """The same masks under the one renaming of suits that all their renamings share.

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
