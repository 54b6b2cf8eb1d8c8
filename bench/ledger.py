"""The ledger: durable appends beside SQLite, DuckDB and a plain file, and the bytes of a hand.

Heads-up auction hands of random bots, seeded. Time is the clock on the wall, for a sync waits and
does not count; the disk is the one that `TMPDIR` is on. What needs a million hands or ten is
`ledger-large`.
"""

import os
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter

from bench import ledger_bulk, ledger_durable, ledger_size
from bench.peers import label
from bench.runner import measure, table

HANDS = 20_000
SYNCS = 50
MOUNTS = Path("/proc/mounts")


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """Everything that runs within a minute or two."""
    lines = [disk(scratch), ""]
    with ExitStack() as stack:
        for bench in ledger_durable.benches(scratch, stack, seconds):
            names = {contender.name: label(contender) for contender in bench.contenders}
            lines += [table(bench, measure(bench, rounds, seconds), names), ""]
    lines += [ledger_durable.ABOUT, ""]
    lines += ledger_size.sections(scratch, hands)
    return [*lines, *ledger_bulk.sections(scratch, hands)]


def disk(folder: Path) -> str:
    """What kind of file system this is, and how long a small write takes to be durable."""
    took = []
    path = folder / "sync"
    with path.open("wb", buffering=0) as file:
        for _ in range(SYNCS):
            start = perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            took.append((perf_counter() - start) * 1_000)
    kind = _kind(folder)
    warning = " That is memory: syncs cost nothing here." if kind in ("tmpfs", "ramfs") else ""
    return f"File system {kind}; 4 kB written and synced in {median(took):.2f} ms.{warning}"


def _kind(folder: Path) -> str:
    """Its type, where the system says so: that of the longest mount point above it."""
    if not MOUNTS.exists():
        return "of unknown kind"
    mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    above = [(len(at), kind) for at, kind in mounts if folder.resolve().is_relative_to(at)]
    return max(above)[1] if above else "of unknown kind"
