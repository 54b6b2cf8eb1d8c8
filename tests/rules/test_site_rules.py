"""Site rules as tables: caps, literal main pots, pot-limit maxima, and what is a parameter."""

from collections import Counter

import pytest
from msgspec.structs import replace

from engine.audit import before_payment
from engine.games import GAMES, named
from engine.games.site import at_stakes
from engine.hand import step, turn
from engine.pots import layers, pots, snapshots
from engine.seats import contenders, is_alone
from engine.steps import Betting, Blinds
from engine.turn import Raise, ToAct
from events.state import Hand
from events.types import TimedOut
from tests.hands import seeded
from tests.pages import Table, played


@pytest.mark.parametrize("name", ["site-fl", "site-pl", "site-nl"])
def test_there_are_three_types_of_games(name: str) -> None:
    """ "There are three types of Hold'em games", and each has its practice beside it."""
    assert f"{name}-standard" == GAMES[name].partner


def test_blinds_and_stakes_are_set_with_the_table() -> None:
    """ "The small blind is equal to half the lower stake. This is a guideline for determining the
    blinds and not a strict rule." """
    game = at_stakes(named("site-fl"), 3, 8, 16)
    assert Blinds(3, 8) == game.script[0]
    assert [8, 8, 16, 16] == [one.size for one in game.script if isinstance(one, Betting)]
    assert named("site-fl") == at_stakes(named("site-fl"), 5, 10, 20)


# Everybody raises while it is offered: to how much, on the first and on the second street?
CAPS = """
ruleset           seats  with                                            preflop  flop
site-fl           3      cap_scope=round                                 40       40
site-fl           2      cap_scope=round                                 40       40
site-fl           3      cap_counts=bets                                 40       30
site-fl           3      raise_cap=4                                     50       50
site-fl           2      cap_lift=two_remain                             all      all
site-fl           2      cap_lift=round_starts_heads_up                  all      all
site-fl           3      cap_lift=round_starts_heads_up                  40       40
site-fl           3      cap_scope=player                                120      120
site-fl-standard  3      cap_scope=round                                 50       50
site-fl-standard  2      cap_scope=round                                 all      all
site-nl           2      raise_cap=null                                  all      all
"""


@pytest.mark.parametrize("row", CAPS.strip().splitlines()[1:])
def test_how_far_a_round_is_raised(row: str) -> None:
    """ "A maximum of four bets, which includes one bet, and three raises": 10, 20, 30, 40 (T4)."""
    name, seats, policy, preflop, flop = row.split()
    stacks = " ".join(["1000"] * int(seats))
    first = f"{name}, button 0, stacks {stacks}\nwith {policy}"
    calls = {"2": "> 0 calls; 1 checks", "3": "> 0 calls; 1 calls; 2 checks"}[seats]
    assert preflop == _raised(played(first))
    assert flop == _raised(played(f"{first}\n{calls}"))


def _raised(table: Table) -> str:
    """The bet when nobody may raise any more; `all` if only the stacks end it."""
    hand: Hand = table.hand
    while isinstance(asked := turn(table.game, hand), ToAct) and asked.raise_min is not None:
        _, hand = step(table.game, hand, Raise(asked.seat, asked.raise_min))
    assert hand.round is not None
    return "all" if max(hand.paid) == 1000 else str(hand.round.bet)


# What each seat paid in the end; what each had when a seat went all-in; pots, and who may win them.
MAIN_POTS = """
paid           all-in                           side_pots                     snapshot
130,90,130     1:30,90,130                      270:012 80:02                 310:012 40:02
130,90,130     1:130,90,130                     270:012 80:02                 350:012
130,90,130     1:30,90,30                       270:012 80:02                 270:012 80:02
90,90          0:90,150                         180:01                        180:01
50,120,200     0:50,0,0 1:50,120,0              150:012 140:12 80:2           150:012 140:12 80:2
50,90,99,99    0:50,0,0,0 1:50,90,99,0          200:0123 120:123 18:23  200:0123 129:123 9:23
60,60,60       0:60,20,20 1:60,60,20 2:60,60,60 180:012                       180:012
40,90,90       0:40,90,10 1:10,90,10            120:012 100:12                170:012 50:12
60,40,90,90    0:60,0,0,0 1:60,40,90,0          160:0123 60:023 60:23  200:0123 20:023 30:123 30:23
10,5,10        1:0,5,10                         15:012 10:02                  20:012 5:02
"""


@pytest.mark.parametrize("row", MAIN_POTS.strip().splitlines()[1:])
def test_the_main_pot_by_layers_and_literally(row: str) -> None:
    """ "eligible for the portion of the pot to the point of his final wager"; "all the new bets are
    placed in a side pot" (T8)."""
    words = row.split()
    paid = _chips(words[0])
    told = dict(word.split(":") for word in words[1:] if "," in word)
    tapped = tuple(_chips(told.get(str(seat), "")) for seat in range(len(paid)))
    every = tuple(range(len(paid)))
    found = (*layers(paid, every), *snapshots(paid, tapped, every))
    assert words[1 + len(told) :] == [
        f"{one.amount}:{''.join(map(str, one.seats))}" for one in found
    ]


def _chips(row: str) -> tuple[int, ...]:
    return tuple(map(int, row.split(","))) if row else ()


@pytest.mark.parametrize("name", ["site-fl", "site-pl", "site-nl", "site-nl-standard"])
def test_of_every_chip_only_a_larger_bet_that_lay_there_changes_its_pot(name: str) -> None:
    """What an all-in seat may win is what lay there, cut to what each has in the end, and each call
    of his wager; the others may win everything; no chip is made or lost (T8)."""
    game = replace(GAMES[name], split="snapshot")
    met: Counter[str] = Counter()
    for number in range(150):
        record = seeded(game, f"main pots {number}").record
        hand = before_payment(record)
        if hand is None or is_alone(hand):
            continue
        stay = contenders(hand)
        found = pots(game, hand, stay)
        assert hand.pot == sum(pot.amount for pot in found)
        seats = range(len(hand.paid))
        larger = False
        for seat in stay:
            mine = sum(pot.amount for pot in found if seat in pot.seats)
            mine -= sum(hand.dead)  # anybody's (G6)
            lay, own = hand.tapped[seat], hand.paid[seat]
            if not lay:
                assert hand.standing[seat] == "live"
                assert sum(hand.paid) == mine
                continue
            assert mine == sum(min(hand.paid[one], max(lay[one], own)) for one in seats)
            larger |= any(min(hand.paid[one], lay[one]) > own for one in seats)
        assert larger == (found != pots(GAMES[name], hand, stay))
        met["larger"] += larger
        met["dead"] += sum(hand.dead) > 0
        met["folded"] += "folded" in hand.standing
        met["late"] += any(isinstance(one, TimedOut) and one.all_in for one in record)
        met["nobody live"] += all(hand.tapped[seat] for seat in stay)
        met["several"] += sum(hand.tapped[seat] != () for seat in stay) > 2
    late = game.time_out == "all_in_if_paid"
    assert {"larger", "dead", "folded", "nobody live", "several"} <= set(+met)
    assert late == (met["late"] > 0)


@pytest.mark.parametrize(
    ("bets", "most"),
    [
        ("", 200),
        ("> 2 bets 10", 230),
        ("> 2 bets 150", 650),
        ("> 2 bets 150; 3 calls", 800),
        ("> 2 bets 150; 3 raises to 300", 1250),
    ],
)
def test_the_pot_limit_of_the_document(bets: str, most: int) -> None:
    """ "The $650 max raise portion is equal to the pot of $200 + first player's $150 + second
    player's $150 + his own call of $150." (T15)"""
    table = played(
        "site-pl, button 0, stacks 2000 2000 2000 2000\n"
        "> 3 raises to 30; 0 raises to 65; 1 folds; 2 calls; 3 calls\npot: 200\n" + bets
    )
    asked = turn(table.game, table.hand)
    assert isinstance(asked, ToAct)
    assert most == asked.raise_max


def test_an_empty_side_pot_takes_the_smallest_bet() -> None:
    """A pot of nothing would allow a bet of nothing for ever; the smallest bet is possible."""
    table = played(
        "site-pl, button 0, stacks 100 2000 2000\n"
        "> 0 raises to 30; 1 raises to 90; 2 calls; 0 raises to 100; 1 calls; 2 calls\npot: 300"
    )
    asked = turn(table.game, table.hand)
    assert isinstance(asked, ToAct)
    assert (10, 10) == (asked.raise_min, asked.raise_max)
