"""Export the views of `muckrake sql` as tables for one viewpoint, a row group at a time.

An auditor's are the same views. Anybody else's are made from events that he sees and from nothing
else: `idx` counts what is seen, positions are left out, a hidden number is null and a hidden text
says `hidden`; in `events` the column `redacted` names the fields that are hidden in a row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from analytics.projections.facts import ruleset_projections
from api.exporting.table_files import TextFilter, table_writer
from api.viewpoints.redaction import RedactedEvents, Redactor, with_settled_bids
from events.ledger import Recorded
from events.types import HandStarted
from events.views import FLAGS, CardSwappedSeen, Hidden
from store.columns import layout
from store.columns.codec import event_table
from store.log.streams import Leaf, split_stream
from store.segments.parquet_files import leaf_groups
from store.sql.query import MEMORY
from store.sql.sessions import fetch_table, shared_engine
from store.sql.views import UNIT, UNIT_VIEWS, usual_unit
from store.tables.projection import STANDARD, Projection

PROJECTIONS: dict[str, Projection] = {one.name: one for one in STANDARD}
TABLES = ("events", *PROJECTIONS, "decisions", "facts")
Build = Callable[[Sequence[Leaf]], pa.Table]
LEAVES_AT_ONCE = 1_000  # hands whose lines are written together
POSITION_COLUMNS = ("pos", "first_pos", "last_pos", *FLAGS)  # what would tell of what is hidden


def write_view(
    sink: BinaryIO,
    to: str,
    leaves: Iterable[Leaf],
    table: str,
    redactor: Redactor,
    texts: TextFilter | None = None,
) -> int:
    """Write one view in one format; return the number of its rows."""
    count = 0
    if to == "ndjson" and table == "events":
        for some, data in redacted_lines(leaves, redactor):
            sink.write(data)
            count += some
        return count
    rows = view_tables(leaves, table, redactor)
    first = next(rows)
    metadata = {"muckrake.table": table, "muckrake.view": redactor.viewer.view}
    out = table_writer(sink, to, first.schema.with_metadata(metadata), texts)
    for group in chain((first,), rows):
        out.write(group)
        count += group.num_rows
    out.close()
    return count


def view_tables(leaves: Iterable[Leaf], name: str, redactor: Redactor) -> Iterator[pa.Table]:
    """The rows of one view, whole hands together; one empty table if there are none."""
    one = None
    if name != "events":
        others = ruleset_projections(redactor.ruleset)
        one = PROJECTIONS.get(name) or next(it for it in others if it.name == name)

    def build(group: Sequence[Leaf]) -> pa.Table:
        if one is not None:
            return _selected(one.build(group), one.view, "WHERE number IS NOT NULL")
        # Events as the view has them, without the fillers that stand in stored rows.
        rows = event_table(group) if group else layout.SCHEMA.empty_table()
        return _selected(rows, layout.events_view_sql())

    empty = build([])
    if redactor.viewer.auditor:
        for group in leaf_groups(leaves):
            yield _in_units(build(group), name, group, redactor)
        yield _in_units(empty, name, (), redactor)
        return
    withheld = [column for column in POSITION_COLUMNS if column in empty.column_names]
    for redacted_hands in _groups(
        redactor.redact(leaf) for leaf in redactor.visible_leaves(leaves)
    ):
        rows = _visible_rows(redacted_hands, name, build).drop_columns(withheld)
        yield _in_units(
            rows, name, [redacted_hand.leaf for redacted_hand in redacted_hands], redactor
        )


def _groups(redacted_hands: Iterable[RedactedEvents]) -> Iterator[list[RedactedEvents]]:
    """Row groups of what is seen: their size, too, tells only of that."""
    by_leaf: dict[int, RedactedEvents] = {}

    def leaves() -> Iterator[Leaf]:
        for redacted_hand in redacted_hands:
            by_leaf[redacted_hand.hand_seq] = redacted_hand
            yield redacted_hand.leaf

    for group in leaf_groups(leaves()):
        yield [by_leaf.pop(leaf.hand_seq) for leaf in group]
    yield []


def _in_units(rows: pa.Table, name: str, leaves: Sequence[Leaf], redactor: Redactor) -> pa.Table:
    """The rows, and what their amounts count if the view gives some: null beside match records."""
    if name not in UNIT_VIEWS:
        return rows
    starts = {leaf.hand_seq: leaf.recorded[0].event for leaf in leaves if leaf.recorded}
    known = redactor.units
    units = {
        hand_seq: known.get(start.ruleset, usual_unit(known))
        for hand_seq, start in starts.items()
        if isinstance(start, HandStarted)
    }
    counted = pa.array(map(units.get, rows["hand_seq"].to_pylist()), pa.string())
    return rows.append_column(UNIT, counted)


def _selected(rows: pa.Table, columns: str, where: str = "") -> pa.Table:
    """Select a view's columns from rows, in their order; times as they were."""
    with shared_engine(MEMORY, 1).cursor() as con:
        con.register("_rows", rows)
        table = fetch_table(con, f"SELECT {columns} FROM _rows {where}")
    times = [it.name for it in table.schema if pa.types.is_timestamp(it.type)]
    kinds = [
        (it.with_type(rows.schema.field(it.name).type) if it.name in times else it)
        for it in table.schema
    ]
    return table.cast(pa.schema(kinds))


def _visible_rows(group: Sequence[RedactedEvents], name: str, build: Build) -> pa.Table:
    """The rows of a view that are made of what is seen of these hands."""
    if name in ("bids", "decisions", "facts"):  # from bids as their settlements tell them, too
        return build([with_settled_bids(redacted_hand) for redacted_hand in group])
    rows = build([redacted_hand.leaf for redacted_hand in group])
    if name == "events":
        events = [event for redacted_hand in group for event in redacted_hand.events]
        changed = [_card_changed(event.seen) for event in events]
        redacted = [" ".join(event.hidden) or None for event in events]
        rows = rows.append_column("changed", pa.array(changed, pa.bool_()))
        return rows.append_column("redacted", pa.array(redacted, pa.string()))
    if name == "swaps":  # whether a card changed cannot be counted from words: it is what was seen
        seen = {
            (redacted_hand.hand_seq, place): _card_changed(event.seen)
            for redacted_hand in group
            for place, event in enumerate(redacted_hand.events)
            if isinstance(event.seen, CardSwappedSeen)
        }
        places = zip(rows["hand_seq"].to_pylist(), rows["idx"].to_pylist(), strict=True)
        known = pa.array([seen[place] for place in places], pa.bool_())
        return rows.set_column(rows.column_names.index("changed"), "changed", known)
    return rows


def _card_changed(seen: Any) -> bool | None:
    """Whether a card was another one after it had been at risk, as far as that is seen."""
    known = isinstance(seen, CardSwappedSeen) and not isinstance(seen.changed, Hidden)
    return bool(seen.changed) if known else None


# Events as lines of JSON.


_canonical = msgspec.json.Encoder(order="sorted").encode


def redacted_lines(leaves: Iterable[Leaf], redactor: Redactor) -> Iterator[tuple[int, bytes]]:
    """The redacted events as canonical lines of JSON, some at a time, with their number."""
    rest = iter(redactor.visible_leaves(leaves))
    while group := list(islice(rest, LEAVES_AT_ONCE)):
        columns: list[tuple[Recorded, dict[str, Any]]] = []
        for leaf in group:
            match, number = split_stream(leaf.stream)
            envelope = {"hand": leaf.stream, "match": match, "number": number}
            envelope["hand_seq"] = leaf.hand_seq
            if redactor.viewer.auditor:
                for it in leaf.recorded:
                    place = {"idx": it.index, "pos": it.pos}
                    columns.append((it, {**_fields(it.event), **envelope, **place}))
            else:
                for idx, (seen, stored_event, _) in enumerate(redactor.redact(leaf).events):
                    columns.append((stored_event, {**_fields(seen), **envelope, "idx": idx}))
        times = pc.strftime(
            pa.array([one.at for one, _ in columns], pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ"
        )
        each = zip(columns, times.to_pylist(), strict=True)
        data = b"".join(_canonical({**fields, "at": at}) + b"\n" for (_, fields), at in each)
        yield len(columns), data


def _fields(event: Any) -> dict[str, Any]:
    """The event's own; a deck's number is not the hand's."""
    fields: dict[str, Any] = msgspec.to_builtins(event)
    if fields["type"] == "DeckOpened":
        fields["deck"] = fields.pop("number")
    return fields
