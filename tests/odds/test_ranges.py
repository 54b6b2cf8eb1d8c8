"""Ranges: what a text stands for, and exact odds, held to counting pair by pair and to others."""

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from events.cards import DECK, cards
from odds.batch import STANDARD, Showdown, equities
from odds.ranges import CLASSES, before_flop, hands_in, hands_of, hole_class, range_equity
from odds.rank import Cards
from tests.profiles import sized

TEXTS = {
    "AA": (["AA"], 6),
    "QQ+": (["AA", "KK", "QQ"], 18),
    "99-66": (["99", "88", "77", "66"], 24),
    "AKs": (["AKs"], 4),
    "AK": (["AKs", "AKo"], 16),
    "AJ+": (["AKs", "AKo", "AQs", "AQo", "AJs", "AJo"], 48),
    "K9s+": (["KQs", "KJs", "KTs", "K9s"], 16),
    "A5s-A2s": (["A5s", "A4s", "A3s", "A2s"], 16),
    "JTs-87s": (["JTs", "T9s", "98s", "87s"], 16),
    "T8o-53o": (["T8o", "97o", "86o", "75o", "64o", "53o"], 72),
    "76s+": (["76s"], 4),
    "random": (list(CLASSES), 1326),
    "AKs, AK,AA": (["AA", "AKs", "AKo"], 22),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_stands_for_these_classes(text: str) -> None:
    classes, hands = TEXTS[text]
    found = hands_in(text)
    assert len({frozenset(hand) for hand in found}) == len(found) == hands
    assert sorted({*map(hole_class, found)}) == sorted(classes)


def test_two_cards_are_themselves_and_nothing_is_there_twice() -> None:
    assert (("As", "Kd"),) == hands_in("AsKd AsKd KdAs")
    assert 12 == len(hands_in("AKo,AsKd"))


def test_every_class_is_its_own_text() -> None:
    for name in CLASSES:
        assert {frozenset(one) for one in hands_of(name)} == {*map(frozenset, hands_in(name))}


@pytest.mark.parametrize("text", ["QQ+", "99-66", "AKs", "A9s+", "JTs-87s", "AK", "AsKd", "K9o+"])
def test_pokerkit_reads_it_alike(text: str) -> None:
    pokerkit = pytest.importorskip("pokerkit")
    theirs = {frozenset(map(repr, hand)) for hand in pokerkit.parse_range(text)}
    assert theirs == {*map(frozenset, hands_in(text))}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a range has a hand or more, as in QQ+"),
        ("XX", "'XX' is no part of a range: those are like QQ+"),
        ("KAs", "'KAs' is no part of a range: the higher rank comes first"),
        ("AAs", "'AAs' is no part of a range: a pair is neither suited nor not"),
        ("66-99", "'66-99' is no part of a range: it goes down, as in 99-66"),
        ("A5s-A2o", "it goes down"),
        ("A5s-K2s", "it goes down"),
        ("AsAs", "'AsAs' is no part of a range"),
        ("AA++", "'AA++' is no part of a range"),
    ],
)
def test_what_is_no_range_is_one_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        hands_in(text)
    assert why in str(refused.value)


def pair_by_pair(
    one: str, other: str, board: Cards, dead: Cards = (), rules: Showdown = STANDARD
) -> tuple[int, int, int]:
    """Wins, ties and deals as the odds of two known hands give them."""
    found = [0, 0, 0]
    known = {*board, *dead}
    for a in hands_in(one):
        for b in hands_in(other):
            if not ({*a} & {*b} or {*a, *b} & known):
                odds = equities([a, b], board, dead, rules)[0]
                for at, it in enumerate((odds.wins, odds.ties, odds.deals)):
                    found[at] += it
    return found[0], found[1], found[2]


@pytest.mark.parametrize("rules", [STANDARD, Showdown("cyclic"), Showdown(hole_min=1)], ids=str)
@pytest.mark.parametrize("street", [3, 4, 5])
def test_on_a_board_it_is_the_sum_over_pairs(rules: Showdown, street: int) -> None:
    chance = random.Random(f"{street}{rules}")
    for one, other in (("QQ+, A5s-A3s", "JTs, 77"), ("AsKd", "KQ"), ("TT", "TT, T9s")):
        *board, gone = chance.sample(sorted({*DECK} - {"As", "Kd"}), street + 1)
        dead = (gone,) if street == 4 else ()
        odds = range_equity(one, other, tuple(board), dead, rules)
        expected = pair_by_pair(one, other, tuple(board), dead, rules)
        assert expected == (odds.wins, odds.ties, odds.deals)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("AsAh", "KsKh, QdQc, 7s6s"),  # neither has all suits
        *sized([], [("76s", "AsKs")], [("AsKs", "TT"), ("TT", "AsKs, 2s2h")]),  # one has
        *sized([], [], [("AsKs, 22", "TT"), ("QQ+", "AKs, TT"), ("76s", "76s, 65s")]),
    ],
)
def test_before_the_flop_it_is_the_sum_over_pairs(one: str, other: str) -> None:
    odds = range_equity(one, other)
    assert pair_by_pair(one, other, ()) == (odds.wins, odds.ties, odds.deals)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AKs", "72o", "55"])
def test_against_random_cards_it_is_the_stored_table(name: str) -> None:
    odds, stored = range_equity(name, "random"), before_flop(hands_of(name)[0], STANDARD)
    alike = len(hands_of(name))
    assert (odds.wins, odds.ties, odds.deals) == tuple(
        alike * it for it in (stored.wins, stored.ties, stored.deals)
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # eval7 uses an older pyparsing
def test_eval7_counts_the_same_share_on_the_river() -> None:
    """It answers 0 for a range on a flop, whatever the hands."""
    eval7: Any = pytest.importorskip("eval7")
    read: Callable[[str], Any] = eval7.Card
    chance = random.Random(7)
    for text in ("QQ+, AKs", "55-22, 87s", "A2s+, KJo"):
        dealt = chance.sample(DECK, 7)
        hand, board = tuple(dealt[:2]), tuple(dealt[2:])
        share = range_equity([hand], text, board).share
        theirs = eval7.py_hand_vs_range_exact(
            [*map(read, hand)], eval7.HandRange(text), [*map(read, board)]
        )
        assert float(share) == pytest.approx(theirs, abs=1e-6)


def test_the_other_side_has_the_rest() -> None:
    board = cards("2c 7d Jh")
    one, other = range_equity("TT+", "AK", board), range_equity("AK", "TT+", board)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert one.share + other.share == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("AsAh", "AsKs"), "no hand of the one range can be dealt beside one of the other"),
        (("AA", "KK", cards("2c 7d")), "a board has none, three, four or five cards, not 2"),
        (("AA", "KK", cards("2c 7d Jh"), cards("Jh")), "a card is in two places"),
        (([("As",)], "KK"), "a hand of a range has two cards"),
        (("AA", "KK", (), DECK[:45]), "9 more cards are needed, and 7 are left"),
    ],
)
def test_what_cannot_be_dealt_is_one_sentence(words: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        range_equity(*words)


def test_hands_may_be_given_as_they_are() -> None:
    board = cards("2c 7d Jh 3s")
    hands = [*combinations(cards("As Ah Ad"), 2)]
    assert range_equity(hands, "KK", board) == range_equity("AsAh AsAd AhAd", "KK", board)
