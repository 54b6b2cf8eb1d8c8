"""What an auction's ends come to: every deal laid out, and paid as the engine pays it.

`../shared/analytics.md`, section 5: "What an outcome is worth depends on the ruleset's tie rule."
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import NamedTuple, get_args, get_type_hints

import pytest

from engine.policies import Policies
from events.cards import DECK, cards
from odds.rank import ranker
from odds.third_card import BACK, Outcomes, ThirdCard, Tie, third_card_known
from tests.pages import played
from tests.profiles import sized

POT = 100
PRICES = (0, 1, 37, 250)


class Spot(NamedTuple):
    """Two known hands on a flop."""

    hole: str
    rival: str
    flop: str


ACES = Spot("As 3d", "Ah 3s", "Kc Qd 9h")
THREES = Spot("2c 3d", "2h 3s", "As Ks Qs")
PAIR = Spot("Ah Kh", "8s 8d", "Qh 7s 2d")
SPOTS = sized((ACES, PAIR), (ACES, THREES, PAIR))  # the document has an example of the other


@cache
def results(spot: Spot, mine: int, his: int) -> Counter[int]:
    """How often one wins (1), ties (0) and loses (-1) with so many cards each: every deal, one by
    one, by the evaluator of single hands."""
    hole, rival, flop = map(cards, spot)
    rest = [card for card in DECK if card not in (*hole, *rival, *flop)]
    value = ranker("standard", "standard", 0)
    found: Counter[int] = Counter()
    for run_out in combinations(rest, 2):
        board = (*flop, *run_out)
        left = [card for card in rest if card not in run_out]
        ours = {card: value((*hole, card), board) for card in left} if mine == 3 else {}
        theirs = {card: value((*rival, card), board) for card in left} if his == 3 else {}
        ours, theirs = ours or {"": value(hole, board)}, theirs or {"": value(rival, board)}
        for card, one in ours.items():
            for other, two in theirs.items():
                if card != other or not card:
                    found[(one > two) - (one < two)] += 1
    return found


def chips(tie: Tie, result: int, pot: int, paid: int, by_rival: int) -> Fraction:
    """What somebody has of the middle at the end, less the price that he paid."""
    middle = pot + paid + by_rival
    if result:
        return Fraction(middle if result > 0 else 0) - paid
    mine = Fraction(middle, 2) if tie == "split" else Fraction(pot, 2) + paid
    return mine - paid


def mean(spot: Spot, tie: Tie, mine: int, his: int, paid: int, by_rival: int) -> Fraction:
    """The same over every deal."""
    found = results(spot, mine, his)
    total = sum(
        (times * chips(tie, result, POT, paid, by_rival) for result, times in found.items()),
        Fraction(),
    )
    return total / found.total()


def known(spot: Spot) -> ThirdCard:
    return third_card_known(*map(cards, spot))


def test_there_is_a_rule_for_each_value_of_the_policy() -> None:
    assert set(get_args(get_type_hints(Policies)["showdown_tie"])) == set(BACK)


@pytest.mark.parametrize("spot", SPOTS, ids=str)
@pytest.mark.parametrize("tie", BACK)
def test_outcomes_are_the_mean_of_what_every_deal_pays(spot: Spot, tie: Tie) -> None:
    """Winning and losing at a price, and tying at a bid."""
    ends = Outcomes(known(spot), POT, tie)
    for price in PRICES:
        assert mean(spot, tie, 3, 2, price, 0) == ends.won(price)
        assert mean(spot, tie, 2, 3, 0, price) == ends.lost(price)
        assert mean(spot, tie, 3, 3, price, price) == ends.tied(price)


@pytest.mark.parametrize("spot", SPOTS, ids=str)
@pytest.mark.parametrize("tie", BACK)
def test_the_rivals_outcomes_are_the_rest_of_what_is_in_the_middle(spot: Spot, tie: Tie) -> None:
    ours, theirs = (Outcomes(card, POT, tie) for card in (known(spot), known(spot).of_rival))
    for price in PRICES:
        assert POT == ours.won(price) + theirs.lost(price)
        assert POT == ours.lost(price) + theirs.won(price)
        assert POT == ours.tied(price) + theirs.tied(price)
    assert ours.break_even == theirs.break_even
    assert theirs.card == known(Spot(spot.rival, spot.hole, spot.flop))


@pytest.mark.parametrize(
    ("spot", "tie", "expected"),
    [
        (ACES, "split", 109.2),
        (ACES, "no_change", None),
        (THREES, "split", 96.6),
        (THREES, "no_change", 176.2),
    ],
)
def test_the_examples_of_the_document(spot: Spot, tie: Tie, expected: float | None) -> None:
    """As3d against Ah3s on Kc Qd 9h: "109.2 by `split`, unbounded by `no_change`". 2c3d against
    2h3s on As Ks Qs: "96.6 and 176.2". At that price every deal pays as much either way."""
    price = Outcomes(known(spot), POT, tie).break_even
    assert expected == (None if price is None else round(float(price), 1))
    for at in (0, 7, 500) if price is None else (price, price + 1, price - 1):
        won, lost = (_paid(spot, tie, at, mine) for mine in (True, False))
        dearer = 0 if price is None else (at > price) - (at < price)
        assert (won > lost) == (price is None or dearer < 0)
        assert (won == lost) == (price is not None and dearer == 0)


def _paid(spot: Spot, tie: Tie, price: Fraction | int, mine: bool) -> Fraction:
    """What a price that need not be whole comes to: between two whole ones it is a line."""
    at = (3, 2) if mine else (2, 3)
    ends = [mean(spot, tie, *at, *((one, 0) if mine else (0, one))) for one in (0, 1)]
    return ends[0] + (ends[1] - ends[0]) * price


BOARDS = {1: "Ac 4d 9h Ts 6c", -1: "Qc 4d 9h Ts 6c", 0: "Ac Kd Qh Js Tc"}
AUCTIONS = {(9, 6): (6, 0), (6, 9): (0, 6), (6, 6): (6, 6)}  # bids, and who pays what


@pytest.mark.parametrize("tie", BACK)
@pytest.mark.parametrize("result", BOARDS)
@pytest.mark.parametrize("bids", AUCTIONS, ids=str)
def test_a_deal_is_paid_here_as_the_engine_pays_it(
    tie: Tie, result: int, bids: tuple[int, int]
) -> None:
    """Each put 2 into the pot of 4: a net is what comes of the auction, less those 2."""
    (paid, by_rival), (mine, his) = AUCTIONS[bids], bids
    table = played(
        f"""auction-2024, button 0, stacks 400 400
with showdown_tie={tie}
deal 0: As 3d {"2c" if paid else ""}, 1: Qs 3s {"2d" if by_rival else ""}, board: {BOARDS[result]}
> 0 calls; 1 checks; 1 bids {his}; 0 bids {mine}
> 1 checks; 0 checks; 1 checks; 0 checks; 1 checks; 0 checks"""
    )
    assert table.hand.stacks[0] - 400 == chips(tie, result, 4, paid, by_rival) - 2
    assert table.hand.stacks[1] - 400 == chips(tie, -result, 4, by_rival, paid) - 2
