"""Hands of a table of events that must be looked at one by one, a row group's worth at a time."""

from collections.abc import Iterator

import pyarrow as pa

from store.columns.codec import leaves_of
from store.log.leaf import Leaf
from store.segments.segment import ROW_GROUP, cut


def leaves_in(events: pa.Table, rows: pa.Array) -> Iterator[Leaf]:
    """Of these events the hands that these rows make up, whole, in their order."""
    some = events.filter(rows).unify_dictionaries()
    for group in cut([some], ROW_GROUP):
        yield from leaves_of(group)
