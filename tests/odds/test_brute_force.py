"""Best of all fives, by a ranking written from the rule sentences alone, against the tables.

Nothing here but the values under test comes from `odds`. Hands are drawn from decks with few
ranks or suits too, so that quads, long suits and wrapped straights are common.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise, product
from typing import TypeVar

import pytest

from odds.rank import HoleMin, Ranking, Straights, category, mask, ranker
from tests.profiles import sized

ORDER = "23456789TJQKA"
DECK = [rank + suit for rank in ORDER for suit in "cdhs"]
NARROW_DECKS = [
    DECK,
    [card for card in DECK if card[1] in "sh"],
    [card for card in DECK if card[1] == "s" or card[0] in "9A"],
    [card for card in DECK if card[0] in "A23456"],
    [card for card in DECK if card[0] in "JQKA234"],
    [card for card in DECK if card[0] in "5KA"],
]
STRAIGHT_RULES: tuple[Straights, ...] = ("standard", "cyclic")
RANKINGS: tuple[Ranking, ...] = ("standard", "urcs", "top_card")
HOLE_MINS: tuple[HoleMin, ...] = (0, 1)

Strength = tuple[int, tuple[int, ...]]
Hand = tuple[tuple[str, ...], tuple[str, ...]]
Key = TypeVar("Key", int, Strength)


def strength_of_five(cards: Iterable[str], straights: Straights) -> Strength:
    """Category, then every rank to compare, in the order in which they are compared."""
    cards = list(cards)
    ranks = sorted((ORDER.index(card[0]) for card in cards), reverse=True)
    by_count = sorted(Counter(ranks).items(), key=lambda held: (held[1], held[0]), reverse=True)
    shape = [count for _, count in by_count]
    compared = tuple(rank for rank, _ in by_count)
    last = last_of_straight(set(ranks), straights)
    suited = len({card[1] for card in cards}) == 1
    if last is not None:
        return (8 if suited else 4), (last,)
    if suited:
        return 5, compared
    kinds = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}
    return kinds.get(tuple(shape), 0), compared


def last_of_straight(ranks: set[int], straights: Straights) -> int | None:
    """The last of five consecutive ranks; cyclic: from any rank round the corner."""
    for last in range(13):
        if straights == "standard" and last < 3:
            continue
        if ranks == {(last + 13 - back) % 13 for back in range(5)}:
            return last
    return None


def as_compared(strength: Strength, ranking: Ranking) -> Strength:
    """What the ranking looks at (U22; P3, P4)."""
    kind, ranks = strength
    depth = len(ranks)
    if ranking == "urcs" and kind in (3, 6, 7):
        depth = 1
    if ranking == "top_card":
        depth = {0: 1, 5: 1, 1: 2, 3: 2}.get(kind, depth)
    return kind, ranks[:depth]


def deal(rng: random.Random, size: int) -> Hand:
    cards = rng.sample(rng.choice([deck for deck in NARROW_DECKS if len(deck) >= size]), size)
    held = rng.randint(1, 3)
    return tuple(cards[:held]), tuple(cards[held:])


def assert_same_order(hands: list[Hand], values: list[int], others: Sequence[Key]) -> None:
    """Sorted by our value, neighbours compare alike under both; prints the hands if they do not."""
    ranked = sorted(zip(values, others, hands, strict=True), key=lambda row: row[0])
    for (lower, other_lower, hand), (upper, other_upper, next_hand) in pairwise(ranked):
        ours = "tie" if lower == upper else "rise"
        theirs = "tie" if other_lower == other_upper else "fall"
        theirs = "rise" if other_lower < other_upper else theirs
        assert ours == theirs, (hand, next_hand)


def check_against_all_fives(hands: list[Hand], straights: Straights) -> None:
    policies = list(product(RANKINGS, HOLE_MINS))
    best: dict[tuple[Ranking, HoleMin], list[Strength]] = {policy: [] for policy in policies}
    for hole, board in hands:
        fives = [
            (strength_of_five(cards, straights), not set(hole).isdisjoint(cards))
            for cards in combinations(hole + board, 5)
        ]
        for ranking, hole_min in policies:
            allowed = {full for full, uses_hole in fives if uses_hole or not hole_min}
            best[ranking, hole_min].append(max(as_compared(full, ranking) for full in allowed))
    for policy in policies:
        value = ranker(straights, *policy)
        values = [value(hole, board) for hole, board in hands]
        kinds = [kind for kind, _ in best[policy]]
        assert kinds == [category(value) for value in values]
        assert_same_order(hands, values, best[policy])


@pytest.mark.parametrize("size", [5, 6, 7, 8])
@pytest.mark.parametrize("straights", STRAIGHT_RULES)
def test_the_value_is_that_of_the_best_five(straights: Straights, size: int) -> None:
    rng = random.Random(f"best five {straights} {size}")
    check_against_all_fives([deal(rng, size) for _ in range(sized(200, 500, 2000))], straights)


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 6, 7, 8])
@pytest.mark.parametrize("straights", STRAIGHT_RULES)
def test_the_value_is_that_of_the_best_five_at_length(straights: Straights, size: int) -> None:
    rng = random.Random(f"at length {straights} {size}")
    check_against_all_fives([deal(rng, size) for _ in range(25_000)], straights)


@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_eval7_orders_hands_alike(size: int) -> None:
    eval7 = pytest.importorskip("eval7")
    check_against_another(size, lambda cards: eval7.evaluate([eval7.Card(card) for card in cards]))


@pytest.mark.parametrize("size", [5, 6, 7])
def test_phevaluator_orders_hands_alike(size: int) -> None:
    phevaluator = pytest.importorskip("phevaluator")
    # There the best hand is 1.
    check_against_another(size, lambda cards: -phevaluator.evaluate_cards(*cards))


def check_against_another(size: int, evaluate: Callable[[tuple[str, ...]], int]) -> None:
    rng = random.Random(f"another {size}")
    hands = [deal(rng, size) for _ in range(sized(4_000, 8_000, 20_000))]
    value = ranker()
    values = [value(hole, board) for hole, board in hands]
    assert_same_order(hands, values, [evaluate(hole + board) for hole, board in hands])


def test_the_order_of_cards_and_suits_is_free() -> None:
    rng = random.Random("suits")
    renamed = str.maketrans("cdhs", "hscd")
    value = ranker("cyclic")
    for _ in range(500):
        hole, board = deal(rng, 8)
        cards = rng.sample([card.translate(renamed) for card in hole + board], 8)
        assert value(hole, board) == value((), tuple(cards))


def test_a_mask_has_one_bit_a_card_suit_by_suit() -> None:
    expected = [1 << 13 * "cdhs".index(card[1]) + ORDER.index(card[0]) for card in DECK]
    assert expected == [mask([card]) for card in DECK]
