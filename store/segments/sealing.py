"""Sealing, compaction and staged batches: closed hands become a segment, open ones go to a new log.

Each file is durable before the next names it: the segment's files, the tree's hashes and the
checkpoint over them, then the new log with what is still open, then the manifest that names all.
A crash at any point leaves the old manifest or the new one, and what it names is complete; the next
opening sweeps away the rest.

Staged batches are adopted: they become a segment at once, without passing the hot log. They take
the next positions and the next sequence numbers, in the order given, after all that has closed. The
rest is as in sealing, each step durable before the next. So a batch is in the ledger whole or not
at all. Only the checkpoint comes last: what is sealed was durable in the log before, a batch was
nowhere.

Compaction makes a few large segments of many small ones, and projections anew; nothing changes but
files. Every step makes new files, proves them, and only then writes a manifest that names them. Old
files are retired: readers may still have them open, so they go when a grace period is over.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from events.ledger import Conflict, is_match
from events.lines import leaf_of
from store.columns.codec import with_fillers
from store.columns.layout import SCHEMA, columns
from store.folder import manifest
from store.folder.disk import Disk
from store.folder.frames import Damaged, Marks, random_log_begin
from store.folder.manifest import Manifest, ProducerAnswer, Segment
from store.log import hot_log
from store.log.hot_log import LoggedCall, ReadyLedger
from store.log.streams import Tail
from store.proof.ledger_secrets import SaltedSecret
from store.proof.notary import Notary
from store.proof.tree import leaf_hash
from store.segments.parquet_files import (
    FOLDER,
    LEVEL,
    ROW_GROUP,
    FileWriter,
    HandGroups,
    StoredFile,
    hand_groups,
    manifest_fields,
    write_file,
)
from store.segments.reading import SegmentFiles, files_of
from store.segments.sealed_segments import Extent, with_hands_table, write_rows, write_segment
from store.segments.staged_batches import StagedBatch, nonces_name
from store.tables.projection import Projection, ProjectionBuilder

QUICK = 6  # a level of zstd: half the time, 4 bytes a hand larger; compaction packs anew


def seal(
    disk: Disk,
    found: ReadyLedger,
    tail: Tail,
    producers: Mapping[str, ProducerAnswer],
    projections: Sequence[Projection],
    notary: Notary | None = None,
    level: int = LEVEL,
) -> ReadyLedger:
    """The ledger after sealing everything that has closed; the old log is gone."""
    segment = write_segment(disk, tail.closed, projections, level)
    if notary:
        notary.seal(tail.closed)
    return with_segment(disk, found, tail, producers, segment, notary, tail.matches())


def with_segment(
    disk: Disk,
    found: ReadyLedger,
    tail: Tail,
    producers: Mapping[str, ProducerAnswer],
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
    return with_new_log(disk, found, new, tuple((one,) for one in carried))


def with_new_log(
    disk: Disk, found: ReadyLedger, now: Manifest, calls: tuple[LoggedCall, ...]
) -> ReadyLedger:
    """The ledger of this manifest with a new log that begins with these calls; the old log goes."""
    marks = found.marks
    number = found.manifest.number + 1
    begin = random_log_begin() if marks else ""
    new = replace(now, number=number, log=hot_log.path_of(number), begin=begin)
    log = hot_log.create(disk, new.log, calls, new.chain(marks))
    new = replace(new, log_size=log.size)
    manifest.write(disk, new, marks)
    found.log.close()
    disk.remove(found.log.path)
    return ReadyLedger(new, log, calls, found.notes, marks)


def check_batch_nonces(batches: Sequence[StagedBatch], nonces: SaltedSecret | None) -> None:
    """`Conflict` unless these staged batches were made for the ledger of these nonces."""
    if not all(batch.leaves and batch.nonces == nonces_name(nonces) for batch in batches):
        raise Conflict("this run was not made for this ledger")


def add_batches(
    disk: Disk,
    found: ReadyLedger,
    tail: Tail,
    producers: Mapping[str, ProducerAnswer],
    projections: Sequence[Projection],
    notary: Notary | None,
    batches: Sequence[StagedBatch],
) -> ReadyLedger:
    """The ledger with these staged batches in it; everything that has closed is sealed already."""
    assert not tail.closed, "what closed before is sealed before"
    first, pos = tail.next_seq, tail.next_pos
    leaves = [leaf for batch in batches for leaf in batch.leaves]
    segment = write_batches(disk, batches, first, pos, projections)
    if notary:
        public = (
            leaf_of(seq, *one[:2], one.lines, one.sha256) for seq, one in enumerate(leaves, first)
        )
        notary.append_hashes(list(map(leaf_hash, public)))
    tail.next_seq, tail.next_pos = first + len(leaves), pos + segment.events
    ends = {one.stream: one.first + one.events for one in leaves if is_match(one.stream)}
    matches = tail.matches() | ends
    new = with_segment(disk, found, tail, producers, segment, notary, matches)
    if notary:
        notary.sign(())
    return new


def write_batches(
    disk: Disk,
    batches: Sequence[StagedBatch],
    first: int,
    pos: int,
    projections: Sequence[Projection],
) -> Segment:
    """The files of a segment of these batches, durable before any manifest names them."""
    last, next_pos = first - 1, pos
    starts, extent = [], Extent()
    for batch in batches:
        starts.append((last + 1, next_pos))
        rows, streams = batch.rows, (one.stream for one in batch.leaves)
        kinds = rows["type"].combine_chunks().unique().to_pylist()
        extent.add(rows.num_rows, next_pos, next_pos + rows.num_rows - 1, kinds, streams)
        last, next_pos = last + len(batch.leaves), next_pos + rows.num_rows
    tables = hand_groups(_placed([batch.rows for batch in batches], starts), ROW_GROUP)
    joined = (table.unify_dictionaries().combine_chunks() for table in tables)  # one list of words
    return write_rows(disk, (first, last), joined, projections, extent, QUICK)


def _placed(tables: Sequence[pa.Table], starts: Iterable[tuple[int, int]]) -> Iterator[pa.Table]:
    """Rows of staged batches, counted on from where they begin, with all columns that any has."""
    types = {field.name: field.type for table in tables for field in table.schema}
    order = [name for name in columns() if name in types]
    for table, start in zip(tables, starts, strict=True):
        cells = {name: table[name] for name in table.column_names}
        for name, begin in zip(("hand_seq", "pos"), start, strict=True):
            cells[name] = pc.add(cells[name], pa.scalar(begin, pa.int64()))
        yield pa.table(
            [cells.get(name, pa.nulls(table.num_rows, types[name])) for name in order], order
        )


LARGE = 10_000_000  # events of a segment that is large enough: it bounds what merging holds
GRACE_MS = 3_600_000  # longer than the longest question
Watch = Callable[[Collection[Any]], Iterable[Any]]
Bar = Callable[[str], Watch]  # what is done, on a bar that follows it


def compact(
    disk: Disk,
    now: Manifest,
    projections: Sequence[Projection],
    at: int,
    large: int = LARGE,
    marks: Marks | None = None,
    watch: Watch = iter,
) -> Manifest:
    """Neighbouring segments merged up to a size; the manifest is written if anything changed."""
    groups: list[tuple[Segment, ...]] = []
    for segment in now.segments:
        if groups and sum(old.events for old in groups[-1]) + segment.events <= large:
            groups[-1] = (*groups[-1], segment)
        else:
            groups.append((segment,))
    merged = tuple(
        _merge(disk, group, projections) if len(group) > 1 else group[0] for group in watch(groups)
    )
    return _swap(disk, now, merged, at, marks)


def rebuild(
    disk: Disk,
    now: Manifest,
    projections: Sequence[Projection],
    at: int,
    marks: Marks | None = None,
    watch: Watch = iter,
) -> Manifest:
    """Projections that are missing, outdated or no longer wanted put right, segment by segment."""
    versions = {one.name: one.version for one in with_hands_table(projections)}
    segments = tuple(
        one if one.projections == versions else _project(disk, one, projections)
        for one in watch(now.segments)
    )
    return _swap(disk, now, segments, at, marks)


def sweep(
    disk: Disk, now: Manifest, at: int, grace: int = GRACE_MS, marks: Marks | None = None
) -> Manifest:
    """Files retired for longer than the grace period are removed."""
    due = {path for path, since in now.retired.items() if at - since >= grace}
    if not due:
        return now
    left = {path: since for path, since in now.retired.items() if path not in due}
    new = replace(now, number=now.number + 1, retired=left)
    manifest.write(disk, new, marks)
    names = set(disk.names(FOLDER))
    for path in sorted(due):
        if path.removeprefix(f"{FOLDER}/") in names:
            disk.remove(path)
    return new


def _merge(disk: Disk, group: tuple[Segment, ...], projections: Sequence[Projection]) -> Segment:
    """Merge segments into one, read back and compared with all that went into it."""
    files = files_of(disk)
    first, last = group[0].first_seq, group[-1].last_seq
    filled = {name for segment in group for name in files.filled(segment)}
    today = pa.schema([field for field in SCHEMA if field.name in filled])
    rows = hand_groups(_rows(files, group, today), ROW_GROUP)
    stored = {"events": write_file(disk, "events", first, last, rows)}
    wanted = with_hands_table(projections)
    for one in wanted:
        if all(segment.projections.get(one.name) == one.version for segment in group):
            groups = (
                files.rows(segment, one.name, group)
                for segment in group
                for group in range(files.open(segment, one.name).groups)
            )
            tables = hand_groups(groups, one.rows)
            stored[one.name] = write_file(disk, one.name, first, last, tables)
    disk.sync_folder(FOLDER)
    extent = Extent()
    for old in group:
        ends = (f"{match}/{end}" for match, both in old.numbers.items() for end in both)
        extent.add(old.events, old.first_pos, old.last_pos, old.types, (*old.records, *ends))
    versions = {one.name: one.version for one in wanted if one.name in stored}
    new = extent.segment(first, last, stored, versions)
    _prove(_rows(files, group, today), _rows(files, (new,), today), new)
    return _project(disk, new, projections)


def _prove(before: Iterator[pa.Table], after: Iterator[pa.Table], new: Segment) -> None:
    """Compare every cell of every row of a merged segment with those before."""
    old: pa.Table | None = None
    for rows in after:
        while old is None or old.num_rows < rows.num_rows:
            more = next(before, None)
            if more is None:
                raise Damaged(f"{new.files['events']} has more rows than what it was made of")
            old = more if old is None else pa.concat_tables([old, more])
        if not old.slice(0, rows.num_rows).equals(rows):
            raise Damaged(f"{new.files['events']} is not what it was made of")
        old = old.slice(rows.num_rows)
    if (old is not None and old.num_rows) or next(before, None) is not None:
        raise Damaged(f"{new.files['events']} has fewer rows than what it was made of")


def _project(disk: Disk, segment: Segment, projections: Sequence[Projection]) -> Segment:
    """The segment with these projections, made from its events; what is current is kept.

    All grow together, row group by row group of the events: none is ever whole in memory.
    """
    files = files_of(disk)
    wanted = with_hands_table(projections)
    lack = [one for one in wanted if segment.projections.get(one.name) != one.version]
    cutters = {one.name: HandGroups(one.rows) for one in lack}
    with ExitStack() as stack:
        grown = {
            name: stack.enter_context(
                closing(FileWriter(disk, name, segment.first_seq, segment.last_seq))
            )
            for name in cutters
        }
        builder = ProjectionBuilder(lack)
        groups = files.all_events(segment) if lack else ()
        made = chain.from_iterable(map(builder.add, groups))
        for name, table in chain(made, builder.flush()):
            for full in cutters[name].add(table):
                grown[name].add(full)
        for name, cutter in cutters.items():
            grown[name].add(cutter.flush())
        stored = {name: aside.done() for name, aside in grown.items()}
    disk.sync_folder(FOLDER)
    names = {"events", *(one.name for one in wanted)}
    kept = {
        name: StoredFile(
            path, segment.sha256[name], segment.sizes[name], segment.footers.get(name, "")
        )
        for name, path in segment.files.items()
        if name in names
    }
    versions = {one.name: one.version for one in wanted}
    return replace(segment, projections=versions, **manifest_fields(kept | stored))


def _rows(files: SegmentFiles, group: Sequence[Segment], today: pa.Schema) -> Iterator[pa.Table]:
    """The events of some segments in these plain columns, row group by row group."""
    for segment in group:
        for rows in files.all_events(segment):
            for field in today:
                if field.name not in rows.column_names:
                    rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
            yield with_fillers(rows.select(today.names).cast(today))


def _swap(
    disk: Disk, now: Manifest, segments: tuple[Segment, ...], at: int, marks: Marks | None
) -> Manifest:
    """A manifest that names these segments; what it no longer names is retired."""
    if segments == now.segments:
        return now
    named = {path for segment in segments for path in segment.files.values()}
    old = {path for one in now.segments for path in one.files.values()} - named
    new = replace(
        now,
        number=now.number + 1,
        segments=segments,
        retired={**now.retired, **dict.fromkeys(sorted(old), at)},
    )
    manifest.write(disk, new, marks)
    return new
