"""Event columns as rows of a table, as Parquet stores them, and rows as event columns.

Rows of other tables that are about a hand begin with the columns of `head`.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from events.ledger import Column, DictionaryColumn, KindColumns, Record
from events.types import HandStarted
from store.columns import layout
from store.columns.event_columns import (
    EventColumns,
    cards_of,
    columns_of_leaves,
    distinct_rows,
    value_numbers,
)
from store.columns.layout import (
    CARDS,
    CARRY,
    EMPTY,
    ENVELOPE,
    KINDS,
    NOBODY,
    SCHEMA,
    Field,
    blank_values,
    columns,
    fields,
)
from store.columns.numpy_columns import ColumnReader
from store.log.streams import Leaf, split_stream

Parts = dict[str, list[tuple[Column, Column | DictionaryColumn]]]


def event_table(leaves: Sequence[Leaf]) -> pa.Table:
    """Leaves as rows of plain types, in all columns."""
    return encoded_table(leaves).cast(SCHEMA)


def encoded_table(leaves: Sequence[Leaf], names: Sequence[str] = ()) -> pa.Table:
    """Leaves as rows in the wanted columns, or in all; text is dictionary-encoded."""
    return rows_of(columns_of_leaves(leaves), names or list(columns()))


def leaves_of(rows: pa.Table) -> list[Leaf]:
    """Stored rows as leaves; columns that an old segment lacks have the fields' defaults."""
    return columns_of_rows(rows).leaves()


def records_by_leaf(rows: pa.Table) -> dict[int, tuple[Record, ...]]:
    """The events of what closed, by its place in that order; when and where is not asked."""
    found = columns_of_rows(rows)
    events, bounds = found.events(), zip(found.begins.tolist(), found.sizes.tolist(), strict=True)
    parts = (tuple(events[begin : begin + size]) for begin, size in bounds)
    return dict(zip(found.hand_seq.tolist(), parts, strict=True))


def rows_of(events: EventColumns, chosen: Sequence[str] = ()) -> pa.Table:
    """Rows in the wanted columns, or in those that these events fill.

    A row has the column's filler where it means nothing. Text is numbered: each word is stored
    once, as Parquet stores it. What is empty by default, a row or a text, has no column of its own
    where it is empty in every event.
    """
    parts: Parts = {}
    kinds = DictionaryColumn(np.zeros(len(events.at), dtype=np.int32), [])
    words: dict[str, int] = {}
    filled_columns = {
        field.column
        for one_kind in events.by_kind
        for field in fields(one_kind.kind)
        if field.form != "cards" and not _is_empty(one_kind, field)
    }
    for one_kind in events.by_kind:
        where = events.rows(one_kind)
        kinds.codes[where] = words.setdefault(one_kind.kind.__name__, len(words))
        for name, cells in _cells(one_kind, filled_columns).items():
            parts.setdefault(name, []).append((where, cells))
    number = events.number[events.leaf]
    envelope = {
        "hand_seq": pa.array(events.hand_seq[events.leaf]),
        "pos": pa.array(events.pos),
        "match": _text(events.match.codes[events.leaf], events.match.values),
        "number": pa.array(number, mask=number < 0),
        "idx": pa.array(events.index.astype(np.int32)),
        "at": pa.array(events.at).cast(ENVELOPE["at"].arrow),
        "type": _text(kinds.codes, list(words)),
    }
    names = chosen or [name for name in columns() if name in ENVELOPE or name in parts]
    return pa.table(
        [
            envelope[name]
            if name in envelope
            else _column(columns()[name], parts.get(name, ()), len(events.at))
            for name in names
        ],
        names,
    )


def used_columns(each: Iterable[EventColumns]) -> list[str]:
    """The columns that any of these fill."""
    names = {name for events in each for it in events.by_kind for name in _cells(it)}
    return [name for name in columns() if name in ENVELOPE or name in names]


def with_fillers(rows: pa.Table) -> pa.Table:
    """Rows in which a cell is empty only where its column has no filler: others are in columns that
    nothing fills, and in rows of version 1."""
    for place, field in enumerate(rows.schema):
        if field.name in blank_values() and rows.column(place).null_count:
            kind = columns()[field.name].arrow
            cells = pc.fill_null(
                rows.column(place).cast(kind), pa.scalar(blank_values()[field.name], kind)
            )
            rows = rows.set_column(place, field.name, cells)
    return rows


def _is_empty(one_kind: KindColumns, field: layout.Field) -> bool:
    """Whether the field is empty by default, and in each of these events."""
    return field.default in EMPTY and not any(one_kind.fields[field.name].values)


def _cells(
    one_kind: KindColumns, filled_columns: Container[str] = ()
) -> dict[str, Column | DictionaryColumn]:
    """The columns that events of one kind fill; of cards as many as its rows have. What is empty
    fills those columns too that are there by other events."""
    cells: dict[str, Column | DictionaryColumn] = {}
    for field in fields(one_kind.kind):
        values = one_kind.fields[field.name]
        if field.form == "cards":
            for place, codes in enumerate(values.codes.T[:CARDS]):
                if (codes >= 0).any():
                    cells[f"card{place + 1}"] = DictionaryColumn(codes, values.values)
            if values.codes.shape[1] > CARDS:
                rest = (cards[CARDS:] for cards in cards_of(values))
                cells["more_cards"] = value_numbers([" ".join(cards) or None for cards in rest])
        elif field.column not in filled_columns and _is_empty(one_kind, field):
            continue
        elif field.form in ("numbers", "names"):
            spell = json_row if field.form == "names" else split_words
            if isinstance(values, DictionaryColumn):
                rows, codes = values.values, values.codes
            else:
                first, codes = distinct_rows(values.T, len(values))
                rows = [[number for number in row if number >= 0] for row in values[first].tolist()]
            cells[field.column] = DictionaryColumn(codes, list(map(spell, rows)))
        else:
            cells[field.column] = values
    return cells


def _column(
    column: layout.Column, parts: Sequence[tuple[Column, Column | DictionaryColumn]], size: int
) -> pa.Array:
    """The cells of each kind in their rows; in other rows the filler, or nothing. What an event
    does not say (a viewpoint may not see it) is nothing too, but where the filler means nobody."""
    kind, filler = column.arrow, column.filler
    text = kind == pa.string()
    if not parts:
        return pa.nulls(size, _NUMBERED if text else kind)
    words: dict[str, int] = {}
    is_filled, unsaid = np.zeros((2, size), dtype=bool)
    dtype = {pa.bool_(): bool, pa.int64(): np.int64}.get(kind, np.int32)
    values = np.zeros(size, dtype=dtype)
    for where, cells in parts:
        if isinstance(cells, DictionaryColumn):
            known = cells.values
            if text:
                known = [words.setdefault(word, len(words)) for word in known]
            values[where] = np.array([*known, 0], dtype=dtype)[cells.codes]
            is_filled[where] = cells.codes >= 0
            unsaid[where] = (cells.codes < 0) & (filler != NOBODY)
        else:
            values[where] = cells
            is_filled[where] = True
    if filler is CARRY and is_filled.any():
        rows = np.flatnonzero(is_filled)
        sizes = np.diff(np.append(rows, size))
        sizes[0] += rows[0]
        values, is_filled = np.repeat(values[rows], sizes), np.ones(size, dtype=bool)
    elif filler is not None and is_filled.any() and not is_filled.all():
        if isinstance(filler, str):
            filler = words.setdefault(filler, len(words))
        values[~is_filled] = filler
        is_filled[:] = True
    nothing = None if is_filled.all() and not unsaid.any() else ~is_filled | unsaid
    return _text(values, list(words), nothing) if text else pa.array(values, kind, mask=nothing)


def _text(codes: Column, words: Sequence[str], nothing: Column | None = None) -> pa.Array:
    numbers = pa.array(codes, pa.int32(), mask=nothing)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(words, pa.string()), safe=False)


def columns_of_rows(rows: pa.Table) -> EventColumns:
    """Stored rows as event columns; columns that an old segment lacks have the fields' defaults."""
    stored = _Stored(rows)
    cells = stored.cells
    hand_seq = cells.numbers("hand_seq")
    heads = np.flatnonzero(np.diff(hand_seq, prepend=hand_seq[:1] - 1))
    sizes = np.diff(np.append(heads, rows.num_rows))
    leaf = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(rows.num_rows) - heads[leaf]
    codes, kinds = stored.words("type", "text")
    by_kind = []
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        kind, where = KINDS[kinds[code]], np.flatnonzero(codes == code)
        columns = {field.name: stored.field(kind, field, where) for field in fields(kind)}
        by_kind.append(KindColumns(kind, leaf[where], place[where], columns))
    match, names = stored.words("match", "text")
    return EventColumns(
        DictionaryColumn(match[heads], names),
        cells.numbers("number", heads, NOBODY),
        sizes,
        cells.numbers("at"),
        by_kind,
        hand_seq=hand_seq[heads],
        first=cells.numbers("idx", heads),
        pos=cells.numbers("pos"),
    )


class _Stored:
    """Stored rows, of which each column is read once for all kinds of events that share it."""

    def __init__(self, rows: pa.Table) -> None:
        self.cells = ColumnReader(rows)
        self._words: dict[str, tuple[Column, list[Any]]] = {}

    def field(self, kind: type[Record], field: Field, where: Column) -> Column | DictionaryColumn:
        """A field of the events of a kind, which stand in these rows."""
        name, default = field.column, field.default
        if field.form == "cards":
            codes = self._cards.codes[where]
            width = np.flatnonzero((codes >= 0).any(axis=0))[-1:].sum() + 1
            return DictionaryColumn(codes[:, :width], self._cards.values)
        if name not in self.cells and default is msgspec.NODEFAULT:
            raise ValueError(f"{kind.__name__}.{field.name} is not stored, and has no default")
        if field.form == "truth":
            return self.cells.truths(name, where, missing=default is True)
        if field.form in ("number", "large"):
            missing = NOBODY if default is msgspec.NODEFAULT else default
            return self.cells.numbers(name, where, missing)
        codes, values = self.words(name, field.form)
        return DictionaryColumn(
            codes[where], [*values, None if default is msgspec.NODEFAULT else default]
        )

    def words(self, name: str, form: str) -> tuple[Column, list[Any]]:
        """Which of the different values each row has; those that have none, the one after them."""
        if name not in self._words:
            codes, words = self.cells.words(name)
            if len(words) > len(codes):  # few rows of a row group: most words are not theirs
                used = dict.fromkeys(codes[codes < len(words)].tolist())
                place = {code: at for at, code in enumerate(used)} | {len(words): len(used)}
                codes = np.array([place[code] for code in codes.tolist()])
                words = words.take(pa.array(list(used), pa.int32()))
            value = _READ[form]
            self._words[name] = codes, [value(word) for word in words.to_pylist()]
        return self._words[name]

    @cached_property
    def _cards(self) -> DictionaryColumn:
        """The cards of each row."""
        known: dict[str, int] = {}
        places = []
        for place in range(CARDS):
            if place and f"card{place + 1}" not in self.cells:
                break
            codes, words = self.words(f"card{place + 1}", "text")
            numbers = [known.setdefault(word, len(known)) if word else -1 for word in words]
            places.append(np.array([*numbers, -1])[codes])
        if "more_cards" in self.cells:
            codes, words = self.words("more_cards", "text")
            more = [[known.setdefault(card, len(known)) for card in row.split()] for row in words]
            most = max(map(len, more), default=0)
            wide = [[*row, *[-1] * (most - len(row))] for row in (*more, [])]
            places += list(np.array(wide)[codes].T)
        return DictionaryColumn(np.stack(places, axis=1), list(known))


_READ: dict[str, Callable[[str], Any]] = {
    "text": str,
    "numbers": lambda word: tuple(map(int, word.split())),
    "names": lambda word: tuple(msgspec.json.decode(word)),
}
_NUMBERED = pa.dictionary(pa.int32(), pa.string())


def split_words(row: Sequence[Any]) -> str:
    return " ".join(map(str, row))


def json_row(row: Sequence[Any]) -> str:
    return msgspec.json.encode(row).decode()


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


def hand_head(leaf: Leaf, start: HandStarted) -> Row:
    """The first cells of a hand's row: its stream, place in the order, and ruleset."""
    match, number = split_stream(leaf.stream)
    which = {"hand_seq": leaf.hand_seq, "hand": leaf.stream, "match": match, "number": number}
    return {**which, "game": start.game, "ruleset": start.ruleset}


def arrow_table(rows: Sequence[Row], schema: Iterable[pa.Field]) -> pa.Table:
    """Rows as Arrow; what a row does not say is null."""
    schema = pa.schema(schema)
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.table(columns, schema=schema)
