"""A league of ten bots beside a shell loop of `muckrake match` that plays the same matches.

The bots are ten copies of the example that ships, in Python; every pair meets once over mirrored
decks. The loop starts a program for each match, one after the other, and plays some of the pairs;
the league plays all of them, on all cores, into one ledger. Both are timed on the wall, in turn,
from the first start to the last hand durable. The processor time is that of everything that was
started, bots too. Python keeps what it compiles, as where they are installed: a match has been
played before. `MUCKRAKE_EARLIER` may name a checkout of an earlier commit, whose loop is timed too.
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
LOOPED = 6  # pairs that a loop plays
EARLIER = "MUCKRAKE_EARLIER"
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
    places = {"shell loop": ROOT}
    if earlier := os.environ.get(EARLIER):
        places["shell loop of an earlier commit"] = Path(earlier)
    costs: dict[str, list[Cost]] = {name: [] for name in (*places, "league run")}
    for number in range(rounds):
        for name, place in places.items():
            ledger = ("--ledger", str(scratch / f"{len(name)}-{number}"))
            how = ("--mirror", "--hands", str(hands), "--seed", "7")
            if not number:
                _cost(place, scratch, [_match(scratch, *pairs[0], "--hands", "2", *ledger)])
            looped = [_match(scratch, *pair, *how, *ledger) for pair in islice(pairs, LOOPED)]
            costs[name].append(_cost(place, scratch, looped))
        file = scratch / f"{number}.toml"
        bots = "".join(f'{name} = "{name}"\n' for name in names)
        file.write_text(f'league = "l{number}"\nhands = {hands}\nseed = "7"\n[bots]\n{bots}')
        ledger = ("--ledger", str(scratch / f"league-{number}"))
        words = ("league", "run", str(file), *ledger)
        costs["league run"].append(_cost(ROOT, scratch, [words], len(pairs)))
    whole = median(it.wall for it in costs["league run"]) * len(pairs)
    return [
        f"{len(pairs)} mirrored matches of {hands} hands, {rounds} rounds. {disk(scratch)}",
        "",
        "| a match | s on the wall | s of processors |",
        "|---|---:|---:|",
        *(
            f"| {name} | {median(it.wall for it in every):.2f}"
            f" | {median(it.cpu for it in every):.2f} |"
            for name, every in costs.items()
        ),
        "",
        f"The league takes {whole:.0f} s for all of them.",
        *(_faster(name, costs[name], costs["league run"]) for name in places),
        "",
    ]


def _faster(name: str, loops: Sequence[Cost], leagues: Sequence[Cost]) -> str:
    ratios = [one.wall / other.wall for one, other in zip(loops, leagues, strict=True)]
    ratio = median(ratios)
    return (
        f"- Beside the {name} it is **{ratio:.2f}** × as fast"
        f" ({min(ratios):.2f}..{max(ratios):.2f}); goal: {GOAL:g} ×,"
        f" {'met' if ratio >= GOAL else 'missed'}."
    )


def _match(scratch: Path, one: str, other: str, *words: str) -> tuple[str, ...]:
    return ("match", str(scratch / one), str(scratch / other), *words)


def _cost(
    place: Path, scratch: Path, commands: Sequence[tuple[str, ...]], matches: int | None = None
) -> Cost:
    """What a match costs that these commands play, one after the other, by the code of a place."""
    matches = matches or len(commands)
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(scratch / "kept")}
    begun, before = perf_counter(), _spent()
    for words in commands:
        door = [sys.executable, "-c", "import sys; from api.main import main; sys.exit(main())"]
        subprocess.run(
            [*door, *words], check=True, capture_output=True, cwd=place, env={**os.environ, **kept}
        )
    return Cost((perf_counter() - begun) / matches, (_spent() - before) / matches)


def _spent() -> float:
    """Seconds of processor time of all children that have ended."""
    times = os.times()
    return times.children_user + times.children_system
