"""The ledger at the sizes of its goals: a million hands appended, one of ten million looked up.

Takes many minutes and some gigabytes below `TMPDIR`, so it runs only when it is named. `ledger`
has the rest.
"""

import shutil
from pathlib import Path

from bench import ledger_bulk, ledger_lookup
from bench.ledger import disk

HANDS = 10_000_000
BYTES = 200  # of disk for each hand, with room to spare


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """A tenth of the hands appended; all of them, made from few, to be looked up in."""
    free = shutil.disk_usage(scratch).free
    most = free // 2 // BYTES
    lines = [disk(scratch), ""]
    if hands > most:
        lines += [f"The disk has room for {most:,} hands only: so many, not {hands:,}.", ""]
    hands = min(hands, most)
    return [
        *lines,
        *ledger_bulk.sections(scratch, hands // 10),
        *ledger_lookup.sections(scratch, hands),
    ]
