"""The digests of a lot's hands: the public lines of its events, each different event spelled once.

What makes most events different is their cards and their place. So an event is spelled without its
cards, as if nobody had recorded them, and they are filled in where it is written.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from events import types as t
from events.commitments import Nonces
from events.lines import digest, plain, spelling
from events.many import UNKNOWN_PLACE, Column, Each, Many
from store.lots import WORDS, Lot, events_of

_Hide = Callable[[bytes, bytes], bytes]
_NOWHERE = "?"  # stands for a hand's stream until it is filled in
_CARDS = [b'"%b"' % word.encode() for word in WORDS]
_MOST = 1 << 62  # different rows that one number can tell apart


def digests(lot: Lot, nonces: Nonces) -> list[tuple[int, str]]:
    """How many lines each hand has, and what they are digested to."""
    sizes = lot.sizes
    ends = np.cumsum(sizes)
    begins = ends - sizes
    streams = [f"{lot.match}/{number}" for number in lot.numbers.tolist()]
    hidden = [nonces.commitments(stream) for stream in streams]
    lines = np.empty(int(sizes.sum()), dtype=object)
    for it in lot.many:
        first, codes = _different(it)
        events = events_of(_without_cards(it), first, [_NOWHERE] * len(streams))
        spelled = [spelling(event) or plain(event, lot.at) for event in events]
        if it.kind is t.HandStarted:
            found = _begun(it, codes, spelled, streams)
        elif isinstance(spelled[0], bytes):
            found = _plain(it, codes, spelled)
        else:
            found = _hidden(it, codes, spelled, hidden, lot.at)
        lines[begins[it.hand] + it.index] = found
    every = lines.tolist()
    return [
        (end - begin, digest(every[begin:end]))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]


def _begun(it: Many, codes: Column, spelled: list[Any], streams: list[str]) -> list[bytes]:
    """The first line of a hand names its stream."""
    parts = [line.split(b'"%b"' % _NOWHERE.encode(), 1) for line in spelled]
    return [
        b"%b%b%b" % (parts[code][0], msgspec.json.encode(streams[hand]), parts[code][1])
        for hand, code in zip(it.hand.tolist(), codes.tolist(), strict=True)
    ]


def _plain(it: Many, codes: Column, spelled: list[Any]) -> list[bytes]:
    """Lines in which nothing is hidden."""
    if "cards" not in it.fields:
        found: list[bytes] = np.array(spelled, dtype=object).take(codes).tolist()
        return found
    parts = [line.partition(b'"cards":[') for line in spelled]
    before = [head + word for head, word, _ in parts]
    after = [tail[tail.index(b"]") :] for _, _, tail in parts]
    return [
        before[code] + cards + after[code]
        for code, cards in zip(codes.tolist(), _cards(it.fields["cards"]), strict=True)
    ]


def _hidden(
    it: Many, codes: Column, spelled: list[Any], hidden: list[_Hide], at: int
) -> list[bytes]:
    """Lines with commitments in them, each under the nonce of its place."""
    fields = [name.encode() for name in spelled[0][0].fields]
    texts = [pattern.text.replace(b'"at":%d', b'"at":%d' % at, 1) for pattern, _ in spelled]
    places = [
        [b"%d\n%b" % (index, field) for field in fields] for index in range(it.index.max() + 1)
    ]
    rows = zip(it.hand.tolist(), it.index.tolist(), codes.tolist(), strict=True)
    if "cards" in it.fields:
        return [
            texts[code] % hidden[hand](places[index][0], b"[%b]" % cards)
            for (hand, index, code), cards in zip(rows, _cards(it.fields["cards"]), strict=True)
        ]
    values = [hides for _, hides in spelled]
    return [
        texts[code] % tuple(map(hidden[hand], places[index], values[code]))
        for hand, index, code in rows
    ]


def _cards(rows: Column) -> list[bytes]:
    """Each row's cards with commas between."""
    words = _CARDS
    if (rows < 0).any():
        return [b",".join([words[place] for place in row if place >= 0]) for row in rows.tolist()]
    return [b",".join([words[place] for place in row]) for row in rows.tolist()]


def _without_cards(it: Many) -> Many:
    if "cards" not in it.fields:
        return it
    cards = np.where(it.fields["cards"] < 0, -1, UNKNOWN_PLACE)
    return it._replace(fields={**it.fields, "cards": cards})


def _different(it: Many) -> tuple[Column, Column]:
    """Rows that differ in more than cards: the first of each, and which each row is like."""
    key = np.zeros(len(it.hand), dtype=np.int64)
    most = 1
    for name, values in it.fields.items():
        rows: Any = values.codes if isinstance(values, Each) else values
        rows = (rows >= 0).sum(1) if name == "cards" else rows
        for column in rows.T if rows.ndim > 1 else (rows,):
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
