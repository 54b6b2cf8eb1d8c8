"""The article on probability: the numbers it quotes, and what its own code says of hands."""

from collections.abc import Iterable
from itertools import pairwise
from math import comb

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.games import named
from events.evolve import replay
from events.state import Hand
from events.types import Events, PotSplit
from odds.rank import value

HANDS = """
ends in A  Ts Jd Qh Kc As
ends in 6  2s 3d 4h 5c 6s
ends in 5  As 2d 3h 4c 5s
ends in 4  Ks Ad 2h 3c 4s
ends in 3  Qs Kd Ah 2c 3s
ends in 2  Js Qd Kh Ac 2s
no straight, trips  As Ad Ah Kc 2s
"""


def test_the_number_of_deals_to_four_players() -> None:
    """ "2.0595 x 10^18 possible card combinations", in either order of dealing (P14)."""
    board_first = comb(52, 5) * comb(47, 2) * comb(45, 2) * comb(43, 2) * comb(41, 2)
    holes_first = comb(52, 2) * comb(50, 2) * comb(48, 2) * comb(46, 2) * comb(44, 5)
    assert 2_059_501_377_037_104_000 == board_first == holes_first


def test_larger_stacks_make_side_pots_by_themselves() -> None:
    """ "players with more chips (larger stacks) tend to have a strategic advantage (they can force
    other players to go all-in)": with stacks made anew for every hand nobody had any (M5)."""
    shown, unequal, parted = _showdowns(play(named("probability"), "m", 400, "larger stacks"))
    assert 0 < parted < unequal < shown
    anew = replace(named("probability"), stacks="reset", broke="set_anew")
    assert (0, 0) == _showdowns(play(anew, "m", 400, "larger stacks"))[1:]


def _showdowns(records: Iterable[Events]) -> tuple[int, int, int]:
    """How many there were, with unequal stacks, and with more pots than one."""
    shown = unequal = parted = 0
    for record in records:
        hand: Hand = replay(record)
        if sum(standing != "folded" for standing in hand.standing) > 1:
            shown += 1
            unequal += len(set(hand.start.stacks)) > 1
            parted += sum(isinstance(event, PotSplit) for event in record) > 1
    return shown, unequal, parted


def test_the_number_of_positions_that_a_player_can_see() -> None:
    """1326 holes, 25989600 with a flop, 2809475760 with a whole board (P14)."""
    assert 1326 == comb(52, 2)
    assert 25_989_600 == comb(52, 2) * comb(50, 3)
    assert 2_809_475_760 == comb(52, 5) * comb(47, 2)


def test_straights_are_ordered_by_their_last_card() -> None:
    """ "The last rank of the consecutive cards in the hand." (P2)"""
    held = [tuple(line.split()[-5:]) for line in HANDS.strip().splitlines()]
    values = [value(five, (), straights="cyclic", ranking="top_card") for five in held]
    assert all(better > worse for better, worse in pairwise(values))


@pytest.mark.parametrize("suit", "shdc")
def test_a_royal_straight_flush_is_the_highest_straight_flush(suit: str) -> None:
    """The article lists it as a category of its own; its evaluator does not (P5)."""
    royal, king_high = (
        value(tuple(rank + suit for rank in ranks), (), straights="cyclic", ranking="top_card")
        for ranks in ("TJQKA", "9TJQK")
    )
    assert 1 == royal - king_high
