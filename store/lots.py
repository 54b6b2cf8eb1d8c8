"""A lot: many whole hands of one match that come as columns, laid out as a ledger has them.

No event is made. What is written is what `store.columns` makes of the same events: a test says so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from events.cards import DECK, UNKNOWN
from events.many import Column, Each, Many, some_of
from events.types import Event, HandStarted
from store.columns import json_row, spaced
from store.layout import ENVELOPE, columns, fields

WORDS = (*DECK, UNKNOWN)


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
        """Their events as `store.columns.sparse` lays them out; they count from 0."""
        return _sparse(self)

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


def _sparse(lot: Lot) -> pa.Table:
    sizes = lot.sizes
    begins = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    rows = [begins[it.hand] + it.index for it in lot.many]
    parts: dict[str, list[tuple[Column, Column | Each]]] = {}
    for it, where in zip(lot.many, rows, strict=True):
        for name, cells in _cells(it).items():
            parts.setdefault(name, []).append((where, cells))
    hand = np.repeat(np.arange(len(sizes)), sizes)
    kinds = Each(np.zeros(total, dtype=np.int32), [it.kind.__name__ for it in lot.many])
    for code, where in enumerate(rows):
        kinds.codes[where] = code
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
            data[name] = _scattered(column.arrow, parts[name], total)
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
        elif field.form in ("numbers", "names"):
            found[field.column] = _worded(values, json_row if field.form == "names" else spaced)
        else:
            found[field.column] = values
    return found


def _worded(values: Column | Each, word: Callable[[Sequence[Any]], str]) -> Each:
    """Rows of numbers, or of names, as the words that stand for them."""
    if isinstance(values, Each):
        return Each(values.codes, [word(row) for row in values.values])
    different, codes = np.unique(values, axis=0, return_inverse=True)
    told = [tuple(it for it in row if it >= 0) for row in different.tolist()]
    return Each(codes.ravel(), list(map(word, told)))


def _scattered(
    kind: pa.DataType, parts: Sequence[tuple[Column, Column | Each]], total: int
) -> pa.Array:
    """Each kind's cells in their rows, nothing in the others."""
    there = np.zeros(total, dtype=bool)
    for where, _ in parts:
        there[where] = True
    if kind == pa.string():
        words: dict[str, int] = {}
        codes = np.zeros(total, dtype=np.int32)
        for where, cells in parts:
            known = [words.setdefault(word, len(words)) for word in cells.values]
            codes[where] = np.array([*known, 0], dtype=np.int32)[cells.codes]
            there[where] = cells.codes >= 0
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=~there), list(words))
    dtype = {pa.bool_(): bool, pa.int32(): np.int32, pa.int64(): np.int64}[kind]
    values = np.zeros(total, dtype=dtype)
    for where, cells in parts:
        values[where] = cells
    return pa.array(values, kind, mask=~there)


def _text(each: Each) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(each.codes), list(each.values))
