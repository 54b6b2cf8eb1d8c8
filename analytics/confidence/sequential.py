"""Whether one player is better than another, by a test that may be looked at after every deal.

Somebody bets on each deal that the first player comes out ahead. He begins with 1, and before a
deal he stakes a share of what he has; the deal moves him by that share of how far the first came
out ahead, as a part of the most that it could move. If the first is no better, no deal is worth
more than nothing to him however he bets, so in at most `error` of all cases he ever has 1 / `error`
(Ville's inequality, 1939). Nobody needs to say beforehand how many deals there will be, and looking
often costs nothing. A second one bets the other way. The money is divided among eight shares, from
0.95 down to 1/128, for large differences and small ones.

It takes nothing else for granted: no normal distribution, no deals that are alike, and bots may
change while they play. The price is that it reckons with losses that never came: where pots are
small beside the stacks, it takes some ten times the deals of a test that does not.
"""

from math import ceil, log
from typing import Literal, NamedTuple

import numpy as np

from analytics.confidence.bootstrap import Numbers

Outcome = Literal["better", "worse", "not yet"]
SHARES = np.array([0.95, *0.5 ** np.arange(1, 8)])


class Ruling(NamedTuple):
    """What the bets came to: after how many deals it was decided, if it was, and what both have."""

    outcome: Outcome
    decided: int | None
    better: float
    worse: float
    more: int | None


def ruling(ahead: Numbers, error: float) -> Ruling:
    """The first side to reach 1 / `error`; deals are parts of the most that could move, in order.

    While nobody has, `more` guesses how many deals are lacking if it goes on so.
    """
    ends = [_wealth(side) for side in (ahead, -ahead)]
    reached = [np.flatnonzero(end >= -log(error)) for end in ends]
    first = [int(at[0]) + 1 if len(at) else None for at in reached]
    last = [float(end[-1]) if len(end) else 0.0 for end in ends]
    names: tuple[Outcome, Outcome] = ("better", "worse")
    sides = [(deal, name) for deal, name in zip(first, names, strict=True) if deal is not None]
    have = [float(np.exp(min(end, 700.0))) for end in last]  # what a float can hold
    if sides:
        decided, outcome = min(sides)
        return Ruling(outcome, decided, have[0], have[1], None)
    lead = max(last)
    more = ceil(len(ahead) * (-log(error) / lead - 1)) if lead > log(2) else None
    return Ruling("not yet", None, have[0], have[1], more)


def _wealth(ahead: Numbers) -> Numbers:
    """The logarithm of what somebody has after each deal who bets that they are above nothing."""
    if not len(ahead):
        return ahead
    each = np.cumsum(np.log1p(np.outer(ahead, SHARES)), axis=0)
    most = each.max(axis=1, keepdims=True)
    found: Numbers = most[:, 0] + np.log(np.exp(each - most).mean(axis=1))
    return found
