"""How every row about a hand begins, and how rows become a table."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from events.types import HandStarted
from store.log.leaf import Leaf, split

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
    columns = [pa.array([row.get(one.name) for row in rows], one.type) for one in schema]
    return pa.table(columns, schema=schema)
