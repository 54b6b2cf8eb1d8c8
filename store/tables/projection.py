"""A projection: a table made from a segment's events, kept beside it, made again at any time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from store.columns.codec import leaves_of
from store.log.leaf import Leaf

MANY = 1 << 18  # rows of events: some 9,000 hands


class FromRows(NamedTuple):
    """How a projection is made of rows of events, whole hands, as they are stored: no object of
    any event is needed. These are the columns that it reads, as far as there are any.
    """

    columns: tuple[str, ...]
    build: Callable[[pa.Table], pa.Table]


class Projection(NamedTuple):
    """Facts of one kind, by whoever knows what they should hold.

    `build` is a map over leaves: building in parts and joining the parts gives the same table,
    its rows carry their `hand_seq` and stand in that order, and no leaf makes it fail. The store
    knows no more of it than name and version, so facts that need rules can be handed in. One that
    can do with rows says so in `from_rows`, and gives the same table either way. A
    version that only adds what a column of events says is in `added`: of events without that
    column an older table lacks nothing.
    """

    name: str
    version: int
    build: Callable[[Sequence[Leaf]], pa.Table]
    rows: int = 65_536
    from_rows: FromRows | None = None
    added: Mapping[int, str] = {}

    def stands(self, made: int | None, events: Callable[[], Iterable[str]]) -> bool:
        """Whether a table of the version `made` says what one of today would, where these are the
        columns that the events have."""
        if made is None or made > self.version:
            return False
        later = range(made + 1, self.version + 1)
        if not all(one in self.added for one in later):
            return False
        return not later or not {self.added[one] for one in later}.intersection(events())


class Builder:
    """Projections while row groups of events go by.

    Those that read rows wait until there are many, for their work is by the call more than by the
    hand; the others see each group's leaves, which are made only if one of them asks.
    """

    def __init__(self, wanted: Sequence[Projection]) -> None:
        self._by_leaves = [one for one in wanted if one.from_rows is None]
        self._by_rows = [one for one in wanted if one.from_rows is not None]
        self._read = {name for _, how in self._readers() for name in how.columns}
        self._held: list[pa.Table] = []
        self._waiting = 0

    def add(
        self, rows: pa.Table, leaves: Sequence[Leaf] | None = None
    ) -> Iterator[tuple[str, pa.Table]]:
        """The next row group, and its leaves if they are known; the tables that are made now."""
        if self._by_leaves:
            known = leaves_of(rows) if leaves is None else leaves
            for one in self._by_leaves:
                yield one.name, one.build(known)
        if self._by_rows:
            self._held.append(rows.select([it for it in rows.column_names if it in self._read]))
            self._waiting += rows.num_rows
            if self._waiting >= MANY:
                yield from self.rest()

    def rest(self) -> Iterator[tuple[str, pa.Table]]:
        """What those make that still wait; call it when all has gone by."""
        if self._held:
            held = pa.concat_tables(self._held, promote_options="default")
            self._held, self._waiting = [], 0
            for one, how in self._readers():
                yield one.name, how.build(held)

    def _readers(self) -> list[tuple[Projection, FromRows]]:
        return [(one, one.from_rows) for one in self._by_rows if one.from_rows is not None]


def made(schema: pa.Schema, rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """A table of these rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )
