"""Old segments in today's columns: one pure function per step of the schema, chained at read.

Nothing stored is ever rewritten for a new schema. A new field with a default needs no function
here: a column that is not stored is read as the default. What does need one is a column that
changed its name or its meaning.
"""

from collections.abc import Callable, Mapping

import pyarrow as pa

from store.columns.layout import SCHEMA_VERSION

Upcast = Callable[[pa.Table], pa.Table]

# From each version to the next.
UPCASTS: Mapping[int, Upcast] = {}


class FromTheFuture(ValueError):
    """A segment written by a newer program than this one."""


def upcast(
    rows: pa.Table,
    version: int,
    to: int = SCHEMA_VERSION,
    upcasts: Mapping[int, Upcast] = UPCASTS,
) -> pa.Table:
    """Stored rows of one version as rows of a later one."""
    if version > to:
        raise FromTheFuture(f"schema {version} is newer than {to}: a newer muckrake reads it")
    for step in range(version, to):
        rows = upcasts[step](rows)
    return rows
