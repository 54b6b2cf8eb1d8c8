"""Tests of fairness find what is not fair, leave alone what is, and have published values."""

from math import comb
from random import Random

import pytest
from msgspec.structs import replace

from analytics.fairness import (
    ChanceTest,
    DealtCard,
    DealtHand,
    card_tests,
    dealt_hands,
    run_out_test,
    swap_tests,
    with_holm,
)
from analytics.p_values import binomial, chi_square, fisher, holm, mann_whitney, normal_p
from dealer.play import play
from engine.games import named
from events.cards import DECK
from store.log.streams import Leaf
from tests.analytics.auction_pages import recorded


@pytest.fixture(scope="module")
def leaves() -> list[Leaf]:
    hands = play(named("auction-2024"), "m", 800, "5", seats=2)
    return [recorded(number, events) for number, events in enumerate(hands, start=1)]


@pytest.fixture(scope="module")
def deals(leaves: list[Leaf]) -> tuple[DealtHand, ...]:
    return dealt_hands(leaves, {}).hands


@pytest.mark.parametrize(
    ("statistic", "freedom", "p"),
    [(3.841459, 1, 0.05), (68.669294, 51, 0.05), (18.307038, 10, 0.05), (213.2, 168, 0.0104)],
)
def test_chi_square_has_its_published_points(statistic: float, freedom: int, p: float) -> None:
    assert abs(chi_square(statistic, freedom) - p) < 0.0002


@pytest.mark.parametrize(
    ("k", "n", "chance", "p"), [(4338, 42984, 0.1, 0.53), (1536, 30296, 0.05, 0.57)]
)
def test_swaps_of_the_corpus_have_their_p(k: int, n: int, chance: float, p: float) -> None:
    """`corpus flop 4,338/42,984 (p 0.53), turn 1,536/30,296 (p 0.57)`."""
    assert p == round(binomial(k, n, chance), 2)


def test_the_binomial_test_adds_up_what_is_no_likelier() -> None:
    expected = sum(comb(10, k) for k in (0, 1, 9, 10)) / 2**10
    assert round(expected, 12) == round(binomial(1, 10, 0.5), 12)
    assert 1.0 == binomial(0, 0, 0.5)


def test_fishers_tea_tastes_as_published() -> None:
    assert 0.485714 == round(fisher(3, 1, 1, 3), 6)
    assert 0.028571 == round(fisher(4, 0, 0, 4), 6)


def test_holm_counts_each_p_among_all() -> None:
    assert [0.03, 0.06, 0.06] == holm([0.01, 0.04, 0.03])


def test_ranks_tell_shifted_samples_apart_and_equal_ones_not() -> None:
    shifted = mann_whitney(list(range(30)), list(range(20, 50)))
    assert shifted is not None
    assert shifted < 1e-6
    assert 1.0 == mann_whitney([5.0] * 20, [5.0] * 20)
    assert mann_whitney([1.0], [2.0]) is None
    assert 0.05 == round(normal_p(1.959964), 5)


def test_our_own_dealer_is_fair(deals: tuple[DealtHand, ...]) -> None:
    made = [one for one in with_holm(card_tests(deals)) if one.p is not None]
    assert {"ok"} == {one.verdict for one in made}
    assert {"no card twice", "cards uniform", "hand after hand", "seats alike"} <= {
        one.name for one in made
    }


def test_few_hands_are_said_to_be_few(deals: tuple[DealtHand, ...]) -> None:
    (first, *_) = [one for one in with_holm(card_tests(deals[:300])) if one.name == "hole classes"]
    assert ("too few, 2000 needed", None) == (first.verdict, first.p)


def test_a_dealer_who_favours_himself_is_found() -> None:
    """One hand in five his first card is an ace."""
    chance = Random(3)
    decks = []
    for number in range(1, 1001):
        deck = [*DECK]
        chance.shuffle(deck)
        if number % 5 == 0:
            ace = deck.index("As")
            deck[0], deck[ace] = deck[ace], deck[0]
        decks.append((number, tuple(deck)))
    bent = [
        DealtHand(
            f"m/{number}",
            "m",
            number,
            tuple(
                DealtCard("hole", f"hole {who} {at % 2 + 1}", deck[at], deck[:at])
                for at, who in enumerate(("dealer", "dealer", "big blind", "big blind"))
            ),
            (deck[:2], deck[2:4]),
        )
        for number, deck in decks
    ]
    found = {(one.name, one.about): one.verdict for one in with_holm(card_tests(bent))}
    assert "NOT CHANCE" == found["cards uniform", "hole dealer 1"]
    assert "ok" == found["cards uniform", "hole big blind 2"]


def test_a_card_that_comes_twice_is_no_matter_of_chance(deals: tuple[DealtHand, ...]) -> None:
    twice = DealtHand("m/9", "m", 9, (deals[0].cards[0], deals[0].cards[0]), ())
    (first, *_) = with_holm(card_tests((*deals[:20], twice)))
    assert ("no card twice", "NOT CHANCE") == (first.name, first.verdict)


def test_a_mirrored_deck_counts_once(leaves: list[Leaf]) -> None:
    found = dealt_hands(leaves[:10], {"m": 2})
    assert [1, 3, 5, 7, 9] == [hand.number for hand in found.hands]


def test_a_match_with_unknown_cards_is_no_sample(leaves: list[Leaf]) -> None:
    events = [one.event for one in leaves[0].recorded]
    hole = next(at for at, event in enumerate(events) if type(event).__name__ == "HoleDealt")
    events[hole] = replace(events[hole], cards=("??", "??"))
    bent = recorded(1, tuple(events))  # type: ignore[arg-type]
    found = dealt_hands([bent, *leaves[1:5]], {})
    assert ({"hole": 1}, set()) == (found.left_out, {hand.cards for hand in found.hands} - {()})


def _swaps(k: int, n: int) -> list[dict[str, object]]:
    row = {"game": "swap-2022", "street": "flop", "slot": 0, "chance": 0.1}
    return [{**row, "changed": at < k} for at in range(n)]


def test_swaps_twice_as_often_as_stated_are_found() -> None:
    assert ["NOT CHANCE"] == [one.verdict for one in with_holm(swap_tests(_swaps(200, 1000)))]
    assert ["ok"] == [one.verdict for one in with_holm(swap_tests(_swaps(104, 1000)))]


def test_run_outs_that_favour_the_stronger_hand_are_found() -> None:
    def rows(took: float) -> list[dict[str, object]]:
        row = {"adjusted": True, "equity": 0.8, "took": took}
        return [{**row, "hand_seq": at, "took": took if at % 5 else 0.0} for at in range(200)]

    assert ["ok"] == [one.verdict for one in with_holm([run_out_test(rows(1.0))])]
    assert ["NOT CHANCE"] == [one.verdict for one in with_holm([run_out_test(rows(0.6))])]


def test_what_could_have_been_seen_shrinks_with_more_hands() -> None:
    few, many = (
        with_holm([ChanceTest("a", "b", n, 1, 50.0, 51, 0.5, unit="w")])[0].effect
        for n in (600, 6000)
    )
    assert few is not None
    assert many is not None
    assert round(few / many, 6) == round(10**0.5, 6)
