"""How strong a hand was when its player acted, as far as he could know: his cards and the board.

Against any two (or three) cards that a single rival may hold, as if no card were dealt by auction
or swapped any more. Before the flop a tenth, afterwards an equity.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from analytics.stored.rulebook import Rulebook
from odds.batch import Showdown
from odds.counting import CLASSES, canonical, class_of, hands_of
from odds.preflop import stored
from odds.rank import Cards, mask
from odds.unseen import counted

T = TypeVar("T")
WEAK, STRONG = 0.35, 0.75
ACTS = ("bet", "raise", "check")  # whose strength is counted, where it was shown down


@cache
def _tenths(rules: Showdown) -> dict[str, int]:
    """Each class of two cards in its tenth of all 1,326 hands, the weakest first."""
    odds = stored()[rules]
    order = sorted(CLASSES, key=lambda name: (2 * odds[name][0] + odds[name][1], name))
    found, below = {}, 0
    for name in order:
        hands = len(hands_of(name))
        found[name] = 1 + 10 * (2 * below + hands) // (2 * 1_326)
        below += hands
    return found


def tenth(hole: Cards, rules: Showdown) -> int | None:
    """1, the weakest tenth of all hands, to 10; the middle of its class decides."""
    return _tenths(rules)[class_of(hole)] if len(hole) == 2 else None


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
            hole, board = (mask(row[name].split()) for name in ("hole", "board"))
            row["equity"] = _share(*canonical(hole, board), row["rival_cards"], how)


@lru_cache(maxsize=1 << 16)
def _share(hole: int, board: int, dealt: int, rules: Showdown) -> float:
    """Spots that differ in suits alone are one."""
    return float(counted(hole, board, dealt=dealt, rules=rules).share)
