"""The views of `muckrake sql` as tables, a row group at a time; for one viewpoint, of what it sees.

An auditor's are the same views. Anybody else's are made from events that he sees and from nothing
else: `idx` counts what is seen, positions are left out, a hidden number is null and a hidden text
says `hidden`; in `events` the column `redacted` names the fields that are hidden in a row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from analytics.stored.facts import stored
from api.viewpoints.redaction import RedactedEvents, Redactor, revealed
from events.types import HandStarted
from events.views import FLAGS, CardSwappedSeen, Hidden
from store.columns import layout
from store.columns.codec import table
from store.log.leaf import Leaf
from store.segments.segment import row_groups
from store.sql.answers import answer, engine_of
from store.sql.query import MEMORY
from store.sql.views import OURS, UNIT, usual
from store.tables.projection import STANDARD, Projection

MADE: dict[str, Projection] = {one.name: one for one in STANDARD}
TABLES = ("events", *MADE, "decisions", "facts")
Build = Callable[[Sequence[Leaf]], pa.Table]
POSITIONS = ("pos", "first_pos", "last_pos", *FLAGS)  # what would tell of what is hidden


def tables(leaves: Iterable[Leaf], name: str, redactor: Redactor) -> Iterator[pa.Table]:
    """The rows of one view, whole hands together; one empty table if there are none."""
    build = _builder(name, redactor)
    empty = build([])
    if redactor.viewer.auditor:
        for group in row_groups(leaves):
            yield _in_units(build(group), name, group, redactor)
        yield _in_units(empty, name, (), redactor)
        return
    withheld = [column for column in POSITIONS if column in empty.column_names]
    for redacted_hands in _groups(redactor.see(leaf) for leaf in redactor.among(leaves)):
        rows = _SEEN.get(name, _counted)(redacted_hands, name, build).drop_columns(withheld)
        yield _in_units(
            rows, name, [redacted_hand.leaf for redacted_hand in redacted_hands], redactor
        )


def _builder(name: str, redactor: Redactor) -> Build:
    """What makes the rows of a view out of leaves."""
    if name == "events":
        return _events
    one = MADE.get(name) or next(it for it in stored(redactor.ruleset) if it.name == name)
    return lambda leaves: _viewed(one.build(leaves), one.view, "WHERE number IS NOT NULL")


def _groups(redacted_hands: Iterable[RedactedEvents]) -> Iterator[list[RedactedEvents]]:
    """Row groups of what is seen: their size, too, tells only of that."""
    by_leaf: dict[int, RedactedEvents] = {}

    def leaves() -> Iterator[Leaf]:
        for redacted_hand in redacted_hands:
            by_leaf[redacted_hand.hand_seq] = redacted_hand
            yield redacted_hand.leaf

    for group in row_groups(leaves()):
        yield [by_leaf.pop(leaf.hand_seq) for leaf in group]
    yield []


def _in_units(rows: pa.Table, name: str, leaves: Sequence[Leaf], redactor: Redactor) -> pa.Table:
    """The rows, and what their amounts count if the view gives some: null beside match records."""
    if name not in OURS:
        return rows
    starts = {leaf.hand_seq: leaf.recorded[0].event for leaf in leaves if leaf.recorded}
    known = redactor.units
    units = {
        hand_seq: known.get(start.ruleset, usual(known))
        for hand_seq, start in starts.items()
        if isinstance(start, HandStarted)
    }
    counted = pa.array(map(units.get, rows["hand_seq"].to_pylist()), pa.string())
    return rows.append_column(UNIT, counted)


# What an auditor sees of events, and what others do.


def _events(leaves: Sequence[Leaf]) -> pa.Table:
    """Events without the fillers that stand in stored rows: as the view has them."""
    return _viewed(table(leaves), layout.view()) if leaves else _nothing()


@cache
def _nothing() -> pa.Table:
    return _viewed(layout.SCHEMA.empty_table(), layout.view())


def _viewed(rows: pa.Table, columns: str, where: str = "") -> pa.Table:
    """What a view selects from rows, in their order; times as they were."""
    with engine_of(MEMORY, 1).cursor() as con:
        con.register("_rows", rows)
        table = answer(con, f"SELECT {columns} FROM _rows {where}")
    times = [it.name for it in table.schema if pa.types.is_timestamp(it.type)]
    kinds = [
        (it.with_type(rows.schema.field(it.name).type) if it.name in times else it)
        for it in table.schema
    ]
    return table.cast(pa.schema(kinds))


def _seen_events(group: Sequence[RedactedEvents], name: str, build: Build) -> pa.Table:
    events = [event for redacted_hand in group for event in redacted_hand.events]
    rows = build([redacted_hand.leaf for redacted_hand in group])
    changed = [_changed(event.seen) for event in events]
    redacted = [" ".join(event.hidden) or None for event in events]
    rows = rows.append_column("changed", pa.array(changed, pa.bool_()))
    return rows.append_column("redacted", pa.array(redacted, pa.string()))


def _changed(seen: Any) -> bool | None:
    """Whether a card was another one after it had been at risk, as far as that is seen."""
    known = isinstance(seen, CardSwappedSeen) and not isinstance(seen.changed, Hidden)
    return bool(seen.changed) if known else None


def _counted(group: Sequence[RedactedEvents], name: str, build: Build) -> pa.Table:
    return build([redacted_hand.leaf for redacted_hand in group])


def _with_bids(group: Sequence[RedactedEvents], name: str, build: Build) -> pa.Table:
    """Counted from bids as their settlements told them, too."""
    return build([revealed(redacted_hand) for redacted_hand in group])


def _swaps(group: Sequence[RedactedEvents], name: str, build: Build) -> pa.Table:
    """Whether a card changed cannot be counted from words: it is what was seen of each swap."""
    rows = _counted(group, name, build)
    seen = {
        (redacted_hand.hand_seq, place): _changed(event.seen)
        for redacted_hand in group
        for place, event in enumerate(redacted_hand.events)
        if isinstance(event.seen, CardSwappedSeen)
    }
    places = zip(rows["hand_seq"].to_pylist(), rows["idx"].to_pylist(), strict=True)
    changed = pa.array([seen[place] for place in places], pa.bool_())
    return rows.set_column(rows.column_names.index("changed"), "changed", changed)


_SEEN: dict[str, Callable[[Sequence[RedactedEvents], str, Build], pa.Table]] = {
    "events": _seen_events,
    "bids": _with_bids,
    "decisions": _with_bids,
    "facts": _with_bids,
    "swaps": _swaps,
}
