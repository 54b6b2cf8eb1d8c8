"""Cells of event rows as columns of numbers: at the rows of one kind of event, and nowhere else.

Chips keep their 64 bits here. What the table lacks, or a row does not fill, is told by `missing`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Column = Any  # an array of numbers or truths


class Ragged(NamedTuple):
    """A row of numbers for each event: how many, and where they begin among `values`."""

    count: Column
    at: Column
    values: Column

    def flat(self) -> tuple[Column, Column, Column]:
        """All of them: whose row each is of, its place there, and the number."""
        of = np.repeat(np.arange(len(self.count)), self.count)
        place = np.arange(len(of)) - np.repeat(np.cumsum(self.count) - self.count, self.count)
        return of, place, self.values.take(self.at.take(of) + place)


class Cells:
    """The columns of a table of events; each becomes numbers once, when it is first asked for."""

    def __init__(self, rows: pa.Table) -> None:
        self.size = rows.num_rows
        self._rows = rows
        self._names = set(rows.column_names)
        self._known: dict[str, Column] = {}
        self._lists: dict[str, pa.Array] = {}

    def numbers(self, name: str, at: Column, missing: int = 0) -> Column:
        """Whole numbers of some rows."""
        if name not in self._names:
            return np.full(len(at), missing, dtype=np.int64)
        if name not in self._known:
            column = _whole(self._rows[name])
            column = pc.fill_null(column, missing) if column.null_count else column
            self._known[name] = column.to_numpy(zero_copy_only=False)
        return self._known[name].take(at).astype(np.int64, copy=False)

    def truths(self, name: str, at: Column) -> Column:
        """True and nothing else."""
        if name not in self._names:
            return np.zeros(len(at), dtype=bool)
        if name not in self._known:
            column = pc.fill_null(_whole(self._rows[name]), False)
            self._known[name] = column.to_numpy(zero_copy_only=False)
        return self._known[name].take(at)

    def words(self, name: str, at: Column | None = None) -> tuple[Column, pa.Array]:
        """Text as numbers of its words, of some rows or all; missing is the one after the last."""
        if name not in self._names:
            size = self.size if at is None else len(at)
            return np.zeros(size, dtype=np.int32), pa.array([], pa.string())
        if name not in self._known:
            column = _whole(self._rows[name])
            indices, self._lists[name] = column.indices, column.dictionary.cast(pa.string())
            if indices.null_count:
                indices = pc.fill_null(indices, len(column.dictionary))
            self._known[name] = indices.to_numpy(zero_copy_only=False)
        which = self._known[name]
        return which if at is None else which.take(at), self._lists[name]

    def there(self, name: str, at: Column) -> Column:
        """Whether rows have text in this column."""
        which, words = self.words(name, at)
        return which < len(words)

    def codes(
        self, name: str, codes: Mapping[str, int], at: Column | None = None, other: int = -1
    ) -> Column:
        """Text as the codes of its words; what has none, or is missing, as `other`."""
        which, words = self.words(name, at)
        known = [codes.get(word, other) for word in words.to_pylist()]
        return np.array([*known, other], dtype=np.int32).take(which)

    def alike(self, names: Sequence[str], at: Column) -> list[Column]:
        """Text of several columns: the same number is the same word."""
        words = {word for name in names for word in self.words(name)[1].to_pylist()}
        codes = {word: code for code, word in enumerate(words)}
        return [self.codes(name, codes, at) for name in names]

    def ragged(self, name: str, at: Column) -> Ragged:
        """Rows of numbers; each different row is read once."""
        which, words = self.words(name, at)
        rows = pc.split_pattern(pc.if_else(pc.equal(words, ""), _NOTHING, words), " ")
        count = pc.fill_null(pc.list_value_length(rows), 0).to_numpy(zero_copy_only=False)
        count = np.append(count, 0).astype(np.int64)
        values = rows.flatten().cast(pa.int64()).to_numpy(zero_copy_only=False)
        return Ragged(count.take(which), (np.cumsum(count) - count).take(which), values)


_NOTHING = pa.scalar(None, pa.string())


def _whole(column: pa.ChunkedArray) -> Any:
    """A column in one piece, its text numbered."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], column.type)
    return array.dictionary_encode() if pa.types.is_string(array.type) else array
