"""The pots of many hands at once: main and side pots, the rake of each, and the winners' shares.

Rules are those of `engine/pots.py` and `engine/settle.py`, written again over columns.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analytics.batch_audit.betting_check import BettingCheck
from engine.policies import Policies, Rake
from store.columns.numpy_columns import Column


class SidePots(NamedTuple):
    """The n-th pot of each hand: its chips (0 if the hand has no such pot), and who may win it."""

    amount: Column
    seats: Column  # bits
    number: Column  # of the pot


class PotShares(NamedTuple):
    """One pot of some hands: its winners by clockwise place from the button, and their shares."""

    rows: Column
    number: Column
    seats: Column  # by place from the left of the button
    wins: Column
    shares: Column
    exact: Column  # false where no unit divides the pot (G1)
    odd: Column  # where the winners cannot all have the same


class HandPots:
    """The pots of each hand at its end, and the rake of each."""

    def __init__(self, played: BettingCheck) -> None:
        self.played, self.game = played, played.game
        paid = np.maximum(played.paid(), 0)
        dead = played.dead.sum(0, dtype=np.int32)
        self.paid, self.dead = paid, dead
        n = played.n
        alone = played.last >= 0
        self.last_standing, self.at_showdown = np.flatnonzero(alone), np.flatnonzero(~alone)
        some = self.at_showdown
        self.layers = side_pots(paid.take(some, axis=1), dead.take(some), played.stays.take(some))
        self.whole = paid.sum(0, dtype=np.int32) + dead
        self.pot_count = np.zeros(len(self.at_showdown), dtype=np.int8)
        for pot in self.layers:
            self.pot_count += pot.amount > 0
        self.count = np.ones(n, dtype=np.int8)
        self.count[self.at_showdown] = self.pot_count
        self.rake_by_pot: list[Column] | None = None
        self.last_standing_rake = np.zeros(n, dtype=np.int64)
        self.raked_pot_count = np.zeros(n, dtype=np.int8)
        if self.game.rake is not None:
            self._take_rake(alone)

    def _take_rake(self, alone: Column) -> None:
        """Compute the rake of each pot; none of a hand without a flop, if so ruled (R3)."""
        rule, played = self.game.rake, self.played
        assert rule is not None
        flop = self._last_round_before_flop()
        seen = (played.last < 0) | (played.last > flop) | (not rule.no_flop_no_drop)
        seats = played.seats
        self.rake_by_pot = rake_of_pots(rule, self.layers, seats, seen[self.at_showdown])
        one = [SidePots(self.whole, played.stays, np.zeros_like(self.whole))]
        self.last_standing_rake = rake_of_pots(rule, one, seats, seen & alone)[0]
        self.raked_pot_count = (self.last_standing_rake != 0).astype(np.int8)
        for cut in self.rake_by_pot:
            self.raked_pot_count[self.at_showdown] += cut != 0

    def _last_round_before_flop(self) -> int:
        """The number of the last round before three cards are on the board."""
        number = -1
        for line in self.played.plan.lines:
            number += line.kind == "bet"
            if line.kind == "board" and line.total >= 3:
                return number
        return number


def side_pots(paid: Column, dead: Column, stays: Column) -> list[SidePots]:
    """The pots of each hand: one, where every claimant has put in the same, otherwise layers."""
    bits = np.left_shift(1, np.arange(len(paid)), dtype=np.int32)[:, None]
    claims = (stays & bits) != 0
    claimed = paid * claims
    uneven = np.flatnonzero(((claimed != claimed.max(0)) & claims).any(0))
    whole = paid.sum(0, dtype=np.int32) + dead
    found = [SidePots(whole, stays.copy(), np.zeros_like(whole))]
    if not len(uneven):
        return found
    for place, some in enumerate(layered_pots(paid[:, uneven], dead[uneven], stays[uneven])):
        if place:
            found.append(SidePots(*(np.zeros_like(whole) for _ in range(3))))
        for column, values in zip(found[place], some, strict=True):
            column[uneven] = values
    return found


def layered_pots(paid: Column, dead: Column, stays: Column) -> list[SidePots]:
    """One pot for every level that a claimant reached: what all seats put in up to it (G5).

    Dead chips go to the first (G6), to the seats still in; what a seat that folded put in beyond
    all others, to the last.
    """
    seats, n = paid.shape
    claims = [(stays >> seat & 1) == 1 for seat in range(seats)]
    most = np.iinfo(np.int32).max
    levels = np.sort(np.stack([np.where(c, paid[s], most) for s, c in enumerate(claims)]), axis=0)
    left = np.bitwise_count(stays)
    top = levels[np.maximum(left.astype(np.int64) - 1, 0), np.arange(n)]
    found: list[SidePots] = []
    below = np.zeros(n, dtype=np.int32)
    number = np.zeros(n, dtype=np.int32)
    for place in range(seats):
        level = np.minimum(levels[place], top)
        amount = (np.minimum(paid, level) - np.minimum(paid, below)).sum(0, dtype=np.int32)
        if place == 0:
            amount += dead
        last = (level == top) & ((below < top) | (place == 0))
        amount += np.maximum(paid - top, 0).sum(0, dtype=np.int32) * last
        who = sum((c & (paid[s] >= level)) << s for s, c in enumerate(claims))
        found.append(SidePots(amount, np.asarray(who), number))
        number = number + (amount > 0)
        below = level
        if (below == top).all():
            break
    return found


def rake_of_pots(rule: Rake, pots: list[SidePots], seats: int, raked: Column) -> list[Column]:
    """The house's cut of each pot; hands that are not `raked` pay none (R3)."""
    caps = [cap for least, cap in sorted(rule.caps_by_players) if seats >= least]
    before = sofar = np.zeros(len(raked), dtype=np.int64)
    found = []
    for pot in pots:
        if rule.scope == "pot":
            found.append(_rake_of_pot(rule, pot.amount.astype(np.int64), caps) * raked)
            continue
        sofar = sofar + pot.amount.astype(np.int64)
        after = _rake_of_pot(rule, sofar, caps)
        found.append((after - before) * raked)
        before = after
    return found


def _rake_of_pot(rule: Rake, pot: Column, caps: list[int]) -> Column:
    """The rake of a pot, rounded, and never more than the cap (R1, R2)."""
    if rule.rounding == "incremental":
        cut = pot // rule.increment * (rule.increment * rule.percent // rule.of)
    else:
        cut, rest = np.divmod(pot * rule.percent, rule.of)
        if rule.rounding == "ceil":
            cut = cut + (rest > 0)
        elif rule.rounding == "half_even":
            cut = cut + ((2 * rest > rule.of) | ((2 * rest == rule.of) & (cut % 2 == 1)))
    return np.minimum(cut, caps[-1]) if caps else cut


def pot_shares(
    game: Policies, pots: list[SidePots], rakes: list[Column] | None, values: Column, button: Column
) -> Iterator[PotShares]:
    """Pay each pot to the best hands of those who may win it; odd chips go by the policy (G2)."""
    count = len(values)
    for place, pot in enumerate(pots):
        rows = np.flatnonzero(pot.amount > 0)
        if not len(rows):
            continue
        amount = pot.amount[rows].astype(np.int64)
        if rakes is not None:
            amount = amount - rakes[place][rows]
        may = (pot.seats[rows] >> np.arange(count)[:, None] & 1) == 1
        mine = (values.take(rows, axis=1) + 1) * may
        best = mine == mine.max(0)
        order = (button.take(rows) + np.arange(1, count + 1)[:, None]) % count
        wins = best.ravel().take(order * len(rows) + np.arange(len(rows)))
        shares, exact = _split_pot(game, amount, wins)
        odd = amount % (wins.sum(0) * game.split_unit) != 0
        yield PotShares(rows, pot.number[rows], order, wins, shares, exact, odd)


def _split_pot(game: Policies, amount: Column, wins: Column) -> tuple[Column, Column]:
    """Split a pot evenly between winners; what does not divide goes by the policy."""
    winners = wins.sum(0)
    rank = np.cumsum(wins, axis=0) - 1
    if game.odd_chips == "fractional":
        return amount // winners * wins, amount % winners == 0
    unit = game.split_unit
    even, odd = np.divmod(amount // unit, winners)
    first = wins & (rank == 0)
    if game.odd_chips == "first_left_all":
        shares = even * unit * wins + (amount - even * unit * winners) * first
    else:
        shares = (even + (rank < odd)) * unit * wins + amount % unit * first
    return shares, np.ones(len(amount), dtype=bool)
