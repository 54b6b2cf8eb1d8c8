"""Columns of hands: row by row what one hand is worth, under every policy, and in order beside
other evaluators.
"""

import random
from collections.abc import Sequence
from itertools import product
from typing import get_args

import numpy as np
import pytest

from events.cards import DECK
from odds import batch
from odds.batch import CHUNK, STANDARD, Showdown, column, showdown, worth
from odds.rank import Cards, HoleMin, Ranking, mask, ranker
from odds.tables import SIZES, Straights

RULES = [
    Showdown(straights, ranking, hole_min)
    for straights, ranking, hole_min in product(
        get_args(Straights), get_args(Ranking), get_args(HoleMin)
    )
]
NARROW = [card for card in DECK if card[0] in "A2345" or card[1] == "s"]


def deals(size: int, count: int, seed: str) -> list[Cards]:
    """Random hands, half of them from a deck in which straights, quads and flushes abound."""
    chance = random.Random(f"{seed} {size}")
    return [tuple(chance.sample(chance.choice((DECK, tuple(NARROW))), size)) for _ in range(count)]


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize(("held", "dealt"), [(2, 3), (2, 4), (2, 5), (3, 3), (3, 4), (3, 5)])
def test_a_column_says_what_each_hand_is_worth(rules: Showdown, held: int, dealt: int) -> None:
    """Two or three hole cards, on the flop, the turn and the river."""
    hands = deals(held + dealt, 400, "rows")
    one = ranker(rules.straights, rules.ranking, rules.hole_min)
    expected = [one(hand[:held], hand[held:]) for hand in hands]
    hole = column(hand[:held] for hand in hands)
    board = column(hand[held:] for hand in hands)
    assert expected == showdown(hole, board, rules).tolist()


@pytest.mark.parametrize("size", SIZES)
def test_a_column_longer_than_a_chunk_is_no_different(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = column(deals(size, 1_000, "long"))
    whole = worth(hands, size)
    monkeypatch.setattr(batch, "CHUNK", 33)
    assert whole.tolist() == worth(hands, size).tolist()


def test_memory_does_not_grow_with_the_column() -> None:
    """Beyond its values a column of four million hands needs no more than a few chunks."""
    import tracemalloc

    hands = np.full(1 << 22, mask(("As", "Kd", "9c", "8c", "5h", "3d", "2s")), dtype=np.int64)
    worth(hands[:10], 7)
    tracemalloc.start()
    values = worth(hands, 7)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < values.nbytes + 64 * CHUNK


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # eval7 uses an older pyparsing
@pytest.mark.parametrize("size", SIZES)
def test_eval7_orders_a_column_alike(size: int) -> None:
    eval7 = pytest.importorskip("eval7")
    hands = deals(size, 20_000, "eval7")
    others = [eval7.evaluate([eval7.Card(card) for card in hand]) for hand in hands]
    assert_same_order(worth(column(hands), size).tolist(), others)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_phevaluator_orders_a_column_alike(size: int) -> None:
    phevaluator = pytest.importorskip("phevaluator")
    hands = deals(size, 20_000, "phevaluator")
    others = [-phevaluator.evaluate_cards(*hand) for hand in hands]  # there the best hand is 1
    assert_same_order(worth(column(hands), size).tolist(), others)


def assert_same_order(ours: Sequence[int], theirs: Sequence[int]) -> None:
    """One value of ours for each of theirs, and both rise together."""
    pairs = sorted(set(zip(ours, theirs, strict=True)))
    assert len(pairs) == len({value for value, _ in pairs}) == len({value for _, value in pairs})
    assert [value for _, value in pairs] == sorted(value for _, value in pairs)


def test_an_empty_column_has_no_values() -> None:
    nothing = column([])
    assert [] == worth(nothing, 7).tolist()
    assert [] == showdown(nothing, nothing).tolist()


def test_what_a_column_cannot_say_is_refused_in_one_sentence() -> None:
    two, three = column([("As", "Ah")]), column([("Kd", "Kc", "9h")])
    with pytest.raises(ValueError, match=r"^a hand has 5 to 8 cards, not 9$"):
        worth(two, 9)
    with pytest.raises(ValueError, match=r"^a hand has 5 to 8 cards, not 4$"):
        showdown(two, column([("Kd", "Kc")]))
    with pytest.raises(ValueError, match=r"^row 0 has a card in the hole and on the board$"):
        showdown(two, column([("As", "Kc", "9h")]))
    with pytest.raises(ValueError, match=r"^every row has as many hole cards, not 1 here and 2"):
        showdown(column([("As", "Ah"), ("As",)]), np.repeat(three, 2))
    five, six = (column([("Kd", "Kc", "9h", "8h", "2s", "3s")[:dealt]]) for dealt in (5, 6))
    with pytest.raises(ValueError, match=r"^a hand must use a hole card here, and there is none$"):
        showdown(column([()]), five, Showdown(hole_min=1))
    with pytest.raises(ValueError, match=r"^a hole card is counted beside at most five board"):
        showdown(two, six, Showdown(hole_min=1))
    with pytest.raises(ValueError, match=r"^a column of values compares five cards: where all"):
        Showdown(kickers="all_seven")
    with pytest.raises(ValueError, match=r"^5h is already in this hand$"):
        column([("5h", "5h")])


def test_the_usual_rules_are_those_of_common_practice() -> None:
    assert Showdown("standard", "standard", 0) == STANDARD
