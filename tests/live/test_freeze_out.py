"""A URCS freeze-out to the last dollar, hand by hand, dealt in bulk and under a clock."""

from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

from api.main import main
from dealer.deck import SeededDecks
from dealer.live.table import with_site_clock
from dealer.play import hand_records, plan
from engine.audit import audit
from engine.games import named
from events import types as t
from events.evolve import replay
from events.state import Hand
from events.types import Events
from tests.live.stepped import Scene
from tests.profiles import sized
from tests.sessions import Captured, kept, said

URCS = named("urcs-1998")
BOTS = ("caller", "aggressive", "caller", "aggressive")


@pytest.fixture(scope="module")
def run() -> tuple[Events, ...]:
    """A whole freeze-out, decided by its seed."""
    match = plan(URCS, "m", 100_000, "4", BOTS)
    return tuple(hand_records(match, SeededDecks("4")))


def test_one_player_ends_with_all_the_chips(run: tuple[Events, ...]) -> None:
    """ "the game continues until one player has won the money." """
    hands = [replay(record) for record in run]
    assert [4000] == [stack for stack in hands[-1].stacks if stack]
    assert len(hands) < 100_000
    for before, after in pairwise(hands):
        carried = {p: s for p, s in zip(before.start.players, before.stacks, strict=True) if s}
        assert carried == dict(zip(after.start.players, after.start.stacks, strict=True))
    assert {4000} == {sum(hand.stacks) for hand in hands}


def test_the_button_rotates_clockwise_over_who_is_out(run: tuple[Events, ...]) -> None:
    """ "The button rotates clockwise from its initial position." """
    order = [f"{bot}-{chair}" for chair, bot in enumerate(BOTS)]
    starts = [cast(t.HandStarted, record[0]) for record in run]
    assert order[0] == starts[0].players[starts[0].button]
    for before, after in pairwise(starts):
        last = order.index(before.players[before.button])
        clockwise = (*order[last + 1 :], *order[: last + 1])
        assert after.players[after.button] == next(p for p in clockwise if p in after.players)


def test_every_hand_of_it_is_what_the_document_pays(run: tuple[Events, ...]) -> None:
    """Hands are announced, seats tap out, and tied hands share by what each could expect."""
    assert all(audit(URCS, record) is None for record in run)
    shown = [event for record in run for event in record if isinstance(event, t.Announced)]
    assert len(shown) > 500
    weighed = [split for record in run for split in _weighed(record)]
    assert weighed, "no tie in this run had a tapped-out player in it: take another seed"
    for expected, paid in weighed:
        assert len(set(paid)) > 1
        prize, whole = sum(paid), sum(expected)
        assert all(
            abs(share * whole - prize * mine) < whole
            for share, mine in zip(paid, expected, strict=True)
        )


def test_a_freeze_out_under_a_clock_goes_to_the_last_dollar_too() -> None:
    game = with_site_clock(URCS)
    scene = Scene(game, (60, 60, 60), bot="random")
    while scene.table.winner is None:
        assert audit(game, scene.hand()) is None
        assert 180 == sum(one.stack for one in scene.table.seats.table.chairs if one)
    assert not scene.table.ready()


def test_no_number_of_hands_ends_a_freeze_out_before_the_last_dollar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Unless it is given; and where decks of all hands are committed to first, it must be."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", f"{tmp_path}/ledger")
    bots, seed, hands = sized(
        quick=("tight,tight,random", "1", 1539),
        ci=("tight,tight,random", "1", 1539),
        slow=("tight,tight,tight", "7", 13563),
    )
    words = ["play", "urcs-1998", "--seats", "3", "--seed", seed]
    assert 0 == main([*words, "--bots", bots, "--match", "m"])
    assert f"m  urcs-1998  {hands} hands" in capsys.readouterr().out
    ended = kept(tmp_path / "ledger", "m")[-1]
    assert 2000 == max(ended.nets)
    refusal = said(capsys, 2, *words, "--matches", "2", "--dealing", "committed")
    assert "say how many --hands a freeze-out may take" in refusal


def _weighed(record: Events) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pots shared by seats that could expect unlike amounts: what each could, what each got.

    Only the first pot of a hand: those after it are what the first group left (U16).
    """
    hand = replay(record)
    paid = _paid(record)
    found = []
    for event in record:
        if isinstance(event, t.PotSplit) and event.pot == 0 and len(event.seats) > 1:
            expected = tuple(sum(min(other, paid[seat]) for other in paid) for seat in event.seats)
            if len(set(expected)) > 1:
                found.append((expected, event.shares))
    assert hand.over
    return found


def _paid(record: Events) -> tuple[int, ...]:
    """What each seat had put in when the hand was over."""
    hand: Hand = replay(record)
    return hand.paid
