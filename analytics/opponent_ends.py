"""`ends`: one row a player and hand: how it ended for him, what it came to, how large he bet.

`state` says whether his match was won or lost already (`locked`); it is null where nobody knows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from analytics.bids_rows import known
from analytics.facts import units
from analytics.facts_acts import STREETS
from analytics.facts_seats import dealt_in, positions
from analytics.luck_rules import Rulebook
from events.state import Hand
from events.types import Shown
from store.leaf import Leaf, split

Row = dict[str, Any]
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "hand": pa.string(),
        "match": pa.string(),
        "number": pa.int64(),
        "game": pa.string(),
        "seat": pa.int32(),
        "player": pa.string(),
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
_STREET_OF_BOARD = {0: STREETS[0], 3: STREETS[1], 4: STREETS[2], 5: STREETS[3]}


def rows_of(
    leaf: Leaf, rules: Rulebook, acts: Sequence[Row], faulty: frozenset[int] = frozenset()
) -> Iterator[Row]:
    """The rows of one hand in seat order; `acts` are its acts, `faulty` the seats that erred."""
    end = leaf.hand
    if end is None or end.voided:
        return
    game = rules.of(end.start.ruleset)
    unit = units(game) if game else 1
    events: list[Any] = [one.event for one in leaf.recorded]
    at = positions(end, events)
    match, number = split(leaf.stream)
    left = [seat for seat, how in enumerate(end.standing) if how != "folded"]
    for seat in dealt_in(end):
        bets = [it["chips"] for it in acts if it["seat"] == seat and it["made_pct"] is not None]
        yield {
            "hand_seq": leaf.hand_seq,
            "hand": leaf.stream,
            "match": match,
            "number": number,
            "game": end.start.game,
            "seat": seat,
            "player": end.start.players[seat],
            "position": at.get(seat),
            "street": _STREET_OF_BOARD.get(len(end.board)),
            "how": _how(seat, left),
            "net": (end.stacks[seat] - end.start.stacks[seat]) / unit,
            "bet_min": min(bets, default=None),
            "bet_max": max(bets, default=None),
            "known": _is_known(end, seat, events),
            "fault": seat in faulty,
            "state": None,
        }


def table(rows: Sequence[Row]) -> pa.Table:
    """Rows as Arrow."""
    columns = [pa.array([row[one.name] for row in rows], one.type) for one in SCHEMA]
    return pa.table(columns, schema=SCHEMA)


def _how(seat: int, left: Sequence[int]) -> str:
    """For him: he folded, all others did, or there was a showdown."""
    if seat not in left:
        return "he_folds"
    return "showdown" if len(left) > 1 else "others_fold"


def _is_known(end: Hand, seat: int, events: Sequence[Any]) -> bool:
    """Whether his cards were seen: dealt to whoever looks, or shown."""
    if known(end.hole[seat]) is not None:
        return True
    return any(isinstance(it, Shown) and it.seat == seat and known(it.cards) for it in events)
