"""A ledger's sealed files as tables of a lakehouse: which files each has, in which columns.

Nothing is rewritten: a lakehouse is told where the ledger's own Parquet files are, and what their
footers say. They hold every card, and no mask stands before them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from analytics.stored.facts import stored
from store.archive.disk import ArchiveDisk
from store.archive.objects import Objects
from store.archive.push import check_history, sealed_root
from store.columns import layout
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.manifest import Manifest, Segment
from store.proof.tree import frontier
from store.proof.tree_file import TreeFiles
from store.reader import Snapshot
from store.segments.reading import Files, files_of
from store.segments.segment import FOLDER
from store.tables.projection import STANDARD, Projection

TYPES = {  # of Arrow's types, those that a ledger's files have
    pa.int32(): "int",
    pa.int64(): "long",
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.float64(): "double",
    pa.timestamp("ms", tz="UTC"): "timestamp",
}


class CannotRegister(Exception):
    """Why the files cannot be a lakehouse's; nothing was changed."""


class Origin(Struct, frozen=True):
    """Which ledger a commit is of, how far it reached, and which version of the table it is of."""

    ledger: str
    manifest: int
    closed: int
    root: str
    table: int

    def follows(self, old: "Origin", where: str, disk: "RealDisk | ArchiveDisk") -> None:
        """`CannotRegister` unless the ledger has gone on from there; `Refuted` if it is another."""
        if old.ledger != self.ledger:
            raise CannotRegister(
                f"{where} is of {old.ledger}, and this is {self.ledger}: each has its own folder"
            )
        if old.closed > self.closed or old.manifest > self.manifest:
            raise CannotRegister(
                f"{where} has {old.closed:,} closed streams of manifest {old.manifest}, and this"
                f" ledger {self.closed:,} of manifest {self.manifest}: it is an older copy"
            )
        what, root = f"{where} was made of", bytes.fromhex(old.root)
        check_history(what, old.closed, root, self.closed, TreeFiles(disk))


class SealedFile(NamedTuple):
    """One of the ledger's Parquet files, with its footer."""

    uri: str
    size: int
    metadata: pq.FileMetaData


class SealedTable(NamedTuple):
    """A table of the ledger: its files by their addresses, all columns that they may have, and the
    SELECT that makes of stored rows what `muckrake sql` shows."""

    name: str
    version: int
    schema: pa.Schema
    select: str
    segments: Mapping[str, Segment]
    disk: "RealDisk | ArchiveDisk"
    files: Files

    def file(self, uri: str) -> SealedFile:
        """A file of the table, whose footer is as it was sealed."""
        segment = self.segments[uri]
        metadata = self.files.open(segment, self.name).metadata
        size = segment.sizes.get(self.name) or self.files.check(segment, self.name)
        for field in metadata.schema.to_arrow_schema():
            known = self.schema.field(field.name).type if field.name in self.schema.names else None
            if field.type != known:
                raise CannotRegister(
                    f"{segment.files[self.name]} has {field.name} as {field.type}, and not as"
                    f" {known or 'any column of today'}: muckrake compact makes it anew"
                )
        return SealedFile(uri, size, metadata)


class Registered(Struct, frozen=True):
    """What a table of a lakehouse has now, and what its newest commit changed."""

    table: str
    version: int
    added: int
    removed: int
    files: int
    rows: int


class Registration(Struct, frozen=True):
    """How many closed streams the tables hold now, and what changed of each."""

    closed: int
    tables: tuple[Registered, ...]


class Lakehouse(Protocol):
    """A format of tables: what it has of one, and how a commit is made."""

    def prepare(self, table: SealedTable, origin: Origin) -> "Commit": ...


class Commit(Protocol):
    """A commit that is known to be possible, and not made yet."""

    def make(self) -> Registered: ...


def register(
    snapshot: Snapshot, tables: Sequence[str], out: Objects, into: Lakehouse
) -> Registration:
    """Bring these tables up to what is sealed, one commit a table; `Refuted` or `CannotRegister`
    before any is made."""
    disk = snapshot.live.disk
    current = manifest.opened(disk.read(manifest.PATH))
    sealed_root(disk, current)
    root = frontier(current.next_seq, TreeFiles(disk)).root().hex()
    where = place_of(disk).rpartition("/")[0]
    every = [_table(snapshot, current, name) for name in tables]
    commits = [
        into.prepare(one, Origin(where, current.number, current.next_seq, root, one.version))
        for one in every
    ]
    for one in every:
        out.put(f"{one.name}.sql", one.select.encode())
    return Registration(current.next_seq, tuple(commit.make() for commit in commits))


def place_of(disk: RealDisk | ArchiveDisk) -> str:
    """The address of the folder of sealed files."""
    where = disk.url if isinstance(disk, ArchiveDisk) else disk.root.absolute().as_uri()
    return f"{where}/{FOLDER}"


def is_within(out: str, disk: RealDisk | ArchiveDisk) -> bool:
    """Whether a place is the ledger's own folder, or in it."""
    ledger = place_of(disk).rpartition("/")[0]
    if isinstance(disk, RealDisk) and "://" not in out:
        return Path(out).resolve().is_relative_to(disk.root.resolve())
    return f"{out.rstrip('/')}/".startswith(f"{ledger}/")


def _table(snapshot: Snapshot, current: Manifest, name: str) -> SealedTable:
    """A table of all sealed segments; `CannotRegister` if one has no file of it that today's
    questions may read."""
    disk = snapshot.live.disk
    files, where = files_of(disk), place_of(disk).removesuffix(FOLDER)
    if name == "events":
        version, schema, columns = layout.SCHEMA_VERSION, layout.SCHEMA, layout.view()
        lacking = [segment for segment in current.segments if segment.schema not in layout.ALIKE]
    else:
        one = next(it for it in (*STANDARD, *stored(snapshot.ruleset)) if it.name == name)
        version, schema, columns = one.version, one.build([]).schema, one.view
        lacking = [segment for segment in current.segments if not _stands(one, files, segment)]
    if lacking:
        raise CannotRegister(
            f"{name} of what closed as {lacking[0].first_seq} to {lacking[0].last_seq} is not kept"
            " as it is made today: muckrake compact makes it"
        )
    only = " WHERE number IS NOT NULL" if name == "hands" else ""
    select = f"SELECT {columns} FROM {name}{only}\n"
    segments = {where + segment.files[name]: segment for segment in current.segments}
    return SealedTable(name, version, schema, select, segments, disk, files)


def _stands(projection: Projection, files: Files, segment: Segment) -> bool:
    """Whether a segment's file of a projection says what one made today would."""
    made = segment.projections.get(projection.name)
    return projection.stands(made, lambda: files.open(segment, "events").names)


def bounds(metadata: pq.FileMetaData) -> Iterator[tuple[str, int, Any, Any]]:
    """Of each column whose bounds a footer tells: how many are null, the least and the greatest."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    for at in range(metadata.num_columns if groups else 0):
        statistics = [group.column(at).statistics for group in groups]
        if all(one and one.has_min_max and one.has_null_count for one in statistics):
            nulls = sum(one.null_count for one in statistics)
            low, high = min(one.min for one in statistics), max(one.max for one in statistics)
            yield groups[0].column(at).path_in_schema, nulls, low, high


def as_text(origin: Origin) -> str:
    """An origin as a commit tells it."""
    return msgspec.json.encode(origin).decode()


def as_origin(text: Any, where: str) -> Origin:
    """The origin that a commit tells; one without was made by another program."""
    try:
        return msgspec.json.decode(text, type=Origin)
    except (msgspec.MsgspecError, TypeError):
        raise CannotRegister(
            f"{where} was written by another program: muckrake adds to what it made alone"
        ) from None
