"""Values of third cards that were counted before, in a file: a spot is counted once and for all.

A record is eight whole numbers: the cards up to a change of suits, and wins and ties with the third
card, against it, and without it. A record cut short by a crash is dropped by the next to open it.
"""

import os
import struct
from math import comb
from pathlib import Path

from odds.batch import STANDARD, Showdown
from odds.counting import canonical
from odds.equity import Odds
from odds.rank import Cards, mask
from odds.third_card import ThirdCard, counted_third_card

RECORD = struct.Struct("<8q")
_BOARDS = comb(47, 2)  # two cards to come on a flop, two known hands of which one is unseen
DEALS = (_BOARDS * 45 * comb(44, 2), _BOARDS * comb(45, 3), _BOARDS * comb(45, 2))


class ThirdCards:
    """What is known of third cards under one ranking; `counted` is how many were new."""

    def __init__(self, folder: Path | None, rules: Showdown = STANDARD) -> None:
        self.counted = 0
        self.rules = rules
        self._known: dict[tuple[int, int], ThirdCard] = {}
        self._file: Path | None = None
        if folder is not None:
            name = f"third-card-1-{rules.straights}-{rules.ranking}-{rules.hole_min}.bin"
            self._file = folder / name
            self._load(self._file)

    def of(self, hole: Cards, board: Cards) -> ThirdCard:
        """Looked up, or counted and kept."""
        key = canonical(mask(hole), mask(board))
        spot = (key[0], key[1])
        if spot not in self._known:
            self._known[spot] = counted_third_card(*spot, self.rules)
            self.counted += 1
            self._keep(spot, self._known[spot])
        return self._known[spot]

    def _load(self, file: Path) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            held = file.read_bytes() if file.exists() else b""
            if len(held) % RECORD.size:
                os.truncate(file, len(held) - len(held) % RECORD.size)
        except OSError:  # a folder that cannot be read or written costs time and nothing else
            self._file = None
            return
        whole = len(held) // RECORD.size * RECORD.size
        for hole, board, *counts in RECORD.iter_unpack(held[:whole]):
            odds = [_odds(deals, *counts[2 * at : 2 * at + 2]) for at, deals in enumerate(DEALS)]
            if None not in odds:
                self._known[hole, board] = ThirdCard(*odds)  # type: ignore[arg-type]

    def _keep(self, spot: tuple[int, int], value: ThirdCard) -> None:
        if self._file is None:
            return
        counts = [count for odds in (value.won, value.lost, value.neither) for count in odds.best]
        try:
            with self._file.open("ab", buffering=0) as out:
                out.write(RECORD.pack(*spot, *counts))
        except OSError:
            self._file = None


def _odds(deals: int, wins: int, ties: int) -> Odds | None:
    """What cannot be is not believed, and counted again."""
    return Odds(deals, (wins, ties)) if 0 <= wins <= wins + ties <= deals else None
