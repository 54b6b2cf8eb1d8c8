"""How a hand was played, as two numbers: hands that were played alike have the same.

There are thousands of ways to play a hand and millions of hands, so a question about all of them
first counts the hands of each way, and then looks at the ways. `ways` has a digit to the base of
three for each flag (no opportunity, not done, done), `acts` three bits for each count of actions.
A hand with more actions of a kind than fit has neither number, and is looked at by itself.
"""

from typing import TYPE_CHECKING

import pyarrow as pa

from analytics.facts_acts import Row
from analytics.facts_names import COUNTS, FLAGS

if TYPE_CHECKING:
    import numpy as np

WAYS = (*FLAGS, "saw_flop", "saw_turn", "saw_river", "showdown", "won")
_MOST = 7
_PLACES = tuple((name, 3**place) for place, name in enumerate(WAYS))
_BITS = tuple((name, 3 * place) for place, name in enumerate(COUNTS))
assert 3 ** len(WAYS) < 2**63
assert 3 * len(COUNTS) < 63


def pack(row: Row) -> None:
    """Add both numbers to a row, or neither."""
    acts = 0
    for name, shift in _BITS:
        count = int(row[name] or 0)
        if count > _MOST:
            return
        acts |= count << shift
    ways = 0
    for name, place in _PLACES:
        flag = row.get(name)
        if flag is not None:
            ways += 2 * place if flag else place
    row["ways"], row["acts"] = ways, acts


def unpacked(alike: pa.Table) -> pa.Table:
    """The columns again, for rows of `player, part, ways, acts, hands`."""
    import numpy as np

    columns = {name: alike[name] for name in ("player", "part", "hands")}
    ways, back = _distinct(alike["ways"])
    for name, place in _PLACES:
        digit = ways // place % 3
        columns[name] = pa.array((digit == 2)[back], mask=(digit == 0)[back])
    acts, back = _distinct(alike["acts"])
    for name, shift in _BITS:
        columns[name] = pa.array((acts >> shift & _MOST).astype(np.int32)[back])
    return pa.table(columns)


def _distinct(column: pa.ChunkedArray) -> "tuple[np.ndarray, np.ndarray]":
    """Each number once, and where each row finds its own."""
    import numpy as np

    return np.unique(column.to_numpy(), return_inverse=True)
