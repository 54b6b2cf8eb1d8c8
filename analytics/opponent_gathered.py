"""What an opponent report is made of: some thousand hands after the other become four tables.

`acts`, `ends`, `faults` and `facts`, of every player of the hands that one player was dealt in.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa

from analytics import faults, opponent_acts, opponent_ends
from analytics.facts import SCHEMA as FACTS
from analytics.facts import rows_of as facts_of
from analytics.locked import Mark, Played, locked_from, marks, played
from analytics.luck_rules import Rulebook
from analytics.opponent_strength import is_spot, spread, valued
from store.leaf import Leaf

AT_ONCE = 4_096
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


def gathered(leaves: Iterable[Leaf], rules: Rulebook, asked: Asked, watch: Watch) -> Gathered:
    """Everything but the questions; `watch` is handed what takes its time, and how much it is."""
    parts = [_Part(some, rules, asked) for some in _in_parts(_his(leaves, asked))]
    every = [row for part in parts for row in part.spots]
    wanted = spread(every, asked.spots)
    valued(watch(wanted, len(wanted)), rules)
    told = marks([one for part in parts for one in part.played], asked.lengths)
    states = {(mark.hand_seq, mark.player): mark.state for mark in told}
    return Gathered(
        _joined((part.with_equities() for part in parts), opponent_acts.SCHEMA),
        _joined((part.with_states(states) for part in parts), opponent_ends.SCHEMA),
        _joined((part.faults for part in parts), faults.SCHEMA),
        _joined((part.facts for part in parts), FACTS_WITH_HAND),
        locked_from(told),
        len(every),
        len(wanted),
    )


FACTS_WITH_HAND = FACTS.append(pa.field("hand", pa.string()))


class _Part:
    """Some thousand hands; of their acts, those with a strength that is still to be counted."""

    def __init__(self, leaves: Iterable[Leaf], rules: Rulebook, asked: Asked) -> None:
        acts: list[Row] = []
        ends: list[Row] = []
        errors: list[Row] = []
        flags: list[Row] = []
        self.played: list[Played] = []
        for leaf in leaves:
            mine = list(opponent_acts.rows_of(leaf, rules, asked.me))
            wrong = list(faults.rows_of(leaf, rules))
            faulty = frozenset(row["seat"] for row in wrong)
            ends += opponent_ends.rows_of(leaf, rules, mine, faulty)
            flags += ({**row, "hand": leaf.stream} for row in facts_of(leaf, rules.of))
            acts += mine
            errors += wrong
            if (one := played(leaf, rules)) is not None:
                self.played.append(one)
        self.places = [(at, row) for at, row in enumerate(acts) if is_spot(row)]
        self.spots = [row for _, row in self.places]
        self.acts = opponent_acts.table(acts)
        self.ends = opponent_ends.table(ends)
        self.faults = faults.table(errors)
        self.facts = _table(flags, FACTS_WITH_HAND)

    def with_equities(self) -> pa.Table:
        """The acts with every strength that was counted."""
        values: list[float | None] = [None] * len(self.acts)
        for at, row in self.places:
            values[at] = row["equity"]
        at = self.acts.schema.get_field_index("equity")
        return self.acts.set_column(at, "equity", pa.array(values, pa.float64()))

    def with_states(self, states: Mapping[tuple[int, str], str]) -> pa.Table:
        """The ends with what was won or lost before them."""
        keys = zip(self.ends["hand_seq"].to_pylist(), self.ends["player"].to_pylist(), strict=True)
        values = [states.get(key) for key in keys]
        at = self.ends.schema.get_field_index("state")
        return self.ends.set_column(at, "state", pa.array(values, pa.string()))


def _his(leaves: Iterable[Leaf], asked: Asked) -> Iterator[Leaf]:
    """The hands that he was dealt in, and we too."""
    wanted = {asked.player, asked.me} - {None}
    for leaf in leaves:
        if leaf.hand is not None and wanted <= set(leaf.hand.start.players):
            yield leaf


def _in_parts(leaves: Iterator[Leaf]) -> Iterator[list[Leaf]]:
    while some := list(islice(leaves, AT_ONCE)):
        yield some


def _table(rows: list[Row], schema: pa.Schema) -> pa.Table:
    columns = [pa.array([row.get(one.name) for row in rows], one.type) for one in schema]
    return pa.table(columns, schema=schema)


def _joined(parts: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *parts])
