"""A lot: many whole hands of one match that come as columns, laid out as a ledger has them.

No event is made. What is written is what `store.columns.codec` makes of the same
events: a test says so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from events.cards import DECK, UNKNOWN
from events.many import Column, Each, Many, some_of
from events.types import Event, HandStarted
from store.columns import layout
from store.columns.codec import json_row, spaced
from store.columns.layout import CARRY, EMPTY, ENVELOPE, columns, fields

WORDS = (*DECK, UNKNOWN)
_MOST = 1 << 62  # different rows that one number can tell apart


class Lot:
    """Hands of a match under these numbers, all at one time."""

    def __init__(self, match: str, numbers: Column, at: int, many: tuple[Many, ...]) -> None:
        self.match, self.numbers, self.at, self.many = match, numbers, at, many

    @cached_property
    def sizes(self) -> Column:
        """How many events each hand has."""
        count = len(self.numbers)
        return sum(
            (np.bincount(it.hand, minlength=count) for it in self.many), np.zeros(count, int)
        )

    @cached_property
    def rows(self) -> pa.Table:
        """Their events as `store.columns.codec.encoded` lays them out; they count from 0."""
        return _laid_out(self, full=True)

    @cached_property
    def sparse(self) -> pa.Table:
        """As `codec.sparse` does: to be filled when other hands stand between them."""
        return _laid_out(self, full=False)

    def only(self, which: Column) -> "Lot":
        """Some of its hands."""
        if which.all():
            return self
        place = np.cumsum(which) - 1
        kept = []
        for it in self.many:
            rows = np.flatnonzero(which[it.hand])
            if len(rows):
                some = some_of(it.fields, rows)
                kept.append(Many(it.kind, place[it.hand[rows]], it.index[rows], some))
        return Lot(self.match, self.numbers[which], self.at, tuple(kept))


def _laid_out(lot: Lot, *, full: bool) -> pa.Table:
    sizes = lot.sizes
    begins = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    rows = [begins[it.hand] + it.index for it in lot.many]
    parts: dict[str, list[tuple[Column, Column | Each]]] = {}
    for it, where in zip(lot.many, rows, strict=True):
        for name, cells in _cells(it).items():
            parts.setdefault(name, []).append((where, cells))
    hand = np.repeat(np.arange(len(sizes)), sizes)
    words = list(dict.fromkeys(it.kind.__name__ for it in lot.many))
    kinds = Each(np.zeros(total, dtype=np.int32), words)
    for it, where in zip(lot.many, rows, strict=True):
        kinds.codes[where] = words.index(it.kind.__name__)
    data = {
        "hand_seq": pa.array(hand),
        "pos": pa.array(np.arange(total)),
        "match": _text(Each(np.zeros(total, dtype=np.int32), [lot.match])),
        "number": pa.array(lot.numbers[hand]),
        "idx": pa.array((np.arange(total) - begins[hand]).astype(np.int32)),
        "at": pa.array(np.full(total, lot.at)).cast(ENVELOPE["at"].arrow),
        "type": _text(kinds),
    }
    for name, column in columns().items():
        if name in parts:
            data[name] = _scattered(column, parts[name], total, full=full)
    return pa.table(data)


def events_of(it: Many, rows: Column | None = None, streams: Sequence[str] = ()) -> Iterator[Event]:
    """Some rows of a kind as the events that they are."""
    rows = np.arange(len(it.hand)) if rows is None else rows
    values: list[Iterable[Any]] = []
    if it.kind is HandStarted:
        values.append([streams[hand] for hand in it.hand[rows].tolist()])
    for field in fields(it.kind):
        found = it.fields[field.name]
        if isinstance(found, Each):
            values.append([found.values[code] for code in found.codes[rows].tolist()])
        elif field.form in ("cards", "numbers"):
            told: Any = WORDS.__getitem__ if field.form == "cards" else int
            each = found[rows].tolist()
            values.append([tuple(told(at) for at in row if at >= 0) for row in each])
        elif field.column == "next":
            values.append([None if at < 0 else at for at in found[rows].tolist()])
        else:
            values.append(found[rows].tolist())
    make: Any = it.kind
    return map(make, *values) if values else (make() for _ in rows)


def _cells(it: Many) -> dict[str, Column | Each]:
    """The columns that a kind fills; of cards as many as its rows have."""
    found: dict[str, Column | Each] = {}
    for field in fields(it.kind):
        values = it.fields[field.name]
        if field.form == "cards":
            for place, cards in enumerate(values.T):
                if (cards >= 0).any():
                    found[f"card{place + 1}"] = Each(cards, WORDS)
        elif field.default in EMPTY and not any(values.values):
            continue  # what is empty by default has no column where it always is
        elif field.form in ("numbers", "names"):
            found[field.column] = _worded(values, json_row if field.form == "names" else spaced)
        else:
            found[field.column] = values
    return found


def _worded(values: Column | Each, word: Callable[[Sequence[Any]], str]) -> Each:
    """Rows of numbers, or of names, as the words that stand for them."""
    if isinstance(values, Each):
        return Each(values.codes, [word(row) for row in values.values])
    first, codes = different(values.T, len(values))
    told = [tuple(it for it in row if it >= 0) for row in values[first].tolist()]
    return Each(codes, list(map(word, told)))


def _scattered(
    column: layout.Column, parts: Sequence[tuple[Column, Column | Each]], total: int, *, full: bool
) -> pa.Array:
    """Each kind's cells in their rows; in the others nothing, or what fills them."""
    kind, filler = column.arrow, column.filler if full else None
    words: dict[str, int] = {}
    there = np.zeros(total, dtype=bool)
    dtype = {pa.bool_(): bool, pa.int64(): np.int64}.get(kind, np.int32)
    values = np.zeros(total, dtype=dtype)
    for where, cells in parts:
        if isinstance(cells, Each):
            known = [words.setdefault(word, len(words)) for word in cells.values]
            values[where] = np.array([*known, 0], dtype=dtype)[cells.codes]
            there[where] = cells.codes >= 0
        else:
            values[where] = cells
            there[where] = True
    if isinstance(filler, str) and not there.all():
        filler = words.setdefault(filler, len(words))
    values, nothing = _filled(values, there, filler)
    if kind != pa.string():
        return pa.array(values, kind, mask=nothing)
    numbers = pa.array(values, mask=nothing)
    return pa.DictionaryArray.from_arrays(numbers, list(words), safe=False)


def _filled(values: Column, there: Column, filler: Any) -> tuple[Column, Column | None]:
    """Cells with the filler, or with what stood before them, where there are none; else where there
    are none."""
    if filler is None or not there.any():
        return values, ~there
    if filler is CARRY:
        rows = np.flatnonzero(there)
        sizes = np.diff(np.append(rows, len(values)))
        sizes[0] += rows[0]
        return np.repeat(values[rows], sizes), None
    return np.where(there, values, values.dtype.type(filler)), None


def different(columns: Iterable[Column], count: int) -> tuple[Column, Column]:
    """Of so many rows those that differ in one of these columns: the first of each, in the order of
    what they say, and which of them each row is like."""
    key = np.zeros(count, dtype=np.int64)
    most = 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        size = high - low + 1
        if most * size > _MOST:  # as many as there are rows is enough, of either
            known, key = np.unique(key, return_inverse=True)
            told, column = np.unique(column, return_inverse=True)
            most, low, size = len(known), 0, len(told)
        most *= size
        key = key * size + (column - low)
    _, first, codes = np.unique(key, return_index=True, return_inverse=True)
    return first, codes


def joined(rows: Column, words: Sequence[Any], between: Any) -> list[Any]:
    """Each row of cards as words with something between; -1 is no card."""
    nothing = between[:0]
    first, *more = rows.T
    found = each([*words, nothing], first)
    for cards in more:
        found = list(map(add, found, each([*(between + word for word in words), nothing], cards)))
    return found


def each(values: Sequence[Any], codes: Column) -> list[Any]:
    """What each of these numbers stands for; -1 is the last."""
    found: list[Any] = np.array(values, dtype=object).take(codes).tolist()
    return found


def _text(words: Each) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(words.codes), list(words.values), safe=False)
