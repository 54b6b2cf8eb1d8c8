"""The digests of a lot's hands: the public lines of its events, each different event spelled once.

What makes most events different is their cards and their place. So an event is spelled without its
cards, as if nobody had recorded them, and they are filled in where it is written.
"""

from typing import Any

import msgspec
import numpy as np

from events import types as t
from events.commitments import Nonces
from events.lines import digest, hides, plain, spelling
from events.many import UNKNOWN_PLACE, Column, Each, Many
from store.columns.hands import WORDS, Lot, different, each, events_of, joined

_NOWHERE = "?"  # stands for a hand's stream until it is filled in
_CARDS = [b'"%b"' % word.encode() for word in WORDS]


def digests(lot: Lot, nonces: Nonces) -> list[tuple[int, str]]:
    """How many lines each hand has, and what they are digested to."""
    sizes = lot.sizes
    ends = np.cumsum(sizes)
    begins = ends - sizes
    streams = [f"{lot.match}/{number}" for number in lot.numbers.tolist()]
    hidden = [nonces.begun(stream) for stream in streams]
    lines = np.empty(int(sizes.sum()), dtype=object)
    for it in lot.many:
        first, codes = _different(it)
        events = list(events_of(_without_cards(it), first, [_NOWHERE] * len(streams)))
        if it.kind is t.HandStarted:
            found = _begun(it, codes, plain(events, lot.at), streams)
        elif hides(it.kind):
            found = _hidden(it, codes, events, lot.at, nonces, each(hidden, it.hand))
        else:
            found = _plain(it, codes, plain(events, lot.at))
        lines[begins[it.hand] + it.index] = found
    every = lines.tolist()
    return [
        (end - begin, digest(every[begin:end]))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]


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
        return each(spelled, codes)
    parts = [line.partition(b'"cards":[') for line in spelled]
    before = [head + word for head, word, _ in parts]
    after = [tail[tail.index(b"]") :] for _, _, tail in parts]
    cards = joined(it.fields["cards"], _CARDS, b",")
    return [
        before[code] + told + after[code] for code, told in zip(codes.tolist(), cards, strict=True)
    ]


def _hidden(
    it: Many, codes: Column, events: list[t.Event], at: int, nonces: Nonces, begun: list[Any]
) -> list[bytes]:
    """Lines with commitments in them, each under the nonce of its place; `begun` is of its hand."""
    spelled = [spelling(event) for event in events]
    texts = [pattern.text.replace(b'"at":%d', b'"at":%d' % at, 1) for pattern, _ in spelled]
    hidden = []
    for place, field in enumerate(spelled[0][0].fields):
        places = [b"%d\n%b" % (index, field.encode()) for index in range(it.index.max() + 1)]
        if field == "cards":
            values = [b"[%b]" % cards for cards in joined(it.fields["cards"], _CARDS, b",")]
        else:
            values = each([told[place] for _, told in spelled], codes)
        hidden.append(nonces.hide(begun, each(places, it.index), values))
    return [
        text % told
        for text, told in zip(each(texts, codes), zip(*hidden, strict=True), strict=True)
    ]


def _without_cards(it: Many) -> Many:
    if "cards" not in it.fields:
        return it
    cards = np.where(it.fields["cards"] < 0, -1, UNKNOWN_PLACE)
    return it._replace(fields={**it.fields, "cards": cards})


def _different(it: Many) -> tuple[Column, Column]:
    """Rows that differ in more than cards: the first of each, and which each row is like."""
    told = []
    for name, values in it.fields.items():
        rows: Any = values.codes if isinstance(values, Each) else values
        rows = (rows >= 0).sum(1) if name == "cards" else rows
        told += list(rows.T) if rows.ndim > 1 else [rows]
    return different(told, len(it.hand))
