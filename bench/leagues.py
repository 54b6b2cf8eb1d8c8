"""A league of ten bots beside a shell loop of `muckrake match` that plays the same matches.

The bots are ten copies of the example that ships, in Python; every pair meets once over mirrored
decks. The loop starts a program for each match, one after the other, and plays some of the pairs;
the league plays all of them, on all cores, into one ledger. Both are timed on the wall, in turn,
from the first start to the last hand durable. The processor time is that of everything that was
started, bots too.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations, islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from bench.ledger import disk

ROOT = Path(__file__).parents[1]
BOTS = 10
HANDS = 400
LOOPED = 6  # pairs that the loop plays
MOST = 3  # rounds
GOAL = 3.0


class Cost(NamedTuple):
    """Seconds for a match, on the wall and of processors."""

    wall: float
    cpu: float


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """One table, and what it comes to."""
    names = [f"bot{number}" for number in range(BOTS)]
    for name in names:
        shutil.copytree(ROOT / "dealer/examples/steady", scratch / name)
    pairs = list(combinations(names, 2))
    loops, leagues = [], []
    for number in range(rounds):
        ledger = ("--ledger", str(scratch / f"ledger{number}"), "--quiet")
        how = ("--mirror", "--hands", str(hands), "--seed", "7")
        looped = islice(pairs, LOOPED)
        matches = [("match", str(scratch / a), str(scratch / b), *how, *ledger) for a, b in looped]
        loops.append(_cost(matches, len(matches)))
        file = scratch / f"{number}.toml"
        bots = "".join(f'{name} = "{name}"\n' for name in names)
        file.write_text(f'league = "l{number}"\nhands = {hands}\nseed = "7"\n[bots]\n{bots}')
        leagues.append(_cost([("league", "run", str(file), *ledger)], len(pairs)))
    ratios = [one.wall / other.wall for one, other in zip(loops, leagues, strict=True)]
    ratio = median(ratios)
    whole = median(it.wall for it in leagues) * len(pairs)
    told = (
        f"The league is **{ratio:.2f}** × as fast as the loop"
        f" ({min(ratios):.2f}..{max(ratios):.2f}) and takes {whole:.0f} s for all of them;"
        f" goal: {GOAL:g} ×, {'met' if ratio >= GOAL else 'missed'}."
    )
    return [
        f"{len(pairs)} mirrored matches of {hands} hands, {rounds} rounds. {disk(scratch)}",
        "",
        "| a match | s on the wall | s of processors |",
        "|---|---:|---:|",
        *(
            f"| {name} | {median(it.wall for it in every):.2f}"
            f" | {median(it.cpu for it in every):.2f} |"
            for name, every in (("shell loop", loops), ("league run", leagues))
        ),
        "",
        told,
        "",
    ]


def _cost(commands: Sequence[tuple[str, ...]], matches: int) -> Cost:
    """What a match costs that these commands play, one after the other."""
    begun, before = perf_counter(), _spent()
    for words in commands:
        door = [sys.executable, "-c", "import sys; from api.main import main; sys.exit(main())"]
        subprocess.run([*door, *words], check=True, capture_output=True, cwd=ROOT)
    return Cost((perf_counter() - begun) / matches, (_spent() - before) / matches)


def _spent() -> float:
    """Seconds of processor time of all children that have ended."""
    times = os.times()
    return times.children_user + times.children_system
