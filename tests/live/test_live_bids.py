"""Bids at a live table are sealed in time, too: nobody learns when another bid, or was late."""

from collections.abc import Callable

import pytest

from dealer.live.clock import ConnectionBack, ConnectionLost, Question
from engine.games import named
from engine.turn import Bid, ToBid
from events import types as t
from events.ledger import Append
from tests.live.stepped import Scene

GAME = named("auction-2024")
NAMES = ("ann", "bob")


def bidding(after: dict[str, int | None], amounts: tuple[int, int] = (3, 5)) -> Scene:
    """One hand in which each bids so late, or never."""
    scene = Scene(GAME, (GAME.stack, GAME.stack))
    for name, amount in zip(NAMES, amounts, strict=True):
        scene.plans[name] = _plan(scene, name, after[name], amount)
    scene.hand()
    return scene


def _plan(scene: Scene, name: str, after: int | None, amount: int) -> Callable[[Question], None]:
    usual = scene.answers(name)

    def plan(question: Question) -> None:
        asked = question.seen.asked
        if not isinstance(asked, ToBid):
            usual(question)
        elif after is not None:
            scene.says(name, question, Bid(asked.seat, amount), after)

    return plan


def bids(scene: Scene) -> list[Append]:
    """The appends in which anybody bids."""
    return [
        one
        for one in scene.ledger.appends
        if any(isinstance(event, t.BidPlaced) for event in one.events)
    ]


def asked(scene: Scene, name: str) -> list[Question]:
    return [one for one in scene.sitters[name].questions if isinstance(one.seen.asked, ToBid)]


def test_all_who_bid_are_asked_at_once_and_their_bids_are_written_together() -> None:
    scene = bidding({"ann": 2_000, "bob": 9_000})
    (one,) = bids(scene)
    kinds = [type(event) for event in one.events]
    assert [t.BidPlaced, t.BidPlaced, t.AuctionSettled] == kinds
    ((first,), (second,)) = (asked(scene, name) for name in NAMES)
    assert (first.countdown, first.deadline) == (second.countdown, second.deadline)
    began = first.deadline - scene.table._loop.times.silent - scene.table._loop.times.countdown
    assert began + 9_000 == one.at


@pytest.mark.parametrize("last", ["ann", "bob"])
def test_what_a_bid_took_leaves_no_trace_but_of_the_last(last: str) -> None:
    """Neither in the record nor in what the other is asked, or when."""
    (other,) = set(NAMES) - {last}
    scenes = [bidding({last: 25_000, other: after}) for after in (0, 1_000, 24_999)]
    for scene in scenes[1:]:
        assert scenes[0].ledger.appends == scene.ledger.appends
        for name in NAMES:
            assert scenes[0].sitters[name].questions == scene.sitters[name].questions


def test_who_was_late_is_told_by_no_time() -> None:
    """A bid of 0 and none at all, of the one and of the other: only what is hidden differs."""
    late = [
        bidding({"ann": None, "bob": 3_000}, (0, 0)),
        bidding({"ann": 7_000, "bob": None}, (0, 0)),
        bidding({"ann": None, "bob": None}),
    ]
    told = []
    for scene in late:
        (one,) = bids(scene)
        assert any(
            it == t.Faulted(it.seat, "", "late", "bid")
            for it in one.events
            if isinstance(it, t.Faulted)
        )
        told.append([(it.at, len(it.events)) for it in scene.ledger.appends if it is not one])
        told[-1].append((one.at, 0))
    assert told[0] == told[1] == told[2]
    assert asked(late[0], "bob") == asked(late[1], "bob") == asked(late[2], "bob")


def test_an_answer_to_a_bid_that_was_made_is_refused() -> None:
    scene = Scene(GAME, (GAME.stack, GAME.stack))
    usual = scene.answers("ann")

    def twice(question: Question) -> None:
        if isinstance(question.seen.asked, ToBid):
            for amount in (4, 6):
                scene.says("ann", question, Bid(question.seen.seat, amount), 1_000)
            scene.says("ann", question, Bid(1 - question.seen.seat, 6), 2_000)
        else:
            usual(question)

    scene.plans["ann"] = twice
    scene.plans["bob"] = _plan(scene, "bob", 5_000, 1)
    record = scene.hand()
    (question,) = asked(scene, "ann")
    assert [f"question {question.number} is not open"] * 2 == scene.sitters["ann"].refusals
    assert 4 in [event.amount for event in record if isinstance(event, t.BidPlaced)]


def test_a_line_is_lost_and_found_while_the_other_thinks() -> None:
    """It is written as it happens: the bids come after it. Who is back is asked again."""
    scene = Scene(GAME, (GAME.stack, GAME.stack))
    usual = scene.answers("ann")
    questions: list[Question] = []

    def dropped(question: Question) -> None:
        if not isinstance(question.seen.asked, ToBid):
            usual(question)
        elif questions:
            scene.says("ann", question, Bid(question.seen.seat, 9), 1_000)
        else:
            questions.append(question)
            scene.clock.send(ConnectionLost("ann"), 2_000)
            scene.clock.send(ConnectionBack("ann"), 4_000)

    scene.plans["ann"] = dropped
    scene.plans["bob"] = _plan(scene, "bob", 3_000, 1)
    record = scene.hand()
    kinds = [type(event) for event in record]
    gone = kinds.index(t.Disconnected)
    assert [t.Disconnected, t.Reconnected, t.BidPlaced, t.BidPlaced] == kinds[gone : gone + 4]
    assert 2 == len(asked(scene, "ann"))
    assert {9, 1} == {event.amount for event in record if isinstance(event, t.BidPlaced)}
