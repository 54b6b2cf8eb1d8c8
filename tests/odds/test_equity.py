"""Known hands against each other: figures from elsewhere, and every deal of a small deck laid out
with the evaluator of single hands.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from events.cards import DECK, cards
from odds.batch import Odds, Showdown, equities, subsets, unseen, worth_on_board
from odds.rank import Cards, mask, ranker
from tests.odds.test_batch import RULES
from tests.profiles import sized


@pytest.mark.parametrize(
    ("hole", "rival", "board", "expected"),
    [
        ("Ah Kh", "2c 2d", "", (852_207, 10_775, 849_322)),
        ("As Ah", "Kd Kc", "", (1_388_072, 6_538, 317_694)),
        ("Ah Kh", "8s 8d", "Qh 7s 2d", (295, 0, 695)),
    ],
)
def test_known_odds(hole: str, rival: str, board: str, expected: tuple[int, int, int]) -> None:
    ours, theirs = equities((cards(hole), cards(rival)), cards(board))
    assert expected == (ours.wins, ours.ties, ours.losses)
    assert expected[::-1] == (theirs.wins, theirs.ties, theirs.losses)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_board_is_counted_once(rules: Showdown) -> None:
    """Two to four hands of two or three cards, before and after the flop, of a small deck."""
    chance = random.Random(f"boards {rules}")
    for _ in range(6):
        deck = chance.sample(DECK, 23)
        hands = [tuple(deck.pop() for _ in range(chance.choice((2, 3)))) for _ in range(4)]
        hands = hands[: chance.choice((2, 3, 4))]
        board = tuple(deck.pop() for _ in range(chance.choice((0, 3, 4, 5))))
        dead = tuple(card for card in DECK if card not in (*deck[:10], *board, *sum(hands, ())))
        assert laid_out(hands, board, deck[:10], rules) == equities(hands, board, dead, rules)


def laid_out(
    hands: list[Cards], board: Cards, deck: list[str], rules: Showdown
) -> tuple[Odds, ...]:
    best = [[0] * len(hands) for _ in hands]
    deals = 0
    for run_out in combinations(deck, 5 - len(board)):
        values = [value_of(hand, (*board, *run_out), rules) for hand in hands]
        winners = [seat for seat, value in enumerate(values) if value == max(values)]
        deals += 1
        for seat in winners:
            best[seat][len(winners) - 1] += 1
    return tuple(Odds(deals, tuple(row)) for row in best)


def value_of(hand: Cards, board: Cards, rules: Showdown) -> int:
    return ranker(rules.straights, rules.ranking, rules.hole_min)(hand, board)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_boards_that_are_counted_together_are_those_that_are_looked_at(rules: Showdown) -> None:
    """Before the flop and with a whole deck: of one suit, of one rank, or as they come."""
    chance = random.Random(f"together {rules}")
    suited, paired = cards("Ah 9h 4h Kd Qd Ks"), cards("7s 7h 7d 6s 6h 8s")
    for six in (suited, paired, *(chance.sample(DECK, 6) for _ in range(sized(0, 1, 4)))):
        hands = [tuple(six[:3]), tuple(six[3:5]), tuple(six[5:])][: chance.choice((2, 3))]
        held = [mask(hand) for hand in hands]
        boards = subsets(unseen(sum(held)), 5)
        values = [worth_on_board(hole, boards, hole.bit_count(), rules) for hole in held]
        is_best = np.array(values) == np.max(values, axis=0)
        among = is_best.sum(axis=0)
        expected = [
            tuple(int((row & (among == one)).sum()) for one in range(1, len(held) + 1))
            for row in is_best
        ]
        assert expected == [odds.best for odds in equities(hands, rules=rules)]


def test_shares_of_a_pot_add_up_to_it() -> None:
    chance = random.Random("shares")
    for seats in range(2, 8):
        deck = chance.sample(DECK, 2 * seats + 3)
        hands = [(deck[2 * seat], deck[2 * seat + 1]) for seat in range(seats)]
        assert 1 == sum(odds.share for odds in equities(hands, tuple(deck[-3:])))


def test_a_tie_of_three_is_a_third_of_the_pot() -> None:
    board = cards("As Ks Qs Js Ts")
    three = equities([cards("2c 3c"), cards("2d 3d"), cards("2h 3h")], board)
    assert (Odds(1, (0, 0, 1)),) * 3 == three
    assert Fraction(1, 3) == three[0].share
    assert (0, 1, 0) == (three[0].wins, three[0].ties, three[0].losses)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # eval7 uses an older pyparsing
def test_eval7_counts_the_same_on_flops() -> None:
    eval7 = pytest.importorskip("eval7")
    chance = random.Random("eval7")
    for _ in range(5):
        deck = chance.sample(DECK, 52)
        hole, rival, board, rest = deck[:2], deck[2:4], deck[4:7], deck[7:]
        wins = ties = 0
        for run_out in combinations(rest, 2):
            mine, theirs = (
                eval7.evaluate([eval7.Card(card) for card in (*hand, *board, *run_out)])
                for hand in (hole, rival)
            )
            wins, ties = wins + (mine > theirs), ties + (mine == theirs)
        odds = equities((tuple(hole), tuple(rival)), tuple(board))[0]
        assert (wins, ties, 990 - wins - ties) == (odds.wins, odds.ties, odds.losses)


@pytest.mark.parametrize(
    ("hands", "board", "dead", "sentence"),
    [
        (["As Ah"], "", "", "hands are compared with each other: one alone has no odds"),
        (["As Ah", "As Kd"], "", "", "a card is in two places: no deal can be like that"),
        (["As Ah", "Kc Kd"], "9s 8s 7s", "9s", "a card is in two places: no deal"),
        (["As Ah 2c 3c", "Kc Kd"], "9s 8s 7s", "", "a hand has 5 to 8 cards, not 9"),
        (["As Ah", "Kc Kd"], "9s 8s 7s 6s 5s 4s", "", "a board has at most five cards, not 6"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(
    hands: list[str], board: str, dead: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        equities([cards(hand) for hand in hands], cards(board), cards(dead))


def small_decks(seed: str, count: int, size: int) -> Iterator[tuple[list[str], Cards]]:
    """Shuffled cards of a deck from which all others are dead; some decks have few suits."""
    chance = random.Random(seed)
    for number in range(count):
        whole = [card for card in DECK if number % 2 or card[1] in "sh"]
        deck = chance.sample(whole, size)
        yield deck, tuple(card for card in DECK if card not in deck)
