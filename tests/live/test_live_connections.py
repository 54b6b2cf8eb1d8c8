"""Connections lost and found at a live table: what the clock gives, and what the record says."""

import pytest
from msgspec.structs import replace

from dealer.live.clock import ConnectionBack, ConnectionLost, Question
from dealer.live.table import with_site_clock
from engine.audit import audit
from engine.game import Game
from engine.games import named
from engine.turn import Call, ToAct, ToBid, ToShow, ToStraddle
from events import types as t
from events.notation import say
from tests.live.stepped import Scene, never
from tests.live.test_live_clock import THREE, at, lines

SITE = named("site-nl")


def dropping(
    scene: Scene, name: str, *drops: tuple[int, int | None], answers: int | None = None
) -> None:
    """A plan: gone and back at these seconds of the first turn; an answer as late as that."""
    asked: list[Question] = []

    def plan(question: Question) -> None:
        if asked:
            if len(asked) == 1 + len(drops):  # some later turn
                scene.answers(name)(question)
            return
        asked.append(question)
        for gone, back in drops:
            scene.clock.send(ConnectionLost(name), 1000 * gone)
            if back is not None:
                scene.clock.send(ConnectionBack(name), 1000 * back)
        if answers is not None:
            scene.says(name, question, Call(question.seen.seat), answers)

    scene.plans[name] = plan


@pytest.mark.parametrize(
    ("reconnect", "extensions", "drops", "seconds"),
    [
        ("add", "once", [(12, 27)], 50),
        ("reset", "once", [(12, 27)], 47),
        ("add", "once", [(12, 27), (30, 40)], 50),
        ("add", "every", [(12, 27), (30, 40)], 70),
        ("add", "once", [(12, 30)], 50),
    ],
)
def test_who_comes_back_in_time_is_given_twenty_seconds_more(
    reconnect: str, extensions: str, drops: list[tuple[int, int]], seconds: int
) -> None:
    """ "if a players gets disconnected and reconnects back and he has some seconds left for his
    turn, then he is given an additional 20 seconds": on top of what is left, once a turn; the last
    millisecond is time left (C4)."""
    game = replace(SITE, reconnect=reconnect, extensions=extensions)
    for late in (False, True):
        scene = Scene(game, THREE)
        dropping(scene, "ann", *drops, answers=1000 * seconds + late)
        record = lines(scene.hand())
        assert late == ("0 is out of time, 0 to act" in record)
        moment = 1000 * seconds + late
        assert moment == at(scene, "0 is out of time, 0 to act" if late else "0 calls 10, 1 to act")


def test_he_is_asked_again_and_told_his_new_deadline() -> None:
    scene = Scene(SITE, THREE)
    dropping(scene, "ann", (12, 27), answers=45_000)
    scene.hand()
    first, again = scene.sitters["ann"].questions[:2]
    assert first.number == again.number
    assert 20_000 == again.deadline - first.deadline
    assert first.seen.asked == again.seen.asked
    assert [t.Disconnected, t.Reconnected] == [type(e) for e in again.seen.history[-2:]]


def test_who_does_not_come_back_in_time_is_all_in() -> None:
    """ "But if the player is not able to connect back to the table before the time elapses, then
    the player goes All-in." """
    scene = Scene(SITE, THREE)
    dropping(scene, "bob", (3, None))
    record = lines(scene.hand())
    assert record.index("1 disconnects") < record.index("1 is out of time and all-in, 2 to act")


def test_who_has_put_in_nothing_is_folded_for_all_in_for_nothing_wins_nothing() -> None:
    """C4."""
    scene = Scene(SITE, THREE)
    dropping(scene, "ann", (3, None))
    assert "0 folds (default), 1 to act" in lines(scene.hand())


def test_back_a_millisecond_after_the_deadline_is_back_for_the_next_turn() -> None:
    scene = Scene(SITE, THREE)
    scene.plans["bob"] = never
    scene.clock.send(ConnectionLost("bob"), 12_000)  # the hand begins at 1, and ann takes a second
    scene.clock.send(ConnectionBack("bob"), 31_002)
    record = lines(scene.hand())
    late = record.index("1 is out of time and all-in, 2 to act")
    assert "1 reconnects" in record[late:]


def test_back_and_the_end_of_the_clock_at_the_same_millisecond() -> None:
    """The news come first: a turn is over after its last millisecond, not in it."""
    scene = Scene(SITE, THREE)
    dropping(scene, "ann", (12, 30), answers=49_000)
    assert "0 calls 10, 1 to act" in lines(scene.hand())


def test_lost_and_back_at_the_same_millisecond_in_either_order() -> None:
    """In the order in which they arrive: back before lost says nothing new, and he is gone."""
    for order, back in (
        ((ConnectionLost, ConnectionBack), True),
        ((ConnectionBack, ConnectionLost), False),
    ):
        scene = Scene(SITE, THREE)
        for kind in order:
            scene.clock.send(kind("bob"), 500)
        record = lines(scene.hand())
        assert "1 disconnects" in record
        assert back == ("1 reconnects" in record)


def test_a_connection_lost_twice_is_lost_once() -> None:
    scene = Scene(SITE, THREE)
    for moment in (100, 200, 300):
        scene.clock.send(ConnectionLost("cid"), moment)
    assert 1 == lines(scene.hand()).count("2 disconnects")


def test_who_is_gone_before_his_turn_has_a_clock_all_the_same() -> None:
    """His turn begins while he is away; back with time left, he is asked and given more."""
    scene = Scene(SITE, THREE)
    scene.clock.send(ConnectionLost("bob"), 500)
    scene.clock.send(ConnectionBack("bob"), 21_000)
    scene.hand()
    (first, *_) = scene.sitters["bob"].questions
    assert scene.sitters["ann"].questions[0].deadline + 1_000 + 20_000 == first.deadline


def test_what_is_said_by_who_is_gone_is_not_heard() -> None:
    scene = Scene(SITE, THREE)
    dropping(scene, "ann", (1, 12), answers=5_000)
    record = lines(scene.hand())
    assert "0 folds (default), 1 to act" in record
    assert [] == scene.sitters["ann"].refusals


KINDS = [
    (named("site-nl"), ToAct),
    (with_site_clock(named("urcs-1998")), ToStraddle),
    (with_site_clock(named("urcs-1998")), ToShow),
    (named("auction-2024"), ToBid),
    (named("auction-2024"), ToAct),
    (named("swap-2022"), ToAct),
    (with_site_clock(named("probability")), ToAct),
]


@pytest.mark.parametrize("gone_for_good", [False, True])
@pytest.mark.parametrize(("game", "kind"), KINDS, ids=lambda one: getattr(one, "__name__", ""))
def test_a_connection_may_be_lost_at_every_kind_of_question(
    game: Game, kind: type, gone_for_good: bool
) -> None:
    """The record has it, the rules agree with it, and the hand comes to its end."""
    scene = Scene(game, (game.stack, game.stack))
    dropped: list[str] = []

    def plan_of(name: str) -> None:
        usual = scene.answers(name)

        def plan(question: Question) -> None:
            if isinstance(question.seen.asked, kind) and not dropped:
                dropped.append(name)
                scene.clock.send(ConnectionLost(name), 2_000)
                if not gone_for_good:
                    scene.clock.send(ConnectionBack(name), 4_000)
            else:
                usual(question)

        scene.plans[name] = plan

    for name in scene.sitters:
        plan_of(name)
    record = scene.hand()
    assert 1 == len(dropped)
    assert 1 == sum(isinstance(event, t.Disconnected) for event in record)
    assert (not gone_for_good) == any(isinstance(event, t.Reconnected) for event in record)
    assert isinstance(record[-1], t.HandEnded)
    assert audit(game, record) is None
    if gone_for_good and game.time_out == "bot_default":
        fault = next(event for event in record if isinstance(event, t.Faulted))
        assert "disconnected" == fault.kind


def test_who_is_gone_is_not_dealt_in_and_waits_for_the_big_blind_when_he_is_back() -> None:
    """He comes back to his chair as a newcomer does (M2)."""
    scene = Scene(SITE, (1000,) * 4)
    scene.plans["dot"] = never
    scene.clock.send(ConnectionLost("dot"), 100)
    players = [_players(scene) for _ in range(2)]
    scene.plans["dot"] = scene.answers("dot")
    scene.clock.send(ConnectionBack("dot"))
    players += [_players(scene) for _ in range(4)]
    assert [True, False] == ["dot" in those for those in players[:2]]
    back = next(place for place, those in enumerate(players[2:], 3) if "dot" in those)
    opening = [say(one.event) for one in scene.recorded(back)]
    seat = players[back - 1].index("dot")
    assert any(line.startswith(f"{seat} posts big 10") for line in opening)


def test_a_freeze_out_deals_to_who_is_gone() -> None:
    """ "no player can take money off the table": his blinds stay in play, and the record says that
    he was not there."""
    scene = Scene(replace(SITE, broke="leaves"), THREE)
    scene.clock.send(ConnectionLost("cid"))
    assert "cid" in _players(scene)
    record = [say(one.event) for one in scene.recorded(1)]
    assert "2 disconnects" in record[:5]
    assert "2 is out of time and all-in" in record
    scene.clock.send(ConnectionBack("cid"))
    scene.hand()
    assert "2 disconnects" not in [say(one.event) for one in scene.recorded(2)]


def _players(scene: Scene) -> tuple[str, ...]:
    start = scene.hand()[0]
    assert isinstance(start, t.HandStarted)
    return start.players
