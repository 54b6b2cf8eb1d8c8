"""Before the flop: who entered, raised, re-raised and stole, out of those who could.

The big blind is level one, so the first raise makes two: `raises` counts from nothing.
"""

from functools import cache
from types import SimpleNamespace

from analytics.replay.spots import CALL, FOLD, RAISE, Chances, Spots, word

# A straddle that might have been a fold (U4): chips put in by choice, and no raise.
STRADDLED = word(vpip=True, pfr=False)
FIELDS = {
    "kind": 2,
    "asked": 1,  # false of a fold instead of a straddle, outside every round
    "offered": 1,  # a raise was on the menu
    "raises": 2,  # three is more than anything asks for
    "callers": 1,  # since the last raise, or limpers
    "stolen": 1,  # the last raise was a steal
    "stealing": 1,  # sits where a first raise is one
    "blind": 2,  # SB one, BB two
    "raiser": 1,
    "opener": 1,
    "fresh": 1,  # his first action, and there is something to call
}


def _chances(it: SimpleNamespace) -> Chances:
    raised, called, folded = it.kind == RAISE, it.kind == CALL, it.kind == FOLD
    yield "vpip", it.kind == it.kind, raised | called
    yield "pfr", it.kind == it.kind, raised
    yield "pfr_able", it.asked & it.offered, raised

    unraised = it.asked & (it.raises == 0)
    yield "limp", unraised & it.fresh, called
    unopened = unraised & ~it.callers & it.offered  # who comes after a limper opens nothing
    yield "rfi", unopened, raised
    yield "steal", unopened & it.stealing, raised

    once = it.asked & (it.raises == 1)
    yield "three_bet", once & it.offered, raised
    yield "squeeze", once & it.callers & it.offered, raised
    robbed = once & ~it.callers & it.stolen & (it.blind > 0)
    yield "fold_to_steal_sb", robbed & (it.blind == 1), folded
    yield "fold_to_steal_bb", robbed & (it.blind == 2), folded
    yield "resteal", robbed & it.offered, raised

    twice = it.asked & (it.raises == 2)
    yield "four_bet", twice & it.offered, raised
    yield "fold_to_3bet", twice, folded
    yield "four_bet_opener", twice & it.opener & it.offered, raised
    yield "fold_to_3bet_opener", twice & it.opener, folded
    yield "cold_four_bet", twice & ~it.raiser & it.offered, raised


@cache
def preflop() -> Spots:
    """What each spot before the flop means."""
    return Spots(FIELDS, _chances)
