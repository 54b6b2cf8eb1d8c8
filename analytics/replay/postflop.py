"""After the flop: who went on betting, who led, floated, check-raised and gave up."""

from functools import cache
from types import SimpleNamespace

from analytics.replay.flags import AFTER
from analytics.replay.spots import FOLD, RAISE, Chances, Spots

NEITHER, DONK, FLOAT = range(3)
FIELDS = {
    "kind": 2,
    "offered": 1,  # a bet or raise was on the menu
    "street": 2,  # from the flop, which is one
    "bets": 2,  # three is more than anything asks for
    "continued": 1,  # the last of them was the continuation bet
    "heir": 1,  # who may make the continuation bet
    "acted": 1,
    "checked": 1,
    "checks": 1,  # somebody has checked
    "lead": 2,  # a bet would be a donk bet, or a float
}


def _chances(it: SimpleNamespace) -> Chances:
    bet, folded = it.kind == RAISE, it.kind == FOLD
    free, faced = it.bets == 0, it.bets > 0
    for number, name in enumerate(AFTER, start=1):
        here = it.street == number
        yield f"cbet_{name}", here & free & it.heir & it.offered, bet
        first = here & free & it.checks & ~it.acted
        yield f"bet_when_checked_to_{name}", first & it.offered, bet
        yield f"fold_to_cbet_{name}", here & (it.bets == 1) & it.continued, folded
        yield f"check_raise_{name}", here & faced & it.checked & it.offered, bet
    flop = free & it.offered & (it.street == 1)
    yield "donk", flop & (it.lead == DONK), bet
    yield "float_bet", flop & (it.lead == FLOAT), bet


@cache
def postflop() -> Spots:
    """What each spot after the flop means."""
    return Spots(FIELDS, _chances)
