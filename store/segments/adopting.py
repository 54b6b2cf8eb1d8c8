"""Adopting: runs that were made elsewhere become a segment at once, without passing the hot log.

They take the next positions and the next sequence numbers, in the order given, after all that has
closed. The rest is as in sealing: the segment's files, the tree, the new log, and then the manifest
that names them all, each durable before the next. So a run is in the ledger whole or not at all.
Only the checkpoint comes last: what is sealed was durable in the log before, a run was nowhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from events.ledger import Conflict, is_match
from events.lines import leaf_of
from store.columns.layout import columns
from store.folder.disk import Disk
from store.folder.manifest import Answer, Segment
from store.log.recovery import Found
from store.log.tail import Tail
from store.proof.nonces import Salted
from store.proof.notary import Notary
from store.proof.tree import leaf_hash
from store.segments.runs import Made, Run, vouched_by
from store.segments.sealed import Extent, with_hands
from store.segments.sealing import renewed
from store.segments.segment import FOLDER, ROW_GROUP, cut, store
from store.tables.projection import Projection

LEVEL = 6  # packed in half the time of a seal, and 4 bytes a hand larger; compaction packs anew
_COUNTED = {"hand_seq": 0, "pos": 1, "first_pos": 1, "last_pos": 1}


def check_made(
    runs: Sequence[Run], nonces: Salted | None, projections: Sequence[Projection]
) -> None:
    """`Conflict` unless these runs were made for the ledger of these, all with the same tables."""
    for run in runs:
        known = {(one.name, one.version) for one in with_hands(projections)}
        alike = run.projections == runs[0].projections
        fits = run.leaves and run.vouched == vouched_by(nonces)
        if not (fits and alike and known >= set(run.projections.items())):
            raise Conflict("this run was not made for this ledger")


def adopt(
    disk: Disk,
    found: Found,
    tail: Tail,
    producers: Mapping[str, Answer],
    projections: Sequence[Projection],
    notary: Notary | None,
    runs: Sequence[Run],
) -> Found:
    """The ledger with these runs in it; everything that has closed is sealed already."""
    assert not tail.closed, "what closed before is sealed before"
    first, pos = tail.next_seq, tail.next_pos
    leaves = [leaf for run in runs for leaf in run.leaves]
    segment = write_runs(disk, runs, first, pos, projections)
    if notary:
        notary.take(_hashes(first, leaves))
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
    last = first + sum(len(run.leaves) for run in runs) - 1
    most = {"events": ROW_GROUP} | {one.name: one.rows for one in with_hands(projections)}
    files = {}
    for name in runs[0].tables:
        rows = most[name]
        tables = cut(_placed([run.tables[name] for run in runs], _starts(runs, first, pos)), rows)
        files[name] = store(disk, name, first, last, map(_joined, tables), LEVEL)
    disk.sync_folder(FOLDER)
    extent = Extent()
    for run in runs:
        kinds = run.tables["events"]["type"].combine_chunks().unique().to_pylist()
        size = run.tables["events"].num_rows
        streams = (one.stream for one in run.leaves)
        extent.add(size, pos, pos + size - 1, kinds, streams)
        pos += size
    return extent.segment(first, last, files, runs[0].projections)


def _starts(runs: Sequence[Run], first: int, pos: int) -> Iterator[tuple[int, int]]:
    """Where each run begins: its sequence number, its position."""
    for run in runs:
        yield first, pos
        first, pos = first + len(run.leaves), pos + run.tables["events"].num_rows


def _placed(tables: Sequence[pa.Table], starts: Iterable[tuple[int, int]]) -> Iterator[pa.Table]:
    """Tables of one name, counted on from where they begin, with all columns that any has."""
    types = {field.name: field.type for table in tables for field in table.schema}
    order = [name for name in columns() if name in types] if "type" in types else list(types)
    for table, start in zip(tables, starts, strict=True):
        found = {name: table[name] for name in table.column_names}
        for name in _COUNTED.keys() & found.keys():
            found[name] = pc.add(found[name], pa.scalar(start[_COUNTED[name]], pa.int64()))
        yield pa.table(
            [found.get(name, pa.nulls(table.num_rows, types[name])) for name in order], order
        )


def _joined(group: pa.Table) -> pa.Table:
    """One piece a column, and of numbered text one list of words."""
    joined: pa.Table = group.unify_dictionaries().combine_chunks()
    return joined


def _hashes(first: int, leaves: Sequence[Made]) -> list[bytes]:
    return [
        leaf_hash(leaf_of(seq, one.stream, one.first, one.lines, one.sha256))
        for seq, one in enumerate(leaves, first)
    ]
