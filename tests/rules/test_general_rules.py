"""The rules of every game as tables: one situation, many readings."""

import pytest
from msgspec.structs import replace

from engine import turn as t
from engine.games import named
from engine.pots import layers, split
from engine.turn import IllegalCommand
from tests.pages import Table, played

STANDARD = named("probability-standard")

ODD_CHIPS = """
pot  unit  policy          3   4   1
92   1     clockwise_each  31  31  30
92   1     dealer          31  31  30
92   1     first_left_all  32  30  30
92   1     first_seat      30  30  32
92   1     dropped         30  30  30
90   1     fractional      30  30  30
190  5     clockwise_each  65  65  60
190  5     first_left_all  70  60  60
93   1     clockwise_each  31  31  31
"""


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()[1:]]


@pytest.mark.parametrize("row", _rows(ODD_CHIPS), ids=" ".join)
def test_every_way_to_give_out_odd_chips_on_one_pot(row: list[str]) -> None:
    """Button 2, tied seats 1, 3, 4: left of the button comes 3, then 4, then 1 (G2)."""
    pot, unit, policy, *shares = row
    game = replace(STANDARD, odd_chips=policy, split_unit=int(unit))
    assert tuple(map(int, shares)) == split(game, int(pot), (3, 4, 1)).shares


FOUR_WAYS = """
unit  policy          1   2   3   4
5     clockwise_each  50  50  45  45
1     clockwise_each  48  48  47  47
1     first_left_all  49  47  47  47
"""


@pytest.mark.parametrize("row", _rows(FOUR_WAYS), ids=" ".join)
def test_a_raked_pot_of_190_cents_four_ways(row: list[str]) -> None:
    """A real PokerStars hand of 2008; its smallest chip was 5 cents (G1)."""
    unit, policy, *shares = row
    game = replace(STANDARD, odd_chips=policy, split_unit=int(unit))
    assert tuple(map(int, shares)) == split(game, 190, (1, 2, 3, 4)).shares


def test_heads_up_the_odd_chip_is_not_the_buttons() -> None:
    """`non_dealer` is what the MIT floor division does, and `clockwise_each` for two (G2)."""
    for policy in ("non_dealer", "clockwise_each"):
        game = replace(STANDARD, odd_chips=policy)
        assert (104, 103) == split(game, 207, (1, 0)).shares


def test_half_chips_are_whole_chips_of_a_smaller_unit() -> None:
    """A split that no declared unit makes integral is refused (G1)."""
    acpc = replace(STANDARD, odd_chips="fractional")
    assert (207, 207) == split(acpc, 2 * 207, (1, 0)).shares
    with pytest.raises(IllegalCommand, match="declare a smaller unit"):
        split(acpc, 207, (1, 0))


LAYERS = """
paid            in       pots
50,120,120,80   0,1,2    200:0,1,2  170:1,2
50,50,50,50     0,1,2,3  200:0,1,2,3
10,0,30,30      0,2,3    30:0,2,3   40:2,3
49,5,49,25,24   0,2,4    101:0,2,4  51:0,2
0,10,10,10      1,2,3    30:1,2,3
"""


@pytest.mark.parametrize("row", _rows(LAYERS), ids=" ".join)
def test_layers(row: list[str]) -> None:
    """For every level of a seat that has not folded, what all seats put in up to it (G5).

    Pots with the same eligible seats are one pot (G3), and every layer has an eligible seat.
    """
    paid, stay, *pots = row
    expected = [(int(pot.split(":")[0]), _seats(pot.split(":")[1])) for pot in pots]
    assert expected == [tuple(pot) for pot in layers(_seats(paid), _seats(stay))]


def _seats(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


SITUATIONS = {
    "100, called, all-in 150: seat yet to act": """
probability-standard, button 0, stacks 1000 1000 1000 160
> 3 calls; 0 calls; 1 calls; 2 checks
> 1 bets 100; 2 calls; 3 raises to 150""",
    "100, called, all-in 150: the bettor": """
probability-standard, button 0, stacks 1000 1000 1000 160
> 3 calls; 0 calls; 1 calls; 2 checks
> 1 bets 100; 2 calls; 3 raises to 150; 0 calls""",
    "500, 1000, called, all-in 1300, all-in 1700, called: the raiser": """
probability-standard, button 0, stacks 1710 9000 9000 9000 1310
> 3 calls; 4 calls; 0 calls; 1 calls; 2 checks
> 1 bets 500; 2 raises to 1000; 3 calls; 4 raises to 1300; 0 raises to 1700; 1 calls""",
    "500, 1000, called, all-in 1300, all-in 1700, called: the caller": """
probability-standard, button 0, stacks 1710 9000 9000 9000 1310
> 3 calls; 4 calls; 0 calls; 1 calls; 2 checks
> 1 bets 500; 2 raises to 1000; 3 calls; 4 raises to 1300; 0 raises to 1700; 1 calls; 2 calls""",
    "limit 20, all-in 15: next": """
probability-standard, button 0, stacks 1000 35 1000, blinds 10/20
with sizing=fixed
> 0 calls; 1 calls; 2 checks; 1 bets 15""",
    "limit 20, all-in 8: next": """
probability-standard, button 0, stacks 1000 28 1000, blinds 10/20
with sizing=fixed
> 0 calls; 1 calls; 2 checks; 1 bets 8""",
    "limit 20, bet, all-in 25: next": """
probability-standard, button 0, stacks 1000 1000 45, blinds 10/20
with sizing=fixed
> 0 calls; 1 calls; 2 checks; 1 bets 20; 2 raises to 25""",
    "limit 20, bet, all-in 25: the bettor": """
probability-standard, button 0, stacks 1000 1000 45, blinds 10/20
with sizing=fixed
> 0 calls; 1 calls; 2 checks; 1 bets 20; 2 raises to 25; 0 calls""",
    "limit 20, bet, all-in 32: next": """
probability-standard, button 0, stacks 1000 1000 52, blinds 10/20
with sizing=fixed
> 0 calls; 1 calls; 2 checks; 1 bets 20; 2 raises to 32""",
    "limit 20, bet, all-in 32: the bettor": """
probability-standard, button 0, stacks 1000 1000 52, blinds 10/20
with sizing=fixed
> 0 calls; 1 calls; 2 checks; 1 bets 20; 2 raises to 32; 0 calls""",
}

# The smallest total that the seat may raise to, `-` where it may not raise.
REOPENING = """
                                                                 sum   full_raise  always  half_bet
100, called, all-in 150: seat yet to act                         250   250         250     250
100, called, all-in 150: the bettor                              -     -           250     -
500, 1000, called, all-in 1300, all-in 1700, called: the raiser  2200  -           2200    2200
500, 1000, called, all-in 1300, all-in 1700, called: the caller  2200  -           2200    2200
limit 20, all-in 15: next                                        20    20          20      35
limit 20, all-in 8: next                                         20    20          20      20
limit 20, bet, all-in 25: next                                   40    40          40      40
limit 20, bet, all-in 25: the bettor                             -     -           40      -
limit 20, bet, all-in 32: next                                   40    40          40      52
limit 20, bet, all-in 32: the bettor                             -     -           40      52
"""


def _cells() -> list[tuple[str, str, str]]:
    head, *lines = REOPENING.strip("\n").splitlines()
    cells = []
    for line in lines:
        situation, *values = [part.strip() for part in line.rsplit(maxsplit=4)]
        cells += [(situation, *cell) for cell in zip(head.split(), values, strict=True)]
    return cells


@pytest.mark.parametrize(("situation", "reopen", "raise_to"), _cells())
def test_when_a_short_all_in_reopens_the_betting(
    situation: str, reopen: str, raise_to: str
) -> None:
    """Four readings of three examples (G9)."""
    table = played(_with(SITUATIONS[situation], f"reopen={reopen}"))
    assert raise_to == _raise_min(table)


MIN_RAISE = """
situation                                  current_plus_last_full  last_full_total
blinds 1/2, raise to 22, all-in 30         50                      42
bet 100, all-in 150                        250                     200
bet 100, all-in 140                        240                     200
"""
SHORT = {
    "blinds 1/2, raise to 22, all-in 30": """
probability-standard, button 0, stacks 30 1000 1000 1000, blinds 1/2
> 3 raises to 22; 0 raises to 30""",
    "bet 100, all-in 150": """
probability-standard, button 0, stacks 1000 1000 160
> 0 calls; 1 calls; 2 checks; 1 bets 100; 2 raises to 150""",
    "bet 100, all-in 140": """
probability-standard, button 0, stacks 1000 1000 150
> 0 calls; 1 calls; 2 checks; 1 bets 100; 2 raises to 140""",
}


@pytest.mark.parametrize("line", MIN_RAISE.strip().splitlines()[1:])
def test_the_smallest_raise_after_a_short_all_in(line: str) -> None:
    """On top of the all-in (WSOP-L 172), or of the last full bet, as ACPC does (G10)."""
    situation, current, last_full = [part.strip() for part in line.rsplit(maxsplit=2)]
    for policy, expected in (("current_plus_last_full", current), ("last_full_total", last_full)):
        table = played(_with(SHORT[situation], f"min_raise_after_short={policy}"))
        assert expected == _raise_min(table)


SHORT_OPEN = """
probability-standard, button 0, stacks 1000 1000 16
> 0 calls; 1 calls; 2 checks; 1 checks; 2 bets 6"""


@pytest.mark.parametrize(("policy", "checker"), [("no", "-"), ("yes", "16")])
def test_a_checker_facing_a_short_opening_all_in(policy: str, checker: str) -> None:
    """WSOP-L 171: it does not face a full-size wager; others may raise either way (G11)."""
    yet_to_act = _with(SHORT_OPEN, f"short_open_reopens={policy}")
    assert "16" == _raise_min(played(yet_to_act))
    assert checker == _raise_min(played(yet_to_act + "; 0 calls"))


def _with(text: str, policy: str) -> str:
    first, rest = text.strip().split("\n", 1)
    return f"{first}\nwith {policy}\n{rest}"


def _raise_min(table: Table) -> str:
    asked = table.asked()
    assert isinstance(asked, t.ToAct)
    return "-" if asked.raise_min is None else str(asked.raise_min)
