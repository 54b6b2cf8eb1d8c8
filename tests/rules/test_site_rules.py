"""Site rules as tables: caps, literal main pots, pot-limit maxima, and what is a parameter."""

import pytest
from msgspec.structs import replace

from engine.games import GAMES, named
from engine.games.site import at_stakes
from engine.hand import step, turn
from engine.pots import pots
from engine.steps import Betting, Blinds
from engine.turn import Raise, ToAct
from events.state import Hand
from tests.pages import Table, played

SITE = named("site-nl")


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


def _situation(paid: tuple[int, ...], tapped: tuple[int, ...], pot: int) -> Hand:
    """Contributions, and the pot at which each seat went all-in; 0 for those who did not."""
    stacks = " ".join(["1000"] * len(paid))
    hand = played(f"site-nl, button 0, stacks {stacks}").hand
    standing = tuple("all_in" if one else "live" for one in tapped)
    return replace(hand, paid=paid, tapped=tapped, standing=standing, pot=pot)


MAIN_POTS = """
paid        all-in at  pot  side_pots                 snapshot
130,90,130  0,250,0    350  270:0,1,2 80:0,2          250:0,1,2 100:0,2
50,120,200  50,170,0   370  150:0,1,2 140:1,2 80:2    50:0,1,2 120:1,2 200:2
50,50,50    0,0,0      150  150:0,1,2                 150:0,1,2
60,60,100   120,60,0   220  180:0,1,2 40:2            60:0,1,2 60:0,2 100:2
"""


@pytest.mark.parametrize("row", MAIN_POTS.strip().splitlines()[1:])
def test_the_main_pot_by_layers_and_literally(row: str) -> None:
    """ "the pot currently at the center of the table [...] is treated as the main pot" (T8)."""
    head, rest = row.split()[:3], row.split()[3:]
    paid, tapped, (pot,) = (tuple(map(int, word.split(","))) for word in head)
    hand = _situation(paid, tapped, pot)
    every = tuple(range(len(paid)))
    found = [
        f"{one.amount}:{','.join(map(str, one.seats))}"
        for split in ("side_pots", "snapshot")
        for one in pots(replace(SITE, split=split), hand, every)
    ]
    assert rest == found


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
