"""URCS: arithmetic of forced bets and of shares, and what a dealer may do with odd dollars."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import assume, given, strategies
from msgspec.structs import replace

from engine.audit import audit
from engine.game import fingerprint
from engine.games import named
from engine.games.urcs_1998 import urcs
from engine.hand import begin
from engine.pots import Award, divided, expectations, layers
from engine.settle import by_expectation
from engine.steps import Antes, Betting, Blind, Straddle
from engine.turn import IllegalCommand
from engine.verdict import judge
from events.types import Event, Events, PotSplit
from tests.pages import played

URCS = named("urcs-1998")


@pytest.mark.parametrize(("ante", "pot"), [(None, 8), (2, 8), (5, 20)])
def test_the_pot_after_four_antes(ante: int | None, pot: int) -> None:
    """ "Low betting limit: $10 (implies: ante=$2, blind=$5, straddle=$10)": 2 stated, 5 by the
    formula "one-half of the low betting limit" (U1)."""
    names = ("ann", "bob", "cid", "dot")
    _, hand = begin(urcs(10, 20, ante), "h/1", 0, names, (1000,) * 4)
    assert pot == hand.pot


LIMITS = """
low  ante  blind  straddle
2    1     1      2
3    1     1      3
5    2     2      5
10   2     5      10
11   5     5      11
15   7     7      15
"""


@pytest.mark.parametrize("row", LIMITS.strip().splitlines()[1:])
def test_forced_bets_follow_from_the_low_limit(row: str) -> None:
    """ "We will round down to the nearest whole dollar (but not less than one dollar)." (U23)"""
    low, ante, blind, straddle = map(int, row.split())
    game = urcs(low, 2 * low)
    assert (Antes(ante), Blind(blind), Straddle(straddle)) == (game.script[0], *game.script[2:4])


def test_without_arguments_it_is_the_document_s_game() -> None:
    """ "Low betting limit: $10 (implies: ante=$2, blind=$5, straddle=$10)", "High betting limit:
    $20": nothing was changed, so nothing is different."""
    assert URCS == urcs()
    assert fingerprint(URCS) == fingerprint(urcs())
    assert (Antes(2), Blind(5), Straddle(10)) == (urcs().script[0], *urcs().script[2:4])


def test_the_presets_are_the_default_parameters() -> None:
    """ "Initial buyin: $1000", "Maximum number of raises per round, all players: 3"."""
    assert (1000, 3, True, "announced") == (
        URCS.stack,
        URCS.raise_cap,
        URCS.check_raise,
        URCS.announce,
    )
    assert urcs(10, 20, 2) == URCS
    assert [10, 10, 20, 20] == [step.size for step in URCS.script if isinstance(step, Betting)]


def test_every_parameter_can_be_changed() -> None:
    """ "All of these parameters (betting limits, number of raises, initial buyin, etc.) should be
    configurable at runtime."; other rules have another fingerprint."""
    other = urcs(4, 8, 1, raise_cap=5, stack=300, check_raise=False, announce="cards_speak")
    assert (5, 300, False) == (other.raise_cap, other.stack, other.check_raise)
    assert fingerprint(URCS) != fingerprint(other)


@pytest.mark.parametrize(
    ("low", "high", "why"),
    [
        (1, 2, "the low limit is at least 2, not 1: half of it is the blind"),
        (10, 5, "the high limit is at least the low one of 10, not 5"),
    ],
)
def test_limits_that_make_no_game_are_refused(low: int, high: int, why: str) -> None:
    with pytest.raises(IllegalCommand, match=f"^{why}$"):
        urcs(low, high)


# Exact shares are the prize times E_i / E; then floors, and the odd dollars in the order of seats.
SHARES = """
entry  paid             prize  seats  E        shares
U12    35,40,40         115    0,1    105,115  55,60
U14    100,200,200      500    0,1    300,500  188,312
U14    200,100,200      500    0,1    500,300  313,187
U14    62,62,25         149    0,2    149,75   100,49
U15    100,100,200,200  400    0,1    400,400  200,200
U15    50,100,200,200   350    0,1    200,350  128,222
U16    50,150,150       350    0,1    150,350  105,245
U17    25,25            50     0,1    50,50    25,25
U17    25,40            65     0,1    50,65    29,36
"""


@pytest.mark.parametrize("row", SHARES.strip().splitlines()[1:])
def test_shares_by_expectation(row: str) -> None:
    """ "Then, for each tied player Pi, their share of the pot is Ei / E." """
    _, paid, prize, seats, weights, shares = row.split()
    expected = expectations(_numbers(paid), _numbers(seats))
    assert _numbers(weights) == expected
    assert _numbers(shares) == divided(URCS, int(prize), _numbers(seats), expected).shares


def test_the_other_weights_of_the_second_group() -> None:
    """By all they had put in: 136.11 and 213.89 instead of 105 and 245 (U16, `original`)."""
    weights = expectations((50, 100, 200, 200), (1, 2))
    assert (350, 550) == weights
    assert (137, 213) == divided(URCS, 350, (1, 2), weights).shares


def test_an_expectation_is_all_layers_up_to_ones_own() -> None:
    """One arithmetic serves both: E_i is the sum of min(paid_j, paid_i), as side pots are."""
    paid = (13, 40, 7, 40, 25)
    for seat in range(5):
        below = (pot.amount for pot in layers(paid, tuple(range(5))) if seat in pot.seats)
        assert (sum(below),) == expectations(paid, (seat,))


def test_who_has_not_tapped_out_expects_the_whole_pot() -> None:
    """ "For a non-tapped-out player, this is the total amount of the pot." """
    assert (149, 149) == expectations((25, 62, 62), (1, 2))


ODD_DOLLARS = """
34 33 33  agrees
33 34 33  agrees
33 33 34  agrees
35 33 32  differs
34 34 32  differs
100 0 0   differs
34 34 33  differs
"""


@pytest.mark.parametrize("row", ODD_DOLLARS.strip().splitlines())
def test_the_dealer_may_assign_odd_dollars_to_any_winner(row: str) -> None:
    """ "odd amounts will be assigned by the dealer": floor or ceiling of the exact share (U18)."""
    *shares, verdict = row.split()
    award = Award(100, (0, 1, 2), (1, 1, 1), (34, 33, 33))
    assert (verdict == "agrees") == award.allows((0, 1, 2), tuple(map(int, shares)))


HUNDRED = """
urcs-1998, button 3, stacks 1000 1000 1000 1000, limits 10/20/5
deal 0: Ks Ac, 1: Kh Ah, 2: Kc Ad, 3: 6s 6h, board: 2c 3d 7h Ts Kd
> 0 straddles; 1 calls; 2 calls; 3 calls; 0 straddles; 1 calls; 2 calls; 3 calls
> 3 checks; 0 checks; 1 checks; 2 checks; 3 checks; 0 checks; 1 checks; 2 checks
> 3 announces 6s 6h Kd Ts 7h; 0 announces Ks Kd Ac Ts 7h; 1 announces Kh Kd Ah Ts 7h
> 2 announces Kc Kd Ad Ts 7h
pot 0: 34 to 0, 33 to 1, 33 to 2
"""


def test_a_record_may_give_the_odd_dollar_to_whom_it_likes() -> None:
    """Any arrangement of 34/33/33 agrees; 35/33/32 differs (U18)."""
    table = played(HUNDRED)
    record = tuple(table.events)
    for shares in set(permutations((34, 33, 33))):
        assert "agree" == judge(table.game, _paid(record, shares)).verdict
    assert "differ" == judge(table.game, _paid(record, (35, 33, 32))).verdict


def test_elsewhere_the_odd_dollar_has_one_place() -> None:
    """`clockwise_each` is left of the button, and nothing else (U18, partner)."""
    elsewhere = "\nwith odd_chips=clockwise_each\ndeal"
    table = played(HUNDRED.replace("\ndeal", elsewhere))
    record = tuple(table.events)
    assert audit(table.game, record) is None
    assert audit(table.game, _paid(record, (33, 34, 33))) is not None


def test_the_announcement_and_the_cards_are_both_on_record() -> None:
    """So every audit can compute both values (U19)."""
    table = played(
        """
urcs-1998, button 0, stacks 1000 1000
deal 0: Kd 9d, 1: Ac 9h, board: Kh 9s 4d 9c 2h
> 1 straddles; 0 calls; 1 straddles; 0 calls; 0 checks; 1 checks; 0 checks; 1 checks
> 0 announces Kd Kh 9d 9s 4d; 1 announces 9h 9s 9c Ac Kh"""
    )
    assert ((0, ("Kd", "Kh", "9d", "9s", "4d")), (1, ("9h", "9s", "9c", "Ac", "Kh"))) == (
        table.hand.showing.announced
    )
    speaking = replace(table.game, announce="cards_speak")
    readings = judge(table.game, tuple(table.events), speaking).readings
    assert {"U19": (22, -22), "partner": (22, -22)} == {one.entry: one.nets for one in readings}


situations = strategies.lists(
    strategies.tuples(
        strategies.sampled_from((1, 2, 7, 25, 40, 62, 100, 200)),  # paid
        strategies.integers(0, 3),  # how strong; 0 has folded
    ),
    min_size=2,
    max_size=7,
)


@given(situations)
def test_every_dollar_is_paid_and_no_share_is_a_dollar_off(seats: list[tuple[int, int]]) -> None:
    """Group after group shares what its best stake covers of what is left (U13 to U16), here once
    more in exact fractions."""
    stay = tuple(seat for seat, (_, strong) in enumerate(seats) if strong)
    assume(len(stay) > 1)
    most = max(seats[seat][0] for seat in stay)
    paid = tuple(min(put_in, most) for put_in, _ in seats)
    start = played(f"urcs-1998, button 0, stacks {' '.join(['1000'] * len(seats))}").hand
    hand = replace(start, paid=paid, pot=sum(paid))
    strengths = {seat: (1, seats[seat][1]) for seat in stay}
    found = dict.fromkeys(stay, 0)
    for award in by_expectation(URCS, hand, strengths, stay):
        for seat, share in zip(award.seats, award.shares, strict=True):
            found[seat] += share
    assert sum(paid) == sum(found.values())
    for seat, exact in _exact(paid, strengths).items():
        assert abs(found[seat] - exact) < 1


def _exact(paid: tuple[int, ...], strengths: dict[int, tuple[int, int]]) -> dict[int, Fraction]:
    left = list(paid)
    shares: dict[int, Fraction] = {}
    for strength in sorted(set(strengths.values()), reverse=True):
        group = [seat for seat in strengths if strengths[seat] == strength]
        expected = {seat: sum(min(one, left[seat]) for one in left) for seat in group}
        prize, whole = max(expected.values()), sum(expected.values())
        shares |= {seat: Fraction(prize * expected[seat], whole or 1) for seat in group}
        covered = max(left[seat] for seat in group)
        left = [max(one - covered, 0) for one in left]
    return shares


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _paid(record: Events, shares: tuple[int, ...]) -> Events:
    """The record with its one pot paid in other shares."""
    return tuple(_reshared(event, shares) for event in record)


def _reshared(event: Event, shares: tuple[int, ...]) -> Event:
    return replace(event, shares=shares) if isinstance(event, PotSplit) else event
