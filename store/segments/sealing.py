"""Sealing: what has closed becomes a segment, what is open is carried into a new log.

Each file is durable before the next names it: the segment's files, the tree's hashes and the
checkpoint over them, then the new log with what is still open, then the manifest that names all.
A crash at any point leaves the old manifest or the new one, and what it names is complete; the next
opening sweeps away the rest.

Runs that were made elsewhere are adopted: they become a segment at once, without passing the hot
log. They take the next positions and the next sequence numbers, in the order given, after all that
has closed. The rest is as in sealing, each step durable before the next. So a run is in the ledger
whole or not at all. Only the checkpoint comes last: what is sealed was durable in the log before, a
run was nowhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from events.ledger import Conflict, is_match
from events.lines import leaf_of
from store.columns.layout import columns
from store.folder import manifest
from store.folder.disk import Disk
from store.folder.frames import new_begin
from store.folder.manifest import Answer, Manifest, Segment
from store.log import hot
from store.log.hot import Placing, ReadyLedger
from store.log.leaf import Tail
from store.proof.nonces import Salted
from store.proof.notary import Notary
from store.proof.tree import leaf_hash
from store.segments.runs import Run, name_of
from store.segments.sealed import Extent, write_rows, write_segment
from store.segments.segment import LEVEL, ROW_GROUP, cut
from store.tables.projection import Projection

QUICK = 6  # a level of zstd: half the time, 4 bytes a hand larger; compaction packs anew


def seal(
    disk: Disk,
    found: ReadyLedger,
    tail: Tail,
    producers: Mapping[str, Answer],
    projections: Sequence[Projection],
    notary: Notary | None = None,
    level: int = LEVEL,
) -> ReadyLedger:
    """The ledger after sealing everything that has closed; the old log is gone."""
    segment = write_segment(disk, tail.closed, projections, level)
    if notary:
        notary.seal(tail.closed)
    return renewed(disk, found, tail, producers, segment, notary, tail.matches())


def renewed(
    disk: Disk,
    found: ReadyLedger,
    tail: Tail,
    producers: Mapping[str, Answer],
    segment: Segment,
    notary: Notary | None,
    matches: dict[str, int],
) -> ReadyLedger:
    """The ledger with one more segment, and a new log that begins with what is still open."""
    carried = sorted(placed for _, one in tail.open() for placed in one.placed)
    new = replace(
        found.manifest,
        next_pos=tail.next_pos,
        next_seq=tail.next_seq,
        segments=(*found.manifest.segments, segment),
        matches=matches,
        producers=dict(producers),
        tree=notary.size if notary else found.manifest.tree,
        root=notary.root if notary else found.manifest.root,
    )
    return logged(disk, found, new, tuple((one,) for one in carried))


def logged(
    disk: Disk, found: ReadyLedger, now: Manifest, calls: tuple[Placing, ...]
) -> ReadyLedger:
    """The ledger of this manifest with a new log that begins with these calls; the old log goes."""
    marks = found.marks
    number = found.manifest.number + 1
    begin = new_begin() if marks else ""
    new = replace(now, number=number, log=hot.path_of(number), begin=begin)
    log = hot.create(disk, new.log, calls, new.chain(marks))
    new = replace(new, log_size=log.size)
    manifest.write(disk, new, marks)
    found.log.close()
    disk.remove(found.log.path)
    return ReadyLedger(new, log, calls, found.notes, marks)


def check_made(runs: Sequence[Run], nonces: Salted | None) -> None:
    """`Conflict` unless these runs were made for the ledger of these nonces."""
    if not all(run.leaves and run.nonces == name_of(nonces) for run in runs):
        raise Conflict("this run was not made for this ledger")


def adopt(
    disk: Disk,
    found: ReadyLedger,
    tail: Tail,
    producers: Mapping[str, Answer],
    projections: Sequence[Projection],
    notary: Notary | None,
    runs: Sequence[Run],
) -> ReadyLedger:
    """The ledger with these runs in it; everything that has closed is sealed already."""
    assert not tail.closed, "what closed before is sealed before"
    first, pos = tail.next_seq, tail.next_pos
    leaves = [leaf for run in runs for leaf in run.leaves]
    segment = write_runs(disk, runs, first, pos, projections)
    if notary:
        public = (
            leaf_of(seq, *one[:2], one.lines, one.sha256) for seq, one in enumerate(leaves, first)
        )
        notary.take(list(map(leaf_hash, public)))
    tail.next_seq, tail.next_pos = first + len(leaves), pos + segment.events
    ends = {one.stream: one.first + one.events for one in leaves if is_match(one.stream)}
    matches = tail.matches() | ends
    new = renewed(disk, found, tail, producers, segment, notary, matches)
    if notary:
        notary.sign(())
    return new


def write_runs(
    disk: Disk, runs: Sequence[Run], first: int, pos: int, projections: Sequence[Projection]
) -> Segment:
    """The files of a segment of these runs, durable before any manifest names them."""
    last, next_pos = first - 1, pos
    starts, extent = [], Extent()
    for run in runs:
        starts.append((last + 1, next_pos))
        rows, streams = run.rows, (one.stream for one in run.leaves)
        kinds = rows["type"].combine_chunks().unique().to_pylist()
        extent.add(rows.num_rows, next_pos, next_pos + rows.num_rows - 1, kinds, streams)
        last, next_pos = last + len(run.leaves), next_pos + rows.num_rows
    tables = cut(_placed([run.rows for run in runs], starts), ROW_GROUP)
    joined = (table.unify_dictionaries().combine_chunks() for table in tables)  # one list of words
    return write_rows(disk, (first, last), joined, projections, extent, QUICK)


def _placed(tables: Sequence[pa.Table], starts: Iterable[tuple[int, int]]) -> Iterator[pa.Table]:
    """Rows of runs, counted on from where they begin, with all columns that any has."""
    types = {field.name: field.type for table in tables for field in table.schema}
    order = [name for name in columns() if name in types]
    for table, start in zip(tables, starts, strict=True):
        cells = {name: table[name] for name in table.column_names}
        for name, begin in zip(("hand_seq", "pos"), start, strict=True):
            cells[name] = pc.add(cells[name], pa.scalar(begin, pa.int64()))
        yield pa.table(
            [cells.get(name, pa.nulls(table.num_rows, types[name])) for name in order], order
        )
