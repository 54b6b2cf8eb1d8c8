"""Clocks of a site table: deadlines in milliseconds, and what they make of a hand (C1 to C6)."""

import pytest
from msgspec.structs import replace

from dealer.live.clock import (
    TurnClock,
    disconnected,
    is_late,
    new_turn,
    reconnected,
)
from engine.games import GAMES, named
from engine.policies import Policies
from tests.pages import played

SITE = named("site-nl")


def _turn(game: Policies, *drops: tuple[int, int]) -> TurnClock:
    """A turn that began at 0, with connections lost and found again at these seconds."""
    clock = new_turn(0)
    for _, back in drops:
        clock = reconnected(game, disconnected(clock), 1000 * back)
    return clock


def test_a_turn_is_ten_silent_seconds_and_a_countdown_of_twenty() -> None:
    """ "Initially the player is given 10 seconds, after which there is a timer countdown, which is
    displayed on the table for 20 seconds." """
    clock = new_turn(5_000)
    assert 35_000 == clock.deadline
    assert not is_late(clock, 35_000)
    assert is_late(clock, 35_001)


@pytest.mark.parametrize(("reconnect", "deadline"), [("add", 50), ("reset", 47)])
def test_who_comes_back_is_given_twenty_seconds_more(reconnect: str, deadline: int) -> None:
    """Gone at 12, back at 27: 27 + 3 + 20 = 50, or 27 + 20 (C4)."""
    game = replace(SITE, reconnect=reconnect)
    assert 1000 * deadline == _turn(game, (12, 27)).deadline


@pytest.mark.parametrize(("extensions", "deadline"), [("once", 50), ("every", 70)])
def test_a_second_drop_in_the_same_turn(extensions: str, deadline: int) -> None:
    """Gains nothing; or twenty seconds again (C4)."""
    game = replace(SITE, extensions=extensions)
    assert 1000 * deadline == _turn(game, (12, 27), (30, 40)).deadline


def test_every_reset_begins_anew() -> None:
    """Both other readings together: back at 27 and at 40 (C4)."""
    game = replace(SITE, reconnect="reset", extensions="every")
    assert 60_000 == _turn(game, (12, 27), (30, 40)).deadline


def test_who_comes_back_too_late_has_no_time_left() -> None:
    """ "But if the player is not able to connect back to the table before the time elapses, then
    the player goes All-in." """
    clock = _turn(SITE, (12, 31))
    assert 30_000 == clock.deadline
    assert is_late(clock, 31_000)


def test_the_next_turn_has_its_own_extension() -> None:
    """Once per turn (C4)."""
    assert new_turn(0) == TurnClock(30_000)
    assert not new_turn(60_000).extended


def test_a_clock_of_somebody_who_never_left_is_not_extended() -> None:
    assert new_turn(0) == reconnected(SITE, new_turn(0), 5_000)


def test_a_lost_connection_does_not_stop_the_clock() -> None:
    """ "he has some seconds left for his turn": they run on."""
    assert 30_000 == disconnected(new_turn(0)).deadline


STANDING = """
site-nl, button 0, stacks 1000 1000 510
> 0 calls; 1 calls; 2 checks; 1 bets 30; 2 is out of time; 0 calls
"""


def test_out_of_time_is_standing_all_in_with_chips_behind() -> None:
    """Standing is a fact, not an empty stack; the seat is asked no more (C1)."""
    hand = played(STANDING).hand
    assert ("live", "live", "all_in") == hand.standing
    assert 500 == hand.stacks[2]
    assert hand.round is not None
    assert 1 == hand.round.next


CLOCKS = {"all_in_if_paid", "fold_or_check"}


@pytest.mark.parametrize("name", [name for name in GAMES if GAMES[name].time_out not in CLOCKS])
def test_games_without_a_clock(name: str) -> None:
    """URCS, Probability (C6) and the games of programs, whose faults are defaults (C5, A8)."""
    stacks = f"{name}, button 0, stacks 200 200"
    before = "\n> 1 straddles" if name == "urcs-1998" else ""
    why = "seat 0 cannot run out of time: this ruleset has no clock"
    played(f"{stacks}{before}\n> 0 is out of time\nrefused: {why}")
