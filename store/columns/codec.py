"""Events into columns and back, many at a time: all of one kind together, never field by field."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice, pairwise, zip_longest
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from events import types as t
from events.ledger import Record, Recorded
from store.columns.layout import (
    CARDS,
    CARRY,
    ENVELOPE,
    KINDS,
    NOBODY,
    Column,
    Field,
    columns,
    fields,
    schema,
)
from store.log.leaf import Leaf, split

Look = Callable[[type[Record], str, Sequence[Any]], None]
FEW = 1_024  # rows; a hand has some thirty
_NUMBERED = pa.dictionary(pa.int32(), pa.string())


def table(leaves: Sequence[Leaf]) -> pa.Table:
    """Events as a table of plain types, in the order they are given."""
    return encoded(leaves).cast(schema())


def encoded(
    leaves: Sequence[Leaf], look: Look | None = None, wanted: Sequence[str] = ()
) -> pa.Table:
    """Events as a table whose text is numbered: each word once, as Parquet will store it."""
    return full(sparse(leaves, look, wanted))


def sparse(
    leaves: Sequence[Leaf], look: Look | None = None, wanted: Sequence[str] = ()
) -> pa.Table:
    """As `encoded`, but empty wherever a row means nothing in a column.

    `look` is shown all values of a field, kind by kind, and may refuse them. Not all columns may be
    wanted.

    Events of one kind make a short column per field, all kinds' together are put in order by one
    permutation. So an event costs no look-up per column that it does not have.
    """
    recorded = [one for leaf in leaves for one in leaf.recorded]
    kinds: dict[type[Record], int] = {}
    codes = pa.array(
        [kinds.setdefault(type(one.event), len(kinds)) for one in recorded], pa.int32()
    )
    by_kind = pc.sort_indices(codes)
    order = pc.sort_indices(by_kind)
    events = [recorded[row].event for row in by_kind.to_pylist()]
    sizes = {it["values"]: it["counts"] for it in codes.value_counts().to_pylist()}
    cells = []
    for kind, code in kinds.items():
        cells.append((sizes[code], _cells(kind, events[: sizes[code]], look)))
        del events[: sizes[code]]
    data = _envelope(leaves, recorded)
    data["type"] = pa.DictionaryArray.from_arrays(codes, [kind.__name__ for kind in kinds])
    names = wanted or list(columns())
    for name in names:
        if name not in ENVELOPE:
            told = [(n, found.get(name)) for n, found in cells]
            data[name] = _column(columns()[name], told, order)
    return pa.table(data).select(names)


def full(rows: pa.Table) -> pa.Table:
    """Sparse rows, in their last order, with each column's filler where they mean nothing."""
    layout = columns()
    return pa.table(
        [_filled(rows[name].combine_chunks(), layout[name].filler) for name in rows.column_names],
        rows.column_names,
    )


def leaves_of(rows: pa.Table) -> list[Leaf]:
    """Stored rows as what closed; columns that an old segment lacks have the fields' defaults."""
    rows = rows.combine_chunks()
    if not rows.num_rows:
        return []
    starts, streams, events = _events_of(rows)
    position, index = (_list(rows[name].chunk(0)) for name in ("pos", "idx"))
    times = _list(rows["at"].chunk(0).view(pa.int64()))
    recorded = tuple(map(Recorded, position, streams, index, times, events))
    sequence = rows["hand_seq"].chunk(0)
    return [Leaf(sequence[start].as_py(), recorded[start:end]) for start, end in pairwise(starts)]


def records_of(rows: pa.Table) -> dict[int, tuple[Record, ...]]:
    """The events of what closed, by its place in that order; when and where is not asked."""
    rows = rows.combine_chunks()
    if not rows.num_rows:
        return {}
    starts, _, events = _events_of(rows)
    sequence = rows["hand_seq"].chunk(0)
    return {sequence[start].as_py(): tuple(events[start:end]) for start, end in pairwise(starts)}


def _events_of(rows: pa.Table) -> tuple[list[int], list[str], list[Record]]:
    """Where what closed begins, and the end; each row's stream and event."""
    size = rows.num_rows
    sequence = _list(rows["hand_seq"].chunk(0))
    starts = [0, *(at for at in range(1, size) if sequence[at] != sequence[at - 1]), size]
    streams = _streams(rows, starts)
    cells = _Cells(rows)
    events: list[Any] = [None] * size
    kinds = _numbered(rows["type"])
    places: list[list[int]] = [[] for _ in kinds.dictionary]
    for row, code in enumerate(_list(kinds.indices)):
        places[code].append(row)
    for word, where in zip(kinds.dictionary.to_pylist(), places, strict=True):
        if not where:
            continue
        made = _events(KINDS[word], cells.at(where), [streams[row] for row in where])
        for row, event in zip(where, made, strict=True):
            events[row] = event
    return starts, streams, events


def _envelope(leaves: Sequence[Leaf], recorded: Sequence[Recorded]) -> dict[str, pa.Array]:
    sequence: list[int] = []
    match: list[int] = []
    number: list[int | None] = []
    words: dict[str, int] = {}
    for leaf in leaves:
        size = len(leaf.recorded)
        name, count = split(leaf.stream)
        sequence += [leaf.hand_seq] * size
        match += [words.setdefault(name, len(words))] * size
        number += [count] * size
    return {
        "hand_seq": pa.array(sequence, pa.int64()),
        "pos": pa.array([one.pos for one in recorded], pa.int64()),
        "match": _dictionary(match, words),
        "number": pa.array(number, pa.int64()),
        "idx": pa.array([one.index for one in recorded], pa.int32()),
        "at": pa.array([one.at for one in recorded], pa.int64()).cast(ENVELOPE["at"].arrow),
    }


def _cells(
    kind: type[Record], events: Sequence[Record], look: Look | None
) -> dict[str, Sequence[Any]]:
    """One kind's events as short columns."""
    found: dict[str, Sequence[Any]] = {}
    for field in fields(kind):
        values = list(map(attrgetter(field.name), events))
        if look is not None:
            look(kind, field.name, values)
        if field.form == "cards":
            for place, cards in enumerate(islice(zip_longest(*values), CARDS)):
                found[f"card{place + 1}"] = cards
            if any(len(it) > CARDS for it in values):
                found["more_cards"] = [" ".join(it[CARDS:]) or None for it in values]
        elif field.form in ("numbers", "names"):
            write = json_row if field.form == "names" else spaced
            told = {value: write(value) for value in set(values)}
            if told.keys() != {field.default}:
                found[field.column] = [told[value] for value in values]
        elif field.column == "next":
            found["next"] = [NOBODY if value is None else value for value in values]
        elif field.default != "" or any(values):
            found[field.column] = values
    return found


def _column(
    column: Column, parts: Sequence[tuple[int, Sequence[Any] | None]], order: pa.Array
) -> pa.Array:
    """All kinds' short columns, put in the rows' order."""
    text = column.arrow == pa.string()
    if all(values is None for _, values in parts):
        return pa.nulls(len(order), _NUMBERED if text else column.arrow)
    chunks = [
        pa.nulls(size, column.arrow) if values is None else pa.array(values, column.arrow)
        for size, values in parts
    ]
    array = pa.concat_arrays(chunks)
    return array.dictionary_encode().take(order) if text else array.take(order)


def _filled(array: pa.Array, filler: Any) -> pa.Array:
    """Every empty cell with the filler, or with what stood before it."""
    if filler is None or not array.null_count or array.null_count == len(array):
        return array
    if pa.types.is_dictionary(array.type):
        words = array.dictionary
        if isinstance(filler, str):
            known = pc.index(words, pa.scalar(filler)).as_py()
            words = words if known >= 0 else pa.concat_arrays([words, pa.array([filler])])
            filler = known if known >= 0 else len(words) - 1
        return pa.DictionaryArray.from_arrays(_filled(array.indices, filler), words, safe=False)
    if filler is CARRY:
        if pa.types.is_boolean(array.type):  # truths are carried bit by bit, which takes long
            return _filled(array.cast(pa.int8()), filler).cast(array.type)
        array = pc.fill_null_forward(array)
        filler = array[array.null_count]
    return pc.fill_null(array, pa.scalar(filler, array.type)) if array.null_count else array


def _dictionary(codes: list[int], words: dict[str, int]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), list(words))


def _numbered(column: pa.ChunkedArray) -> pa.DictionaryArray:
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0)
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def _streams(rows: pa.Table, starts: Sequence[int]) -> list[str]:
    """Each row's stream; one word for all rows of a leaf."""
    matches = _numbered(rows["match"])
    numbers = rows["number"].chunk(0)
    found: list[str] = []
    for start, end in pairwise(starts):
        match, number = matches[start].as_py(), numbers[start].as_py()
        found += [match if number is None else f"{match}/{number}"] * (end - start)
    return found


class _Cells:
    """Stored cells of some rows as a list: of many rows only those, of few rather all at once."""

    def __init__(self, rows: pa.Table) -> None:
        self._columns = dict(zip(rows.column_names, rows.columns, strict=True))
        self._few: dict[str, list[Any]] | None = {} if rows.num_rows <= FEW else None

    def at(self, where: list[int]) -> Callable[[str], list[Any] | None]:
        """A column's cells at these rows; None if there is no such column."""
        here = pa.array(where, pa.int32()) if self._few is None else None

        def cells(name: str) -> list[Any] | None:
            if name not in self._columns:
                return None
            if self._few is None:
                return _list(self._columns[name].chunk(0).take(here))
            if name not in self._few:
                self._few[name] = _list(self._columns[name].chunk(0))
            column = self._few[name]
            return [column[at] for at in where]

        return cells


def _events(
    kind: type[Record], cells: Callable[[str], list[Any] | None], streams: list[str]
) -> Iterable[Record]:
    """The events of one kind, from the cells of their rows."""
    values: list[Iterable[Any]] = [streams] if kind is t.HandStarted else []
    for field in fields(kind):
        if field.form == "cards":
            values.append(_cards(cells, len(streams)))
        elif (found := cells(field.column)) is not None:
            values.append(_values(field, found))
        elif field.default is not msgspec.NODEFAULT:
            values.append([field.default] * len(streams))
        else:
            raise ValueError(f"{kind.__name__}.{field.name} is not stored, and has no default")
    make: Callable[..., Record] = kind
    return map(make, *values) if values else [make()] * len(streams)


def _values(field: Field, cells: list[Any]) -> list[Any]:
    """Cells as a field's values; each different text is read once."""
    if field.form in ("numbers", "names"):
        read = _from_json if field.form == "names" else _from_spaced
        told = {word: field.default if word is None else read(word) for word in set(cells)}
        return [told[word] for word in cells]
    if field.column == "next":
        return [None if seat == NOBODY else seat for seat in cells]
    return [word or "" for word in cells] if field.default == "" else cells


def _cards(cells: Callable[[str], list[Any] | None], size: int) -> list[tuple[str, ...]]:
    """Cards from their columns, up to the first that nobody fills."""
    places: list[list[Any]] = []
    for place in range(CARDS):
        found = cells(f"card{place + 1}")
        if found is None or not any(found):
            return [tuple(filter(None, row)) for row in zip(*places, strict=True)] or [()] * size
        places.append(found)
    more = cells("more_cards") or [None] * size
    return [
        (*filter(None, row), *(rest.split() if rest else ()))
        for *row, rest in zip(*places, more, strict=True)
    ]


def _list(array: pa.Array) -> list[Any]:
    """An array as a list; what stands where a number is missing is nobody's business."""
    if pa.types.is_dictionary(array.type) and len(array) < len(array.dictionary):
        array = array.dictionary_decode()
    if pa.types.is_dictionary(array.type):
        words = array.dictionary.to_pylist()
        if array.null_count:
            return [None if code is None else words[code] for code in array.indices.to_pylist()]
        return [words[code] for code in _list(array.indices)]
    code: Any = {pa.int64(): "q", pa.int32(): "i"}.get(array.type)
    found: list[Any]
    if code is None:
        found = array.to_pylist()
        return found
    if array.null_count == len(array):
        return [None] * len(array)
    numbers = memoryview(array.buffers()[1]).cast("b").cast(code)
    found = numbers[array.offset : array.offset + len(array)].tolist()
    return found


def _from_spaced(word: str) -> tuple[int, ...]:
    return tuple(map(int, word.split()))


def _from_json(word: str) -> tuple[str, ...]:
    return tuple(msgspec.json.decode(word))


def spaced(row: Sequence[Any]) -> str:
    return " ".join(map(str, row))


def json_row(row: Sequence[Any]) -> str:
    return msgspec.json.encode(row).decode()
