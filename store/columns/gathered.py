"""Whole hands that came as events, gathered into a lot: the events of each kind become columns.

Each event must stand for itself in the public record. A reply that failed does not: where it was a
bid's, its line is that of another event.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from events.ledger import Record
from events.many import Column, Each, Many
from events.types import Event, Events, Faulted
from store.columns.hands import WORDS, Lot
from store.columns.layout import CARDS, Field, fields

Look = Callable[[type[Record], str, Iterable[Any]], None]
_NOTHING: Any = object()  # in a row after its last card
_PLACES = {_NOTHING: -1} | {word: place for place, word in enumerate(WORDS)}


def gathered(
    match: str, numbers: Sequence[int], at: int, records: Sequence[Events], look: Look
) -> Lot | None:
    """The hands of a match under these numbers; nothing, if columns cannot tell them. `look` is
    shown the different values of a field, kind by kind, and may refuse them."""
    events = [event for record in records for event in record]
    rows: dict[type[Event], list[int]] = defaultdict(list)
    for row, event in enumerate(events):
        rows[type(event)].append(row)
    sizes = np.array([len(record) for record in records], dtype=np.int64)
    hand = np.repeat(np.arange(len(sizes)), sizes)
    index = np.arange(len(events)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    many = []
    for kind, places in rows.items():
        told, where = [events[row] for row in places], np.array(places)
        found = {field.name: _column(kind, field, told, look) for field in fields(kind)}
        if kind is Faulted or any(column is None for column in found.values()):
            return None
        many.append(Many(kind, hand[where], index[where], found))
    return Lot(match, np.array(numbers, dtype=np.int64), at, tuple(many))


def _column(
    kind: type[Event], field: Field, events: Sequence[Event], look: Look
) -> Column | Each | None:
    """One field of all events of a kind; nothing, if there are more cards than columns for them."""
    values: list[Any] = list(map(attrgetter(field.name), events))
    if field.form in ("number", "large", "truth"):
        look(kind, field.name, values)
        if field.column == "next":
            values = [-1 if value is None else value for value in values]
        return np.array(values, dtype=bool if field.form == "truth" else np.int64)
    if field.form == "cards":
        return _cards(kind, field, values, look)
    known = {value: code for code, value in enumerate(dict.fromkeys(values))}
    look(kind, field.name, known)
    return Each(np.array([known[value] for value in values], dtype=np.int32), list(known))


def _cards(kind: type[Event], field: Field, values: Sequence[Any], look: Look) -> Column | None:
    """Cards as places in the deck, a row for each event."""
    sizes = set(map(len, values))
    most = max(sizes)
    if most > CARDS:
        return None
    if len(sizes) > 1:
        values = [(*cards, *(_NOTHING,) * (most - len(cards))) for cards in values]
    try:
        places = [_PLACES[card] for cards in values for card in cards]
    except (LookupError, TypeError):  # no card, as `look` will say
        look(kind, field.name, values)
        raise
    return np.array(places, dtype=np.int64).reshape(len(values), most)
