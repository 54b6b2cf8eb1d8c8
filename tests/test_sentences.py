"""Every kind of event as a sentence: names, chips and cards, and nothing that is hidden."""

from typing import get_args

import pytest

from engine.game import Game
from events import sentences as it
from events import types as t
from events.sentences import Fragment, text
from tests.hands import seeded, some_games

START = t.HandStarted("m/1", "g", "f" * 16, 0, ("Ann", "Bill"), (100, 100))
SAID: list[tuple[t.Event, str]] = [
    (START, "Ann has 100, Bill has 100; the button is Ann"),
    (t.StepEntered(0, "hole"), "hole cards"),
    (t.StepEntered(0, "auction"), "auction"),
    (t.AntePosted(1, 2), "Bill antes 2"),
    (t.BlindPosted(0, 1, 1, "small"), "Ann posts the small blind of 1"),
    (t.BlindPosted(1, 100, 2, "big"), "Bill posts the big blind of 100, all-in"),
    (t.BlindPosted(1, 4, 4, "straddle", "chosen"), "Bill straddles to 4"),
    (t.HoleDealt(1, ("As", "Kd")), "Bill is dealt As Kd"),
    (t.BoardDealt(("2c", "3c", "4c")), "flop 2c 3c 4c"),
    (t.CardSwapped(0, 0, "As", "Kd"), "Ann risks As and gets Kd"),
    (t.CardSwapped(0, 0, "As", "As"), "Ann risks As and keeps it"),
    (t.BountyDrawn(1, "T"), "Bill has the bounty T"),
    (t.BettingOpened(1, "preflop", 2, 2, 0), "preflop betting, 2 to match"),
    (t.Folded(0, None), "Ann folds"),
    (t.Folded(0, None, "default"), "Ann folds (default)"),
    (t.Checked(0, None), "Ann checks"),
    (t.Called(0, 100, None), "Ann calls 100, all-in"),
    (t.Bet(1, 7, True, None), "Bill bets 7"),
    (t.Raised(1, 7, 9, False, None), "Bill raises to 9, less than a full raise"),
    (t.BidPlaced(1, 7, True), "Bill bids 7"),
    (t.Tossed(1, 2, ("3d",)), "Bill tosses 3d"),
    (t.Tossed(1, 2, ("3d",), "recorded"), "Bill tosses 3d (recorded)"),
    (t.AuctionSettled((1,), 3, (), True), "Bill wins the auction and pays 3"),
    (
        t.AuctionSettled((0, 1), 3, (3, 3), False),
        "Ann and Bill win the auction and each pay 3 (bid 3, bid 3), open bids",
    ),
    (t.AuctionSettled((), 0, (), True), "nobody wins the auction"),
    (t.UncalledReturned(0, 5), "Ann takes back 5"),
    (t.Announced(0, ("As", "Kd")), "Ann announces As Kd"),
    (t.Shown(0, ("As", "Kd")), "Ann shows As Kd"),
    (t.Mucked(0), "Ann mucks"),
    (t.RakeTaken(0, 2), "the house takes 2 from the pot"),
    (t.PotSplit(0, (1, 0), (5, 4)), "Bill wins 5, Ann wins 4 from the pot"),
    (t.PotSplit(1, (1,), (5,)), "Bill wins 5 from side pot 1"),
    (t.PotSplit(0, (7,), (5,)), "seat 7 wins 5 from the pot"),
    (t.BountySettled(0, 1, True, 13), "Ann hits the bounty and gets 13 from Bill"),
    (t.BountySettled(0, 1, False, 0), "Ann misses the bounty"),
    (t.Claimed((-5, 4), 1), "the source claims that Ann loses 5, Bill wins 4, and the house 1"),
    (t.HandVoided("a spill"), "hand void, a spill"),
    (t.HandEnded(), "hand over"),
    (t.TimedOut(1, True, None), "Bill is out of time and all-in"),
    (t.Disconnected(1), "Bill disconnects"),
    (t.Reconnected(1), "Bill reconnects"),
    (t.Faulted(1, 'R"', "malformed", "action"), r'Bill replies "R\"", malformed as action'),
]


@pytest.mark.parametrize(("event", "said"), SAID, ids=[said for _, said in SAID])
def test_an_event_is_a_sentence(event: t.Event, said: str) -> None:
    assert said == text(it.of_event((START,), 0 if event is START else 1, event))


def test_every_kind_of_event_has_one() -> None:
    assert {type(event) for event, _ in SAID} == set(get_args(t.Event))


def test_bids_are_told_with_who_placed_them() -> None:
    record = (
        START,
        t.BidPlaced(1, 9, True),
        t.BidPlaced(0, 7, True),
        t.AuctionSettled((1,), 7, (9, 7), True),
    )
    assert "Bill wins the auction and pays 7 (Bill bid 9, Ann bid 7)" == text(
        it.sentences(record)[-1]
    )


def test_the_main_pot_is_called_so_beside_others() -> None:
    record = (START, t.PotSplit(0, (0,), (3,)), t.PotSplit(1, (1,), (5,)))
    assert "Ann wins 3 from the main pot" == text(it.sentences(record)[1])


def test_a_name_is_a_part_of_its_own_whatever_it_looks_like() -> None:
    """No word of the sentence, and no card: `As` may be somebody's name."""
    start = t.HandStarted("m/1", "g", "f" * 16, 0, ("As", "x wins 5"), (100, 100))
    parts = it.of_event((start,), 1, t.PotSplit(0, (0, 1), (5, 4)))
    assert ["As", "x wins 5"] == [part.player for part in parts if part.player]
    assert not any(part.cards for part in parts)
    assert (Fragment(player="As"), Fragment(" may act")) == it.with_names(
        "seat 0 may act", start.players
    )


@some_games
def test_no_seat_is_numbered_in_a_hand_of_any_game(game: Game) -> None:
    record = seeded(game, "3").record
    said = [text(one) for one in it.sentences(record)]
    assert len(record) == len(said)
    assert all(said)
    assert not any("seat " in one for one in said)
