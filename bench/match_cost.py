"""What a match of two quick bots costs, beside the engine of their organisers.

The two bots that ship play in processes of their own: by `muckrake match` into a ledger, by the
same with `--gamelog`, and by the engine of MIT Pokerbots 2024, whose folder
`MUCKRAKE_POKERBOTS_ENGINE` names. Each is a program that is started anew, in turn. Counted is the
processor time of all that was started, the bots' too; what a match of one hand takes is start-up,
and is taken off. The engine deals by chance, so the hands are not the same, only as many. Python
keeps what it compiles, for all alike, as where they are installed: each has played once before.

Ours shares one processor with quick bots, so that no idle one has to be woken for a reply. The
engine is timed as it is, which the goal is about, and on one processor, where it costs less, too.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.ledger import disk

ROOT = Path(__file__).parents[1]
BOTS = ("steady", "gruff")
ENGINE = "MUCKRAKE_POKERBOTS_ENGINE"
HANDS = 1_000
MOST = 5  # rounds
GOAL = 1.25
OURS = ("muckrake match", "muckrake match --gamelog")
THEIRS = "the organisers' engine"
ALONE = f"{THEIRS} on one processor"
UNMEASURED = f"- {THEIRS} was not measured: {ENGINE} names none; goal: at most {GOAL:g} ×."


class Spent(NamedTuple):
    """Seconds of processors: what a match of one hand takes, and what the others took more."""

    start: float
    hands: float


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """One table, and how much more ours cost, round by round."""
    for name in BOTS:
        shutil.copytree(ROOT / "dealer/examples" / name, scratch / name)
    engine = os.environ.get(ENGINE)
    names = [*OURS, *([THEIRS, ALONE] if engine else [])]
    found: dict[str, list[Spent]] = {name: [] for name in names}
    load = f"Load of the machine when this began: {os.getloadavg()[0]:.1f}."
    for name in names:  # compiles all that a match needs, its last step too
        _spent(scratch, name, engine, rounds, hands)
    for number in range(rounds):
        for name in names:
            one = _spent(scratch, name, engine, number, 1)
            every = _spent(scratch, name, engine, number, hands)
            found[name].append(Spent(one, every - one))
    rows = [
        f"| {name} | {median(it.hands for it in spent) * 1_000 / hands:.2f}"
        f" | {median(it.start for it in spent):.2f} |"
        for name, spent in found.items()
    ]
    return [
        f"{hands:,} hands of auction-2024-mit, {rounds} rounds. {disk(scratch)} {load}",
        "",
        "| | s of processors for 1,000 hands | start-up |",
        "|---|---:|---:|",
        *rows,
        "",
        *(_beside(found) if engine else [UNMEASURED]),
        "",
    ]


def _beside(found: dict[str, list[Spent]]) -> list[str]:
    lines = []
    for name in OURS:
        beside = {}
        for other in (THEIRS, ALONE):
            both = zip(found[name], found[other], strict=True)
            beside[other] = [ours.hands / theirs.hands for ours, theirs in both]
        ratio, alone = (median(ratios) for ratios in beside.values())
        each = [f"{min(ratios):.2f}..{max(ratios):.2f}" for ratios in beside.values()]
        lines.append(
            f"- `{name}` costs **{ratio:.2f}** × ({each[0]}); goal: at most {GOAL:g} ×,"
            f" {'met' if ratio <= GOAL else 'missed'}; of {ALONE} {alone:.2f} × ({each[1]})."
        )
    return lines


def _spent(scratch: Path, name: str, engine: str | None, number: int, hands: int) -> float:
    """The processor time of one match."""
    place = scratch / f"{number}-{hands}-{_folder(name)}"
    place.mkdir()
    kept = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(scratch / "kept"),
    }
    before = _children()
    if name in (THEIRS, ALONE):
        assert engine is not None
        shutil.copy(Path(engine) / "engine.py", place)
        _configure(Path(engine), place, scratch, hands)
        everywhere = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(everywhere)} if name == ALONE else everywhere)  # inherited
        try:
            words = [sys.executable, "engine.py"]
            subprocess.run(words, check=True, capture_output=True, cwd=place, env=kept)
        finally:
            os.sched_setaffinity(0, everywhere)
        assert f"Round #{hands}," in (place / "gamelog.txt").read_text()
    else:
        log = ("--gamelog", str(place / "gamelog.txt")) if "--gamelog" in name else ()
        door = [sys.executable, "-c", "import sys; from api.main import main; sys.exit(main())"]
        how = ("--hands", str(hands), "--seed", str(number), "--ledger", str(place / "ledger"))
        bots = (str(scratch / bot) for bot in BOTS)
        words = [*door, "match", *bots, *how, *log, "--quiet"]
        subprocess.run(words, check=True, capture_output=True, cwd=ROOT, env=kept)
    return _children() - before


def _folder(name: str) -> str:
    """A contender's name as that of a folder."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _configure(engine: Path, place: Path, scratch: Path, hands: int) -> None:
    """The engine's own settings, with these bots and so many hands."""
    ours = {
        "PLAYER_1_PATH": str(scratch / BOTS[0]),
        "PLAYER_2_PATH": str(scratch / BOTS[1]),
        "NUM_ROUNDS": hands,
    }
    told = "".join(f"{name} = {value!r}\n" for name, value in ours.items())
    (place / "config.py").write_text(f"{(engine / 'config.py').read_text()}\n{told}")


def _children() -> float:
    """Seconds of processor time of all children that have ended."""
    times = os.times()
    return times.children_user + times.children_system
