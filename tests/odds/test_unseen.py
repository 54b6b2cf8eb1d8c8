"""Hands against cards that nobody has seen: figures from elsewhere, and every deal laid out."""

import random
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest

from events.cards import DECK, cards
from odds.batch import CHUNK, STANDARD, Odds, Showdown, column, showdown
from odds.rank import Cards
from odds.third_card import Outcomes, third_card, third_card_known
from odds.unseen import against_unseen, share_with_swaps
from tests.odds.test_batch import RULES
from tests.odds.test_equity import small_decks, value_of
from tests.profiles import sized

FLOP = cards("Qh 7s 2d")
ACE_KING, EIGHTS = cards("Ah Kh"), cards("8s 8d")


@pytest.mark.parametrize(
    ("drawn", "dealt", "expected"),
    [
        (0, 2, (615_678, 10_976, 443_536)),
        (1, 2, (33_143_353, 244_646, 12_630_171)),
        (0, 3, (5_656_693, 188_249, 9_494_448)),
    ],
)
def test_known_odds(drawn: int, dealt: int, expected: tuple[int, int, int]) -> None:
    odds = against_unseen(ACE_KING, FLOP, drawn=drawn, dealt=dealt)
    assert expected == (odds.wins, odds.ties, odds.losses)


def test_known_odds_with_both_third_cards_unseen() -> None:
    odds = against_unseen(ACE_KING, FLOP, rival=EIGHTS, drawn=1, dealt=1)
    assert (771_296, 72, 1_016_572) == (odds.wins, odds.ties, odds.losses)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_deal_of_a_small_deck_is_counted_once(rules: Showdown) -> None:
    """Cards of the rival that are known, ours still to be drawn: all that may be asked for."""
    chance = random.Random(f"deals {rules}")
    for deck, dead in small_decks(f"deals {rules}", 12, 15):
        drawn = 0 if rules.hole_min else chance.choice((0, 1))
        dealt = chance.choice((1, 2, 3))
        held = chance.choice((1, 2)) if drawn else 2
        hole = tuple(deck.pop() for _ in range(held))
        rival = tuple(deck.pop() for _ in range(chance.choice((0, 1)) if dealt < 3 else 0))
        board = tuple(deck.pop() for _ in range(chance.choice((3, 4, 5))))
        rest = deck[:7] if drawn + dealt == 4 else deck[:8]
        dead = (*dead, *(card for card in deck if card not in rest))
        found = against_unseen(
            hole, board, drawn=drawn, dealt=dealt, rival=rival, dead=dead, rules=rules
        )
        assert laid_out(hole, board, rest, drawn, dealt, rival, rules) == found


def laid_out(
    hole: Cards,
    board: Cards,
    deck: list[str],
    drawn: int,
    dealt: int,
    rival: Cards,
    rules: Showdown,
) -> Odds:
    """Every deal, one at a time, by the evaluator of single hands."""
    deals = wins = ties = 0
    for run_out in combinations(deck, 5 - len(board)):
        whole = (*board, *run_out)
        left = [card for card in deck if card not in run_out]
        for mine in combinations(left, drawn):
            ours = value_of((*hole, *mine), whole, rules)
            for theirs in combinations([card for card in left if card not in mine], dealt):
                value = value_of((*rival, *theirs), whole, rules)
                deals, wins, ties = deals + 1, wins + (value < ours), ties + (value == ours)
    return Odds(deals, (wins, ties))


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_a_whole_deck_is_counted_as_columns_count_it(rules: Showdown) -> None:
    """The short way against every deal in columns, on flops of one, two and three suits."""
    spots = ("Ah Kd 9h 7h 2h", "7s 6d Qs 7h 2s", "9c 9d Tc Jd Qh", "Ac 4d 2s 3s Ks")
    for spot in sized((spots[RULES.index(rules) % len(spots)],), spots):
        known = cards(spot)
        hole, board = known[:2], known[2:]
        assert in_columns(hole, board, rules) == against_unseen(hole, board, rules=rules)


def in_columns(hole: Cards, board: Cards, rules: Showdown) -> Odds:
    """A million deals, nothing left out and nothing put together."""
    deck = [card for card in DECK if card not in (*hole, *board)]
    pairs = column(combinations(deck, 2))
    run_outs = column(combinations(deck, 5 - len(board)))
    deals = wins = ties = 0
    for some in np.array_split(run_outs, len(run_outs) * len(pairs) // CHUNK + 1):
        at, who = ((some[:, None] & pairs) == 0).nonzero()
        boards = some | column([board])
        mine = showdown(np.repeat(column([hole]), len(boards)), boards, rules)[at]
        theirs = showdown(pairs[who], boards[at], rules)
        deals += len(theirs)
        wins += int((theirs < mine).sum())
        ties += int((theirs == mine).sum())
    return Odds(deals, (wins, ties))


def test_all_hands_together_win_as_often_as_they_lose() -> None:
    """On a river each of 1,081 hands against each other that shares no card with it."""
    board = cards("Qh 7s 2d Jh 7h")
    deck = [card for card in DECK if card not in board]
    odds = [against_unseen(hole, board) for hole in combinations(deck, 2)]
    assert 0 == sum(one.wins - one.losses for one in odds)
    assert {comb(45, 2)} == {one.deals for one in odds}


def test_a_third_card_is_worth_what_elsewhere_was_counted() -> None:
    card = third_card(ACE_KING, FLOP)
    assert (0.580426, 0.722881, 0.374905) == tuple(
        round(float(odds.share), 6) for odds in (card.neither, card.won, card.lost)
    )
    assert 0.347976 == round(float(card.swing), 6)
    assert 0.142455 == round(float(card.gain), 6)
    assert 1.39 == round(float(card.value(4)), 2)
    price = Outcomes(card, 4, "split").break_even
    assert price is not None
    assert 2.13 == round(float(price), 2)


def test_with_both_hands_known_the_card_is_worth_the_same_to_both() -> None:
    ours = third_card_known(ACE_KING, EIGHTS, FLOP)
    theirs = third_card_known(EIGHTS, ACE_KING, FLOP)
    assert Odds(42_570, (23_052, 0)) == ours.won
    assert Odds(42_570, (33_354, 0)) == theirs.won
    assert Odds(990, (295, 0)) == ours.neither
    chance = random.Random("same to both")
    for _ in range(3):
        deck = chance.sample(DECK, 7)
        hole, rival, board = (deck[0], deck[1]), (deck[2], deck[3]), tuple(deck[4:])
        ours = third_card_known(hole, rival, board)
        assert ours.swing == third_card_known(rival, hole, board).swing


def test_auctions_alike_but_for_their_suits_are_counted_once() -> None:
    renamed = str.maketrans("cdhs", "hscd")
    there = tuple(card.translate(renamed) for card in FLOP)
    again = tuple(card.translate(renamed) for card in ACE_KING[::-1])
    assert third_card(ACE_KING, FLOP) is third_card(again, there)


def test_swaps_are_counted_over_every_card_that_may_come() -> None:
    """Each card of a small deck takes its turn; the old ones are dead, the drawn ones differ."""
    chance = (1, 3)
    for deck, dead in small_decks("swaps", 3, 14):
        hole, rival, board = (deck[0], deck[1]), (deck[2], deck[3]), tuple(deck[4:8])
        rest = deck[8:]
        expected = swapped(hole, rival, board, rest, chance, STANDARD)
        assert expected == share_with_swaps(hole, rival, board, [chance], dead)
        assert 1 - expected == share_with_swaps(rival, hole, board, [chance], dead)


def swapped(
    hole: Cards,
    rival: Cards,
    board: Cards,
    deck: list[str],
    chance: tuple[int, int],
    rules: Showdown,
) -> Fraction:
    """Sixteen ways to lose cards; for each, every new card and every board, in every order."""
    lose = Fraction(*chance)
    total = Fraction(0)
    for losing in product((False, True), repeat=4):
        weight = Fraction(1)
        for lost in losing:
            weight *= lose if lost else 1 - lose
        points = []
        for new in permutations(deck, sum(losing) + 5 - len(board)):
            cards_drawn = list(new)
            now = [
                cards_drawn.pop() if lost else card
                for card, lost in zip((*hole, *rival), losing, strict=True)
            ]
            whole = (*board, *cards_drawn)
            mine, theirs = (value_of(tuple(h), whole, rules) for h in (now[:2], now[2:]))
            points.append(Fraction((mine > theirs) - (mine < theirs) + 1, 2))
        total += weight * sum(points, Fraction()) / len(points)
    return total


def test_without_swaps_to_come_a_share_is_a_share() -> None:
    assert Fraction(295, 990) == share_with_swaps(ACE_KING, EIGHTS, FLOP, [])
    assert Fraction(1, 2) == share_with_swaps(ACE_KING, EIGHTS, FLOP, [(1, 1)])


def test_what_is_not_counted_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^unseen cards are counted from the flop on, not on 0"):
        against_unseen(ACE_KING, ())
    with pytest.raises(ValueError, match=r"^at most one unseen card is drawn, and one to three"):
        against_unseen(ACE_KING, FLOP, dealt=4)
    with pytest.raises(ValueError, match=r"^at most one unseen card is drawn, and one to three"):
        against_unseen(ACE_KING, FLOP, drawn=2)
    with pytest.raises(ValueError, match=r"^where a hole card must be used, none is drawn$"):
        against_unseen(ACE_KING, FLOP, drawn=1, rules=Showdown(hole_min=1))
    with pytest.raises(ValueError, match=r"^a card is in two places: no deal can be like that$"):
        against_unseen(ACE_KING, cards("Ah 7s 2d"))
    dead = tuple(card for card in DECK if card[1] in "cs" and card[0] not in "78")
    dead += tuple(card for card in DECK if card[1] in "dh" and card[0] not in "AKQ27")
    with pytest.raises(ValueError, match=r"^5 more cards are needed, and 4 are left$"):
        against_unseen(ACE_KING, FLOP, dealt=3, dead=(*dead, "Ad", "Kd", "Qd", "7d", "7h"))
    with pytest.raises(ValueError, match=r"^hands of 2 and 3 cards are not swapped here$"):
        share_with_swaps(ACE_KING, cards("8s 8d 3c"), FLOP, [])
