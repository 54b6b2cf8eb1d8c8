"""Every sentence about the site's clock, at a table whose clock nobody has to wait for."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from dealer.live.clock import COUNTDOWN_MS, SILENT_MS, Question
from dealer.live.table import LiveTable, with_site_clock
from engine.game import fingerprint
from engine.games import named
from engine.turn import Call, Check, Fold, IllegalCommand, Raise, ToAct, ToBid, ToShow, ToStraddle
from events import types as t
from events.notation import say
from events.types import Events
from tests.live.stepped import Scene, never

SITE = named("site-nl")
STANDARD = named("site-nl-standard")
THREE = (1000, 1000, 1000)


def at(scene: Scene, line: str, number: int = 1) -> int:
    """When the event of this line was written, in milliseconds since the first question."""
    asked = min(sitter.questions[0].deadline for sitter in scene.sitters.values())
    begin = asked - SILENT_MS - COUNTDOWN_MS
    return next(one.at for one in scene.recorded(number) if say(one.event) == line) - begin


def lines(record: Events) -> list[str]:
    return [say(event) for event in record]


def test_a_question_tells_when_the_countdown_begins_and_when_it_is_too_late() -> None:
    """ "Initially the player is given 10 seconds, after which there is a timer countdown, which is
    displayed on the table for 20 seconds." """
    scene = Scene(SITE, THREE)
    scene.hand()
    first = scene.sitters["ann"].questions[0]
    asked = first.deadline - 30_000
    assert asked + 10_000 == first.countdown
    assert 1_000 == at(scene, "0 calls 10, 1 to act")


def test_who_has_paid_goes_all_in_when_he_is_out_of_time() -> None:
    """ "The user goes all-in if he has contributed some money to the pot" (C1)."""
    scene = Scene(SITE, THREE)
    scene.plans["bob"] = never
    record = scene.hand()
    assert "1 is out of time and all-in, 2 to act" in lines(record)
    assert 31_001 == at(scene, "1 is out of time and all-in, 2 to act")
    assert 995 == next(e.stacks[1] for e in _starts(scene, 2)) - _won(record, 1)


def test_who_has_paid_nothing_is_folded() -> None:
    """ "otherwise his hand is folded in case he/she does not respond in time" (C1)."""
    scene = Scene(SITE, THREE)
    scene.plans["ann"] = never
    record = lines(scene.hand())
    late = record.index("0 is out of time, 0 to act")
    assert "0 folds (default), 1 to act" == record[late + 1]
    assert 30_001 == at(scene, "0 is out of time, 0 to act")
    assert 1 == len(scene.sitters["ann"].questions)


def test_an_answer_in_the_last_millisecond_is_in_time() -> None:
    scene = Scene(SITE, THREE)
    scene.plans["ann"] = scene.answers("ann", 30_000)
    scene.hand()
    assert 30_000 == at(scene, "0 calls 10, 1 to act")


def test_one_a_millisecond_later_is_not_and_hears_so() -> None:
    scene = Scene(SITE, THREE)
    scene.plans["ann"] = scene.answers("ann", 30_001)
    assert "0 folds (default), 1 to act" in lines(scene.hand())
    assert ["question 1 is not open"] == scene.sitters["ann"].refusals


def test_all_in_though_a_check_was_free() -> None:
    """ "goes all-in if he has contributed some money to the pot" (C3)."""
    scene = Scene(SITE, THREE)
    scene.plans["cid"] = never
    assert "2 is out of time and all-in" in lines(scene.hand())


@pytest.mark.parametrize(
    ("silent", "expected"),
    [("cid", "2 checks (default)"), ("bob", "1 folds (default), 2 to act")],
)
def test_the_standard_partner_checks_or_folds(silent: str, expected: str) -> None:
    """`fold_or_check`: check, else fold (C3)."""
    scene = Scene(STANDARD, THREE)
    scene.plans[silent] = never
    assert expected in lines(scene.hand())


def test_a_blind_is_no_contribution_where_only_choices_count() -> None:
    """`contributed: voluntary` (C2)."""
    scene = Scene(replace(SITE, contributed="voluntary"), THREE)
    scene.plans["bob"] = never
    assert "1 folds (default), 2 to act" in lines(scene.hand())


def test_a_player_who_never_answers_holds_up_a_hand_once() -> None:
    """ "All-in basically means that the player is in the game, but would not be an active player":
    one clock runs out, and he is asked no more."""
    scene = Scene(SITE, THREE)
    scene.plans["bob"] = never
    record = scene.hand()
    assert 1 == len(scene.sitters["bob"].questions)
    assert 1 == sum(isinstance(event, t.TimedOut) for event in record)
    assert 2 == len([hand for hand in (record, scene.hand()) if hand])


def test_a_table_at_which_nobody_ever_answers_goes_on() -> None:
    scene = Scene(SITE, THREE)
    for name in scene.sitters:
        scene.plans[name] = never
    for _ in range(6):
        assert isinstance(scene.hand()[-1], t.HandEnded)


def test_every_turn_has_a_clock_of_its_own() -> None:
    """Slow, and in time, at every turn."""
    scene = Scene(SITE, THREE)
    for name in scene.sitters:
        scene.plans[name] = scene.answers(name, 29_999)
    assert not any(isinstance(event, t.TimedOut) for event in scene.hand())
    assert scene.clock.now > 10 * 29_999


def test_an_illegal_answer_is_refused_and_the_clock_runs_on() -> None:
    scene = Scene(SITE, THREE)

    def wrong(question: Question) -> None:
        scene.says("ann", question, Raise(0, 3), 5_000)
        scene.says("ann", question, Call(0), 9_000)

    scene.plans["ann"] = wrong
    scene.hand()
    assert ["seat 0 may raise to 20..1000, not 3"] == scene.sitters["ann"].refusals[:1]
    assert 9_000 == at(scene, "0 calls 10, 1 to act")


def test_of_two_answers_at_the_same_millisecond_the_first_that_arrived_counts() -> None:
    scene = Scene(SITE, THREE)

    def both(question: Question) -> None:
        scene.says("ann", question, Fold(0), 5_000)
        scene.says("ann", question, Call(0), 5_000)

    scene.plans["ann"] = both
    assert "0 folds, 1 to act" in lines(scene.hand())
    assert ["question 1 is not open"] == scene.sitters["ann"].refusals


def test_nobody_answers_for_another() -> None:
    """Neither to another's question, nor with another's seat."""
    scene = Scene(SITE, THREE)
    usual = scene.answers("ann")

    def meddled(question: Question) -> None:
        scene.says("bob", question, Fold(0))
        scene.says("ann", question, Check(1))
        usual(question)

    scene.plans["ann"] = meddled
    assert "0 calls 10, 1 to act" in lines(scene.hand())
    assert "it is ann's turn, not bob's" == scene.sitters["bob"].refusals[0]
    assert "it is seat 0's turn to act, not seat 1's" == scene.sitters["ann"].refusals[0]


def test_an_answer_to_a_question_of_the_hand_before_answers_nothing() -> None:
    """Questions are numbered through the life of a table."""
    scene = Scene(SITE, (1000, 1000))
    scene.hand()
    old = scene.sitters["bob"].questions[0]

    def replayed(question: Question) -> None:
        scene.says("bob", old, Fold(question.seen.seat))
        scene.answers("bob")(question)

    scene.plans["bob"] = replayed
    scene.sitters["bob"].refusals.clear()
    scene.hand()
    assert {f"question {old.number} is not open"} == set(scene.sitters["bob"].refusals)


def test_a_default_cannot_be_chosen_nor_the_clocks_answer_given() -> None:
    """A player's answer is always his own: statistics count on it."""
    scene = Scene(SITE, THREE)
    scene.plans["ann"] = lambda question: scene.says("ann", question, Fold(0, "default"))
    assert "0 folds, 1 to act" in lines(scene.hand())


# Games without a clock of their own.


def test_a_table_may_run_urcs_under_the_clock_and_the_record_says_so() -> None:
    """ "no clock. A table may run them under the site clock; then the record says so" (C6)."""
    urcs = named("urcs-1998")
    with pytest.raises(IllegalCommand, match="urcs-1998 has no clock"):
        Scene(urcs, THREE)
    scene = Scene(with_site_clock(urcs), THREE)
    (start,) = _starts(scene, 1)
    assert ("urcs-1998", fingerprint(with_site_clock(urcs))) == (start.game, start.ruleset)
    assert start.ruleset != fingerprint(urcs)


def test_who_is_silent_when_he_must_straddle_is_in_for_his_ante() -> None:
    """An ante is some money (C2); the next seat straddles (U3)."""
    scene = Scene(with_site_clock(named("urcs-1998")), THREE)
    scene.plans["bob"] = never
    record = lines(scene.hand())
    assert "1 is out of time and all-in" in record
    assert "2 posts straddle 10 to 10 (chosen)" in record
    assert isinstance(scene.sitters["bob"].questions[0].seen.asked, ToStraddle)


def test_who_is_silent_when_he_may_show_mucks() -> None:
    """ "he/she need not show the cards" (T10); at a table of URCS "silence forfeits" (U19)."""
    for name in ("site-fl", "urcs-1998"):
        scene = Scene(with_site_clock(named(name)), THREE)
        for player in scene.sitters:
            scene.plans[player] = _silent_at(scene, player, ToShow)
        mucked = [e for _ in range(5) for e in scene.hand() if isinstance(e, t.Mucked)]
        assert mucked


def test_a_hand_that_must_be_shown_is_turned_up_for_who_is_silent() -> None:
    """ "is said to be called and must show their hand": the best five of it are announced (U20)."""
    scene = Scene(with_site_clock(named("urcs-1998")), (1000, 1000))
    for player in scene.sitters:
        scene.plans[player] = _silent_at(scene, player, ToShow)
    record = scene.hand()
    assert 1 == sum(isinstance(event, t.Announced) for event in record)
    assert 1 == sum(isinstance(event, t.Mucked) for event in record)


def test_games_of_programs_play_a_default_for_who_is_late() -> None:
    """ "bid 0 in an auction; otherwise check if legal, else fold" (A8)."""
    scene = Scene(named("auction-2024"), (400, 400))
    scene.plans["ann"] = _silent_at(scene, "ann", ToBid)
    record = scene.hand()
    fault = next(i for i, event in enumerate(record) if isinstance(event, t.Faulted))
    assert t.Faulted(0, "", "late", "bid") == record[fault]
    assert t.BidPlaced(0, 0, True, "default") == record[fault + 1]
    scene = Scene(named("auction-2024"), (400, 400))
    scene.plans["ann"] = _silent_at(scene, "ann", ToAct)
    assert "0 folds (default)" in lines(scene.hand())


def test_a_table_has_as_many_chairs_as_its_game_seats() -> None:
    scene = Scene(SITE, THREE)
    game = named("auction-2024")
    with pytest.raises(IllegalCommand, match=r"auction-2024 seats 2\.\.2 players, not 3"):
        LiveTable(game, "m", 3, scene.ledger, None, scene.clock)  # type: ignore[arg-type]


def _silent_at(scene: Scene, name: str, kind: type) -> Callable[[Question], None]:
    usual = scene.answers(name)
    return lambda question: None if isinstance(question.seen.asked, kind) else usual(question)


def _starts(scene: Scene, number: int) -> list[t.HandStarted]:
    if not scene.recorded(number):
        scene.hand()
    return [one.event for one in scene.recorded(number) if isinstance(one.event, t.HandStarted)]


def _won(record: Events, seat: int) -> int:
    return sum(
        share
        for event in record
        if isinstance(event, t.PotSplit)
        for who, share in zip(event.seats, event.shares, strict=True)
        if who == seat
    )
