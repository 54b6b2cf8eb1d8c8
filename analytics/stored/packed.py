"""How a hand was played, as two numbers: hands that were played alike have the same.

There are thousands of ways to play a hand and millions of hands, so a question about all of them
first counts the hands of each way, and then looks at the ways. `ways` has a digit to the base of
three for each flag (no opportunity, not done, done), `acts` three bits for each count of actions.
A hand with more actions of a kind than fit has neither number, and is looked at by itself.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.replay.flags import COUNTS, FLAGS
from store.columns.cells import Column

WAYS = (*FLAGS, "saw_flop", "saw_turn", "saw_river", "showdown", "won")
_MOST = 7
_PLACES = tuple((name, 3**place) for place, name in enumerate(WAYS))
_BITS = tuple((name, 3 * place) for place, name in enumerate(COUNTS))
_TABLED = 10  # flags that are looked up together
assert 3 ** len(WAYS) < 2**63
assert 3 * len(COUNTS) < 63
assert len(FLAGS) % _TABLED == 0


def packed(
    words: Column, truths: Sequence[Column], counts: Column
) -> tuple[Column, Column, Column]:
    """`ways`, `acts`, and whether both fit, of words of flags and truths that are always known."""
    bits = np.arange(1 << _TABLED)
    ways: Column = np.zeros(len(words), dtype=np.int64)
    for start in range(0, len(FLAGS), _TABLED):
        worth = sum((bits >> at & 1) * 3 ** (start + at) for at in range(_TABLED))
        for shift in (start, len(FLAGS) + start):
            ways += worth.take(words >> shift & (1 << _TABLED) - 1)
    for (_, place), truth in zip(_PLACES[len(FLAGS) :], truths, strict=True):
        ways += np.where(truth, 2 * place, place)
    acts: Column = np.zeros(len(words), dtype=np.int64)
    for (_, shift), count in zip(_BITS, counts, strict=True):
        acts |= count.astype(np.int64) << shift
    return ways, acts, counts.max(axis=0, initial=0) <= _MOST


def unpacked(ways: pa.Array, acts: pa.Array) -> dict[str, Column]:
    """What these numbers say: of a flag 0 for no opportunity, 1 for not done, 2 for done; of
    actions how many.
    """
    said: dict[str, Column] = {}
    each, back = _distinct(ways)
    for name, place in _PLACES:
        said[name] = (each // place % 3).astype(np.int8)[back]
    each, back = _distinct(acts)
    for name, shift in _BITS:
        said[name] = (each >> shift & _MOST)[back]
    return said


def apart(rows: pa.Table) -> dict[str, Column]:
    """The same of hands that have no such numbers, from their facts."""
    said: dict[str, Column] = {}
    for name in WAYS:
        said[name] = pc.add(pc.cast(rows[name], pa.int8()), 1).fill_null(0).to_numpy()
    for name in COUNTS:
        said[name] = rows[name].to_numpy()
    return said


def _distinct(column: pa.Array) -> tuple[Column, Column]:
    """Each number once, and where each row finds its own."""
    told = column.dictionary_encode()
    return told.dictionary.to_numpy(), told.indices.to_numpy()
