"""`acts`: one row for each thing that a player did, what he faced, and what he held.

The decisions of a report's hands (`analytics.decisions`), but for straddles, shows and mucks, with
what a report asks beside them. Chips are whole chips, whatever unit a ruleset counts in. Bids are
acts of a street of their own.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.hands import Hands
from analytics.decisions.schema import ACTIONS, BID, ROUND
from analytics.decisions.table import table_of
from analytics.replay.rulebook import Rulebook
from analytics.stored.row_head import HEAD, RULESET
from store.columns.cells import Column

SCHEMA = pa.schema(
    {
        **HEAD,
        **RULESET,
        "place": pa.int32(),
        "seat": pa.int32(),
        "player": pa.string(),
        "position": pa.string(),
        "street": pa.string(),
        "kind": pa.string(),
        "meant": pa.bool_(),
        "owed": pa.bool_(),
        "offered": pa.bool_(),
        "after_check": pa.bool_(),
        "chips": pa.float64(),
        "stack": pa.float64(),
        "pot": pa.float64(),
        "made_pct": pa.float64(),
        "faced_pct": pa.float64(),
        "tenth": pa.int32(),
        "hole": pa.string(),
        "board": pa.string(),
        "rival_cards": pa.int32(),
        "equity": pa.float64(),
        "showdown": pa.bool_(),
        "think_ms": pa.int64(),
    }
)
KINDS = ACTIONS[: BID + 1]
LEFT_OUT = pa.array(("forced", "default"))  # origins that say nothing of a player


def acts_of(hands: Hands, rules: Rulebook, me: str | None = None) -> pa.Table:
    """The rows of these hands in order; with `me` only his checks count as ours (`after_check`).

    Not meant: what was forced or a default, and a fold instead of a straddle, outside every round.
    """
    every = table_of(hands, rules)
    it = every.filter(pc.is_in(every["action"], pa.array(KINDS))).combine_chunks()
    hand = np.searchsorted(hands.laid.hand_seq, it["hand_seq"].to_numpy())
    bid = pc.equal(it["action"], "bid")
    asked = pc.fill_null(pc.is_in(it["faced"], pa.array(ROUND)), False)
    outside = pc.and_not(pc.invert(asked), bid)
    left_out = pc.is_in(it["origin"], LEFT_OUT)
    owed = pc.or_(pc.fill_null(pc.greater(it["to_call"], 0), False), outside)
    offered = pc.if_else(outside, False, it["may_raise"])
    unit = pa.array(hands.unit.take(hand))
    chips = pc.if_else(bid, it["amount"], it["size"])
    faced = pc.divide(it["faced_share"], pc.add(it["faced_share"], 1.0))
    could = pc.and_not(pc.and_(_after_check(it, me), pc.fill_null(offered, False)), owed)
    later = pc.not_equal(it["street"], "preflop")
    number = it["number"].cast(pa.string())
    found = {
        **{name: it[name] for name in it.column_names},
        "hand": pc.binary_join_element_wise(it["match"], number, "/"),
        "place": it["idx"],
        "street": pc.if_else(bid, "auction", it["street"]),
        "kind": it["action"],
        "meant": pc.and_not(pc.or_(asked, bid), left_out),
        "owed": owed,
        "offered": offered,
        "after_check": pc.if_else(bid, None, pc.and_(could, later)),
        "chips": _chips(chips, unit),
        "stack": _chips(it["stack"], unit),
        "pot": _chips(it["pot"], unit),
        "made_pct": pc.multiply(it["share"], 100.0),
        "faced_pct": pc.if_else(owed, pc.multiply(faced, 100.0), None),
        "rival_cards": _rival_cards(hands, hand, it),
        "equity": pa.nulls(it.num_rows, pa.float64()),
        "showdown": hands.seen.showdown.take(hands.laid.base.take(hand) + it["seat"].to_numpy()),
    }
    return pa.table([found[one.name] for one in SCHEMA], schema=SCHEMA)


def _after_check(it: pa.Table, me: str | None) -> pa.Array:
    """Whether an action is his first of a street on which we have checked before it."""
    size = it.num_rows
    hand, seat = it["hand_seq"].to_numpy(), it["seat"].to_numpy()
    street = it["street"].combine_chunks().dictionary_encode().indices.to_numpy()
    begins = np.ones(size, dtype=bool)
    begins[1:] = (hand[1:] != hand[:-1]) | (street[1:] != street[:-1])
    streets = np.cumsum(begins)
    checks = pc.equal(it["action"], "check").to_numpy()
    if me is not None:
        checks &= pc.equal(it["player"], me).to_numpy()
    upto = np.append(0, np.cumsum(checks))[:size]
    checked = upto > upto[np.flatnonzero(begins)][streets - 1]
    acts = np.flatnonzero(pc.not_equal(it["action"], "bid").to_numpy())
    first = np.zeros(size, dtype=bool)
    first[acts[np.unique(streets[acts] << 8 | seat[acts], return_index=True)[1]]] = True
    return pa.array(first & checked)


def _rival_cards(hands: Hands, hand: Column, it: pa.Table) -> pa.Array:
    """How many cards the last rival has; nothing while there are several."""
    laid, seat = hands.laid, it["seat"].to_numpy()
    row = laid.heads.take(hand) + it["idx"].to_numpy()
    seats, base = laid.seats.take(hand), laid.base.take(hand)
    rival = np.zeros(len(row), dtype=np.int64)
    for other in range(int(seats.max(initial=0))):
        place = np.minimum(base + other, laid.places)
        there = (other < seats) & (other != seat) & (hands.seen.fold.take(place) > row)
        rival = np.where(there, place, rival)
    cards = np.append(hands.held.size, 0).take(hands.held.turn(rival, row)).astype(np.int32)
    return pa.array(cards, mask=it["rivals"].to_numpy() != 1)


def _chips(units: pa.ChunkedArray, per_chip: pa.Array) -> pa.ChunkedArray:
    return pc.divide(units.cast(pa.float64()), per_chip.cast(pa.float64()))
