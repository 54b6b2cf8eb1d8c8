"""Joining, waiting, posting, sitting out, buying chips and leaving: always between hands."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from dealer.live.clock import (
    ConnectionBack,
    ConnectionLost,
    Joins,
    Leaves,
    Question,
    Returns,
    SeatRequest,
    SitsOut,
    TopsUp,
)
from dealer.live.table import with_site_clock
from engine.games import named
from engine.table import moved, sit
from engine.turn import Fold, IllegalCommand
from events import types as t
from events.notation import say
from tests.live.stepped import NAMES, Scene, chips_in
from tests.rules.test_table import _table

SITE = named("site-fl")
FIVE = (1000, 1000, 1000, 1000, 1000, 0)


def opening(scene: Scene, *requests: SeatRequest) -> tuple[dict[str, int], list[str]]:
    """Who brings what to the next hand, and how it begins, after this was told."""
    for one in requests:
        scene.clock.send(one)
    record = scene.hand()
    start = record[0]
    assert isinstance(start, t.HandStarted)
    posts = [
        f"{start.players[event.seat]} {event.kind} {event.amount}"
        for event in record
        if isinstance(event, t.BlindPosted)
    ]
    return dict(zip(start.players, start.stacks, strict=True)), posts


def test_the_first_person_sitting_is_the_dealer_of_a_fresh_table() -> None:
    """T1."""
    _, posts = opening(Scene(SITE, FIVE))
    assert ["bob small 5", "cid big 10"] == posts


def test_a_newcomer_posts_a_big_blind_in_the_next_hand() -> None:
    """ "The player would get an option of placing a Big Blind at the start of the next hand" """
    scene = Scene(SITE, FIVE)
    opening(scene)
    scene.enter("fox")
    stacks, posts = opening(scene, Joins("fox", 5, 500, posts=True))
    assert 500 == stacks["fox"]
    assert ["cid small 5", "dot big 10", "fox post 10"] == posts


def test_or_waits_until_the_big_blind_has_come_to_him() -> None:
    """ "or wait for his/her turn (as decided by the movement of the button)" """
    scene = Scene(SITE, FIVE)
    opening(scene)
    scene.enter("fox")
    hands = [opening(scene, Joins("fox", 5, 500))] + [opening(scene) for _ in range(2)]
    assert [False, False, True] == ["fox" in stacks for stacks, _ in hands]
    assert ["eve small 5", "fox big 10"] == hands[-1][1]


def test_who_joins_during_a_hand_is_dealt_in_after_it() -> None:
    """ "only the chips in play at the beginning of each hand may be used throughout the hand" """
    scene = Scene(SITE, FIVE)
    scene.enter("fox")
    opening(scene)
    scene.clock.send(Joins("fox", 5, 500, posts=True), 1_500)
    stacks, _ = opening(scene)
    assert "fox" not in stacks
    stacks, posts = opening(scene)
    assert 500 == stacks["fox"]
    assert "fox post 10" in posts


def test_of_two_who_want_a_chair_at_the_same_millisecond_the_first_gets_it() -> None:
    scene = Scene(SITE, FIVE)
    opening(scene)
    for name in ("fox", "gus"):
        scene.enter(name)
    opening(scene, Joins("gus", 5, 300), Joins("fox", 5, 400))
    assert ["chair 5 is taken by gus"] == scene.sitters["fox"].refusals


def test_who_leaves_is_asked_to_the_end_of_the_hand_and_takes_what_he_has() -> None:
    scene = Scene(SITE, FIVE)
    scene.clock.send(Leaves("dot"), 10)
    opening(scene)
    assert scene.sitters["dot"].questions
    stacks, _ = opening(scene)
    assert "dot" not in stacks
    assert 5000 == chips_in(scene.table.seats) + scene.table.seats.taken
    assert scene.table.seats.taken


def test_a_dead_button_stays_on_the_chair_of_who_left() -> None:
    """Button ann, blinds bob and cid; bob leaves: the button comes to his chair, the small blind
    to cid, the big one to dot (M1)."""
    scene = Scene(replace(SITE, button="dead"), FIVE)
    opening(scene)
    _, posts = opening(scene, Leaves("bob"))
    assert ["cid small 5", "dot big 10"] == posts
    assert 1 == scene.table.seats.table.button
    scene = Scene(SITE, FIVE)
    opening(scene)
    _, posts = opening(scene, Leaves("bob"))
    assert ["dot small 5", "eve big 10"] == posts


def test_a_dead_button_and_a_newcomer_after_a_hand_of_two() -> None:
    """Of two players the button has the small blind. A third posts: the big blind goes on to who
    had not got it, the small one to who had it, and the button is behind them, not on a blind."""
    game = replace(SITE, button="dead")
    table = _table((0, 1000, 0, 0, 1000, 0), button=1, small=1, big=4)
    table = moved(game, sit(table, 2, "cid", 1000, posts=True))
    assert (2, 4, 1) == (table.button, table.small, table.big)
    scene = Scene(game, (1000, 0, 0, 1000, 0, 0))
    opening(scene)
    scene.enter("bob")
    _, posts = opening(scene, Joins("bob", 1, 500, posts=True))
    assert 3 == len(posts)


def test_who_sits_out_keeps_his_chair_and_his_chips() -> None:
    scene = Scene(SITE, FIVE)
    opening(scene)
    had = {one.player: one.stack for one in scene.table.seats.table.chairs if one}["eve"]
    scene.enter("gus")
    stacks, _ = opening(scene, SitsOut("eve"), Joins("gus", 4, 100))
    assert "eve" not in stacks
    assert ["chair 4 is kept for eve"] == scene.sitters["gus"].refusals
    stacks, posts = opening(scene, Returns("eve", posts=True))
    assert had == stacks["eve"]
    assert "eve post 10" in posts or "eve big 10" in posts


def test_chips_are_added_between_hands_only() -> None:
    """ "the player cannot get additional funds from the cashier while he is in the midst of a
    game" (T17)."""
    scene = Scene(SITE, (100, 100))
    told: list[str] = []

    def rich(question: Question) -> None:
        if not told:
            told.append("now")
            scene.clock.send(TopsUp("ann", 700))
        assert question.seen.stacks[question.seen.seat] + question.seen.pot <= 200
        scene.says("ann", question, Fold(question.seen.seat))

    scene.plans["ann"] = rich
    scene.hand()
    scene.plans.pop("ann")
    stacks, _ = opening(scene)
    assert 795 == stacks["ann"]


def test_who_has_lost_all_keeps_his_chair_and_may_buy_in_again() -> None:
    scene = Scene(SITE, (10, 1000, 1000), bot="caller")
    while "ann" in opening(scene)[0]:
        if not any(one.player == "ann" for one in scene.table.seats.away):
            scene.clock.send(TopsUp("ann", 1))
            scene.clock.send(Leaves("ann"))
            scene.clock.send(Joins("ann", 0, 5))
    assert ("ann", 0) in {(one.player, one.stack) for one in scene.table.seats.away}
    scene.clock.send(Returns("ann"))
    scene.hand()
    assert "ann brings 0 chips: a seat needs at least one" == scene.sitters["ann"].refusals[-1]
    hands = [opening(scene, TopsUp("ann", 400), Returns("ann")), opening(scene), opening(scene)]
    assert 400 == next(stacks["ann"] for stacks, _ in hands if "ann" in stacks)


@pytest.mark.parametrize("broke", ["buys_in", "set_anew"])
def test_who_has_lost_all_buys_in_or_waits_for_the_table_to_be_set_anew(broke: str) -> None:
    """As at a table that is dealt in bulk: nobody need say anything."""
    game = replace(SITE, broke=broke, stack=60)
    scene = Scene(game, (60, 60, 60), bot="random")
    hands = [opening(scene)[0] for _ in range(60)]
    total = [sum(stacks.values()) for stacks in hands]
    if broke == "buys_in":
        assert all({"ann", "bob", "cid"} == set(stacks) for stacks in hands)
        assert total == sorted(total)
        assert total[-1] > 180
    else:
        assert {180} == set(total)
        assert {2, 3} == {len(stacks) for stacks in hands}
        again = [now for then, now in pairwise(hands) if len(then) < len(now)]
        assert again
        assert all(dict.fromkeys(("ann", "bob", "cid"), 60) == stacks for stacks in again)
    room = scene.table.seats
    assert room.bought == chips_in(room) + room.taken


def test_a_table_is_not_set_anew_while_somebody_sits_out_with_chips() -> None:
    """He may come back with them; then two have lost all, and bob has what there is."""
    scene = Scene(replace(SITE, stack=40), (40, 40, 40), bot="random")
    scene.clock.send(SitsOut("ann"))
    while scene.table.ready():
        scene.hand()
    assert 40 == next(one.stack for one in scene.table.seats.away if one.player == "ann")
    scene.clock.send(Leaves("ann"))
    stacks, _ = opening(scene)
    assert {"bob": 40, "cid": 40} == stacks


def test_who_sat_down_first_deals_first_and_again_at_a_fresh_table() -> None:
    """Chairs 3, 0 and 5 are taken in this order. Who sits out keeps his chair, and so his rank;
    who left it comes last (T1)."""
    scene = Scene(SITE, (), chairs=6)
    for name, chair in (("ann", 3), ("bob", 0), ("cid", 5)):
        scene.enter(name)
        scene.clock.send(Joins(name, chair, 1000))
    _, posts = opening(scene)
    assert ["cid small 5", "bob big 10"] == posts
    for name in ("bob", "cid"):
        scene.clock.send(SitsOut(name))
    assert not scene.table.ready()
    for name in ("bob", "cid"):
        scene.clock.send(Returns(name))
    _, posts = opening(scene)
    assert ["cid small 5", "bob big 10"] == posts
    scene.clock.send(Leaves("ann"))
    scene.clock.send(SitsOut("bob"))
    assert not scene.table.ready()
    scene.clock.send(Joins("ann", 4, 1000))
    scene.clock.send(Returns("bob"))
    _, posts = opening(scene)
    assert ["ann small 5", "cid big 10"] == posts


def test_who_was_first_and_left_before_the_first_hand_does_not_deal() -> None:
    scene = Scene(SITE, (), chairs=6)
    for name, chair in (("ann", 3), ("bob", 5), ("cid", 0)):
        scene.enter(name)
        scene.clock.send(Joins(name, chair, 1000))
    _, posts = opening(scene, Leaves("ann"))
    assert ["bob small 5", "cid big 10"] == posts


def test_a_table_that_stopped_begins_as_a_fresh_one() -> None:
    """Two who wait for each other would wait for ever: the first of them is the dealer (T1)."""
    scene = Scene(SITE, (1000, 1000))
    opening(scene)
    scene.clock.send(SitsOut("ann"))
    assert not scene.table.ready()
    with pytest.raises(IllegalCommand, match=r"^a hand needs two players with chips, not 1$"):
        scene.hand()
    scene.clock.send(Returns("ann"), 5_000)
    assert not scene.table.ready(scene.clock.now + 4_000)
    assert scene.table.ready(scene.clock.now + 4_000)
    stacks, posts = opening(scene)
    assert {"ann", "bob"} == set(stacks)
    assert ["ann small 5", "bob big 10"] == posts


REFUSED = [
    (Joins("ann", 5, 100), "ann sits at this table already"),
    (Joins("gus", 9, 100), "there is no chair 9: there are 0..5"),
    (Joins("gus", 5, 0), "gus brings 0 chips: a seat needs at least one"),
    (Leaves("gus"), "gus does not sit at this table"),
    (SitsOut("gus"), "gus does not sit at this table"),
    (TopsUp("gus", 100), "gus does not sit at this table"),
    (TopsUp("ann", 0), "ann may add at least one chip, not 0"),
    (Returns("ann"), "ann does not sit out"),
    (Returns("gus"), "gus does not sit at this table"),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSED, ids=str)
def test_what_cannot_be_is_refused_in_a_sentence(change: SeatRequest, sentence: str) -> None:
    scene = Scene(SITE, FIVE)
    scene.enter("gus")
    opening(scene)
    stacks, _ = opening(scene, change)
    assert [sentence] == scene.sitters[change.player].refusals
    assert set(NAMES[:5]) == set(stacks)
    assert 5000 == scene.table.seats.bought


FROZEN: list[tuple[SeatRequest, str]] = [
    (Joins("gus", 5, 1000), "gus may not join: this freeze-out has begun"),
    (Leaves("ann"), "ann may not leave: this is a freeze-out"),
    (SitsOut("ann"), "ann may not sit out: this is a freeze-out"),
    (TopsUp("ann", 5), "ann may not add chips: this is a freeze-out"),
]


@pytest.mark.parametrize(("change", "sentence"), FROZEN, ids=str)
def test_nobody_takes_money_off_a_freeze_out_nor_brings_any(
    change: SeatRequest, sentence: str
) -> None:
    """ "That is, no player can take money off the table (except the final winner, of course)." """
    scene = Scene(with_site_clock(named("urcs-1998")), FIVE)
    scene.enter("gus")
    opening(scene)
    opening(scene, change)
    assert [sentence] == scene.sitters[change.player].refusals


def test_where_stacks_are_made_anew_nobody_brings_others() -> None:
    scene = Scene(named("auction-2024"), (400, 400))
    scene.enter("gus")
    opening(scene)
    opening(scene, TopsUp("ann", 5))
    assert ["ann may not add chips: auction-2024 gives every hand 400"] == (
        scene.sitters["ann"].refusals
    )
    scene.clock.send(Leaves("ann"))
    scene.clock.send(Joins("gus", 0, 300))
    assert not scene.table.ready()
    assert ["gus may not bring 300: auction-2024 gives every hand 400"] == (
        scene.sitters["gus"].refusals
    )


def test_where_there_is_no_big_blind_a_newcomer_waits() -> None:
    scene = Scene(replace(with_site_clock(named("urcs-1998")), broke="set_anew"), FIVE)
    scene.enter("gus")
    opening(scene)
    opening(scene, Joins("gus", 5, 300, posts=True))
    assert ["gus may not post: urcs-1998 has no big blind"] == scene.sitters["gus"].refusals
    hands = [opening(scene, Joins("gus", 5, 300))[0] for _ in range(6)]
    assert any("gus" in stacks for stacks in hands)


def test_who_is_gone_and_sits_out_stays_out_when_he_is_back() -> None:
    scene = Scene(SITE, FIVE)
    opening(scene)
    scene.clock.send(ConnectionLost("eve"))
    scene.hand()
    for event in (SitsOut("eve"), ConnectionBack("eve")):
        scene.clock.send(event)
    hands = [opening(scene)[0] for _ in range(6)]
    assert not any("eve" in stacks for stacks in hands)
    assert [] == [line for line in map(say, scene.hand()) if "eve" in line]
