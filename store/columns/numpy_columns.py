"""Columns of event rows as NumPy arrays, each made when it is first asked for.

Cells are taken as they lie in the memory that Parquet's reader or a writer has filled, a chunk at a
time; text stays a number of its word, and each different word is read once. Chips keep their 64
bits, unless small numbers are asked for. What a table lacks, or a row does not fill, is `missing`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Column = Any  # an array of numbers or truths; which kind depends on how much must fit

LARGE = 1 << 30  # small numbers stop here, and two of them can be added in 32 bits
BAD = -(1 << 30)  # stands where a small number is missing: no rule ever expects it


class Ragged:
    """A row of numbers for each event, stored as an index into the different rows."""

    def __init__(self, which: Column, counts: Column, values: Column) -> None:
        self._which, self._counts, self._starts = which, counts, np.cumsum(counts) - counts
        self.values: Column = values

    @cached_property
    def count(self) -> Column:
        """The length of each event's row."""
        return self._counts.take(self._which)

    @cached_property
    def at(self) -> Column:
        """The place among the values where each event's row begins."""
        return self._starts.take(self._which)

    def flat(self) -> tuple[Column, Column, Column]:
        """All numbers in order: the event of each, its place in the row, and its value."""
        of = np.repeat(np.arange(len(self.count)), self.count)
        place = np.arange(len(of)) - np.repeat(np.cumsum(self.count) - self.count, self.count)
        return of, place, self.values.take(self.at.take(of) + place)

    def lengths(self, rows: Column) -> Column:
        """The lengths of some events' rows."""
        return self._counts.take(self._which.take(rows, mode="clip"))

    def entry(self, rows: Column, place: Column | int) -> Column:
        """The number at one place of each row's; of shorter rows anything."""
        starts = self._starts.take(self._which.take(rows, mode="clip"))
        return self.values.take(starts + place, mode="clip")

    def one_or_two(self, rows: Column) -> Column:
        """The numbers of events that have one, or two as a `pair`; of others, what is no pair."""
        return self._short.take(self._which.take(rows, mode="clip"))

    @cached_property
    def _short(self) -> Column:
        values, counts = np.clip(self.values, BAD, LARGE), self._counts
        first = values.take(self._starts, mode="clip")
        second = np.where(counts == 2, values.take(self._starts + 1, mode="clip"), -1)
        return np.where((counts == 1) | (counts == 2), pair(first, second), BAD)


def pair(first: Column, second: Column) -> Column:
    """Two numbers as one; where the second is -1, the first alone."""
    found: Column = first + ((second + 1).astype(np.int64) << 32)
    return found


class _Chunk(NamedTuple):
    """A chunk of a column: its rows, and which of its cells they are, if not all."""

    rows: slice
    cells: pa.Array
    at: Column | None = None


class _Part(NamedTuple):
    """Rows of a column, their cells as they lie in memory, and where there are none."""

    rows: slice
    cells: Column
    empty: Column | None
    words: pa.Array  # that the cells are numbers of, if they are


class ColumnReader:
    """Reads columns of tables of events, one table after another, as cached NumPy arrays."""

    def __init__(self, *tables: pa.Table) -> None:
        self.size = sum(one.num_rows for one in tables)
        self._tables = [(table, table.schema) for table in tables]
        self._known: dict[Any, Any] = {}
        self._chunks: dict[str, list[_Chunk]] = {}
        self._some_of: tuple[ColumnReader, Column] | None = None  # rows of which others

    def __contains__(self, name: str) -> bool:
        """Whether any of the tables has such a column."""
        return bool(self._chunks_of(name))

    def only(self, rows: Column) -> "ColumnReader":
        """The same columns of some rows, which come in order."""
        some = ColumnReader()
        some.size, some._some_of = len(rows), (self, rows)
        return some

    def _chunks_of(self, name: str) -> list[_Chunk]:
        """The chunks of a column, in order; rows of tables that lack it have none."""
        if name not in self._chunks:
            chunks = self._taken(name) if self._some_of else self._stored(name)
            self._chunks[name] = list(chunks)
        return self._chunks[name]

    def _stored(self, name: str) -> Iterator[_Chunk]:
        begin = 0
        for table, schema in self._tables:
            start, place = begin, schema.get_field_index(name)
            for chunk in table.column(place).chunks if place >= 0 else ():
                if len(chunk):
                    yield _Chunk(slice(start, start + len(chunk)), chunk)
                    start += len(chunk)
            begin += table.num_rows

    def _taken(self, name: str) -> Iterator[_Chunk]:
        assert self._some_of is not None
        others, rows = self._some_of
        for chunk in others._chunks_of(name):
            start, end = np.searchsorted(rows, [chunk.rows.start, chunk.rows.stop]).tolist()
            if start < end:
                at = rows[start:end] - chunk.rows.start
                yield _Chunk(slice(start, end), chunk.cells, at)

    def numbers(self, name: str, at: Column | None = None, missing: int = 0) -> Column:
        """Whole numbers of some rows, or of all."""
        key = name, missing
        if key not in self._known:
            parts = self._parts(name)
            kind = np.result_type(np.int32, *(part.cells for part in parts)).type
            self._known[key] = self._filled(parts, kind, missing)
        found = self._known[key] if at is None else self._known[key].take(at)
        return found.astype(np.int64, copy=False)

    def small(self, name: str, missing: int = BAD) -> Column:
        """Whole numbers of all rows in 32 bits; larger ones stop at the edge."""
        return self._filled(self._parts(name), np.int32, missing)

    def truths(self, name: str, at: Column | None = None, *, missing: bool = False) -> Column:
        """Booleans of some rows, or of all."""
        key = name, missing
        if key not in self._known:
            self._known[key] = self._filled(self._parts(name), np.bool_, missing)
        return self._known[key] if at is None else self._known[key].take(at)

    def words(self, name: str, at: Column | None = None) -> tuple[Column, pa.Array]:
        """Text as indices into its different words; where it is missing, the one after the last."""
        if name not in self._known:
            self._known[name] = self._worded(self._parts(name, text=True))
        which, words = self._known[name]
        return which if at is None else which.take(at), words

    def has_text(self, name: str, at: Column | None = None) -> Column:
        """Whether rows, some or all, have text in this column."""
        which, words = self.words(name, at)
        return which < len(words)

    def word_codes(
        self, name: str, codes: Mapping[str, int], at: Column | None = None, other: int = -1
    ) -> Column:
        """Text as the codes of its words; what has none, or is missing, as `other`."""
        which, words = self.words(name, at)
        known = [codes.get(word, other) for word in words.to_pylist()]
        return np.array([*known, other], dtype=np.int32).take(which)

    def map_words(
        self, name: str, code: Callable[[str], int], missing: int, kind: Any = np.int32
    ) -> Column:
        """Text of all rows as numbers: `code` is called once for each different word."""

        def fill(part: _Part, mine: Column) -> None:
            words = part.words.to_pylist()
            codes = [missing if word is None else code(word) for word in words]
            np.array([*codes, missing], dtype=kind).take(part.cells, out=mine, mode="clip")

        return self._made(self._parts(name, text=True), kind, missing, fill)

    def alike(self, names: Sequence[str], at: Column) -> list[Column]:
        """Text of several columns as numbers of one dictionary."""
        numbers: dict[str, int] = {}
        columns = []
        for name in names:
            which, words = self.words(name, at)
            known = [numbers.setdefault(word, len(numbers)) for word in words.to_pylist()]
            columns.append(np.array([*known, -1], dtype=np.int32).take(which))
        return columns

    def ragged(self, name: str, at: Column | None = None) -> Ragged:
        """Rows of numbers of some events, or of all; each different row is read once."""
        which, words = self.words(name, at)
        rows = pc.split_pattern(pc.if_else(pc.equal(words, ""), _NOTHING, words), " ")
        counts = pc.fill_null(pc.list_value_length(rows), 0).to_numpy(zero_copy_only=False)
        values = rows.flatten().cast(pa.int64()).to_numpy(zero_copy_only=False)
        return Ragged(which, np.append(counts, 0).astype(np.int64), np.append(values, BAD))

    def _worded(self, parts: Sequence[_Part]) -> tuple[Column, pa.Array]:
        """The numbers of words in every row, and the words."""
        if len(parts) < 2:
            words = parts[0].words if parts else _NO_WORDS
            return self._filled(parts, np.int32, len(words)), words
        every = pa.chunked_array([part.words for part in parts]).combine_chunks()
        every = every.dictionary_encode()
        words = every.dictionary
        numbers = pc.fill_null(every.indices, len(words)).to_numpy()
        ends = np.cumsum([len(part.words) for part in parts])
        # of each dictionary its words' numbers among all of them, and of none the one after these
        each = (np.append(some, np.int32(len(words))) for some in np.split(numbers, ends[:-1]))

        def fill(part: _Part, mine: Column) -> None:
            next(each).take(part.cells, out=mine, mode="clip")

        return self._made(parts, np.int32, len(words), fill), words

    def _filled(self, parts: Sequence[_Part], kind: Any, missing: int) -> Column:
        """Numbers of one size; what is too large for it stops at the edge.

        What lies in one piece, with a cell in every row, is taken as it is.
        """
        if len(parts) == 1:
            cells = parts[0].cells
            if len(cells) == self.size and parts[0].empty is None and cells.dtype == kind:
                return cells

        def fill(part: _Part, mine: Column) -> None:
            cells = part.cells
            narrower = mine.itemsize < cells.itemsize
            if narrower and (cells.max() > LARGE or cells.min() < BAD):
                cells = np.clip(cells, BAD, LARGE)
            mine[:] = cells

        return self._made(parts, kind, missing, fill)

    def _made(
        self, parts: Sequence[_Part], kind: Any, missing: int, fill: Callable[[_Part, Column], None]
    ) -> Column:
        """A column that is filled part by part; it takes no memory where it has no parts.

        The memory is of Arrow's pool: what one batch of rows gives back, the next one takes.
        """
        if not parts:
            return np.broadcast_to(kind(missing), self.size)
        memory = pa.allocate_buffer(self.size * np.dtype(kind).itemsize)
        column = np.frombuffer(memory, dtype=kind)
        done = 0
        for part in parts:
            column[done : part.rows.start] = missing
            mine = column[part.rows]
            fill(part, mine)
            if part.empty is not None and mine.dtype == np.bool_:
                np.copyto(mine, missing, where=part.empty)
            elif part.empty is not None:
                # By sums, for to ask at each cell takes ten times as long; what is beyond 32 bits
                # on the way is right again in the end.
                mine -= mine.dtype.type(missing)
                mine *= ~part.empty
                mine += mine.dtype.type(missing)
            done = part.rows.stop
        column[done:] = missing
        return column

    def _parts(self, name: str, *, text: bool = False) -> list[_Part]:
        parts = []
        for chunk in self._chunks_of(name):
            array, words = chunk.cells, _NO_WORDS
            if text:
                array = _numbered(array)
                array, words = array.indices, array.dictionary
                words = words if words.type == _TEXT else words.cast(_TEXT)
            cells, empty = _memory(array), None
            if array.null_count:
                empty = ~_bits(array.buffers()[0], array.offset, array.offset + len(array))
            if chunk.at is not None:
                cells, empty = cells.take(chunk.at), None if empty is None else empty.take(chunk.at)
            parts.append(_Part(chunk.rows, cells, empty, words))
        return parts


_TEXT = pa.string()
_NOTHING = pa.scalar(None, _TEXT)
_NO_WORDS = pa.array([], _TEXT)


def _numbered(array: pa.Array) -> pa.DictionaryArray:
    """Text as numbers of its words; of text that is not stored so, most rows have none."""
    if pa.types.is_dictionary(array.type):
        return array
    if not array.null_count:
        return array.dictionary_encode()
    is_text, words = pc.is_valid(array), array.drop_null().dictionary_encode()
    numbers = pc.replace_with_mask(pa.nulls(len(array), pa.int32()), is_text, words.indices)
    return pa.DictionaryArray.from_arrays(numbers, words.dictionary)


def _memory(array: pa.Array) -> Column:
    """The memory of an array; anything stands where a cell is empty."""
    array = array.view(pa.int64()) if pa.types.is_timestamp(array.type) else array
    begin, end = array.offset, array.offset + len(array)
    kind = np.dtype(array.type.to_pandas_dtype())
    if array.null_count == len(array):
        return np.zeros(len(array), dtype=kind)
    if pa.types.is_boolean(array.type):
        return _bits(array.buffers()[1], begin, end)
    return np.frombuffer(array.buffers()[1], dtype=kind, count=end)[begin:]


def _bits(buffer: pa.Buffer, begin: int, end: int) -> Column:
    every = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), count=end, bitorder="little")
    return every[begin:].view(np.bool_)


class CardRows(NamedTuple):
    """Rows of cards, each a number of its word; after the last, less than nothing stands."""

    codes: Column
    words: list[str]

    def text(self) -> pa.Array:
        """Words with a space between."""
        texts, none = pa.array([*self.words, ""], pa.string()), len(self.words)
        columns = [texts.take(pa.array(np.where(codes < 0, none, codes))) for codes in self.codes.T]
        if not columns:
            return pa.array([""] * len(self.codes), pa.string())
        return pc.ascii_rtrim(pc.binary_join_element_wise(*columns, " "), " ")
