"""A projection: a table made from a segment's events, kept beside it, made again at any time."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pyarrow as pa

from store.leaf import Leaf


class Projection(NamedTuple):
    """Facts of one kind, by whoever knows what they should hold.

    `build` is a map over leaves: building in parts and joining the parts gives the same table,
    its rows carry their `hand_seq` and stand in that order, and no leaf makes it fail. The store
    knows no more of it than name and version, so facts that need rules can be handed in.
    """

    name: str
    version: int
    build: Callable[[Sequence[Leaf]], pa.Table]
    rows: int = 65_536


def made(schema: pa.Schema, rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """A table of these rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )
