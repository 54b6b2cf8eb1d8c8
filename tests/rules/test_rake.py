"""The house's cut: rate, rounding, caps, several pots, and what a raked hand pays (R1 to R6)."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.games import named
from engine.policies import Rake
from engine.settle import awards, rakes
from events.state import Hand
from tests.pages import played

SITE = named("site-nl")


def _hand(players: int = 6) -> Hand:
    """A hand that has seen the flop."""
    folds = "".join(f"{seat} folds; " for seat in range(3, players))
    first = f"> {folds}0 calls; 1 calls; 2 checks"
    stacks = " ".join(["9000"] * players)
    return played(f"site-nl, button 0, stacks {stacks}\n{first}").hand


def _rake(pots: tuple[int, ...], hand: Hand, pots_by: str = "outwards", **rule: Any) -> list[int]:
    game = replace(SITE, rake=Rake(**rule), rake_pots=pots_by)
    return list(rakes(game, hand, pots))


RATES = """
pot  half_even  floor  ceil  incremental
190  10         9      10    5
199  10         9      10    5
200  10         10     10    10
210  10         10     11    10
230  12         11     12    10
"""


@pytest.mark.parametrize("row", RATES.strip().splitlines()[1:])
def test_the_rate_and_its_rounding(row: str) -> None:
    """5 %: 9.5, 9.95, 10, 10.5 and 11.5; or 5 for every full 100 (R1)."""
    pot, *taken = map(int, row.split())
    ways = RATES.split("\n")[1].split()[1:]
    hand = _hand()
    found = [_rake((pot,), hand, percent=5, rounding=way)[0] for way in ways]
    assert taken == found


def test_a_rate_may_be_a_part_of_any_whole() -> None:
    """Never a float: 4.5 % is 45 of 1000."""
    assert [9] == _rake((200,), _hand(), percent=45, of=1000)


@pytest.mark.parametrize(
    ("players", "taken"), [(2, 50), (3, 100), (4, 100), (5, 300), (6, 300), (9, 300)]
)
def test_the_cap_goes_by_players_dealt_in(players: int, taken: int) -> None:
    """Pot 8,000, 5 % is 400; of those who folded before the flop each counts (R2)."""
    caps = ((2, 50), (3, 100), (5, 300))
    if players == 2:
        hand = played("site-nl, button 0, stacks 9000 9000\n> 0 calls; 1 checks").hand
    else:
        hand = _hand(players)
    assert [taken] == _rake((8000,), hand, percent=5, caps_by_players=caps)


def test_no_flop_no_drop() -> None:
    """A preflop raise to 30 and all fold: nothing is taken of the 45 (R3)."""
    before = played("site-nl, button 0, stacks 1000 1000 1000\n> 0 raises to 30").hand
    assert 45 == before.pot
    assert [0] == _rake((45,), before, percent=5)
    assert [2] == _rake((45,), before, percent=5, no_flop_no_drop=False)


POTS = """
entry  scope  by            cap  300  400
R5     hand   outwards      25   15   10
R5     hand   proportional  25   11   14
R5     hand   outwards      10   10   0
R5     hand   proportional  10   4    6
R4     pot    outwards      10   10   10
R4     hand   outwards      10   10   0
"""


@pytest.mark.parametrize("row", POTS.strip().splitlines()[1:])
def test_who_bears_the_rake_of_several_pots(row: str) -> None:
    """Main pot 300, side pot 400, 5 %: one cap for the hand (R5), or one for each pot (R4)."""
    _, scope, by, cap, *taken = row.split()
    rule = {"percent": 5, "scope": scope, "caps_by_players": ((2, int(cap)),)}
    assert list(map(int, taken)) == _rake((300, 400), _hand(), by, **rule)


def test_outwards_the_pots_bear_what_the_rule_takes_of_their_sum() -> None:
    """However many there are, and whatever is lost by rounding (R5)."""
    for count in range(1, 8):
        pots = (19,) * count
        assert _rake((19 * count,), _hand(), percent=5) == [sum(_rake(pots, _hand(), percent=5))]


def test_no_rule_no_rake() -> None:
    """ "The rules set are:" and the list is missing: the default is none."""
    assert SITE.rake is None
    assert (0, 0) == rakes(SITE, _hand(), (300, 400))


def test_the_base_is_the_pot_without_what_went_back() -> None:
    """A bet that nobody matched is no part of the pot that pays (R1, G4)."""
    table = played(
        """
site-nl, button 0, stacks 1000 110
with rake={"percent":5}
deal 0: As Ah, 1: Ks Kh, board: 2c 3d 7h 8s Jd
> 0 calls; 1 checks; 1 checks; 0 bets 500; 1 calls
0 takes back 400
> 1 mucks
rake 11 from pot 0
pot 0: 209 to 0"""
    )
    assert 11 == table.hand.rake


def test_nothing_is_lost_between_rake_and_split() -> None:
    """Collected and rake add up to the pot, and odd chips are those of what is left (R6)."""
    table = played(
        """
site-nl, button 0, stacks 1000 1000 1000
with rake={"percent":5,"rounding":"floor"}
deal board: Ts Js Qs Ks As
> 0 raises to 31; 1 calls; 2 calls
> 1 checks; 2 checks; 0 checks; 1 checks; 2 checks; 0 checks; 1 checks; 2 checks; 0 checks
rake 4 from pot 0
pot 0: 30 to 1, 30 to 2, 29 to 0"""
    )
    assert 3000 == sum(table.hand.stacks) + table.hand.rake


def test_the_partner_reads_the_rules_and_takes_the_same_rake() -> None:
    """A rake is a parameter of the table: it alone makes no hand contested."""
    played(
        """
site-nl, button 0, stacks 1000 1000 1000
with rake={"percent":5}
deal 0: As Ah, 1: Ks Kh, board: 2c 3d 7h 8s Jd
> 0 raises to 50; 1 calls; 2 folds; 1 checks; 0 checks; 1 checks; 0 checks; 1 checks; 0 checks
rake 6 from pot 0
verdict: agree"""
    )


def test_awards_name_the_rake_of_each_pot() -> None:
    table = played(
        """
site-nl, button 0, stacks 100 1000 1000
with rake={"percent":5}
deal 0: As Ah, 1: Ks Kh, 2: Qs Qh, board: 2c 3d 7h 8s Jd
> 0 raises to 100; 1 calls; 2 calls; 1 bets 200; 2 calls
> 1 checks; 2 checks; 1 checks; 2 checks"""
    )
    taken, paid = awards(table.game, table.hand)
    assert ((15, 20), (285, 380)) == (taken, tuple(award.amount for award in paid))
