"""What an opponent report is made of: some thousand hands after the other become four tables.

`acts`, `ends`, `faults` and `facts`, of every player of the hands that one player was dealt in. All
are made from tables of events, column by column, for a report looks at every act
of thousands of hands; only a hand with a reply that could not be used is read event by event.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.decisions.hands import Hands
from analytics.opponents import acts as opponent_acts
from analytics.opponents import ends as opponent_ends
from analytics.opponents import faults
from analytics.opponents.locked import Mark, locked_from, marks
from analytics.opponents.strength import ACTS, spread, valued
from analytics.replay.rulebook import Rulebook
from analytics.stored.facts import SCHEMA as FACTS
from analytics.stored.facts_table import facts_of
from store.columns.codec import leaves_of

Row = dict[str, Any]
Watch = Callable[[Iterable[Row], int], Iterable[Row]]


class Gathered(NamedTuple):
    """The tables; whose match was locked since which hand; how many acts were given a strength."""

    acts: pa.Table
    ends: pa.Table
    faults: pa.Table
    facts: pa.Table
    locks: dict[tuple[str, str], Mark]
    spots: int
    counted: int


class Asked(NamedTuple):
    """About whom, against whom (anybody, where it is nobody), over how many acts of known strength.

    `lengths` is how many hands each match has, as far as that is known.
    """

    player: str
    me: str | None = None
    spots: int | None = None
    lengths: Mapping[str, int] = {}


def gathered(events: Iterable[pa.Table], rules: Rulebook, asked: Asked, watch: Watch) -> Gathered:
    """Everything but the questions, from tables of whole hands; `watch` is handed what takes its
    time, and how much it is."""
    parts = [_Part(rows, rules, asked) for rows in events]
    acts = _joined((part.acts for part in parts), opponent_acts.SCHEMA)
    ends = _joined((part.ends for part in parts), opponent_ends.SCHEMA)
    places = _spots(acts)
    wanted = spread(places, asked.spots)
    rows = acts.take(pa.array(wanted, pa.int64())).to_pylist()
    valued(watch(rows, len(rows)), rules)
    told = marks([one for part in parts for one in part.played], asked.lengths)
    return Gathered(
        _with_equities(acts, wanted, rows),
        _with_states(ends, told),
        _joined((part.faults for part in parts), faults.SCHEMA),
        _joined((part.facts for part in parts), FACTS_WITH_HAND),
        locked_from(told),
        len(places),
        len(wanted),
    )


FACTS_WITH_HAND = FACTS.append(pa.field("hand", pa.string()))


class _Part:
    """Some thousand hands, of which those are told that he was dealt in, and we too."""

    def __init__(self, events: pa.Table, rules: Rulebook, asked: Asked) -> None:
        rows = _his(events, asked)
        hands = Hands(rows, rules)
        self.acts = opponent_acts.acts_of(hands, rules, asked.me)
        self.ends = opponent_ends.ends_of(hands, self.acts)
        self.faults = _faults(hands, rows, rules)
        self.facts = _with_hands(facts_of(rules.of, rows))
        self.played = list(opponent_ends.played_of(hands, self.ends))


def _his(events: pa.Table, asked: Asked) -> pa.Table:
    """The hands at which both sat down."""
    starts = events.filter(pc.equal(events["type"], "HandStarted"))
    seats = starts["players"].combine_chunks()
    if not pa.types.is_dictionary(seats.type):
        seats = seats.dictionary_encode()
    wanted = {asked.player, asked.me} - {None}
    there = [wanted <= set(msgspec.json.decode(it)) for it in seats.dictionary.to_pylist()]
    if all(there):
        return events
    mine = starts["hand_seq"].filter(pa.array(there, pa.bool_()).take(seats.indices))
    return events.filter(pc.is_in(events["hand_seq"], mine.combine_chunks()))


def _faults(hands: Hands, rows: pa.Table, rules: Rulebook) -> pa.Table:
    """Replies that could not be used; what was asked then is for the rules to say."""
    _, hand, _, _ = hands.laid.at("Faulted")
    parts = [rows[it] for it in hands.rows_of(np.unique(hand).tolist())]
    found = [
        row for part in parts for leaf in leaves_of(part) for row in faults.rows_of(leaf, rules)
    ]
    return faults.table(found)


def _spots(acts: pa.Table) -> list[int]:
    """Acts after the flop whose strength can be counted: shown down, one rival, cards known."""
    told = pc.and_(acts["meant"], acts["showdown"])
    for one in (
        pc.is_in(acts["kind"], pa.array(ACTS)),
        pc.is_valid(acts["hole"]),
        pc.is_valid(acts["board"]),
        pc.is_in(acts["rival_cards"], pa.array([1, 2, 3], pa.int32())),
    ):
        told = pc.and_(told, one)
    return np.flatnonzero(pc.fill_null(told, False).to_numpy()).tolist()


def _with_equities(acts: pa.Table, places: list[int], rows: list[Row]) -> pa.Table:
    """The acts with every strength that was counted."""
    values: list[float | None] = [None] * acts.num_rows
    for at, row in zip(places, rows, strict=True):
        values[at] = row["equity"]
    at = acts.schema.get_field_index("equity")
    return acts.set_column(at, "equity", pa.array(values, pa.float64()))


def _with_states(ends: pa.Table, told: Iterable[Mark]) -> pa.Table:
    """The ends with what was won or lost before them."""
    states = {(mark.hand_seq, mark.player): mark.state for mark in told}
    keys = zip(ends["hand_seq"].to_pylist(), ends["player"].to_pylist(), strict=True)
    values = [states.get(key) for key in keys]
    at = ends.schema.get_field_index("state")
    return ends.set_column(at, "state", pa.array(values, pa.string()))


def _with_hands(facts: pa.Table) -> pa.Table:
    """Facts with the names of their hands."""
    number = facts["number"].cast(pa.string())
    hand = pc.binary_join_element_wise(facts["match"], number, "/")
    return facts.append_column("hand", hand).cast(FACTS_WITH_HAND)


def _joined(parts: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *parts])
