"""`ends`: one row a player and hand: how it ended for him, what it came to, how large he bet.

`state` says whether his match was won or lost already (`locked`); it is null where nobody knows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from analytics.decisions.hands import Hands
from analytics.opponents.locked import Played, costs
from analytics.replay.flags import STREETS
from analytics.replay.money import money
from analytics.stored.row_head import HEAD, WHO
from store.columns.cells import Column

SCHEMA = pa.schema(
    {
        **HEAD,
        **WHO,
        "position": pa.string(),
        "street": pa.string(),
        "how": pa.string(),
        "net": pa.float64(),
        "bet_min": pa.float64(),
        "bet_max": pa.float64(),
        "known": pa.bool_(),
        "fault": pa.bool_(),
        "state": pa.string(),
    }
)
HOW = ("he_folds", "showdown", "others_fold")


def ends_of(hands: Hands, acts: pa.Table) -> pa.Table:
    """The rows of these hands, in their order and that of seats; `acts` are their acts."""
    laid = hands.laid
    place = np.flatnonzero(laid.told.take(laid.place_hand) & hands.seen.dealt)
    hand = laid.place_hand[place]
    folded = ~hands.seen.stays[place]
    faulty = np.zeros(laid.places + 1, dtype=bool)
    faulty[laid.at("Faulted")[3]] = True
    low, high = _bets(hands, acts)
    return pa.table(
        {
            **hands.head(hand),
            "seat": pa.array(laid.place_seat[place].astype(np.int32)),
            "player": hands.players.take(pa.array(place)),
            "position": hands.positions(place),
            "street": _streets(hands, hand),
            "how": pa.array(HOW).take(
                pa.array(np.where(folded, 0, np.where(hands.seen.showdown[place], 1, 2)))
            ),
            "net": pa.array(money(laid).net[place] / hands.unit.take(hand)),
            "bet_min": pa.array(low[place], mask=np.isinf(low[place])),
            "bet_max": pa.array(high[place], mask=np.isinf(high[place])),
            "known": pa.array(hands.held.seen[place]),
            "fault": pa.array(faulty[place]),
            "state": pa.nulls(len(place), pa.string()),
        },
        schema=SCHEMA,
    )


def played_of(hands: Hands, ends: pa.Table) -> Iterator[Played]:
    """Heads-up hands as far as a lock needs them; those of unknown blinds are left out."""
    laid = hands.laid
    names = ("hand_seq", "hand", "match", "number", "player", "net")
    rows = zip(*(ends[name].to_pylist() for name in names), strict=True)
    known = [None if it is None else costs(it) for it in hands.games]
    unit, button = hands.unit.tolist(), laid.button.tolist()
    two = np.flatnonzero(laid.told & (laid.seats == 2)).tolist()
    wanted = set(laid.hand_seq[two].tolist())
    pairs: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        if row[0] in wanted:
            pairs.setdefault(row[0], []).append(row)
    for at in two:
        cost, pair = known[hands.ruleset[at]], pairs.get(int(laid.hand_seq[at]), [])
        if cost is not None and len(pair) == 2:  # a forged record may name more players
            small, big = (it / unit[at] for it in cost)
            (seq, _, match, number, player, net), other = pair
            both, nets = (player, other[4]), (net, other[5])
            yield Played(seq, match, number, both, button[at], nets, small, big)


def _bets(hands: Hands, acts: pa.Table) -> tuple[Column, Column]:
    """The least and the largest bet or raise of every place, on top of what it called."""
    low = np.full(hands.laid.places + 1, np.inf)
    high = -low
    made = acts.filter(acts["made_pct"].is_valid())
    hand = np.searchsorted(hands.laid.hand_seq, made["hand_seq"].to_numpy())
    place = hands.laid.base.take(hand) + made["seat"].to_numpy()
    chips = made["chips"].to_numpy()
    np.minimum.at(low, place, chips)
    np.maximum.at(high, place, chips)
    return low, high


def _streets(hands: Hands, hand: Column) -> pa.Array:
    """The last street that was dealt."""
    laid = hands.laid
    lies = np.zeros(laid.count, dtype=np.int64)
    np.maximum.at(lies, laid.board_hand, laid.board_to)
    which = np.array([0, -1, -1, 1, 2, 3, -1]).take(np.minimum(lies, 6)).take(hand)
    return pa.array(STREETS).take(pa.array(which, mask=which < 0))
