"""A cache of computed equities in a file: a record is a digest of its inputs, and five numbers."""

import struct
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from analytics.auctions.third_card_worth import RecordFile
from analytics.projections.equity import DRAWS, MODEL, SEED, PotEquities, RunOut, pot_equities
from events.cards import Cards
from odds.batch import STANDARD, Showdown
from odds.unseen import share_with_swaps

RECORD = struct.Struct("<16s5d")
FILE = "equities-1.bin"
Numbers = tuple[float, ...]


class EquityCache:
    """Look up equities in a file by the digest of all that they depend on; compute new ones."""

    def __init__(self, folder: Path | None) -> None:
        self._file = RecordFile(None if folder is None else folder / FILE, RECORD)
        self._known: dict[bytes, Numbers] = {
            key: tuple(numbers) for key, *numbers in self._file.read()
        }

    def worth(
        self, spot: RunOut, seats: tuple[int, ...], rules: Showdown, hand: str
    ) -> PotEquities:
        """What each seat could win of one layer of a closed hand; a layer of two is kept."""
        if len(seats) != 2:
            return pot_equities(spot, seats, rules, hand)
        asked = (spot.holes, spot.board, spot.dead, spot.third, spot.chances, spot.seats, seats)
        # What may be sampled has the hand's name for a seed.
        seed = hand if any(spot.third) or spot.chances else ""
        key = _key(MODEL, SEED, DRAWS, asked, rules, seed)
        if key not in self._known:
            found = pot_equities(spot, seats, rules, hand)
            self._keep(key, (*found.alone, *found.share, found.error))
        one, other, mine, his, error = self._known[key]
        return PotEquities((one, other), (mine, his), error)

    def share(
        self,
        hole: Cards,
        rival: Cards,
        board: Cards,
        chances: Sequence[tuple[int, int]],
        dead: Cards = (),
        rules: Showdown = STANDARD,
    ) -> float:
        """The equity of a hand whose cards may still be swapped."""
        key = _key("swap/1", hole, rival, board, tuple(chances), dead, rules)
        if key not in self._known:
            found = float(share_with_swaps(hole, rival, board, chances, dead, rules))
            self._keep(key, (found, 0.0, 0.0, 0.0, 0.0))
        return self._known[key][0]

    def _keep(self, key: bytes, numbers: Numbers) -> None:
        self._known[key] = numbers
        self._file.keep(key, *numbers)


@lru_cache(maxsize=4)
def equity_cache(folder: Path) -> EquityCache:
    """The cache of a folder, read once by a process."""
    return EquityCache(folder)


def _key(*parts: object) -> bytes:
    return sha256(repr(parts).encode()).digest()[:16]
