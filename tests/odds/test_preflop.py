"""The table of starting hands: sums that must come out, and a sample that is counted again, both by
the table's own way and by a longer one.
"""

import random
from functools import cache
from itertools import islice
from math import comb

import numpy as np
import pytest

from events.cards import DECK
from odds.batch import STANDARD, Showdown, equities
from odds.preflop import count
from odds.ranges import (
    ALL_RULES,
    CLASSES,
    DEALS,
    before_flop,
    canonical,
    hands_of,
    hands_up_to_suits,
    hole_class,
    kept,
    stored,
    survivors,
)
from odds.rank import HoleMin, mask
from odds.tables import STRAIGHTS, Straights
from odds.unseen import against_unseen

BOARDS = 134_459


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_all_hands_together_win_as_often_as_they_lose(rules: Showdown) -> None:
    balance = 0
    for name in CLASSES:
        odds = before_flop(hands_of(name)[0], rules)
        assert comb(50, 2) * comb(48, 5) == odds.deals == DEALS
        assert min(odds.wins, odds.ties, odds.losses) > 0
        balance += len(hands_of(name)) * (odds.wins - odds.losses)
    assert 0 == balance


def test_aces_win_85_times_in_a_hundred() -> None:
    odds = before_flop(("As", "Ah"), STANDARD)
    assert 0.8520 == round(float(odds.share), 4)


def test_the_best_and_the_worst_hand() -> None:
    shares = {name: before_flop(hands_of(name)[0], STANDARD).share for name in CLASSES}
    assert ("AA", "32o") == (
        max(shares, key=shares.__getitem__),
        min(shares, key=shares.__getitem__),
    )


@cache
def _boards() -> list[tuple[int, int]]:
    """Every board of five cards, up to suits."""
    return list(hands_up_to_suits(5))


@pytest.mark.parametrize("hole_min", [0, 1])
@pytest.mark.parametrize("straights", STRAIGHTS)
def test_a_board_is_counted_as_it_is_from_the_river(
    straights: Straights, hole_min: HoleMin
) -> None:
    """The way the table is counted, on some boards, beside each hand's own odds there."""
    rng = random.Random(f"{straights} {hole_min}")
    boards = [board for at, board in enumerate(_boards()) if at % 9_973 == 7]
    ((board, alike),) = rng.sample(boards, 1)
    there = tuple(card for card in DECK if mask([card]) & board)
    counted = count(straights, hole_min, iter([(board, alike)]))
    for rules, found in counted.items():
        for name in rng.sample(CLASSES, 12):
            free = [hole for hole in hands_of(name) if not set(hole) & set(there)]
            each = [against_unseen(hole, there, rules=rules) for hole in free]
            sums = (sum(odds.wins for odds in each), sum(odds.ties for odds in each))
            expected = [total * alike // len(hands_of(name)) for total in sums]
            assert expected == found[CLASSES.index(name)].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AA", "72o"])
def test_a_hand_against_every_other_one_by_one(name: str) -> None:
    """Another way to the same number: 1,225 rivals, each over 1,712,304 boards."""
    hole = hands_of(name)[0]
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    wins = ties = 0
    for one in range(52):
        for other in range(one):
            rival = (DECK[one], DECK[other])
            if not set(rival) & set(hole):
                key = canonical(mask(hole), mask(rival))
                if key not in known:
                    odds = equities((hole, rival))[0]
                    known[key] = odds.wins, odds.ties
                wins, ties = wins + known[key][0], ties + known[key][1]
    assert stored()[STANDARD][name] == (wins, ties)


@pytest.mark.slow
def test_the_stored_table_equals_a_fresh_count() -> None:
    for rules, found in count("cyclic", 0).items():
        assert list(stored()[rules].values()) == [tuple(row) for row in found.tolist()]


def test_boards_up_to_suits_are_all_boards() -> None:
    weights = [alike for _, alike in _boards()]
    assert (BOARDS, comb(52, 5)) == (len(weights), sum(weights))
    assert comb(52, 2) == sum(alike for _, alike in hands_up_to_suits(2))
    assert 169 == len(list(hands_up_to_suits(2)))


def test_every_two_cards_are_of_one_class() -> None:
    every = [(one, other) for at, one in enumerate(DECK) for other in DECK[:at]]
    assert len(every) == sum(len(hands_of(name)) for name in CLASSES)
    for hole in every:
        assert set(hole) in [set(hand) for hand in hands_of(hole_class(hole))]
    assert ["AA", "AKs", "AKo"] == list(islice(CLASSES, 3))
    assert "22" == CLASSES[-1]
    with pytest.raises(ValueError, match=r"^a starting hand has two cards, not 3$"):
        hole_class(("As", "Ah", "Ad"))


def test_a_change_of_suits_changes_no_key() -> None:
    chance = random.Random("keys")
    keys = set()
    for _ in range(200):
        deck = chance.sample(DECK, 5)
        renamed = str.maketrans("cdhs", "".join(chance.sample("cdhs", 4)))
        again = [card.translate(renamed) for card in deck]
        key = canonical(mask(deck[:2]), mask(deck[2:]))
        assert key == canonical(mask(again[:2]), mask(again[2:]))
        assert [2, 3] == [group.bit_count() for group in key]
        keys.add(key)
    assert 190 < len(keys)


def test_cards_kept_and_lost_are_all_there_is() -> None:
    keep = kept([(10, 100), (5, 100)])
    assert 0.855 == float(keep)
    sets = list(survivors(("As", "Kd"), keep))
    assert 1 == sum(chance for chance, _ in sets)
    assert [("As", "Kd"), ("As",), ("Kd",), ()] == [left for _, left in sets]
    assert keep**2 == sets[0][0]


def test_no_sum_of_a_batch_leaves_the_whole_numbers_of_a_float() -> None:
    """A batch adds at most so many wins before they become integers again."""
    assert 64 * 24 * 1081 * comb(45, 2) < np.int64(1) << 53
