"""Who is paid: layers of what was put in, the house's cut, winners and odd chips, in columns."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.policies import Policies, Rake
from store.columns.cells import Column


class Layer(NamedTuple):
    """One layer of each hand: its chips (none, if the hand has no such pot), and who may win it."""

    amount: Column
    seats: Column  # bits
    number: Column  # of the pot


def pots(paid: Column, dead: Column, stays: Column) -> list[Layer]:
    """The pots of each hand: one, where every claimant has put in the same, otherwise layers."""
    bits = np.left_shift(1, np.arange(len(paid)), dtype=np.int32)[:, None]
    claims = (stays & bits) != 0
    claimed = paid * claims
    uneven = np.flatnonzero(((claimed != claimed.max(0)) & claims).any(0))
    whole = paid.sum(0, dtype=np.int32) + dead
    found = [Layer(whole, stays.copy(), np.zeros_like(whole))]
    if not len(uneven):
        return found
    for place, some in enumerate(layers(paid[:, uneven], dead[uneven], stays[uneven])):
        if place:
            found.append(Layer(*(np.zeros_like(whole) for _ in range(3))))
        for column, values in zip(found[place], some, strict=True):
            column[uneven] = values
    return found


def layers(paid: Column, dead: Column, stays: Column) -> list[Layer]:
    """For every level that a claimant reached, what all seats put in up to it (G5).

    Dead chips go to the first (G6), to whoever is still in; what a seat that folded put in beyond
    all others, to the last.
    """
    seats, n = paid.shape
    claims = [(stays >> seat & 1) == 1 for seat in range(seats)]
    most = np.iinfo(np.int32).max
    levels = np.sort(np.stack([np.where(c, paid[s], most) for s, c in enumerate(claims)]), axis=0)
    left = np.bitwise_count(stays)
    top = levels[np.maximum(left.astype(np.int64) - 1, 0), np.arange(n)]
    found: list[Layer] = []
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
        found.append(Layer(amount, np.asarray(who), number))
        number = number + (amount > 0)
        below = level
        if (below == top).all():
            break
    return found


def taken(rule: Rake, pots: list[Layer], seats: int, raked: Column) -> list[Column]:
    """The house's cut of each pot; of hands that are not `raked` (R3) none."""
    caps = [cap for least, cap in sorted(rule.caps_by_players) if seats >= least]
    before = sofar = np.zeros(len(raked), dtype=np.int64)
    found = []
    for pot in pots:
        if rule.scope == "pot":
            found.append(_cut(rule, pot.amount.astype(np.int64), caps) * raked)
            continue
        sofar = sofar + pot.amount.astype(np.int64)
        after = _cut(rule, sofar, caps)
        found.append((after - before) * raked)
        before = after
    return found


def _cut(rule: Rake, pot: Column, caps: list[int]) -> Column:
    """The rate of a pot, rounded, and never more than the cap (R1, R2)."""
    if rule.rounding == "incremental":
        cut = pot // rule.increment * (rule.increment * rule.percent // rule.of)
    else:
        cut, rest = np.divmod(pot * rule.percent, rule.of)
        if rule.rounding == "ceil":
            cut = cut + (rest > 0)
        elif rule.rounding == "half_even":
            cut = cut + ((2 * rest > rule.of) | ((2 * rest == rule.of) & (cut % 2 == 1)))
    return np.minimum(cut, caps[-1]) if caps else cut


class Paid(NamedTuple):
    """One pot of some hands: the clockwise places that win it, seat by seat, and their shares."""

    rows: Column
    number: Column
    seats: Column  # by place from the left of the button
    wins: Column
    shares: Column
    exact: Column  # false where no unit divides the pot (G1)
    odd: Column  # where the winners cannot all have the same


def awards(
    game: Policies, pots: list[Layer], cuts: list[Column] | None, values: Column, button: Column
) -> Iterator[Paid]:
    """Pot by pot, who wins how much: the best of those who may, odd chips by the policy (G2)."""
    count = len(values)
    for place, pot in enumerate(pots):
        rows = np.flatnonzero(pot.amount > 0)
        if not len(rows):
            continue
        amount = pot.amount[rows].astype(np.int64)
        if cuts is not None:
            amount = amount - cuts[place][rows]
        may = (pot.seats[rows] >> np.arange(count)[:, None] & 1) == 1
        mine = (values.take(rows, axis=1) + 1) * may
        best = mine == mine.max(0)
        order = (button.take(rows) + np.arange(1, count + 1)[:, None]) % count
        wins = best.ravel().take(order * len(rows) + np.arange(len(rows)))
        shares, exact = _split(game, amount, wins)
        odd = amount % (wins.sum(0) * game.split_unit) != 0
        yield Paid(rows, pot.number[rows], order, wins, shares, exact, odd)


def _split(game: Policies, amount: Column, wins: Column) -> tuple[Column, Column]:
    """An even split between winners; what does not divide goes by the policy."""
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
