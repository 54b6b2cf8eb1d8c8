"""Whole hands of every ruleset as text, question by question: a diff shows what a change changes.

Each file names the seeds of its hands. `--accept` looks for new ones that between them reach a
showdown, side pots, an uncontested pot and whatever else a ruleset has.
"""

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.game import Game
from engine.games import GAMES
from engine.hand import turn
from engine.steps.betting import sentence
from engine.turn import Over, ToAct, ToBid, ToDeal, ToDraw, ToShow, ToStraddle, ToSwap, ToToss, Turn
from events.notation import say, say_all
from events.state import Hand
from events.types import BountySettled, Event, PotSplit
from tests.hands import Played, every_game, seeded

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "golden"
SEEDS = range(300)


@every_game
def test_a_golden_hand_is_played_as_before(game: Game, accept: bool) -> None:
    path = FOLDER / f"{game.name}.txt"
    if accept:
        path.write_text(_written(game, _chosen(game)))
    if not path.exists():
        pytest.fail(f"{game.name} has no golden hands: ./mr accept writes {path.name}")
    text = path.read_text()
    assert text == _written(game, _named(text))


@every_game
def test_golden_hands_cover_every_event_the_ruleset_has_shown(game: Game) -> None:
    """Kinds of event that forty random hands reach are in the golden hands too."""
    text = (FOLDER / f"{game.name}.txt").read_text()
    shown = {kind for seed in _named(text) for kind in _kinds(seeded(game, seed))}
    reached = {kind for seed in range(40) for kind in _kinds(seeded(game, str(seed)))}
    rare = {"Disconnected", "Reconnected"}
    assert set() == reached - shown - rare


def test_there_is_no_golden_file_without_a_ruleset() -> None:
    assert set(GAMES) == {path.stem for path in FOLDER.glob("*.txt")} - {"perft"}


def _named(text: str) -> list[str]:
    """The seeds a golden file names: `=== seed 12: ...`."""
    lines = (line for line in text.splitlines() if line.startswith("=== seed "))
    return [line.removeprefix("=== seed ").partition(":")[0] for line in lines]


def _chosen(game: Game) -> list[str]:
    """Few hands that show much: one for each topic, then whatever kind of event is missing."""
    hands = {str(seed): seeded(game, str(seed)) for seed in SEEDS}
    chosen: dict[str, None] = {}
    for topic in TOPICS.values():
        fitting = [seed for seed, played in hands.items() if topic(played)]
        if fitting and not any(topic(hands[seed]) for seed in chosen):
            chosen[min(fitting, key=lambda seed: _plainness(hands[seed]))] = None
    seen = {kind for seed in chosen for kind in _kinds(hands[seed])}
    for seed, played in hands.items():
        if not _kinds(played) <= seen:
            chosen[seed] = None
            seen |= _kinds(played)
    return sorted(chosen, key=int)


def _plainness(played: Played) -> tuple[bool, int]:
    """Ordinary stacks before odd ones, then the shortest."""
    return set(played.hand.start.stacks) != {played.game.stack}, len(played.record)


def _kinds(played: Played) -> set[str]:
    return {type(event).__name__ for event in played.record}


def _kinds_in(*kinds: str) -> Callable[[Played], bool]:
    return lambda played: set(kinds) <= _kinds(played)


def _side_pots(played: Played) -> bool:
    return sum(isinstance(event, PotSplit) for event in played.record) > 1


def _folded_out(played: Played) -> bool:
    return "Shown" not in _kinds(played)


def _split(played: Played) -> bool:
    return any(isinstance(event, PotSplit) and len(event.seats) > 1 for event in played.record)


def _bounty_hit(played: Played) -> bool:
    return any(isinstance(event, BountySettled) and event.amount for event in played.record)


TOPICS: dict[str, Callable[[Played], bool]] = {
    "a showdown after betting": _kinds_in("Shown", "Bet", "Called", "Folded"),
    "a heads-up showdown after betting": _kinds_in("Shown", "Bet", "Called"),
    "side pots": _side_pots,
    "a split pot": _split,
    "everybody folds": _folded_out,
    "an auction to a showdown": _kinds_in("AuctionSettled", "Shown"),
    "a bounty is hit": _bounty_hit,
    "out of time": _kinds_in("TimedOut"),
}


def _written(game: Game, seeds: list[str]) -> str:
    return "\n".join(_told(seed, seeded(game, seed)) for seed in seeds)


def _told(seed: str, played: Played) -> str:
    """Every question, and the events that its answer made."""
    topics = [name for name, holds in TOPICS.items() if holds(played)]
    lines = [f"=== seed {seed}: {', '.join(topics) or 'a hand'}", ""]
    first = played.moves[0].at if played.moves else len(played.record)
    lines += say_all(played.record[:first]).splitlines()
    ends = [*(move.at for move in played.moves[1:]), len(played.record)]
    for move, end in zip(played.moves, ends, strict=True):
        lines += ["", f"? {asked(played.game, move.before, move.asked)}"]
        lines += _said(played.record[move.at : end])
    if not played.hand.voided:
        lines += ["", f"? {asked(played.game, played.hand, turn(played.game, played.hand))}"]
    return "".join(f"{line}\n" for line in lines)


def _said(events: tuple[Event, ...]) -> list[str]:
    return [say(event) for event in events]


def asked(game: Game, hand: Hand, turn: Turn) -> str:
    """A question in words."""
    match turn:
        case ToAct(seat=seat):
            why = sentence(game, hand, turn)
            return f"{seat} may {_menu(turn)}" + (f" ({why})" if why else "")
        case ToStraddle(seat=seat, amount=amount):
            return f"{seat} may straddle {amount}, fold"
        case ToBid(seat=seat, bid_max=top):
            return f"{seat} may bid 0..{top}"
        case ToToss(seat=seat, slots=count):
            return f"{seat} may toss slot 0..{count - 1}"
        case ToDeal(count=count, kind=kind, to=to, place=place, burn=burn):
            seats = f" to {' '.join(map(str, to))}" if to else ""
            return f"deal {count} {kind}{seats} from the {place}" + (" after a burn" * burn)
        case ToSwap(at_risk=at_risk, chance=chance):
            slots = " ".join(f"{seat}.{slot}" for seat, slot in at_risk)
            return f"swap {slots}, each with {chance} percent"
        case ToDraw(seats=seats, hands=hands):
            return f"draw bounties for {' '.join(map(str, seats))}, the same for {hands} hands"
        case ToShow(seat=seat, may_muck=may_muck, announce=announce):
            return f"{seat} may {'announce' if announce else 'show'}" + ", muck" * may_muck
        case Over():
            return "nobody: the hand is over"


def _menu(turn: ToAct) -> str:
    words = []
    if turn.fold:
        words.append("fold")
    words.append("check" if turn.check else f"call {turn.call}")
    if turn.raise_min is not None:
        words.append(f"raise to {turn.raise_min}..{turn.raise_max}")
    return ", ".join(words)


@pytest.mark.ci
def test_accept_runs_the_tests_that_rewrite_something_and_no_other() -> None:
    accept = runpy.run_path(str(ROOT / "mr"))["VERBS"]["accept"]
    (words,) = accept(["--collect-only", "tests/test_docs.py", "tests/test_mr.py"])
    quick = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=quick, capture_output=True, text=True
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    names = {*re.findall(r"::(\w+)", done.stdout)}
    assert {"test_what_is_written_from_the_code_is_up_to_date"} == names
