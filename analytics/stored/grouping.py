"""Rows of a table grouped by what two columns say, in columns and not row by row."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Places = NDArray[np.int64]
Coded = tuple[Places, int]  # a number for each row, and below what they all are
_MOST = 2**62


def rows_by_pair(
    one: pa.ChunkedArray, other: pa.ChunkedArray
) -> Iterator[tuple[tuple[Any, Any], Places]]:
    """Each pair of values that occurs, and its rows in order."""
    which, first, second = numbered(one, other)
    order = np.argsort(which, kind="stable")
    ends = np.flatnonzero(np.diff(which[order], prepend=-1, append=-1))
    values = zip(first.to_pylist(), second.to_pylist(), strict=True)
    for both, (start, end) in zip(values, pairwise(ends.tolist()), strict=True):
        yield both, order[start:end]


def numbered(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Places, pa.Array, pa.Array]:
    """The number of each row's pair, and the values of each pair by its number."""
    which, places = grouped(map(coded, (one, other)))
    return which, *(it.combine_chunks().take(column(places)) for it in (one, other))


def coded(values: pa.Array | pa.ChunkedArray) -> Coded:
    """A small number for each value."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    words = whole.dictionary_encode()
    size = len(words.dictionary)  # none is a value, too
    return words.indices.fill_null(size).to_numpy().astype(np.int64), size + 1


def grouped(columns: Iterable[Coded]) -> tuple[Places, Places]:
    """The number of each row's group, whose rows say the same in all columns; a row of each."""
    (code, span), *others = columns
    for numbers, values in others:
        if span * values > _MOST:
            code, span = coded(column(code))
        code, span = code * values + numbers, span * values
    which, _ = coded(column(code))
    places = np.zeros(which.max(initial=-1) + 1, np.int64)
    places[which[::-1]] = np.arange(len(which))[::-1]
    return which, places


def column(numbers: NDArray[Any]) -> pa.Array:
    """The same numbers for Arrow: `pa.array` would look for pandas first, which takes longer than
    many a question."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])
