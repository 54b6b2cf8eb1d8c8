"""How long a command takes from its first byte to its last, each in a Python of its own.

On the wall, as a person at a prompt has it, files warm. The bare Python is the same interpreter
that does nothing; what a command takes longer is its imports and its answer. The ledger is small,
so that it is not the ledger that is measured.
"""

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.ledger import disk

HANDS = 200
GOAL_MS = 100
HELP = "--help"
ROOT = Path(__file__).parents[1]
PROGRAM = "import sys; from muckrake.__main__ import main; sys.exit(main(sys.argv[1:]))"
MATCH = ("play", "auction-2024", "--seed", "1", "--match", "start")
ASKED: dict[str, tuple[str, ...]] = {
    HELP: (HELP,),
    "games": ("games",),
    "replay HAND": ("replay", "start/1"),
    "audit HAND": ("audit", "start/1"),
    "matches": ("matches",),
    "hands --limit 10": ("hands", "--limit", "10"),
    "stats": ("stats",),
    "sql": ("sql", "SELECT count(*) FROM hands"),
}


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """Each command as often as there are rounds, in turn."""
    ledger = scratch / "ledger"
    took("-c", PROGRAM, *MATCH, "--hands", str(hands), "--ledger", str(ledger))
    times: dict[str, list[float]] = {"a bare Python": [], **{name: [] for name in ASKED}}
    for _ in range(rounds):
        times["a bare Python"].append(took("-c", "pass"))
        for name, words in ASKED.items():
            where = () if name == HELP else ("--ledger", str(ledger))
            times[name].append(took("-c", PROGRAM, *words, *where))
    lines = [disk(scratch), "", "| | median, ms | least |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {median(each):,.0f} | {min(each):,.0f} |" for name, each in times.items()
    ]
    verdict = "met" if median(times[HELP]) < GOAL_MS else "**missed**"
    told = f"{median(times[HELP]):,.0f} ms"
    return [*lines, "", f"- goal: {HELP} within {GOAL_MS} ms: {verdict}, {told}", ""]


def took(*words: str) -> float:
    """Milliseconds of one whole process."""
    begun = perf_counter()
    subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=True)
    return 1_000 * (perf_counter() - begun)
