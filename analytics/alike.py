"""Rows of a table that say the same in two columns, found in columns and not row by row."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Places = NDArray[np.int64]


def alike(one: pa.ChunkedArray, other: pa.ChunkedArray) -> Iterator[tuple[tuple[Any, Any], Places]]:
    """Each pair of values that occurs, and its rows in order."""
    which, first, second = numbered(one, other)
    order = np.argsort(which, kind="stable")
    ends = np.flatnonzero(np.diff(which[order], prepend=-1, append=-1))
    values = zip(first.to_pylist(), second.to_pylist(), strict=True)
    for both, (start, end) in zip(values, pairwise(ends.tolist()), strict=True):
        yield both, order[start:end]


def numbered(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Places, pa.Array, pa.Array]:
    """The number of each row's pair, and the values of each pair by its number."""
    first, second = (it.combine_chunks().dictionary_encode() for it in (one, other))
    size = max(1, len(second.dictionary))
    code = first.indices.to_numpy().astype(np.int64) * size + second.indices.to_numpy()
    told = pa.array(code).dictionary_encode()
    left, right = (pa.array(it) for it in np.divmod(told.dictionary.to_numpy(), size))
    which = told.indices.to_numpy().astype(np.int64)
    return which, first.dictionary.take(left), second.dictionary.take(right)
