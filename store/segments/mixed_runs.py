"""A run of a lot, and of hands of the same match that came as events, in the order of numbers."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from events.ledger import Recorded
from events.many import Column
from store.columns.codec import full
from store.columns.codec import sparse as sparse_leaves
from store.columns.digests import digests
from store.columns.hands import Lot
from store.columns.layout import by_kind, columns, filled
from store.log.leaf import Leaf, split
from store.segments.runs import (
    Made,
    Maker,
    Run,
    Whole,
    check_values,
    check_whole,
    digested,
    vouched_by,
)
from store.segments.sealed import with_hands
from store.tables.projection import Builder


def mixed(maker: Maker, lot: Lot, wholes: Sequence[Whole]) -> Run:
    """As `Maker.run` makes of all of them."""
    sizes = np.concatenate([lot.sizes, [len(one.events) for one, _ in wholes]]).astype(np.int64)
    numbers = [split(one.stream)[1] or 0 for one, _ in wholes]
    order = np.argsort(np.concatenate([lot.numbers, np.array(numbers, dtype=np.int64)]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    begins = np.cumsum(sizes[order]) - sizes[order]
    mine, theirs = place[: len(lot.numbers)], place[len(lot.numbers) :].tolist()
    leaves = [_leaf(whole, at, int(begins[at])) for whole, at in zip(wholes, theirs, strict=True)]
    events = _events(lot, mine, leaves)
    wanted = with_hands(maker.projections)
    builder = Builder(wanted)
    made = dict((*builder.add(events), *builder.rest()))
    tables = {"events": events} | {one.name: made[one.name] for one in wanted}
    closed = dict(zip(mine.tolist(), _made(maker, lot), strict=True))
    closed |= dict(zip(theirs, digested(maker.nonces, leaves), strict=True))
    versions = {one.name: one.version for one in wanted}
    every = tuple(closed[at] for at in range(len(closed)))
    return Run(vouched_by(maker.nonces), versions, every, tables)


def _leaf(whole: Whole, at: int, pos: int) -> Leaf:
    one = whole.append
    check_whole(one)
    recorded = (
        Recorded(pos + index, one.stream, index, one.at, event)
        for index, event in enumerate(one.events)
    )
    return Leaf(at, tuple(recorded), whole.end)


def _made(maker: Maker, lot: Lot) -> list[Made]:
    sizes = lot.sizes.tolist()
    streams = [f"{lot.match}/{number}" for number in lot.numbers.tolist()]
    if maker.nonces is None:
        return [Made(stream, 0, size, 0, "") for stream, size in zip(streams, sizes, strict=True)]
    found = digests(lot, maker.nonces.of(lot.match))
    return [
        Made(stream, 0, size, *told)
        for stream, size, told in zip(streams, sizes, found, strict=True)
    ]


def _events(lot: Lot, places: Column, leaves: Sequence[Leaf]) -> pa.Table:
    rows = _at(lot.sparse if leaves else lot.rows, places)
    if leaves:
        kinds = filled(by_kind(one.event for leaf in leaves for one in leaf.recorded))
        rows = _sorted(rows, sparse_leaves(leaves, check_values, kinds), ["hand_seq", "idx"])
        rows = full(_replaced(rows, "pos", np.arange(rows.num_rows)))
    return rows.select([name for name in columns() if name in rows.column_names])


def _at(table: pa.Table, places: Column) -> pa.Table:
    """The hands of a table at their places in the run."""
    return _replaced(table, "hand_seq", places[table["hand_seq"].to_numpy()])


def _replaced(table: pa.Table, name: str, values: Column) -> pa.Table:
    changed: pa.Table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return changed


def _sorted(one: pa.Table, other: pa.Table, by: Sequence[str]) -> pa.Table:
    both = pa.concat_tables([one, other], promote_options="default").unify_dictionaries()
    keys = [both[name].to_numpy() for name in reversed(by)]
    return both.combine_chunks().take(pa.array(np.lexsort(keys)))
