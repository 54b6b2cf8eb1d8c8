"""`played` out of a table of events: counted in columns, row for row as `stored.played` does.

Only hands that closed with cards to come have a spot, and only those are looked at one by one.
"""

import numpy as np
import pyarrow as pa

from analytics.replay.layout import Laid
from analytics.replay.money import money
from analytics.replay.rulebook import Rulebook, games_of, units_of
from analytics.replay.seen import seen
from analytics.replay.words import chosen, head, players, word
from analytics.stored.closed_betting import BOARD
from analytics.stored.one_by_one import leaves_in
from analytics.stored.played import STORED, told_spot
from store.columns.cells import Column

ROLES = ("dealer", "big blind", "other")
_FORCED = {"forced": 1}


def played_of(rules: Rulebook, events: pa.Table) -> pa.Table:
    """The rows of these hands, in their order and that of seats."""
    if not events.num_rows:
        return STORED.empty_table()
    laid = Laid(events)
    was, chips = seen(laid), money(laid)
    place = np.flatnonzero(laid.told.take(laid.place_hand))
    hand, seat = laid.place_hand[place], laid.place_seat[place]
    closes = _closes(laid, was.stays)
    spots = _spots(laid, rules, events, closes)
    unit = units_of(*games_of(laid, rules.of))[hand]
    prices = np.zeros(laid.places + 1, dtype=np.int64)
    np.subtract.at(prices, laid.prices.place, laid.prices.amount)
    at_risk, changed, hidden = _swaps(laid)
    dealer, heads_up = seat == laid.button[hand], laid.seats[hand] == 2
    told = {
        **head(laid, hand),
        "ruleset": word(laid, "ruleset", hand),
        "seat": pa.array(seat.astype(np.int32)),
        "player": players(laid).take(pa.array(place)),
        "role": chosen(ROLES, np.where(dealer, 0, np.where(heads_up, 1, 2))),
        "net": pa.array(chips.net[place] / unit),
        "unit": pa.array(unit.astype(np.int32)),
        "took": pa.array(_took(laid)[place], mask=~closes[hand]),
        "showdown": pa.array(was.showdown[place]),
        "price": pa.array(prices[place] / unit),
        "swapped": pa.array(changed[place], mask=hidden[place]),
        "at_risk": pa.array(at_risk[place]),
        "may_close": pa.array(closes[hand]),
        "spot": spots[0].take(pa.array(hand)),
        "why": spots[1].take(pa.array(hand)),
    }
    return pa.table([told[one.name] for one in STORED], schema=STORED)


def _closes(laid: Laid, stays: Column) -> Column:
    """Whether a hand may have closed with cards to come (`luck_closed.may_close`)."""
    acts = laid.acts
    chosen = np.flatnonzero(laid.cells.codes("origin", _FORCED, acts.row, 0) == 0)
    last = laid.heads.copy()
    late = laid.of("TimedOut")
    np.maximum.at(last, acts.hand[chosen], acts.row[chosen])
    np.maximum.at(last, laid.hand_of[late], late)
    left = np.bincount(laid.place_hand, stays, laid.count) > 1
    in_all = laid.lies(np.append(laid.heads[1:], laid.cells.size) - 1, np.arange(laid.count))
    then = laid.lies(last, np.arange(laid.count))
    closes: Column = laid.told & left & (in_all >= BOARD) & (then < BOARD)
    return closes


def _spots(
    laid: Laid, rules: Rulebook, events: pa.Table, closes: Column
) -> tuple[pa.Array, pa.Array]:
    """Of each hand that closes what luck has to be counted of, or why it cannot be."""
    spots: list[str | None] = [None] * laid.count
    whys: list[str | None] = [None] * laid.count
    leaves = leaves_in(events, pa.array(closes.take(laid.hand_of)))
    for leaf, hand in zip(leaves, np.flatnonzero(closes).tolist(), strict=True):
        spots[hand], whys[hand] = told_spot(leaf, rules)
    return pa.array(spots, pa.string()), pa.array(whys, pa.string())


def _took(laid: Laid) -> Column:
    """Everybody's part of the first pot, as it was paid."""
    row = laid.of("PotSplit")
    row = row[np.unique(laid.hand_of.take(row), return_index=True)[1]]
    of, _, seat = laid.cells.ragged("seats", row).flat()
    _, _, share = laid.cells.ragged("shares", row).flat()
    paid = np.bincount(of, share, len(row))
    found = np.zeros(laid.places + 1)
    part = share / np.where(paid == 0, 1, paid).take(of)
    found[laid.place(laid.hand_of.take(row.take(of)), seat)] = part
    return found


def _swaps(laid: Laid) -> tuple[Column, Column, Column]:
    """Of every place: cards at risk, cards changed, and whether that is hidden."""
    row = laid.of("CardSwapped")
    place = laid.place(laid.hand_of.take(row), laid.cells.numbers("seat", row, -1))
    old, new = laid.cells.alike(("old", "new"), row)
    size = laid.places + 1
    at_risk, changed = (np.zeros(size, dtype=np.int32) for _ in range(2))
    np.add.at(at_risk, place, 1)
    np.add.at(changed, place, (old != new).astype(np.int32))
    hidden = np.zeros(size, dtype=bool)
    for name in ("old", "new"):
        masked = laid.cells.codes(name, {"hidden": 1}, row, 0) == 1
        hidden[place[np.flatnonzero(masked)]] = True
    return at_risk, changed, hidden
