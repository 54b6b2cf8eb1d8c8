"""A run: closed streams as columns, made apart from the ledger, in whichever process has time.

It holds what a segment needs: the events, the projections, each leaf's digest. Positions and
sequence numbers count from 0, and nothing else in it depends on what the ledger holds. So the one
who writes adds two numbers to columns (`store/segments/adopting.py`), and touches no event.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, get_type_hints

import msgspec
import pyarrow as pa

from events.ledger import Append, Conflict, Record, closes, is_match
from store.columns.codec import leaves_of, rows_of
from store.columns.event_columns import EventColumns, of_appends
from store.columns.public_lines import digests
from store.log.admission import check_start
from store.log.batch import check_stream
from store.proof.nonces import Salted
from store.segments.sealed import with_hands
from store.tables.projection import Builder, Projection


class Made(NamedTuple):
    """A leaf of a run: which events of which stream, how many public lines, and their digest."""

    stream: str
    first: int
    events: int
    lines: int
    sha256: str


class Run(NamedTuple):
    """Leaves in the order of closing; `nonces` names the secret that they were digested with.

    `tables` are the events and these projections, whose versions are told.
    """

    nonces: str
    projections: dict[str, int]
    leaves: tuple[Made, ...]
    tables: dict[str, pa.Table]

    def appends(self) -> tuple[Append, ...]:
        """The same events as somebody would append them."""
        return tuple(
            Append(
                leaf.stream,
                leaf.recorded[0].index,
                tuple(one.event for one in leaf.recorded),
                leaf.recorded[0].at,
            )
            for leaf in leaves_of(self.tables["events"])
        )


class Maker(NamedTuple):
    """Makes runs for one ledger: the secret of its nonces, if it has one, and its projections."""

    nonces: Salted | None
    projections: tuple[Projection, ...]

    def run(self, appends: Sequence[Append], hands: EventColumns | None = None) -> Run:
        """The columns and digests of appends, and of hands of the same match that are in columns
        already; refused if one does not close, or holds what no event can."""
        for one in appends:
            check_whole(one)
        columns = of_appends(appends, check_values)
        if hands is not None:
            columns = hands.merged(columns)
        found: Iterable[tuple[int, str]] = [(0, "")] * len(columns.streams)
        if self.nonces is not None:
            found = digests(columns, self.nonces)
        firsts, sizes = columns.first.tolist(), columns.sizes.tolist()
        each = zip(columns.streams, firsts, sizes, found, strict=True)
        leaves = tuple(Made(stream, first, size, *told) for stream, first, size, told in each)
        wanted = with_hands(self.projections)
        versions = {one.name: one.version for one in wanted}
        return Run(name_of(self.nonces), versions, leaves, tables_of(columns, wanted))


def name_of(nonces: Salted | None) -> str:
    """What a run says of the nonces it was digested with; nothing where there are none."""
    return "" if nonces is None else nonces.name


def tables_of(columns: EventColumns, projections: Sequence[Projection]) -> dict[str, pa.Table]:
    """The events as rows, and what is made of them."""
    events = rows_of(columns)
    builder = Builder(projections)
    made = dict((*builder.add(events), *builder.rest()))
    return {"events": events} | {one.name: made[one.name] for one in projections}


def spelled(run: Run) -> pa.Buffer:
    """A run as bytes, for another process: its leaves, its tables. They are counted before there is
    room made for them, for they are many."""
    head = msgspec.msgpack.encode((run.nonces, run.projections, run.leaves, list(run.tables)))
    head = b"%d %b" % (len(head), head)
    counted = pa.MockOutputStream()
    _write(counted, head, run)
    found = pa.allocate_buffer(counted.size())
    _write(pa.FixedSizeBufferWriter(found), head, run)
    return found


def _write(sink: Any, head: bytes, run: Run) -> None:
    sink.write(head)
    for table in run.tables.values():
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)


def read(data: "pa.Buffer | bytes") -> Run:
    """The run that these bytes spell."""
    data = pa.py_buffer(data)
    begin = bytes(data[:20]).index(b" ") + 1
    size = int(bytes(data[:begin]))
    nonces, versions, leaves, names = _head.decode(data[begin : begin + size])
    source = pa.BufferReader(data.slice(begin + size))
    tables = {name: pa.ipc.open_stream(source).read_all() for name in names}
    return Run(nonces, versions, leaves, tables)


_head = msgspec.msgpack.Decoder(tuple[str, dict[str, int], tuple[Made, ...], list[str]])


def check_whole(one: Append) -> None:
    """Refused unless it closes, and begins nothing that was begun before."""
    check_stream(one)
    check_start(one)
    if not one.events or not closes(one.stream, one.events):
        raise Conflict(f"{one.stream} is not over: only what is closed makes a run")
    if not is_match(one.stream) and one.expected:
        raise Conflict(f"{one.stream} was begun before: only whole hands make a run")


def check_values(kind: type[Record], name: str, values: Iterable[Any]) -> None:
    """Structs do not check what they are made of: each different value is looked at once."""
    try:
        msgspec.convert(set(values), set[_hints(kind, include_extras=True)[name]])  # type: ignore[misc]
    except (ValueError, TypeError) as reason:
        raise Conflict(f"{kind.__name__}.{name} cannot be written: {reason}") from None


_hints = cache(get_type_hints)
