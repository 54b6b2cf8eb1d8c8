"""The equity of a hand when its player acted, as far as he could know: his cards and the board.

Against any two (or three) cards that a single rival may hold, as if no card were dealt by auction
or swapped any more.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

from analytics.replay.rulebook import Rulebook
from odds.batch import Showdown
from odds.counting import canonical
from odds.rank import mask
from odds.unseen import counted

T = TypeVar("T")
WEAK, STRONG = 0.35, 0.75
ACTS = ("bet", "raise", "check")  # whose strength is counted, where it was shown down


def spread(found: Sequence[T], wanted: int | None) -> list[T]:
    """So many of them, evenly spaced over the record, the same ones every time; None: all."""
    if wanted is None or wanted >= len(found):
        return list(found)
    return [found[at * len(found) // wanted] for at in range(wanted)]


def valued(rows: Iterable[dict[str, Any]], rules: Rulebook) -> None:
    """Count these equities, in place; a ranking that columns cannot say leaves none."""
    for row in rows:
        how = rules.showdown(row["ruleset"])
        if how is not None:
            with suppress(ValueError):  # no deck deals such cards: the record is forged
                hole, board = (mask(row[name].split()) for name in ("hole", "board"))
                row["equity"] = _share(*canonical(hole, board), row["rival_cards"], how)


@lru_cache(maxsize=1 << 16)
def _share(hole: int, board: int, dealt: int, rules: Showdown) -> float:
    """Spots that differ in suits alone are one."""
    return float(counted(hole, board, dealt=dealt, rules=rules).share)
