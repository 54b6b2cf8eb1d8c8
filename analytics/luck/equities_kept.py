"""Equities that were counted before, in a file: what a spot is worth is counted once and for all.

A spot is known by a digest of all that its worth depends on. A record is that digest and five
numbers; one cut short by a crash is dropped by the next to open the file.
"""

import os
import struct
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from analytics.stored.closed_betting import Closed
from analytics.stored.equity import DRAWS, MODEL, SEED, Worth, worth_of
from odds.batch import STANDARD, Showdown
from odds.rank import Cards
from odds.swaps import share_with_swaps

RECORD = struct.Struct("<16s5d")
FILE = "equities-1.bin"
Numbers = tuple[float, float, float, float, float]


class Equities:
    """What is known already; `counted` is how many were new."""

    def __init__(self, folder: Path | None) -> None:
        self.counted = 0
        self._known: dict[bytes, Numbers] = {}
        self._file = None if folder is None else folder / FILE
        self._load()

    def worth(self, spot: Closed, seats: tuple[int, ...], rules: Showdown, hand: str) -> Worth:
        """One layer of a closed hand, if two may win it looked up, or counted and kept."""
        if len(seats) != 2:
            return worth_of(spot, seats, rules, hand)
        said = (spot.holes, spot.board, spot.dead, spot.third, spot.chances, spot.seats, seats)
        key = _key(MODEL, SEED, DRAWS, said, rules, hand if _is_drawn(spot) else "")
        if key not in self._known:
            found = worth_of(spot, seats, rules, hand)
            self._keep(key, (*found.alone, *found.share, found.error))  # type: ignore[arg-type]
        one, other, mine, his, error = self._known[key]
        return Worth((one, other), (mine, his), error)

    def share(
        self,
        hole: Cards,
        rival: Cards,
        board: Cards,
        chances: Sequence[tuple[int, int]],
        dead: Cards = (),
        rules: Showdown = STANDARD,
    ) -> float:
        """A hand whose cards may still be swapped, looked up, or counted and kept."""
        key = _key("swap/1", hole, rival, board, tuple(chances), dead, rules)
        if key not in self._known:
            found = float(share_with_swaps(hole, rival, board, chances, dead, rules))
            self._keep(key, (found, 0.0, 0.0, 0.0, 0.0))
        return self._known[key][0]

    def _load(self) -> None:
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            held = self._file.read_bytes() if self._file.exists() else b""
            if len(held) % RECORD.size:
                os.truncate(self._file, len(held) - len(held) % RECORD.size)
        except OSError:  # a folder that cannot be read or written costs time and nothing else
            self._file = None
            return
        whole = len(held) // RECORD.size * RECORD.size
        for key, *numbers in RECORD.iter_unpack(held[:whole]):
            self._known[key] = tuple(numbers)

    def _keep(self, key: bytes, numbers: Numbers) -> None:
        self.counted += 1
        self._known[key] = numbers
        if self._file is None:
            return
        try:
            with self._file.open("ab", buffering=0) as out:
                out.write(RECORD.pack(key, *numbers))
        except OSError:
            self._file = None


@lru_cache(maxsize=4)
def equities_in(folder: Path) -> Equities:
    """Those of a folder, read once by a process."""
    return Equities(folder)


def _is_drawn(spot: Closed) -> bool:
    """Whether it may be sampled: then the hand's name is the seed."""
    return any(spot.third) or bool(spot.chances)


def _key(*said: object) -> bytes:
    return sha256(repr(said).encode()).digest()[:16]
