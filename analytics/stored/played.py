"""`played`: one row a player and hand, what it came to and what luck has to be counted of.

`spot` is all that an equity needs, where `why` says nothing against it. `may_close` leaves out
hands that closed for nobody, whatever he may see: it counts no bid as a choice, for that one was
forced may be a secret.
"""

from functools import partial
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from analytics.replay.columns import ACTIONS, Rulebook, Text, chosen
from analytics.stored.auctions import ROLES
from analytics.stored.closed_betting import BOARD, Closed, closed
from engine.policies import per_chip
from events.ledger import Column
from store.columns.codec import leaves_of
from store.columns.layout import columns
from store.log.leaf import Leaf
from store.segments.segment import ROW_GROUP, cut
from store.tables.hand_columns import KIND, Chips, Hands
from store.tables.projection import EventRows, Projection, made

SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "match": pa.string(),
        "number": pa.int64(),
        "game": pa.string(),
        "ruleset": pa.string(),
        "seat": pa.int32(),
        "player": pa.string(),
        "role": pa.string(),
        "net": pa.float64(),
        "unit": pa.int32(),
        "took": pa.float64(),
        "showdown": pa.bool_(),
        "price": pa.float64(),
        "swapped": pa.int32(),
        "at_risk": pa.int32(),
        "may_close": pa.bool_(),
        "spot": pa.string(),
        "why": pa.string(),
    }
)


def played(kept: Text) -> Projection:
    """The projection, for a ledger that keeps the texts of rulesets which `kept` reads."""
    # 2: in chips also where units are euro cents, pence or hundredths of a chip; 3: a board may go
    # on after five cards
    return Projection("played", 3, partial(_of_rows, kept), tuple(columns()))


def encoded_spot(leaf: Leaf, rules: Rulebook) -> tuple[str | None, str | None]:
    """What luck has to be counted of as it is kept, or why it cannot be; or neither."""
    spot = spot_of(leaf, rules)
    if isinstance(spot, Closed):
        return msgspec.json.encode(spot).decode(), None
    return None, spot


def spot_of(leaf: Leaf, rules: Rulebook) -> Closed | str | None:
    """What luck has to be counted of, as the viewer of this leaf knows it."""
    end = leaf.hand
    assert end is not None
    game = rules.of(end.start.ruleset)
    if game is None:
        return "ruleset not known"
    spot = closed([one.event for one in leaf.recorded], end, game)
    if not isinstance(spot, Closed):
        return spot
    how = rules.showdown(end.start.ruleset)
    if how is None or (how.hole_min and (any(spot.third) or spot.chances)):
        return "ranking not in columns"
    return spot


def _of_rows(kept: Text, events: EventRows) -> pa.Table:
    """The rows of these hands; those that closed with cards to come are looked at one by one."""
    rules, hands = Rulebook(kept), events.once(Hands)
    place = np.flatnonzero(hands.counted.take(hands.place_hand))
    hand, seat = hands.place_hand[place], hands.place_seat[place]
    head = hands.heads.take(hand)
    stays = ~hands.marked("Folded")
    left = np.bincount(hands.place_hand, stays, hands.count) > 1
    closes = hands.counted & left & _runs_out(hands)
    spots, whys = _spots(hands, rules, closes)
    which, rulesets = hands.cells.words("ruleset", hands.heads)
    games = map(rules.of, rulesets.to_pylist())
    # How many units make a chip; of unknown rules one.
    units = np.array([*(1 if game is None else per_chip(game.unit) for game in games), 1])
    unit = units.take(which)[hand]
    net = sum(map(hands.summed, (hands.shares, hands.bounties))) - hands.summed(hands.moves)
    net = net[place]
    settled = hands.kind.take(hands.moves.row) == KIND["AuctionSettled"]
    prices = hands.summed(Chips(*(column[settled] for column in hands.moves)))
    at_risk, changed, hidden = _swaps(hands)
    heads_up, dealer = hands.seats[hand] == 2, seat == hands.cells.numbers("button", head)
    found: dict[str, Any] = {
        **{name: hands.column(name, head) for name in SCHEMA.names[:5]},
        "seat": seat,
        "player": hands.players(hand, seat),
        "role": chosen(ROLES, np.where(dealer, 0, np.where(heads_up, 1, 2))),
        "net": net / unit,
        "unit": unit,
        "took": pa.array(_took(hands)[place], mask=~closes[hand]),
        "showdown": stays[place] & left[hand],
        "price": prices[place] / unit,
        "swapped": pa.array(changed[place], mask=hidden[place]),
        "at_risk": at_risk[place],
        "may_close": closes[hand],
        "spot": spots.take(pa.array(hand)),
        "why": whys.take(pa.array(hand)),
    }
    return made(SCHEMA, **found)


def _runs_out(hands: Hands) -> Column:
    """Whether cards of a full board came after the last choice of each hand; a board may go on."""
    row = hands.of(*ACTIONS, "Tossed")
    free = hands.cells.codes("origin", {"forced": 1}, row, 0) == 0
    row = np.sort(np.concatenate([row[free], hands.of("TimedOut")]))
    last = hands.heads.copy()
    last[hands.hand_of.take(row)] = row
    then, now = ((it.codes >= 0).sum(1) for it in (hands.board(last), hands.board()))
    found: Column = (now >= BOARD) & (then < now)
    return found


def _spots(hands: Hands, rules: Rulebook, closes: Column) -> tuple[pa.Array, pa.Array]:
    """What luck has to be counted of in each hand that closes, or why it cannot be."""
    spots: list[str | None] = [None] * hands.count
    whys: list[str | None] = [None] * hands.count
    rows = hands.rows.filter(pa.array(closes.take(hands.hand_of))).unify_dictionaries()
    leaves = (leaf for group in cut([rows], ROW_GROUP) for leaf in leaves_of(group))
    for leaf, hand in zip(leaves, np.flatnonzero(closes).tolist(), strict=True):
        spots[hand], whys[hand] = encoded_spot(leaf, rules)
    return pa.array(spots, pa.string()), pa.array(whys, pa.string())


def _took(hands: Hands) -> Column:
    """Everybody's part of the first pot, as it was paid."""
    row = hands.of("PotSplit")[::-1]
    first = np.full(hands.count, -1)
    first[hands.hand_of.take(row)] = row
    paid = Chips(*(it[hands.shares.row == first.take(hands.shares.hand)] for it in hands.shares))
    sums = np.zeros(hands.count, dtype=np.int64)
    np.add.at(sums, paid.hand, paid.amount)
    found = np.zeros(hands.places + 1)
    found[paid.place] = paid.amount / np.where(sums == 0, 1, sums).take(paid.hand)
    return found


def _swaps(hands: Hands) -> tuple[Column, Column, Column]:
    """Cards at risk, cards changed, and whether that is hidden, place by place."""
    row = hands.of("CardSwapped")
    place = hands.place(hands.hand_of.take(row), hands.seat(row))
    old, new = hands.cells.alike(("old", "new"), row)
    masked = sum(hands.cells.codes(name, {"hidden": 1}, row, 0) for name in ("old", "new"))
    size = hands.places + 1
    return (
        np.bincount(place, minlength=size),
        np.bincount(place[old != new], minlength=size),
        np.bincount(place[masked > 0], minlength=size) > 0,
    )
