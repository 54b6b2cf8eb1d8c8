"""Event rows of a ledger as columns of numbers, each made when it is first asked for.

Cells are taken from the memory that Parquet's reader or a writer has filled, a chunk at a time;
text stays a number of its word, and each different word is read once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from store.columns.layout import KINDS

Column = Any  # an array of numbers or truths; which kind depends on how much must fit

KIND = {name: code for code, name in enumerate(KINDS)}
BLINDS = {"small": 0, "big": 1, "straddle": 2, "post": 3, "dead": 4}
LARGE = 1 << 30  # chips from here on do not fit 32 bits together with others
BAD = -(1 << 30)  # stands where a small number is missing: no rule ever expects it


class Lists:
    """A row of numbers for each event: which it is of the different ones, and what is in those."""

    def __init__(self, index: Column, values: Column, counts: Column) -> None:
        self._index, self._values, self._counts = index, values, counts
        self._starts: Column = np.cumsum(counts) - counts

    def many(self, rows: Column) -> Column:
        """How many numbers these events have."""
        return self._counts.take(self._index.take(rows, mode="clip"))

    def entry(self, rows: Column, place: Column | int) -> Column:
        """The number at one place of each row's; of shorter rows anything."""
        starts = self._starts.take(self._index.take(rows, mode="clip"))
        return self._values.take(starts + place, mode="clip")

    def all(self, rows: Column, count: int) -> Column:
        """The numbers of events that have so many, place by place."""
        return self.entry(rows, np.arange(count)[:, None])

    def one_or_two(self, rows: Column) -> Column:
        """The numbers of events that have one, or two as a `pair`; of others, what is no pair."""
        return self._short.take(self._index.take(rows, mode="clip"))

    def flat(self, rows: Column) -> tuple[Column, Column, Column]:
        """All numbers of these events: whose row each is of, its place there, and the number."""
        which = self._index.take(rows)
        counts = self._counts.take(which)
        of = np.repeat(np.arange(len(rows)), counts)
        place = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        return of, place, self._values.take(self._starts.take(which).take(of) + place)

    @cached_property
    def _short(self) -> Column:
        values, counts = np.clip(self._values, BAD, LARGE), self._counts
        first = values.take(self._starts, mode="clip")
        second = np.where(counts == 2, values.take(self._starts + 1, mode="clip"), -1)
        return np.where((counts == 1) | (counts == 2), pair(first, second), BAD)


def pair(first: Column, second: Column) -> Column:
    """Two numbers as one; where the second is -1, the first alone."""
    found: Column = first + ((second + 1).astype(np.int64) << 32)
    return found


class _Part(NamedTuple):
    """Rows of a column, their cells as they lie in memory, and where there are none."""

    rows: slice
    cells: Column
    empty: Column | None
    words: pa.Array | None = None  # that the cells are numbers of


class _Chunk(NamedTuple):
    """A chunk of a column: its rows, and which of its cells they are, if not all."""

    rows: slice
    cells: pa.Array
    at: Column | None = None


class EventColumns:
    """The columns of tables of events, one table after another.

    What a table lacks, or a row does not fill, is `missing`.
    """

    def __init__(self, *tables: pa.Table) -> None:
        self.size = sum(one.num_rows for one in tables)
        self._known: dict[Any, Any] = {}
        self._chunks: dict[str, list[_Chunk]] = {}
        begin = 0
        for table in tables:
            for name, column in zip(table.column_names, table.columns, strict=True):
                start = begin
                for chunk in column.chunks:
                    if len(chunk):
                        rows = slice(start, start + len(chunk))
                        self._chunks.setdefault(name, []).append(_Chunk(rows, chunk))
                        start = rows.stop
            begin += table.num_rows

    def only(self, rows: Column) -> "EventColumns":
        """Some rows, in order."""
        found = EventColumns()
        found.size = len(rows)
        for name, chunks in self._chunks.items():
            for chunk in chunks:
                start, end = np.searchsorted(rows, [chunk.rows.start, chunk.rows.stop]).tolist()
                if start < end:
                    at = rows[start:end] - chunk.rows.start
                    mine = _Chunk(slice(start, end), chunk.cells, at)
                    found._chunks.setdefault(name, []).append(mine)
        return found

    def numbers(self, name: str, at: Column | None = None, missing: int = 0) -> Column:
        """Whole numbers of some rows, or of all."""
        key = name, missing
        if key not in self._known:
            parts = list(self._parts(name))
            one = parts[0] if len(parts) == 1 else None
            if one is not None and len(one.cells) == self.size and one.empty is None:
                self._known[key] = one.cells.astype(np.int64, copy=False)
            else:
                self._known[key] = self._filled(parts, np.int64, missing)
        found = self._known[key]
        return found if at is None else found.take(at)

    def small(self, name: str, missing: int = BAD) -> Column:
        """Whole numbers of all rows in 32 bits; larger ones stop at the edge."""
        return self._filled(self._parts(name), np.int32, missing)

    def truths(self, name: str, at: Column | None = None, *, missing: bool = False) -> Column:
        """Truths of some rows, or of all."""
        key = name, missing
        if key not in self._known:
            self._known[key] = self._filled(self._parts(name), np.bool_, missing)
        found = self._known[key]
        return found if at is None else found.take(at)

    def codes(
        self,
        name: str,
        codes: Mapping[Any, int],
        at: Column | None = None,
        other: int = -1,
        missing: int | None = None,
    ) -> Column:
        """Text as the codes of its words, each in a byte; a word that has none as `other`."""
        missing = other if missing is None else missing
        found = self._coded(name, lambda word: codes.get(word, other), np.int8, missing)
        return found if at is None else found.take(at)

    def coded(self, name: str, code: Callable[[str], int]) -> Column:
        """Text as whatever number its words are given."""
        return self._coded(name, code, np.int32, BAD)

    def words(self, name: str, at: Column | None = None) -> tuple[Column, pa.Array]:
        """Text as numbers of its words, of some rows or all; missing is the one after the last."""
        if name not in self._known:
            parts = list(self._parts(name, text=True))
            words, numbers = _together([part.words for part in parts])
            each = iter(numbers)

            def fill(part: _Part, mine: Column) -> None:
                next(each).take(part.cells, out=mine, mode="clip")

            self._known[name] = self._made(parts, np.int32, len(words), fill), words
        which, words = self._known[name]
        return which if at is None else which.take(at), words

    def there(self, name: str, at: Column | None = None) -> Column:
        """Whether rows, some or all, have text in this column."""
        which, words = self.words(name, at)
        return which < len(words)

    def alike(self, names: Sequence[str], at: Column) -> list[Column]:
        """Text of several columns: the same number is the same word."""
        numbers: dict[str, int] = {}
        found = []
        for name in names:
            which, words = self.words(name, at)
            known = [numbers.setdefault(word, len(numbers)) for word in words.to_pylist()]
            found.append(np.array([*known, -1], dtype=np.int32).take(which))
        return found

    def lists(self, name: str) -> Lists:
        """Rows of numbers; each different row is read once."""
        key = name, Lists
        if key not in self._known:
            which, words = self.words(name)
            nothing = pa.scalar(None, pa.string())
            rows = pc.split_pattern(pc.if_else(pc.equal(words, ""), nothing, words), " ")
            counts = pc.fill_null(pc.list_value_length(rows), 0).to_numpy(zero_copy_only=False)
            values = rows.flatten().cast(pa.int64()).to_numpy(zero_copy_only=False)
            self._known[key] = Lists(
                which, np.append(values, BAD), np.append(counts, 0).astype(np.int64)
            )
        found: Lists = self._known[key]
        return found

    def _coded(self, name: str, code: Callable[[Any], int], kind: Any, missing: int) -> Column:
        """Each row's word as its code."""

        def fill(part: _Part, mine: Column) -> None:
            codes = [code(word) for word in _listed(part.words)]
            np.array([*codes, missing], dtype=kind).take(part.cells, out=mine, mode="clip")

        return self._made(self._parts(name, text=True), kind, missing, fill)

    def _filled(self, parts: Iterable[_Part], kind: Any, missing: int) -> Column:
        """Numbers of one size; what is too large for it stops at the edge."""

        def fill(part: _Part, mine: Column) -> None:
            cells = part.cells
            narrower = mine.itemsize < cells.itemsize
            if narrower and (cells.max() > LARGE or cells.min() < BAD):
                cells = np.clip(cells, BAD, LARGE)
            mine[:] = cells

        return self._made(parts, kind, missing, fill)

    def _made(
        self,
        parts: Iterable[_Part],
        kind: Any,
        missing: int,
        fill: Callable[[_Part, Column], None],
    ) -> Column:
        """A column that is filled part by part; it takes no memory where it has no parts."""
        parts = list(parts)
        if not parts:
            return np.broadcast_to(kind(missing), self.size)
        found = _room(self.size, kind)
        done = 0
        for part in parts:
            found[done : part.rows.start] = missing
            mine = found[part.rows]
            fill(part, mine)
            if part.empty is not None:
                np.copyto(mine, missing, where=part.empty)
            done = part.rows.stop
        found[done:] = missing
        return found

    def _parts(self, name: str, *, text: bool = False) -> Iterator[_Part]:
        """The chunks of a column, in order; rows of tables that lack it have none."""
        return (_part(chunk, text=text) for chunk in self._chunks.get(name, ()))


def _part(chunk: _Chunk, *, text: bool) -> _Part:
    array, words = chunk.cells, None
    if text and not pa.types.is_dictionary(array.type):
        array = _numbered(array)
    if text:
        array, words = array.indices, array.dictionary
    cells, empty = _cells(array), _empty(array)
    if chunk.at is not None:
        cells, empty = cells.take(chunk.at), None if empty is None else empty.take(chunk.at)
    return _Part(chunk.rows, cells, empty, words)


def _numbered(array: pa.Array) -> pa.DictionaryArray:
    """Text that is no number of a word; most rows have none."""
    if not array.null_count:
        return array.dictionary_encode()
    there, some = pc.is_valid(array), array.drop_null().dictionary_encode()
    numbers = pc.replace_with_mask(pa.nulls(len(array), pa.int32()), there, some.indices)
    return pa.DictionaryArray.from_arrays(numbers, some.dictionary)


def _cells(array: pa.Array) -> Column:
    """The memory of an array; anything stands where a cell is empty."""
    begin, end = array.offset, array.offset + len(array)
    kind = np.dtype(array.type.to_pandas_dtype())
    if array.null_count == len(array):
        return np.zeros(len(array), dtype=kind)
    if pa.types.is_boolean(array.type):
        return _bits(array.buffers()[1], begin, end)
    return np.frombuffer(array.buffers()[1], dtype=kind, count=end)[begin:]


def _empty(array: pa.Array) -> Column | None:
    """Where an array has no cells, if there are such places."""
    if not array.null_count:
        return None
    return ~_bits(array.buffers()[0], array.offset, array.offset + len(array))


def _bits(buffer: pa.Buffer, begin: int, end: int) -> Column:
    every = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), count=end, bitorder="little")
    return every[begin:].view(np.bool_)


def _listed(words: pa.Array | None) -> list[str]:
    found: list[str] = [] if words is None else words.to_pylist()
    return found


def _together(each: Sequence[pa.Array]) -> tuple[pa.Array, list[Column]]:
    """The different words of several dictionaries, and of each its words' numbers among them."""
    if not each:
        return pa.array([], pa.string()), []
    plain = [one.cast(pa.string()) for one in each]
    both = pa.chunked_array(plain).combine_chunks().dictionary_encode()
    numbers = pc.fill_null(both.indices, len(both.dictionary)).to_numpy()
    ends = np.cumsum([len(one) for one in each])
    return both.dictionary, [
        np.append(it, np.int32(len(both.dictionary))) for it in np.split(numbers, ends[:-1])
    ]


def _room(size: int, kind: Any) -> Column:
    """Memory of Arrow's pool: what one batch of rows gives back, the next one takes."""
    return np.frombuffer(pa.allocate_buffer(size * np.dtype(kind).itemsize), dtype=kind)
