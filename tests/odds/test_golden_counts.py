"""How many hands of each category there are, counted over every hand of 5, 6, 7 and 8 cards."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, combinations_with_replacement, groupby, product
from math import comb, factorial, prod
from typing import Any

import pytest

from odds.rank import Ranking, category, coarsening, evaluator
from odds.tables import STRAIGHTS, Straights, stored
from tests.profiles import sized

GOLDEN = """
standard 5:  1302540 1098240 123552 54912 10200 5108 3744 624 40
standard 6:  6612900 9730740 2532816 732160 361620 205792 165984 14664 1844
standard 7:  23294460 58627800 31433400 6461620 6180020 4047644 3473184 224848 41584
standard 8:  53476080 236092500 257760900 38493000 67072620 50850320 45652128 2529262 611340
cyclic   5:  1299480 1098240 123552 54912 13260 5096 3744 624 52
cyclic   6:  6532500 9707880 2532816 732160 464880 205244 165984 14664 2392
cyclic   7:  22424220 57915000 31365360 6446440 7846280 4035408 3473184 224848 53820
cyclic   8:  48572160 227272500 255057660 38025000 83967780 50674520 45649968 2529202 789360
"""

COUNTS: dict[tuple[str, int], list[int]] = {
    (name, int(size)): [int(count) for count in counts.split()]
    for name, size, counts in (
        (*head.split(), tail)
        for head, tail in (line.split(":") for line in GOLDEN.strip().splitlines())
    )
}

DISTINCT: dict[tuple[Straights, Ranking], list[int]] = {
    ("standard", "standard"): [1277, 2860, 858, 858, 10, 1277, 156, 156, 10],
    ("cyclic", "standard"): [1274, 2860, 858, 858, 13, 1274, 156, 156, 13],
    ("standard", "urcs"): [1277, 2860, 858, 13, 10, 1277, 13, 13, 10],
    ("cyclic", "top_card"): [8, 130, 858, 143, 13, 8, 156, 156, 13],
}

SUIT_MASKS = [
    [sum(1 << rank for rank in ranks) for ranks in combinations(range(13), cards)]
    for cards in range(9)
]


@pytest.mark.parametrize(
    ("straights", "size"), [line for line in COUNTS if line[1] <= sized(5, 5, 6)]
)
def test_every_hand_is_in_its_category(straights: Straights, size: int) -> None:
    assert COUNTS[straights, size] == _count(straights, size)


@pytest.mark.slow
@pytest.mark.parametrize("straights", STRAIGHTS)
def test_every_seven_card_hand_is_in_its_category(straights: Straights) -> None:
    assert COUNTS[straights, 7] == _count(straights, 7)


@pytest.mark.parametrize(("straights", "size"), [line for line in COUNTS if line[1] <= sized(7, 8)])
def test_the_same_tables_over_columns_count_the_same(straights: Straights, size: int) -> None:
    assert COUNTS[straights, size] == _count_columns(straights, size)


@pytest.mark.parametrize("size", range(5, 9))
@pytest.mark.parametrize("straights", STRAIGHTS)
def test_the_golden_lines_count_every_hand_once(straights: Straights, size: int) -> None:
    assert comb(52, size) == sum(COUNTS[straights, size])


@pytest.mark.parametrize(("straights", "ranking"), DISTINCT)
def test_five_cards_reach_every_value_and_no_other(straights: Straights, ranking: Ranking) -> None:
    coarse = coarsening(ranking, straights)
    values = {coarse[value] for value in _valued(straights, 5)}
    expected = {
        kind << 12 | index
        for kind, count in enumerate(DISTINCT[straights, ranking])
        for index in range(count)
    }
    assert expected == values


def test_the_rankings_know_this_many_distinct_hands() -> None:
    expected = {
        ("standard", "standard"): 7462,
        ("cyclic", "standard"): 7462,
        ("standard", "urcs"): 6331,
        ("cyclic", "top_card"): 1485,
    }
    assert expected == {policy: sum(counts) for policy, counts in DISTINCT.items()}


@cache
def _valued(straights: Straights, size: int) -> Counter[int]:
    """The scalar evaluator over every hand: how many have a value; hands alike but for their suits
    are one call."""
    evaluate = evaluator(straights, size)
    found: Counter[int] = Counter()
    for mask, alike in _hands_up_to_suits(size):
        found[evaluate(mask)] += alike
    return found


def _count(straights: Straights, size: int) -> list[int]:
    """How many hands there are of each category."""
    counts: Counter[int] = Counter()
    for value, hands in _valued(straights, size).items():
        counts[category(value)] += hands
    return [counts[kind] for kind in range(9)]


def _shapes(size: int) -> Iterator[tuple[int, ...]]:
    """How many cards each suit may have, longest suit first."""
    for shape in combinations_with_replacement(range(size, -1, -1), 4):
        if sum(shape) == size:
            yield shape


def _hands_up_to_suits(size: int) -> Iterator[tuple[int, int]]:
    """One hand for each set of four suit masks, and how many hands differ only in their suits."""
    for shape in _shapes(size):
        suits_alike = [
            combinations_with_replacement(SUIT_MASKS[cards], len(list(same)))
            for cards, same in groupby(shape)
        ]
        for groups in product(*suits_alike):
            first, second, third, fourth = masks = [mask for group in groups for mask in group]
            repeats = 1
            if len(set(masks)) < 4:
                repeats = prod(map(factorial, Counter(masks).values()))
            yield first | second << 13 | third << 26 | fourth << 39, 24 // repeats


def _count_columns(straights: Straights, size: int) -> list[int]:
    """All hands as columns: the keys of two suits against the keys of the other two."""
    np = pytest.importorskip("numpy")
    tables = stored()[straights]
    suit = np.array(tables.suit)
    low, high, rank = (
        np.array(column) for column in (tables.low, tables.high[size], tables.rank[size])
    )

    def keys(cards: int, others: int) -> Any:
        first, second = suit[SUIT_MASKS[cards]], suit[SUIT_MASKS[others]]
        return np.add.outer(first, second).ravel()

    counts = np.zeros(9, dtype=np.int64)
    for shape in _shapes(size):
        orders = 24 // prod(map(factorial, Counter(shape).values()))
        left, right = keys(*shape[:2]), keys(*shape[2:])
        rows = max(1, (1 << 16) // len(right))
        for start in range(0, len(left), rows):
            key = np.add.outer(left[start : start + rows], right).ravel()
            slot = high.take(key >> 17 & 16383) + low.take(key & 131071)
            value = np.maximum(key >> 32, rank.take(slot))
            counts += orders * np.bincount(value >> 12, minlength=9)
    return [int(count) for count in counts]
