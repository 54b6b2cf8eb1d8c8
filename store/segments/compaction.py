"""Many small segments into a few large ones, and projections made anew; nothing changes but files.

Every step makes new files, proves them, and only then writes a manifest that names them. Old files
are retired: readers may still have them open, so they are removed when a grace period is over.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from store.columns.codec import whole
from store.columns.layout import schema
from store.folder import manifest
from store.folder.disk import Disk
from store.folder.frames import Damaged, Marks
from store.folder.manifest import Manifest, Segment
from store.segments.reading import Files, files_of
from store.segments.sealed import Extent, with_hands
from store.segments.segment import FOLDER, ROW_GROUP, Aside, Cutter, Stored, cut, named, store
from store.tables.projection import Builder, Projection

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
    runs: list[tuple[Segment, ...]] = []
    for segment in now.segments:
        if runs and sum(old.events for old in runs[-1]) + segment.events <= large:
            runs[-1] = (*runs[-1], segment)
        else:
            runs.append((segment,))
    merged = tuple(
        _merge(disk, run, projections) if len(run) > 1 else run[0] for run in watch(runs)
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
    versions = {one.name: one.version for one in with_hands(projections)}
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


def _merge(disk: Disk, run: tuple[Segment, ...], projections: Sequence[Projection]) -> Segment:
    """One segment of the same rows, read back and compared with all that went into it."""
    files = files_of(disk)
    first, last = run[0].first_seq, run[-1].last_seq
    filled = {name for segment in run for name in files.filled(segment)}
    today = pa.schema([field for field in schema() if field.name in filled])
    rows = cut(_rows(files, run, today), ROW_GROUP)
    stored = {"events": store(disk, "events", first, last, rows)}
    wanted = with_hands(projections)
    for one in wanted:
        if all(segment.projections.get(one.name) == one.version for segment in run):
            groups = (
                files.rows(segment, one.name, group)
                for segment in run
                for group in range(files.open(segment, one.name).groups)
            )
            tables = cut(groups, one.rows)
            stored[one.name] = store(disk, one.name, first, last, tables)
    disk.sync_folder(FOLDER)
    extent = Extent()
    for old in run:
        ends = (f"{match}/{end}" for match, both in old.numbers.items() for end in both)
        extent.add(old.events, old.first_pos, old.last_pos, old.types, (*old.records, *ends))
    versions = {one.name: one.version for one in wanted if one.name in stored}
    new = extent.segment(first, last, stored, versions)
    _prove(_rows(files, run, today), _rows(files, (new,), today), new)
    return _project(disk, new, projections)


def _prove(before: Iterator[pa.Table], after: Iterator[pa.Table], new: Segment) -> None:
    """Every cell of every row, in the same order."""
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
    wanted = with_hands(projections)
    lack = [one for one in wanted if segment.projections.get(one.name) != one.version]
    cutters = {one.name: Cutter(one.rows) for one in lack}
    with ExitStack() as stack:
        grown = {
            name: stack.enter_context(
                closing(Aside(disk, name, segment.first_seq, segment.last_seq))
            )
            for name in cutters
        }
        builder = Builder(lack)
        groups = range(files.open(segment, "events").groups if lack else 0)
        made = chain.from_iterable(builder.add(files.events(segment, group)) for group in groups)
        for name, table in chain(made, builder.rest()):
            for full in cutters[name].add(table):
                grown[name].add(full)
        for name, cutter in cutters.items():
            grown[name].add(cutter.rest())
        stored = {name: aside.done() for name, aside in grown.items()}
    disk.sync_folder(FOLDER)
    names = {"events", *(one.name for one in wanted)}
    kept = {
        name: Stored(path, segment.sha256[name], segment.sizes[name], segment.footers.get(name, ""))
        for name, path in segment.files.items()
        if name in names
    }
    versions = {one.name: one.version for one in wanted}
    return replace(segment, projections=versions, **named(kept | stored))


def _rows(files: Files, run: Sequence[Segment], today: pa.Schema) -> Iterator[pa.Table]:
    """All events of some segments in these plain columns, row group by row group."""
    for segment in run:
        for group in range(files.open(segment, "events").groups):
            rows = files.events(segment, group)
            for field in today:
                if field.name not in rows.column_names:
                    rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
            yield whole(rows.select(today.names).cast(today))


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
