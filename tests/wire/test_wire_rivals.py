"""A bot that kills or stops its rival: what it can, what is said of it, and what it wins by it."""

import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from dealer.wire.player import WirePlayer
from dealer.wire.program import Limits
from dealer.wire.protocol import WirePlan
from dealer.wire.sandbox import Isolation
from events.types import BidPlaced, Called, Checked, Events, Faulted, Folded
from tests.wire.misfits import SHORT, left_behind, matched
from tests.wire.misfits import bot as made

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists processes")

CHOICES = (Folded, Checked, Called, BidPlaced)
# Sends a signal, at its fourth reply, to every process that runs the victim's program.
KILLER = """
def odd(line):
    if not getattr(odd, "done", False):
        odd.done = True
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if b"VICTIM" in open(f"/proc/{pid}/cmdline", "rb").read():
                    os.kill(int(pid), NUMBER)
            except OSError:
                pass
    return polite(line)
"""
MAY = "its rival may have sent it, like any program of yours: nothing says who did"


def _match(
    folder: Path, number: int, guard: Isolation, limits: Limits = SHORT
) -> tuple[WirePlan, list[Events], tuple[WirePlayer, WirePlayer], list[str]]:
    """A killer in seat 0, and a victim whose command line holds a word that it looks for."""
    word = f"victim-{folder.name}"
    victim = made(folder, "prey")
    source = KILLER.replace("VICTIM", word).replace("NUMBER", str(number))
    killer = made(folder, "killer", source)
    victim = replace(victim, run=(*victim.run, word))
    return matched((killer, victim), 8, limits, guard=guard)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_who_is_killed_by_a_rival_is_said_to_be_killed_by_a_signal(
    number: signal.Signals, tmp_path: Path
) -> None:
    """Where nothing keeps bots apart, the killer plays on against defaults, unproved."""
    _, records, (killer, victim), _ = _match(tmp_path, number, Isolation((), ("none",)))
    assert (victim.silenced_because, victim.exit) == ("its connection broke", -number)
    (note,) = victim.notes
    assert note.startswith(f"it was ended by {number.name}, which muckrake did not send; ")
    assert note.endswith(MAY)
    assert ([], None) == (killer.notes, killer.silenced_because)
    faults = [one for record in records for one in record if isinstance(one, Faulted)]
    assert {1} == {one.seat for one in faults}
    assert faults[-1].kind == "disconnected"
    gone = max(at for at, record in enumerate(records) if faults[-1] in record)
    choices = [one for record in records[gone + 1 :] for one in record if isinstance(one, CHOICES)]
    assert {"default"} == {one.origin for one in choices if one.seat == 1}
    assert {"chosen"} == {one.origin for one in choices if one.seat == 0}
    assert left_behind(tmp_path) == []


@pytest.mark.ci
def test_a_bot_that_is_stopped_by_a_rival_is_late_and_the_report_says_why(tmp_path: Path) -> None:
    limits = replace(SHORT, reply=0.5)
    _, _, (killer, victim), _ = _match(tmp_path, signal.SIGSTOP, Isolation((), ("none",)), limits)
    assert victim.silenced_because == "it took too long for one reply"
    assert victim.notes[0] == f"its process was stopped by a signal when it was late; {MAY}"
    assert killer.silenced_because is None
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_rival_that_is_kept_apart_cannot_be_killed(number: int, tmp_path: Path) -> None:
    _, records, (killer, victim), _ = _match(tmp_path, number, Isolation(()))
    if "none" in (killer.sandbox.means, victim.sandbox.means) or killer.sandbox.reasons:
        pytest.skip(f"this system does not keep bots apart: {killer.sandbox.reasons}")
    assert ([], None) == (victim.notes, victim.silenced_because)
    assert not any(isinstance(one, Faulted) for record in records for one in record)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            "os.kill(os.getpid(), 11)",
            "it was ended by SIGSEGV, as a program is that fails",
        ),
        (
            "os._exit(137)",
            "its exit code 137 is a shell's for a program ended by SIGKILL, which muckrake ",
        ),
        ("os._exit(3)", ""),
    ],
)
def test_how_a_program_ended_is_told_by_its_exit_code(how: str, said: str, tmp_path: Path) -> None:
    pair = (made(tmp_path, "odd", f"def odd(line): {how}"), made(tmp_path, "good"))
    _, _, (odd, _), _ = matched(pair, 4)
    assert [said] == [note[: len(said)] for note in odd.notes] if said else odd.notes == []
