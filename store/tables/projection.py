"""A projection: a table made from a segment's events, kept beside it, made again at any time.

Every row about a hand begins with the columns of `head`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from events.types import HandStarted
from store.columns.codec import encoded
from store.log.leaf import Leaf, split

T = TypeVar("T")
MANY = 1 << 18  # rows of events: some 9,000 hands


class EventRows:
    """Rows of events, whole hands, as they are stored; what several tables need of them is made
    once.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self._made: dict[Callable[[pa.Table], Any], Any] = {}

    def once(self, make: Callable[[pa.Table], T]) -> T:
        """What `make` makes of the rows."""
        if make not in self._made:
            self._made[make] = make(self.table)
        found: T = self._made[make]
        return found


class Projection(NamedTuple):
    """Facts of one kind, made by the room that knows what they should hold.

    `from_rows` makes it of rows of events, whole hands, of which it reads these columns as far as
    there are any. It is a map over hands: making it in parts and joining the parts gives the same
    table, its rows carry their `hand_seq` and stand in that order, and no hand makes it fail. The
    store knows no more of it than name and version, so facts that need rules can be handed in. A
    version that only adds what a column of events says is in `added`: of events without that
    column an older table lacks nothing. What is `private` only our own questions read. Its view
    shows these columns beside the hand: what can be counted from others of a row is not stored.
    """

    name: str
    version: int
    from_rows: Callable[[EventRows], pa.Table]
    columns: tuple[str, ...]
    rows: int = 65_536
    added: Mapping[int, str] = {}
    private: bool = False
    shown: str = "* EXCLUDE (hand_seq)"

    @property
    def view(self) -> str:
        """What the view selects from the rows of the table."""
        return f"hand_seq, match || '/' || number AS hand, {self.shown}"

    def build(self, leaves: Sequence[Leaf]) -> pa.Table:
        """The table of these leaves, whose events become columns first."""
        return self.from_rows(EventRows(encoded(leaves, names=self.columns)))

    def stands(self, made: int | None, events: Callable[[], Iterable[str]]) -> bool:
        """Whether a table of the version `made` says what one of today would, where these are the
        columns that the events have."""
        if made is None or made > self.version:
            return False
        later = range(made + 1, self.version + 1)
        if not all(column in self.added for column in later):
            return False
        return not later or not {self.added[column] for column in later}.intersection(events())


class Builder:
    """Projections while row groups of events go by.

    They wait until there are many rows, for their work is by the call more than by the hand.
    """

    def __init__(self, projections: Sequence[Projection]) -> None:
        self._wanted = tuple(projections)
        self._read = {name for projection in projections for name in projection.columns}
        self._held: list[pa.Table] = []
        self._waiting = 0

    def add(self, rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        """The next row group; the tables that are made now."""
        if self._wanted:
            self._held.append(rows.select([it for it in rows.column_names if it in self._read]))
            self._waiting += rows.num_rows
            if self._waiting >= MANY:
                yield from self.rest()

    def rest(self) -> Iterator[tuple[str, pa.Table]]:
        """The tables of the rows that still wait; call it when all has gone by."""
        if self._held:
            held = EventRows(pa.concat_tables(self._held, promote_options="default"))
            self._held, self._waiting = [], 0
            for projection in self._wanted:
                yield projection.name, projection.from_rows(held)


def made(schema: pa.Schema, /, **found: Any) -> pa.Table:
    """A table of these columns, in the types of a schema."""
    every = (found[field.name] for field in schema)
    arrays = (column if isinstance(column, pa.Array) else pa.array(column) for column in every)
    columns = [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)]
    return pa.table(columns, schema=schema)


Row = dict[str, Any]
HEAD: dict[str, pa.DataType] = {
    "hand_seq": pa.int64(),
    "hand": pa.string(),
    "match": pa.string(),
    "number": pa.int64(),
    "game": pa.string(),
}
RULESET: dict[str, pa.DataType] = {"ruleset": pa.string()}
WHO: dict[str, pa.DataType] = {"seat": pa.int32(), "player": pa.string()}


def head(leaf: Leaf, start: HandStarted) -> Row:
    """Which hand it is, and by which rules it was dealt."""
    match, number = split(leaf.stream)
    which = {"hand_seq": leaf.hand_seq, "hand": leaf.stream, "match": match, "number": number}
    return {**which, "game": start.game, "ruleset": start.ruleset}


def tabled(rows: Sequence[Row], schema: Iterable[pa.Field]) -> pa.Table:
    """Rows as Arrow; what a row does not say is null."""
    schema = pa.schema(schema)
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.table(columns, schema=schema)
