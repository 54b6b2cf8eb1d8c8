"""The digests of the public lines of event columns: those that `events.lines` makes, many at once.

What makes most events different is their cards and their place: so an event is spelled without its
cards, as if nobody had recorded them, and they are filled in where it is written.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import add
from typing import Any

import msgspec
import numpy as np

from events import types as t
from events.cards import UNKNOWN
from events.commitments import Nonces
from events.ledger import Record
from events.lines import digest, hides, lines, plain, spelling
from events.many import Column, Each, Many, some_of
from store.columns.event_columns import EventColumns, different, events_of
from store.proof.nonces import Salted

_NOWHERE = "?"  # stands for a hand's stream until it is filled in


def digests(it: EventColumns, nonces: Salted) -> Iterator[tuple[int, str]]:
    """How many public lines each leaf has, and what they are digested to.

    A leaf is taken by itself if a line of it may depend on another event, as that of a bid does on
    replies that failed before, and so are all if they are not hands of one match and one time.
    """
    alone = it.number < 0
    for many in it.many:
        if many.kind is t.Faulted:
            alone[many.hand] = True
    alone |= len(it.match.values) > 1 or bool((it.at != it.at[:1]).any())
    together = it.only(~alone)
    hands = _hands(together, nonces.of(it.match.values[0])) if len(together.sizes) else iter(())
    leaves = iter(it.only(alone).leaves() if alone.any() else ())
    for single in alone.tolist():
        if single:
            leaf = next(leaves)
            match, _, _ = leaf.stream.partition("/")
            record = lines(leaf.recorded, nonces.of(match))
            yield len(record), digest(record)
        else:
            yield next(hands)


def _hands(it: EventColumns, nonces: Nonces) -> Iterator[tuple[int, str]]:
    """Hands of one match and one time, of which every event stands for itself."""
    at = int(it.at[0])
    hidden = [nonces.begun(stream) for stream in it.streams]
    found = np.empty(len(it.at), dtype=object)
    for many in it.many:
        first, codes = _different(many)
        some = some_of(many.fields, first)
        if "cards" in some:
            some["cards"] = Each(np.where(some["cards"].codes < 0, -1, 0), (UNKNOWN,))
        blank = Many(many.kind, many.hand[first], many.index[first], some)
        events = list(events_of(blank, [_NOWHERE] * len(it.sizes)))
        if many.kind is t.HandStarted:
            told = _begun(many, codes, plain(events, at), it.streams)
        elif hides(many.kind):
            told = _hidden(many, codes, events, at, nonces, _each(hidden, many.hand))
        else:
            told = _plain(many, codes, plain(events, at))
        found[it.rows(many)] = told
    every = found.tolist()
    for begin, end in pairwise([*it.begins.tolist(), len(every)]):
        yield end - begin, digest(every[begin:end])


def _begun(it: Many, codes: Column, spelled: list[bytes], streams: list[str]) -> list[bytes]:
    """The first line of a hand names its stream."""
    parts = [line.split(b'"%b"' % _NOWHERE.encode(), 1) for line in spelled]
    return [
        b"%b%b%b" % (parts[code][0], msgspec.json.encode(streams[hand]), parts[code][1])
        for hand, code in zip(it.hand.tolist(), codes.tolist(), strict=True)
    ]


def _plain(it: Many, codes: Column, spelled: list[bytes]) -> list[bytes]:
    """Lines in which nothing is hidden."""
    if "cards" not in it.fields:
        return _each(spelled, codes)
    parts = [line.partition(b'"cards":[') for line in spelled]
    before = [head + word for head, word, _ in parts]
    after = [tail[tail.index(b"]") :] for _, _, tail in parts]
    cards = _cards(it.fields["cards"])
    return [
        before[code] + told + after[code] for code, told in zip(codes.tolist(), cards, strict=True)
    ]


def _hidden(
    it: Many, codes: Column, events: list[Record], at: int, nonces: Nonces, begun: list[Any]
) -> list[bytes]:
    """Lines with commitments in them, each under the nonce of its place; `begun` is of its hand."""
    spelled = [spelling(event) for event in events]
    texts = [pattern.text.replace(b'"at":%d', b'"at":%d' % at, 1) for pattern, _ in spelled]
    hidden = []
    for place, field in enumerate(spelled[0][0].fields):
        places = [b"%d\n%b" % (index, field.encode()) for index in range(it.index.max() + 1)]
        if field == "cards":
            values = [b"[%b]" % cards for cards in _cards(it.fields["cards"])]
        else:
            values = _each([told[place] for _, told in spelled], codes)
        hidden.append(nonces.hide(begun, _each(places, it.index), values))
    return [
        text % told
        for text, told in zip(_each(texts, codes), zip(*hidden, strict=True), strict=True)
    ]


def _different(it: Many) -> tuple[Column, Column]:
    """Rows that differ in more than cards: the first of each, and which each row is like."""
    columns = []
    for name, values in it.fields.items():
        rows: Any = values.codes if isinstance(values, Each) else values
        rows = (rows >= 0).sum(1) if name == "cards" else rows
        columns += list(rows.T) if rows.ndim > 1 else [rows]
    return different(columns, len(it.hand))


def _cards(cards: Each) -> list[bytes]:
    """The cards of each event as JSON, a comma between."""
    words = [msgspec.json.encode(word) for word in cards.values]
    first, *more = cards.codes.T
    found = _each([*words, b""], first)
    for codes in more:
        found = list(map(add, found, _each([*(b"," + word for word in words), b""], codes)))
    return found


def _each(values: Sequence[Any], codes: Column) -> list[Any]:
    """What each of these numbers stands for; -1 is the last."""
    found: list[Any] = np.array(values, dtype=object).take(codes).tolist()
    return found
