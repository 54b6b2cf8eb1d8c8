"""Hands by the thousand into a ledger and out again, and how much memory each step takes at most.

Every step runs in a process of its own, over a tenth of the hands and over all of them: memory is
bounded where the second needs no more than the first. Appending includes the seals with all
projections; the hands are played and numbered while the clock is stopped.
"""

from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench.apart import Spent, apart
from bench.auction import SAMPLE, sample, simulated
from store.folder import manifest
from store.folder.disk import RealDisk, now_ms
from store.ledger import SEAL_HANDS, open_ledger
from store.reader import Reader
from store.segments.sealing import compact
from store.tables.projection import STANDARD

CALL = 1_000  # hands a call
MERGE = "compact, with its proof"


class Steps(NamedTuple):
    """What was done with so many hands; each step answers how many seconds it took."""

    hands: int
    spent: dict[str, Spent]


def sections(scratch: Path, hands: int) -> list[str]:
    """A table of steps, for a tenth of the hands and for all of them."""
    few, many = (_steps(scratch / f"bulk-{count}", count) for count in (max(1, hands // 10), hands))
    lines = [
        f"## {hands:,} hands in bulk, and read again",
        "",
        f"| | {few.hands:,} hands: hands/s | memory | {many.hands:,} hands: hands/s | memory |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in many.spent:
        cells = [cell for one in (few, many) for cell in _cells(one, name)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    distinct = min(hands, SAMPLE)
    idle, holding = apart(_hold, 0).peak, apart(_hold, distinct).peak
    about = (
        f"Memory is the most that the process had: {idle / 1e6:,.0f} MB of it before any work"
        f" (Python with pyarrow and DuckDB), and where it appends {(holding - idle) / 1e6:,.0f}"
        f" MB for playing and holding {distinct:,} hands. A call has {CALL:,} hands, a seal"
        f" {SEAL_HANDS:,}."
    )
    return [*lines, "", about, ""]


def append(folder: Path, hands: int) -> float:
    """Seconds within `append`, and of one more seal at the end."""
    ledger, lock = open_ledger(folder, "bench", STANDARD)
    waiting = islice(simulated(min(hands, SAMPLE)), hands)
    seconds = 0.0
    while calls := list(islice(waiting, CALL)):
        start = perf_counter()
        ledger.append(*calls)
        seconds += perf_counter() - start
    start = perf_counter()
    ledger.seal()
    seconds += perf_counter() - start
    ledger.close()
    lock.release()
    return seconds


def read_all(folder: Path) -> float:
    """Seconds for every event, as objects, in order of position."""
    start = perf_counter()
    snapshot = Reader(folder).snapshot()
    assert sum(1 for _ in snapshot.read_from(0)) == snapshot.next_pos
    return perf_counter() - start


def merge(folder: Path) -> float:
    """Seconds for one large segment in the place of many, compared cell by cell."""
    start = perf_counter()
    disk = RealDisk(folder)
    now = manifest.read(disk)
    assert now is not None
    compact(disk, now, STANDARD, now_ms())
    return perf_counter() - start


def _steps(folder: Path, hands: int) -> Steps:
    return Steps(
        hands,
        {
            "append, seals included": apart(append, folder, hands),
            "read_from(0)": apart(read_all, folder),
            MERGE: apart(merge, folder),
            "read_from(0), compacted": apart(read_all, folder),
        },
    )


def _cells(one: Steps, name: str) -> tuple[str, str]:
    spent = one.spent[name]
    if name == MERGE and one.hands <= SEAL_HANDS:
        return "", ""  # there is nothing to merge
    return f"{one.hands / spent.answer:,.0f}", f"{spent.peak / 1e6:,.0f} MB"


def _hold(hands: int) -> int:
    return len(sample(hands))
