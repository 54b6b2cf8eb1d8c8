"""The batch audit's side pots, odd chips and rake, in columns, are those of the engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.batch_audit.pots import SidePots, layered_pots, pot_shares, rake_of_pots
from engine.games import GAMES
from engine.policies import OddChips, Policies, Rake, Rounding
from engine.pots import layers as engine_layers
from engine.pots import split
from engine.settle import rakes
from events.state import opened
from events.types import HandStarted

chips = st.integers(0, 400)
tables = st.lists(chips, min_size=2, max_size=9).flatmap(
    lambda paid: st.tuples(
        st.just(paid), st.sets(st.integers(0, len(paid) - 1), min_size=2, max_size=len(paid))
    )
)


@given(some=st.lists(tables, min_size=1, max_size=4))
def test_layers_are_the_engines(some: list[tuple[list[int], set[int]]]) -> None:
    for paid, claims in some:
        column = np.array(paid, dtype=np.int32)[:, None]
        bits = np.array([sum(1 << seat for seat in claims)])
        found = layered_pots(column, np.zeros(1, dtype=np.int32), bits)
        mine = [
            (int(pot.amount[0]), tuple(s for s in range(len(paid)) if pot.seats[0] >> s & 1))
            for pot in found
            if pot.amount[0]
        ]
        told = [tuple(pot) for pot in engine_layers(tuple(paid), tuple(sorted(claims)))]
        assert told == mine


@given(paid=st.lists(chips, min_size=2, max_size=6), dead=chips)
def test_no_chip_is_made_or_lost_between_layers(paid: list[int], dead: int) -> None:
    column = np.array(paid, dtype=np.int32)[:, None]
    everybody = np.array([(1 << len(paid)) - 1])
    found = layered_pots(column, np.array([dead], dtype=np.int32), everybody)
    assert sum(paid) + dead == sum(int(pot.amount[0]) for pot in found)


@pytest.mark.parametrize("policy", ["clockwise_each", "non_dealer", "first_left_all"])
@given(
    pot=st.integers(1, 10_000),
    unit=st.sampled_from((1, 5, 25)),
    wins=st.sets(st.integers(0, 5), min_size=1),
    button=st.integers(0, 5),
)
def test_odd_chips_are_the_engines(
    policy: OddChips, pot: int, unit: int, wins: set[int], button: int
) -> None:
    game = Policies(odd_chips=policy, split_unit=unit)
    values = np.array([[int(seat in wins)] for seat in range(6)])
    layer = SidePots(np.array([pot]), np.array([63]), np.array([0]))
    (paid,) = pot_shares(game, [layer], None, values, np.array([button]))
    order = tuple(seat for seat in ((button + 1 + k) % 6 for k in range(6)) if seat in wins)
    won = paid.wins[:, 0]
    assert order == tuple(paid.seats[won, 0].tolist())
    if len(wins) > 1:
        assert split(game, pot, order).shares == tuple(paid.shares[won, 0].tolist())
    else:
        assert [pot] == paid.shares[won, 0].tolist()


@pytest.mark.parametrize("rounding", ["half_even", "floor", "ceil", "incremental"])
@given(pots=st.lists(st.integers(1, 9_999), min_size=1, max_size=4), seats=st.integers(2, 6))
def test_the_cut_is_the_engines(rounding: Rounding, pots: list[int], seats: int) -> None:
    rule = Rake(
        percent=5, rounding=rounding, caps_by_players=((2, 50), (3, 300)), no_flop_no_drop=False
    )
    start = HandStarted("m/0", "g", "r", 0, ("a",) * seats, (100,) * seats)
    told = rakes(Policies(rake=rule), opened(start), tuple(pots))
    some = [SidePots(np.array([pot]), np.array([1]), np.array([0])) for pot in pots]
    mine = rake_of_pots(rule, some, seats, np.ones(1, dtype=bool))
    assert told == tuple(int(cut[0]) for cut in mine)


def test_the_games_here_are_those_that_are_split_so() -> None:
    """`dealer` leaves an odd chip to a record (U18): such games are for the engine."""
    assert {"clockwise_each", "first_left_all", "dealer"} == {g.odd_chips for g in GAMES.values()}
