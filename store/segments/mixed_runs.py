"""A run of a lot, and of hands of the same match that came as events, in the order of numbers.

The digests of a lot's hands are those of the public lines of its events. What makes most events
different is their cards and their place: so an event is spelled without its cards, as if nobody had
recorded them, and they are filled in where it is written.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from events import types as t
from events.commitments import Nonces
from events.ledger import Recorded
from events.lines import digest, hides, plain, spelling
from events.many import UNKNOWN_PLACE, Column, Each, Many
from store.columns.codec import full
from store.columns.codec import sparse as sparse_leaves
from store.columns.hands import WORDS, Lot, different, each, events_of, joined
from store.columns.layout import by_kind, columns, filled
from store.log.leaf import Leaf, split
from store.segments.runs import (
    Made,
    Maker,
    Run,
    Whole,
    check_values,
    check_whole,
    digested,
    vouched_by,
)
from store.segments.sealed import with_hands
from store.tables.projection import Builder

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


def mixed(maker: Maker, lot: Lot, wholes: Sequence[Whole]) -> Run:
    """As `Maker.run` makes of all of them."""
    sizes = np.concatenate([lot.sizes, [len(one.events) for one, _ in wholes]]).astype(np.int64)
    numbers = [split(one.stream)[1] or 0 for one, _ in wholes]
    order = np.argsort(np.concatenate([lot.numbers, np.array(numbers, dtype=np.int64)]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    begins = np.cumsum(sizes[order]) - sizes[order]
    mine, theirs = place[: len(lot.numbers)], place[len(lot.numbers) :].tolist()
    leaves = [_leaf(whole, at, int(begins[at])) for whole, at in zip(wholes, theirs, strict=True)]
    events = _events(lot, mine, leaves)
    wanted = with_hands(maker.projections)
    builder = Builder(wanted)
    made = dict((*builder.add(events), *builder.rest()))
    tables = {"events": events} | {one.name: made[one.name] for one in wanted}
    closed = dict(zip(mine.tolist(), _made(maker, lot), strict=True))
    closed |= dict(zip(theirs, digested(maker.nonces, leaves), strict=True))
    versions = {one.name: one.version for one in wanted}
    every = tuple(closed[at] for at in range(len(closed)))
    return Run(vouched_by(maker.nonces), versions, every, tables)


def _leaf(whole: Whole, at: int, pos: int) -> Leaf:
    one = whole.append
    check_whole(one)
    recorded = (
        Recorded(pos + index, one.stream, index, one.at, event)
        for index, event in enumerate(one.events)
    )
    return Leaf(at, tuple(recorded), whole.end)


def _made(maker: Maker, lot: Lot) -> list[Made]:
    sizes = lot.sizes.tolist()
    streams = [f"{lot.match}/{number}" for number in lot.numbers.tolist()]
    if maker.nonces is None:
        return [Made(stream, 0, size, 0, "") for stream, size in zip(streams, sizes, strict=True)]
    found = digests(lot, maker.nonces.of(lot.match))
    return [
        Made(stream, 0, size, *told)
        for stream, size, told in zip(streams, sizes, found, strict=True)
    ]


def _events(lot: Lot, places: Column, leaves: Sequence[Leaf]) -> pa.Table:
    rows = _at(lot.sparse if leaves else lot.rows, places)
    if leaves:
        kinds = filled(by_kind(one.event for leaf in leaves for one in leaf.recorded))
        rows = _sorted(rows, sparse_leaves(leaves, check_values, kinds), ["hand_seq", "idx"])
        rows = full(_replaced(rows, "pos", np.arange(rows.num_rows)))
    return rows.select([name for name in columns() if name in rows.column_names])


def _at(table: pa.Table, places: Column) -> pa.Table:
    """The hands of a table at their places in the run."""
    return _replaced(table, "hand_seq", places[table["hand_seq"].to_numpy()])


def _replaced(table: pa.Table, name: str, values: Column) -> pa.Table:
    changed: pa.Table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return changed


def _sorted(one: pa.Table, other: pa.Table, by: Sequence[str]) -> pa.Table:
    both = pa.concat_tables([one, other], promote_options="default").unify_dictionaries()
    keys = [both[name].to_numpy() for name in reversed(by)]
    return both.combine_chunks().take(pa.array(np.lexsort(keys)))
