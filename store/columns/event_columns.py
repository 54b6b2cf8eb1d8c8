"""Event columns: whole hands and appends of match records in memory, kind by kind in columns.

Many hands have no other form: a row group is read into it and written from it, foreign hands come
in it, and a single hand is the event columns of one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, zip_longest
from operator import attrgetter
from typing import Any

import numpy as np

from events.ledger import (
    CARDS,
    Append,
    Column,
    DictionaryColumn,
    KindColumns,
    Record,
    Recorded,
    some_of,
)
from events.types import HandStarted
from store.columns.layout import NOBODY, Field, fields
from store.log.streams import HotLeaf, Leaf, split_stream

CheckValues = Callable[[type[Record], str, Iterable[Any]], None]
_NUMBERS: dict[str, Any] = {"truth": bool, "number": np.int32, "large": np.int64}
_AT, _EVENT, _POS = map(attrgetter, ("at", "event", "pos"))
_MOST = 1 << 62  # different rows that one number can tell apart


class EventColumns:
    """Leaves one after another, and their events, kind by kind, in columns.

    `match` and `number` name the stream of each leaf (a match's own stream has the number -1),
    `first` is the index of its first event, `sizes` counts its events. `pos` and `at` are of each
    event, in the order of leaves and of events in them.
    """

    def __init__(
        self,
        match: DictionaryColumn,
        number: Column,
        sizes: Column,
        at: Column,
        by_kind: Sequence[KindColumns],
        *,
        hand_seq: Column | None = None,
        first: Column | None = None,
        pos: Column | None = None,
    ) -> None:
        """Leaves and positions count from 0, and leaves begin with their stream, if nothing else is
        said."""
        self.match, self.number, self.sizes, self.at = match, number, sizes, at
        self.by_kind = by_kind
        self.first = np.zeros(len(sizes), dtype=np.int64) if first is None else first
        self.hand_seq = np.arange(len(sizes)) if hand_seq is None else hand_seq
        self.pos = np.arange(len(at)) if pos is None else pos
        self.begins: Column = np.cumsum(sizes) - sizes

    @cached_property
    def leaf(self) -> Column:
        """The leaf of each event, as a number."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def index(self) -> Column:
        """The place of each event in its stream."""
        found: Column = np.arange(len(self.at)) - (self.begins - self.first)[self.leaf]
        return found

    @cached_property
    def streams(self) -> list[str]:
        """The stream of each leaf."""
        names = [self.match.values[code] for code in self.match.codes.tolist()]
        each = zip(names, self.number.tolist(), strict=True)
        return [name if number < 0 else f"{name}/{number}" for name, number in each]

    def rows(self, one_kind: KindColumns) -> Column:
        """The places of the events of one kind among all events."""
        found: Column = self.begins[one_kind.hand] + one_kind.index
        return found

    def only(self, which: Column) -> "EventColumns":
        """The event columns of some of the leaves, counted anew."""
        if which.all():
            return self
        place, kept = np.cumsum(which) - 1, []
        for one_kind in self.by_kind:
            rows = np.flatnonzero(which[one_kind.hand])
            if len(rows):
                fields = some_of(one_kind.fields, rows)
                hand, index = place[one_kind.hand[rows]], one_kind.index[rows]
                kept.append(KindColumns(one_kind.kind, hand, index, fields))
        return EventColumns(
            self.match._replace(codes=self.match.codes[which]),
            self.number[which],
            self.sizes[which],
            self.at[which[self.leaf]],
            kept,
            first=self.first[which],
        )

    def merged(self, others: "EventColumns") -> "EventColumns":
        """Event columns with other hands of the same match merged in, in the order of numbers."""
        if not len(others.number):
            return self
        number = np.concatenate([self.number, others.number])
        order = np.argsort(number)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        both = ((self, place[: len(self.number)]), (others, place[len(self.number) :]))
        leaf = np.concatenate([mine[one.leaf] for one, mine in both])
        return EventColumns(
            DictionaryColumn(np.zeros(len(order), dtype=np.int32), self.match.values),
            number[order],
            np.concatenate([self.sizes, others.sizes])[order],
            np.concatenate([self.at, others.at])[np.argsort(leaf, kind="stable")],
            [it._replace(hand=mine[it.hand]) for one, mine in both for it in one.by_kind],
        )

    def events(self) -> list[Record]:
        """All events in their order."""
        found = np.empty(len(self.at), dtype=object)
        for one_kind in self.by_kind:
            found[self.rows(one_kind)] = list(events_of(one_kind, self.streams))
        every: list[Record] = found.tolist()
        return every

    def leaves(self) -> list[Leaf]:
        """The leaves with their events one by one."""
        streams = chain.from_iterable(
            [stream] * size for stream, size in zip(self.streams, self.sizes.tolist(), strict=True)
        )
        numbers = (self.pos.tolist(), streams, self.index.tolist(), self.at.tolist())
        recorded = tuple(map(Recorded, *numbers, self.events()))
        bounds = zip(self.begins.tolist(), self.sizes.tolist(), strict=True)
        parts = (recorded[begin : begin + size] for begin, size in bounds)
        return list(map(Leaf, self.hand_seq.tolist(), parts))


def columns_of_leaves(leaves: Sequence[Leaf]) -> EventColumns:
    """Event columns of leaves."""
    recorded = list(chain.from_iterable(leaf.recorded for leaf in leaves))
    sizes = np.array([len(leaf.recorded) for leaf in leaves], dtype=np.int64)
    return EventColumns(
        *_streams([leaf.stream for leaf in leaves]),
        sizes,
        np.array(list(map(_AT, recorded)), dtype=np.int64),
        _by_kind(list(map(_EVENT, recorded)), sizes),
        hand_seq=np.array([leaf.hand_seq for leaf in leaves], dtype=np.int64),
        first=np.array([leaf.recorded[0].index for leaf in leaves], dtype=np.int64),
        pos=np.array(list(map(_POS, recorded)), dtype=np.int64),
    )


def columns_of_hot_leaves(closed: Sequence[HotLeaf]) -> EventColumns:
    """Event columns of closed leaves of the hot log."""
    placed = [it for stream in closed for it in stream.placed]
    counts = np.array([len(it.append.events) for it in placed], dtype=np.int64)
    starts = np.array([it.pos for it in placed], dtype=np.int64) - (np.cumsum(counts) - counts)
    sizes = np.array([stream.size for stream in closed], dtype=np.int64)
    return EventColumns(
        *_streams([stream.stream for stream in closed]),
        sizes,
        np.repeat(np.array([it.append.at for it in placed], dtype=np.int64), counts),
        _by_kind([event for it in placed for event in it.append.events], sizes),
        hand_seq=np.array([stream.hand_seq for stream in closed], dtype=np.int64),
        first=np.array([stream.before for stream in closed], dtype=np.int64),
        pos=np.arange(counts.sum()) + np.repeat(starts, counts),
    )


def columns_of_appends(appends: Sequence[Append], look: CheckValues) -> EventColumns:
    """Event columns of appends that close at once; `look` is shown the different values of each
    field, kind by kind, and may refuse them."""
    sizes = np.array([len(one.events) for one in appends], dtype=np.int64)
    return EventColumns(
        *_streams([one.stream for one in appends]),
        sizes,
        np.repeat(np.array([append.at for append in appends], dtype=np.int64), sizes),
        _by_kind([event for one in appends for event in one.events], sizes, look),
        first=np.array([one.expected for one in appends], dtype=np.int64),
    )


def columns_of_hands(
    match: str, numbers: Column, at: int, by_kind: Sequence[KindColumns]
) -> EventColumns:
    """Event columns of hands of a match, all of one time, that come in columns."""
    sizes = np.zeros(len(numbers), dtype=np.int64)
    for one_kind in by_kind:
        sizes += np.bincount(one_kind.hand, minlength=len(numbers))
    same = DictionaryColumn(np.zeros(len(numbers), dtype=np.int32), [match])
    return EventColumns(same, numbers, sizes, np.full(int(sizes.sum()), at), by_kind)


def events_of(one_kind: KindColumns, streams: Sequence[str]) -> Iterator[Record]:
    """The events of one kind, each of them by itself."""
    values: list[Iterable[Any]] = []
    if one_kind.kind is HandStarted:
        values.append([streams[hand] for hand in one_kind.hand.tolist()])
    for field in fields(one_kind.kind):
        column = one_kind.fields[field.name]
        if field.form == "cards":
            values.append(cards_of(column))
        elif isinstance(column, DictionaryColumn):
            words = (*column.values, None)
            values.append([words[code] for code in column.codes.tolist()])
        elif field.form == "numbers":
            values.append([tuple([one for one in row if one >= 0]) for row in column.tolist()])
        elif field.column == "next":
            values.append([None if at == NOBODY else at for at in column.tolist()])
        else:
            values.append(column.tolist())
    make: Any = one_kind.kind
    return map(make, *values) if values else (make() for _ in one_kind.hand)


def cards_of(cards: DictionaryColumn) -> list[tuple[str, ...]]:
    """The cards of each event."""
    words = cards.values
    return [tuple([words[at] for at in row if at >= 0]) for row in cards.codes.tolist()]


def _streams(streams: Sequence[str]) -> tuple[DictionaryColumn, Column]:
    names = list(map(split_stream, streams))
    numbers = [-1 if number is None else number for _, number in names]
    return value_numbers([match for match, _ in names]), np.array(numbers, dtype=np.int64)


def value_numbers(values: Sequence[Any]) -> DictionaryColumn:
    """Values as numbers of the different ones; None is -1."""
    words = [value for value in dict.fromkeys(values) if value is not None]
    return DictionaryColumn(_codes(words, values), words)


def distinct_rows(columns: Iterable[Column], count: int) -> tuple[Column, Column]:
    """Of so many rows those that differ in one of these columns: the first of each, in the order of
    what they say, and which of them each row is like."""
    key = np.zeros(count, dtype=np.int64)
    most = 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        size = high - low + 1
        if most * size > _MOST:  # as many as there are rows is enough, of either
            known, key = np.unique(key, return_inverse=True)
            values, column = np.unique(column, return_inverse=True)
            most, low, size = len(known), 0, len(values)
        most *= size
        key = key * size + (column - low)
    _, first, codes = np.unique(key, return_index=True, return_inverse=True)
    return first, codes


def _by_kind(
    events: Sequence[Record], sizes: Column, look: CheckValues | None = None
) -> list[KindColumns]:
    """Events of leaves of these sizes, sorted by their kinds, each kind's in order."""
    kinds = list(map(type, events))
    words = list(dict.fromkeys(kinds))
    codes = _codes(words, kinds)
    hand = np.repeat(np.arange(len(sizes)), sizes)
    index = np.arange(len(events)) - (np.cumsum(sizes) - sizes)[hand]
    by_kind = []
    for code, kind in enumerate(words):
        where = np.flatnonzero(codes == code)
        of_kind = list(map(events.__getitem__, where.tolist()))
        columns = {}
        for field in fields(kind):
            values = list(map(attrgetter(field.name), of_kind))
            if look is not None:
                look(kind, field.name, values)
            columns[field.name] = _column(field, values)
        by_kind.append(KindColumns(kind, hand[where], index[where], columns))
    return by_kind


def _column(field: Field, values: Sequence[Any]) -> Column | DictionaryColumn:
    """The column of one field of all events of a kind."""
    if field.column == "next":
        values = [NOBODY if value is None else value for value in values]
    if field.form in _NUMBERS and None not in values:  # events as somebody sees them may lack some
        return np.array(values, dtype=_NUMBERS[field.form])
    if field.form != "cards":
        return value_numbers(values)
    words = dict.fromkeys(chain(CARDS, chain.from_iterable(values)))
    places = zip_longest(*values)  # of a row that ends before, none
    codes = _codes(words, [card for place in places for card in place])
    return DictionaryColumn(codes.reshape(-1, len(values)).T, tuple(words))


def _codes(words: Iterable[Any], values: Sequence[Any]) -> Column:
    """The place of each value among these words; -1 for none."""
    known = {word: code for code, word in enumerate(words)} | {None: -1}
    return np.array(list(map(known.__getitem__, values)), dtype=np.int32)
