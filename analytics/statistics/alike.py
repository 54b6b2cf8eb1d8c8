"""Rows of a table that say the same in two columns, found in columns and not row by row."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Places = NDArray[np.int64]
_MOST = 2**62


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
    which, places = grouped((one, other))
    return which, *(it.combine_chunks().take(column(places)) for it in (one, other))


def grouped(columns: Sequence[pa.ChunkedArray]) -> tuple[Places, Places]:
    """The number of each row's group, whose rows say the same in all columns; a row of each."""
    code, span = np.zeros(len(columns[0]), np.int64), 1
    for one in columns:
        told = one.combine_chunks().dictionary_encode()
        values = len(told.dictionary) + 1  # none is a value, too
        if span * values > _MOST:
            code = _numbers(code)
            span = len(code)
        code = code * values + told.indices.fill_null(values - 1).to_numpy()
        span *= values
    which = _numbers(code)
    places = np.zeros(which.max(initial=-1) + 1, np.int64)
    places[which[::-1]] = np.arange(len(which))[::-1]
    return which, places


def column(numbers: NDArray[Any]) -> pa.Array:
    """The same numbers for Arrow: `pa.array` would look for pandas first, which takes longer than
    many a question."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def _numbers(code: Places) -> Places:
    """Small numbers in the place of large ones."""
    found: Places = column(code).dictionary_encode().indices.to_numpy().astype(np.int64)
    return found
