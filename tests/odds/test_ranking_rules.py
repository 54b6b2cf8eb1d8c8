"""The ranking decisions, one test an entry, each with the entry's own example."""

import random
import re
from itertools import combinations, pairwise
from math import prod

import pytest

from events.cards import DECK
from odds.rank import (
    HoleMin,
    Ranking,
    Straights,
    best_five,
    category,
    coarsening,
    describe,
    evaluator,
    mask,
    ranker,
    value,
    value_of_five,
)
from odds.tables import ladder


def cards(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def assert_order(
    expected: str,
    board: str,
    straights: Straights = "standard",
    ranking: Ranking = "standard",
    hole_min: HoleMin = 0,
) -> None:
    """The contenders from best to worst, as in `4d 5d > 4c Qd = 4h Qs`."""
    worth = {
        hole: ranker(straights, ranking, hole_min)(cards(hole), cards(board))
        for hole in re.split(" [>=] ", expected)
    }
    best, *others = sorted(worth, key=worth.__getitem__, reverse=True)
    actual = best
    for better, hole in pairwise([best, *others]):
        actual += f" {'=' if worth[better] == worth[hole] else '>'} {hole}"
    assert expected == actual


def words(
    hole: str, board: str = "", straights: Straights = "standard", hole_min: HoleMin = 0
) -> str:
    worth = value(cards(hole), cards(board), straights=straights, hole_min=hole_min)
    return describe(worth, straights)


def test_u19_an_announced_five_is_worth_its_five_cards() -> None:
    """Its value is the value of those five cards, even if better ones are held: B wins."""
    announced_by_a = value_of_five(cards("Kd Kh 9d 9s 4d"), ranking="urcs")
    announced_by_b = value_of_five(cards("9h 9s 9c Ac Kh"), ranking="urcs")
    assert announced_by_a < announced_by_b
    expected = "two pair, kings and nines, four kicker"
    assert expected == describe(announced_by_a, ranking="urcs")


def test_u19_cards_speak_takes_the_best_of_all() -> None:
    """cards_speak: A wins."""
    assert_order("Kd 9d > Ac 9h", "Kh 9s 4d 9c 2h", ranking="urcs", hole_min=1)


def test_u21_at_least_one_hole_card_is_used() -> None:
    """hole_min 1: A-K-Q-J-8 beats A-K-Q-J-7. hole_min 0: tie."""
    assert_order("8c 2d > 7h 3h", "As Kd Qc Jh 9s", hole_min=1)
    assert_order("8c 2d = 7h 3h", "As Kd Qc Jh 9s", hole_min=0)


def test_u21_a_royal_flush_on_the_board_cannot_be_played() -> None:
    """hole_min 1: B's king-high straight flush beats ace high. hole_min 0: tie."""
    assert_order("9s 2d > 2c 3d", "Ts Js Qs Ks As", hole_min=1)
    assert_order("9s 2d = 2c 3d", "Ts Js Qs Ks As", hole_min=0)


@pytest.mark.parametrize(
    ("hole", "expected"),
    [("2c 3d", "high card, A K Q J 3"), ("9s 2d", "straight flush, king high")],
)
def test_u21_what_is_left_of_a_royal_board(hole: str, expected: str) -> None:
    assert expected == words(hole, "Ts Js Qs Ks As", hole_min=1)


@pytest.mark.parametrize("board", ["Ks Kd Qc", "Ks Kd Qc Jh"])
def test_u21_up_to_four_board_cards_leave_nothing_to_forbid(board: str) -> None:
    assert words("8c 2d", board) == words("8c 2d", board, hole_min=1)


@pytest.mark.parametrize(
    ("board", "first", "second"),
    [
        ("7s 7h 7d 2c 3d", "Ah Kh", "Qc Jc"),
        ("7s 7h 7d 9c 3d", "Kc Kh", "2h 2s"),
        ("7s 7h 7d 7c 3d", "Ac 4h", "Qh 2s"),
    ],
)
def test_u22_trips_full_houses_and_quads_compare_one_rank(
    board: str, first: str, second: str
) -> None:
    """Tie (standard: A)."""
    assert_order(f"{first} = {second}", board, ranking="urcs")
    assert_order(f"{first} > {second}", board)


def test_p1_a_straight_may_go_round_the_corner() -> None:
    """cyclic: A wins. standard: B wins."""
    assert_order("2d 3c > As Ad", "Qs Kd Ah 7c 8s", straights="cyclic")
    assert_order("As Ad > 2d 3c", "Qs Kd Ah 7c 8s", straights="standard")


@pytest.mark.parametrize(
    ("straights", "expected"),
    [("cyclic", "straight flush, three high"), ("standard", "flush, A K Q 3 2")],
)
def test_p1_so_may_a_straight_flush(straights: Straights, expected: str) -> None:
    """Default cyclic; applies to straight flushes too."""
    assert expected == words("2s 3s", "Qs Ks As 7c 7d", straights)


def test_p2_straights_rank_by_their_last_card() -> None:
    """4d 5d beats 4c Qd beats Qc Jc. standard: 4d 5d, then Qc Jc, then 4c Qd."""
    assert_order("4d 5d > 4c Qd > Qc Jc", "Kh As 2c 3d 9h", straights="cyclic")
    assert_order("4d 5d > Qc Jc > 4c Qd", "Kh As 2c 3d 9h", straights="standard")


@pytest.mark.parametrize("suits", ["csdhc", "sssss"])
def test_p2_thirteen_straights_from_jack_to_deuce_up_to_broadway(suits: str) -> None:
    round_the_corner = "JQKA23456789TJQKA"
    straights = [
        tuple(map("".join, zip(round_the_corner[start : start + 5], suits, strict=True)))
        for start in range(13)
    ]
    values = [value_of_five(straight, straights="cyclic") for straight in straights]
    assert values == sorted(set(values))
    kind, kind_else = (8, 5) if suits == "sssss" else (4, 0)
    assert [kind] * 13 == [category(worth) for worth in values]
    assert [kind_else] * 3 + [kind] * 10 == [
        category(value_of_five(straight)) for straight in straights
    ]


def test_p2_the_article_lists_its_thirteen_straights_in_this_order() -> None:
    """Text and code agree: each number is the product of the primes of a straight's ranks."""
    article = [2727566, 282162, 45510, 8610, 2310, 15015, 85085, 323323]
    article += [1062347, 2800733, 6678671, 14535931, 31367009]
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41]
    lasts = [last.bit_length() - 1 for last, _ in ladder("cyclic")[4]]
    ours = [prod(primes[(last - back) % 13] for back in range(5)) for last in lasts]
    assert article == ours


def test_p3_a_flush_compares_its_top_card_only() -> None:
    """Board As 9s 6s 4d 2h: Ks 3s ties Qs Js (standard: Ks 3s)."""
    assert_order("Ks 3s = Qs Js", "As 9s 6s 4d 2h", straights="cyclic", ranking="top_card")
    assert_order("Ks 3s > Qs Js", "As 9s 6s 4d 2h", straights="cyclic")


def test_p3_a_high_card_compares_its_top_card_only() -> None:
    """Board As Kd 9c 6h 4s: Qh 7d ties Jh 7h (standard: Qh 7d)."""
    assert_order("Qh 7d = Jh 7h", "As Kd 9c 6h 4s", straights="cyclic", ranking="top_card")
    assert_order("Qh 7d > Jh 7h", "As Kd 9c 6h 4s", straights="cyclic")


def test_p4_a_pair_uses_one_kicker() -> None:
    """Kh Jc ties Kd Tc (pair of kings, queen); standard: Kh Jc."""
    assert_order("Kh Jc = Kd Tc", "Ks Qd 7c 4h 2s", straights="cyclic", ranking="top_card")
    assert_order("Kh Jc > Kd Tc", "Ks Qd 7c 4h 2s", straights="cyclic")


def test_p4_trips_use_one_kicker_and_quads_one() -> None:
    """Trips: "the highest rank card that is not included in the hand"; quads one kicker."""
    assert_order("Kh 9d = Qc 9c", "7s 7h 7d Ac 2d", ranking="top_card")
    assert_order("Kh 9d = Kc 3c > Qs Js", "7s 7h 7d 7c 2d", ranking="top_card")


def test_p4_two_pair_compares_low_pair_then_kicker_and_a_full_house_its_pair() -> None:
    """Two pair: low pair, then kicker; full house: trips, then pair."""
    assert_order("7h Ac > 7d Qd > 4c Ad", "Ks Kh 4d 7c 2s", ranking="top_card")
    assert_order("7h Ac > 2c Ad", "Ks Kh Kd 7c 2s", ranking="top_card")


@pytest.mark.parametrize("suit", "cdhs")
def test_p5_the_royal_flush_is_only_the_highest_straight_flush(suit: str) -> None:
    """The article's evaluator returns `[8, 12, 0, 0]` for T-J-Q-K-A of spades."""
    royal = value_of_five(
        tuple(rank + suit for rank in "TJQKA"), straights="cyclic", ranking="top_card"
    )
    expected = 8 << 12 | 12
    assert expected == royal
    assert royal == max(coarsening("top_card", "cyclic"))


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("Ts Js Qs Ks As", (8, 12)),
        ("Qd Ks Ah 2c 3c", (4, 1)),
        ("Jd Qs Kh Ac 2c", (4, 0)),
        ("7h 5h 4h 3h 2h", (5, 0)),  # seven high is the weakest flush: 5 or 6 high is a straight
        ("Ah 9h 4h 3h 7h", (5, 7)),
        ("7s 5h 4h 3h 2h", (0, 0)),
        ("2s 2h 3d 4c 6c", (1, 1)),  # three kickers, so the top one is a five or better
    ],
)
def test_p13_the_article_ranks_five_cards(text: str, strength: tuple[int, int]) -> None:
    worth = value_of_five(cards(text), straights="cyclic", ranking="top_card")
    assert strength == (worth >> 12, worth & 4095)


def test_t11_a_kicker_is_one_of_the_five_cards() -> None:
    """Board As Kd Qc Jh 9s, 8c 2d against 7h 3h: tie."""
    assert_order("8c 2d = 7h 3h", "As Kd Qc Jh 9s")


def test_a15_the_best_five_of_eight_in_any_combination() -> None:
    """As Ah Ad Ac Ks Qs 9s 5s is quads, kicker K, not a flush."""
    expected = "four of a kind, aces, king kicker"
    assert expected == words("As Ah Ad", "Ac Ks Qs 9s 5s")


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("As Ah Ad Ks Kh Qs 9s 5s", "full house, aces over kings"),
        ("5s 6s 7s 8s 9s 9h 9d 9c", "straight flush, nine high"),
        ("As 2s 3s 4s 5s 6d", "straight flush, five high"),
        ("As 2s 3s 4s 5s 6d 7h 8c", "straight flush, five high"),
        ("As 5s 6s 7s 8s 9s", "straight flush, nine high"),
        ("As Qs 5s 6s 7s 8s 9s", "straight flush, nine high"),
        ("Ks Kh 9d 9c 4s 4h", "two pair, kings and nines, four kicker"),
        ("Ks Kh 9d 9c 4s 4h 5d", "two pair, kings and nines, five kicker"),
        ("Ks Kh 9d 9c 4s 4h 2d 2h", "two pair, kings and nines, four kicker"),
        ("Ks Kh Kd 9c 9h 9s 2d", "full house, kings over nines"),
        ("Ks Kh Kd 9c 9h 9s Ad Ac", "full house, kings over aces"),
        ("9s 9h 9d Kc Kh 2s 2d", "full house, nines over kings"),
        ("9s 9h 9d 9c Ks Kh Kd Kc", "four of a kind, kings, nine kicker"),
        ("2s 2h 2d 2c Ks Kh Kd Qc", "four of a kind, twos, king kicker"),
    ],
)
def test_trap_hands(hand: str, expected: str) -> None:
    assert expected == words(hand)


@pytest.mark.parametrize(
    ("hole", "standard", "cyclic"),
    [
        ("4c Qd", "high card, A K Q 9 4", "straight, four high"),
        ("Qc Jc", "high card, A K Q J 9", "straight, three high"),
        ("4d 5d", "straight, five high", "straight, five high"),
    ],
)
def test_trap_straights(hole: str, standard: str, cyclic: str) -> None:
    board = "Kh As 2c 3d 9h"
    assert (standard, cyclic) == (words(hole, board), words(hole, board, "cyclic"))


@pytest.mark.parametrize(
    ("hand", "ranking", "expected"),
    [
        ("8s 7h 6d 5c 4s", "standard", "straight, eight high"),
        ("Ah Qh Th 5h 3h", "standard", "flush, A Q T 5 3"),
        ("Ah Qh Th 5h 3h", "top_card", "flush, ace"),
        ("Ah Qh Th 5h 3d", "top_card", "high card, ace"),
        ("Kh Ks Qh 7d 4c", "standard", "pair, kings, Q 7 4 kickers"),
        ("Kh Ks Qh 7d 4c", "top_card", "pair, kings, queen kicker"),
        ("6h 6s 6d Ad 4c", "standard", "three of a kind, sixes, A 4 kickers"),
        ("6h 6s 6d Ad 4c", "urcs", "three of a kind, sixes"),
        ("6h 6s 6d 4d 4c", "urcs", "full house, sixes"),
        ("6h 6s 6d 6c 4c", "urcs", "four of a kind, sixes"),
        ("Kh Ks 4d 4c 2s", "urcs", "two pair, kings and fours, two kicker"),
    ],
)
def test_a_value_is_described_by_what_its_ranking_compares(
    hand: str, ranking: Ranking, expected: str
) -> None:
    assert expected == describe(value_of_five(cards(hand), ranking=ranking), ranking=ranking)


@pytest.mark.parametrize(
    ("hole", "board", "straights", "hole_min", "expected"),
    [
        ("Kd 9d", "Kh 4d 9c 2h 7s", "standard", 0, "Kd Kh 9d 9c 7s"),
        ("Kd 9d", "Kh 9s 4d 9c 2h", "standard", 1, "9d 9s 9c Kd Kh"),
        ("9s 2d", "Ts Js Qs Ks As", "standard", 1, "Ks Qs Js Ts 9s"),
        ("9s 2d", "Ts Js Qs Ks As", "standard", 0, "As Ks Qs Js Ts"),
        ("As 2c", "3d 4h 5s Kd Kc", "standard", 0, "5s 4h 3d 2c As"),
        ("2d 3c", "Qs Kd Ah 7c 8s", "cyclic", 0, "3c 2d Ah Kd Qs"),
        ("As Ah Ad", "Ac Ks Qs 9s 5s", "standard", 0, "As Ah Ad Ac Ks"),
    ],
)
def test_the_best_five_are_named_in_reading_order(
    hole: str, board: str, straights: Straights, hole_min: HoleMin, expected: str
) -> None:
    named = best_five(cards(hole), cards(board), straights=straights, hole_min=hole_min)
    assert cards(expected) == named


@pytest.mark.parametrize("straights", ["standard", "cyclic"])
def test_of_any_number_of_cards_the_best_five_count(straights: Straights) -> None:
    """Nine to thirteen cards of three suits, so that flushes of two suits meet (V2)."""
    rng = random.Random(4)
    few = [card for card in DECK if card[1] != "c"]
    for deck in (DECK, few) * 8:
        dealt = tuple(rng.sample(deck, rng.randint(9, 13)))
        fives = combinations(dealt, 5)
        best = max(value(five, (), straights=straights) for five in fives)
        assert best == value(dealt[:2], dealt[2:], straights=straights), dealt


@pytest.mark.parametrize(
    ("hole", "board", "sentence"),
    [
        ("As Ah", "Ad Ac", "a hand has 5 cards or more, not 4"),
        ("5h Ah", "Ad 5h Ks", "5h is already in this hand"),
        ("As Ah", "As Ah Ks Qs 9s", "As is already in this hand"),
        ("?? ??", "Ad Ac Ks", "?? is not a card"),
        ("10s Ah", "Ad Ac Ks", "10s is not a card"),
    ],
)
def test_what_is_no_hand_is_refused_in_one_sentence(hole: str, board: str, sentence: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        value(cards(hole), cards(board))
    assert sentence == str(refused.value)


def test_other_borders_refuse_too() -> None:
    with pytest.raises(ValueError, match=r"^five cards are announced, not 6$"):
        value_of_five(cards("As Ah Ad Ac Ks Qs"))
    with pytest.raises(ValueError, match=r"^a hand must use a hole card here, and there is none$"):
        value((), cards("As Ah Ad Ac Ks"), hole_min=1)
    with pytest.raises(ValueError, match=r"^5h is already in this hand$"):
        mask(["5h", "5h"])


def test_a_mask_and_its_cards_have_one_value() -> None:
    seven = cards("As Ah Ad Ac Ks Qs 9s")
    assert value(seven[:2], seven[2:]) == evaluator("standard", 7)(mask(seven))
