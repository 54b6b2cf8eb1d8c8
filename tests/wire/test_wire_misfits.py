"""Bots that crash, hang, flood, lie and leave, in real processes: only their own hands suffer."""

import multiprocessing
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.playing.wire_match import bad_replies
from dealer.deck import SeededDecks
from dealer.wire.match import Listener, MatchJob, MatchProcesses, running_bots
from dealer.wire.protocol import wire_plan
from dealer.worker import WorkerGone
from engine.audit import audit
from engine.games import GAMES
from events.evolve import replay
from events.types import Events, Faulted
from tests.wire.misfits import MISFITS, OPEN, SHORT, bot, left_behind, matched

HANDS = 6
SLEEPS = "import time; time.sleep(60)"

# What the record holds of each, and why it was not asked any more; the liar has a test of its own.
ENDS: dict[str, tuple[list[str], str | None]] = {
    "crash": (["malformed", "malformed", "disconnected"], "its connection broke"),
    "hang": (["late"], "it took too long for one reply"),
    "flood": (["malformed"], "it wrote without an end of line"),
    "trickle": (["late"], "it took too long for one reply"),
    "mute": ([], "it never connected"),
    "exit": ([], "it never connected"),
    "print": ([], None),
    "stay": ([], None),
    "breed": ([], None),
}


def _faults(records: list[Events]) -> list[Faulted]:
    return [event for record in records for event in record if isinstance(event, Faulted)]


@pytest.mark.parametrize("odd", MISFITS)
def test_a_misfit_loses_its_own_hands_and_nothing_is_left_of_it(
    odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(SHORT, connect=0.9) if odd == "mute" else SHORT
    if odd in ("hang", "trickle"):
        limits = replace(SHORT, reply=0.5)
    if odd == "exit":  # nobody waits for another program, which it could have left to connect
        monkeypatch.setattr("dealer.wire.player._LAST_CALL_S", 0.1)
    pair = (bot(tmp_path, odd, MISFITS[odd]), bot(tmp_path, "good"))
    begun = time.monotonic()
    match, records, (misfit, good), said = matched(pair, HANDS, limits)
    assert time.monotonic() - begun < 40, "every wait has an end"
    assert left_behind(tmp_path) == []
    assert len(records) == HANDS
    for record in records:
        assert audit(match.game, record) is None
        assert sum(replay(record).stacks) == 2 * match.game.stack
    assert {fault.seat for fault in _faults(records)} <= {0}
    assert (good.silenced_because, good.exit) == (None, 0)
    if odd in ENDS:
        kinds: list[str] = [fault.kind for fault in _faults(records)]
        assert ENDS[odd] == (kinds, misfit.silenced_because)
    if odd == "crash":
        assert misfit.output.last_lines[-1] == "ValueError: out of ideas"
        assert misfit.exit == 1
    if odd == "exit":
        assert said == ["exit: it exited before it connected"]
        assert misfit.output.log == b"no ideas at all\nmuckrake: it exited before it connected\n"
    if odd == "mute":
        assert said == ["mute: it did not connect within 0.9 s"]
    if odd == "print":
        assert misfit.output.log == (b"noise\n" * 9999)[: SHORT.log_bytes]
    if odd == "stay":
        assert misfit.notes == ["it did not exit within 0.4 s of the end, and was ended"]


def test_the_second_seat_is_no_different(tmp_path: Path) -> None:
    pair = (bot(tmp_path, "good"), bot(tmp_path, "crash", MISFITS["crash"]))
    _, records, (good, misfit), _ = matched(pair, HANDS)
    assert {fault.seat for fault in _faults(records)} == {1}
    assert (good.silenced_because, misfit.silenced_because) == (None, "its connection broke")


def test_a_liar_can_read_why_it_was_folded(tmp_path: Path) -> None:
    pair = (bot(tmp_path, "lie", MISFITS["lie"]), bot(tmp_path, "good"))
    match, records, _, _ = matched(pair, HANDS)
    told = [one for record in records for one in bad_replies(match.game, record)]
    assert {"lie"} == {one.player for one in told}
    reasons = {one.reply: one.because for one in told}
    assert reasons["k"] == "no reply begins with 'k'"
    assert reasons["Rabc"] == "there is no whole number behind its R"
    assert reasons[""] == "it closed its connection, or sent an empty line"
    assert reasons["\ufffd\ufffd"] == "it is no text in UTF-8"
    assert "K" in {one.asked for one in told if one.where == "acknowledgement"}
    assert [] == [one for one in told if not one.played and one.where != "acknowledgement"]


def test_a_clock_that_runs_out_ends_the_talk(tmp_path: Path) -> None:
    slow = "def odd(line): time.sleep(0.15); return polite(line)"
    pair = (bot(tmp_path, "slow", slow), bot(tmp_path, "good"))
    _, records, (bot_of_ours, _), _ = matched(pair, HANDS, replace(SHORT, clock=0.4))
    assert [("late", 0)] == [(fault.kind, fault.seat) for fault in _faults(records)]
    assert (bot_of_ours.silenced_because, bot_of_ours.clock) == ("its clock ran out", 0)


@pytest.mark.parametrize(
    ("build", "told", "seconds"),
    [
        ([sys.executable, "-c", "raise SystemExit(3)"], "its build failed with exit code 3", 9.0),
        ([sys.executable, "-c", SLEEPS], "its build took longer than 0.3 s and was ended", 0.3),
        (["/no/such/compiler"], "its build command cannot be started: ", 9.0),
    ],
)
def test_a_build_that_fails_is_told_and_the_bot_is_run_all_the_same(
    build: list[str], told: str, seconds: float, tmp_path: Path
) -> None:
    pair = (bot(tmp_path, "good"), bot(tmp_path, "builder", build=build))
    _, records, (_, builder), said = matched(pair, 1, replace(SHORT, build=seconds))
    assert [told] == [note[: len(told)] for note in builder.notes]
    assert said == [f"builder: {note}" for note in builder.notes]
    assert ([], None) == (_faults(records), builder.silenced_because)
    assert left_behind(tmp_path) == []


def test_what_a_build_leaves_running_is_ended_too(tmp_path: Path) -> None:
    breed = f"subprocess.Popen([sys.executable, '-c', {SLEEPS!r}], start_new_session=True)"
    build = [sys.executable, "-c", f"import subprocess, sys; {breed}"]
    matched((bot(tmp_path, "good"), bot(tmp_path, "builder", build=build)), 1)
    assert left_behind(tmp_path) == []


def test_an_interruption_in_the_middle_leaves_no_bot_behind(tmp_path: Path) -> None:
    pair = (bot(tmp_path, "good"), bot(tmp_path, "stay", MISFITS["stay"]))

    def interrupted() -> None:
        with running_bots(pair, SHORT, OPEN, print):
            assert len(left_behind(tmp_path)) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert left_behind(tmp_path) == []


def test_a_referee_that_is_killed_is_told_of_and_leaves_no_bot_behind(tmp_path: Path) -> None:
    pair = (bot(tmp_path, "good"), bot(tmp_path, "plain"))
    match = wire_plan(GAMES["auction-2024-mit"], "m", ("good", "plain"), 99_999)
    listener = Listener(print, lambda legs: None)
    job = MatchJob(match, pair, SHORT, SeededDecks("7"), OPEN)
    others = multiprocessing.active_children()  # of applications that other tests share
    hands = MatchProcesses().play(job, listener, lambda: False)
    while next(hands) is None:
        pass
    assert len(left_behind(tmp_path)) == 2
    (referee,) = {*multiprocessing.active_children()} - {*others}
    referee.kill()
    with pytest.raises(WorkerGone, match="the process that played the match is gone"):
        list(hands)
    assert left_behind(tmp_path) == []
