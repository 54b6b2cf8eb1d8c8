"""A staged batch: closed hands as rows and digests, made by an import worker for the writer.

It holds what a segment needs: the events as rows, each leaf's digest. Positions and sequence
numbers count from 0, and nothing else in it depends on what the ledger holds. So the writer adds
two numbers to columns when it seals them (`store/segments/sealing.py`), and touches no event. It
makes the tables beside the events of many batches at once: they cost by the call, not by the hand.

The digests of its public lines are those that `events.lines` makes, many at once.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple, get_type_hints

import msgspec
import numpy as np
import pyarrow as pa

from events import types as t
from events.cards import UNKNOWN
from events.ledger import (
    Append,
    Column,
    Conflict,
    DictionaryColumn,
    KindColumns,
    Record,
    closes,
    is_match,
    some_of,
)
from events.lines import Nonces, digest, hides, lines, plain, spelling
from store.columns.codec import leaves_of, rows_of
from store.columns.event_columns import EventColumns, columns_of_appends, distinct_rows, events_of
from store.log.admission import check_start
from store.log.hot_log import check_stream
from store.proof.ledger_secrets import SaltedSecret

_NOWHERE = "?"  # stands for a hand's stream until it is filled in


class StagedLeaf(NamedTuple):
    """A leaf of a batch: which events of which stream, how many public lines, and their digest."""

    stream: str
    first: int
    events: int
    lines: int
    sha256: str


class StagedBatch(NamedTuple):
    """Leaves in the order of closing, and their events as rows; `nonces` names the secret that they
    were digested with."""

    nonces: str
    leaves: tuple[StagedLeaf, ...]
    rows: pa.Table

    def appends(self) -> tuple[Append, ...]:
        """The appends that would write the same events."""
        return tuple(
            Append(
                leaf.stream,
                leaf.recorded[0].index,
                tuple(recorded.event for recorded in leaf.recorded),
                leaf.recorded[0].at,
            )
            for leaf in leaves_of(self.rows)
        )


def make_batch(
    nonces: SaltedSecret | None, appends: Sequence[Append], hands: EventColumns | None = None
) -> StagedBatch:
    """The rows and digests of appends, and of hands of the same match that are in columns already,
    for the ledger of these nonces; refused if one does not close, or holds what no event can."""
    for append in appends:
        check_closes(append)
    columns = columns_of_appends(appends, check_values)
    if hands is not None:
        columns = hands.merged(columns)
    found: Iterable[tuple[int, str]] = [(0, "")] * len(columns.streams)
    if nonces is not None:
        found = leaf_digests(columns, nonces)
    firsts, sizes = columns.first.tolist(), columns.sizes.tolist()
    each = zip(columns.streams, firsts, sizes, found, strict=True)
    leaves = tuple(StagedLeaf(stream, first, size, *it) for stream, first, size, it in each)
    return StagedBatch(nonces_name(nonces), leaves, rows_of(columns))


def nonces_name(nonces: SaltedSecret | None) -> str:
    """The name in a batch for the nonces that it was digested with; empty without nonces."""
    return "" if nonces is None else nonces.name


def encode_batch(batch: StagedBatch) -> pa.Buffer:
    """A batch as bytes, for another process: its leaves, its rows. Their size is measured first, so
    that one buffer is allocated."""
    head = msgspec.msgpack.encode((batch.nonces, batch.leaves))
    head = b"%d %b" % (len(head), head)
    counted = pa.MockOutputStream()
    _write(counted, head, batch.rows)
    buffer = pa.allocate_buffer(counted.size())
    _write(pa.FixedSizeBufferWriter(buffer), head, batch.rows)
    return buffer


def _write(sink: Any, head: bytes, rows: pa.Table) -> None:
    sink.write(head)
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)


def decode_batch(data: "pa.Buffer | bytes") -> StagedBatch:
    """The batch that these bytes spell."""
    data = pa.py_buffer(data)
    begin = bytes(data[:20]).index(b" ") + 1
    size = int(bytes(data[:begin]))
    rows = pa.ipc.open_stream(data.slice(begin + size)).read_all()
    return StagedBatch(*_head.decode(data[begin : begin + size]), rows)


_head = msgspec.msgpack.Decoder(tuple[str, tuple[StagedLeaf, ...]])


def check_closes(append: Append) -> None:
    """Refuse an append that does not close, or goes on with a stream that was begun before."""
    check_stream(append)
    check_start(append)
    if not append.events or not closes(append.stream, append.events):
        raise Conflict(f"{append.stream} is not over: only what is closed makes a run")
    if not is_match(append.stream) and append.expected:
        raise Conflict(f"{append.stream} was begun before: only whole hands make a run")


def check_values(kind: type[Record], name: str, values: Iterable[Any]) -> None:
    """Check each different value of a field once: structs do not check what they are made of."""
    try:
        msgspec.convert(set(values), set[_hints(kind, include_extras=True)[name]])  # type: ignore[misc]
    except (ValueError, TypeError) as reason:
        raise Conflict(f"{kind.__name__}.{name} cannot be written: {reason}") from None


_hints = cache(get_type_hints)


def leaf_digests(events: EventColumns, nonces: SaltedSecret) -> Iterator[tuple[int, str]]:
    """The number of public lines of each leaf, and their digest.

    A leaf is taken by itself if a line of it may depend on another event, as that of a bid does on
    replies that failed before, and so are all if they are not hands of one match and one time.
    """
    alone = events.number < 0
    for one_kind in events.by_kind:
        if one_kind.kind is t.Faulted:
            alone[one_kind.hand] = True
    alone |= len(events.match.values) > 1 or bool((events.at != events.at[:1]).any())
    together = events.only(~alone)
    hands = _hands(together, nonces.of(events.match.values[0])) if len(together.sizes) else iter(())
    leaves = iter(events.only(alone).leaves() if alone.any() else ())
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
    for one_kind in it.by_kind:
        columns = []  # rows that differ in more than cards are spelled, each once
        for name, values in one_kind.fields.items():
            rows: Any = values.codes if isinstance(values, DictionaryColumn) else values
            rows = (rows >= 0).sum(1) if name == "cards" else rows
            columns += list(rows.T) if rows.ndim > 1 else [rows]
        first, codes = distinct_rows(columns, len(one_kind.hand))
        fields = some_of(one_kind.fields, first)
        if "cards" in fields:
            fields["cards"] = DictionaryColumn(
                np.where(fields["cards"].codes < 0, -1, 0), (UNKNOWN,)
            )
        blank = KindColumns(one_kind.kind, one_kind.hand[first], one_kind.index[first], fields)
        events = list(events_of(blank, [_NOWHERE] * len(it.sizes)))
        if one_kind.kind is t.HandStarted:
            parts = [line.split(b'"%b"' % _NOWHERE.encode(), 1) for line in plain(events, at)]
            texts = [
                b"%b%b%b" % (parts[code][0], msgspec.json.encode(it.streams[hand]), parts[code][1])
                for hand, code in zip(one_kind.hand.tolist(), codes.tolist(), strict=True)
            ]
        elif hides(one_kind.kind):
            texts = _hidden(one_kind, codes, events, at, nonces, _each(hidden, one_kind.hand))
        else:
            texts = _plain(one_kind, codes, plain(events, at))
        found[it.rows(one_kind)] = texts
    every = found.tolist()
    for begin, end in pairwise([*it.begins.tolist(), len(every)]):
        yield end - begin, digest(every[begin:end])


def _plain(one_kind: KindColumns, codes: Column, spelled: list[bytes]) -> list[bytes]:
    """Lines in which nothing is hidden."""
    if "cards" not in one_kind.fields:
        return _each(spelled, codes)
    parts = [line.partition(b'"cards":[') for line in spelled]
    before = [head + word for head, word, _ in parts]
    after = [tail[tail.index(b"]") :] for _, _, tail in parts]
    cards = _cards(one_kind.fields["cards"])
    return [
        before[code] + card + after[code] for code, card in zip(codes.tolist(), cards, strict=True)
    ]


def _hidden(
    one_kind: KindColumns,
    codes: Column,
    events: list[Record],
    at: int,
    nonces: Nonces,
    begun: list[Any],
) -> list[bytes]:
    """Lines with commitments in them, each under the nonce of its place; `begun` is of its hand."""
    spelled = [spelling(event) for event in events]
    texts = [pattern.text.replace(b'"at":%d', b'"at":%d' % at, 1) for pattern, _ in spelled]
    hidden = []
    for place, field in enumerate(spelled[0][0].fields):
        places = [b"%d\n%b" % (index, field.encode()) for index in range(one_kind.index.max() + 1)]
        if field == "cards":
            values = [b"[%b]" % cards for cards in _cards(one_kind.fields["cards"])]
        else:
            values = _each([openings[place] for _, openings in spelled], codes)
        hidden.append(nonces.hide(begun, _each(places, one_kind.index), values))
    return [
        text % openings
        for text, openings in zip(_each(texts, codes), zip(*hidden, strict=True), strict=True)
    ]


def _cards(cards: DictionaryColumn) -> list[bytes]:
    """The cards of each event as JSON, a comma between."""
    words = [msgspec.json.encode(word) for word in cards.values]
    first, *more = cards.codes.T
    texts = _each([*words, b""], first)
    for codes in more:
        texts = list(map(add, texts, _each([*(b"," + word for word in words), b""], codes)))
    return texts


def _each(values: Sequence[Any], codes: Column) -> list[Any]:
    """The value of each code; -1 is the last value."""
    found: list[Any] = np.array(values, dtype=object).take(codes).tolist()
    return found
