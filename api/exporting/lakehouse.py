"""A ledger's sealed files as tables of a lakehouse: which files each has, in which columns; and
tables of Delta Lake over them: a log of JSON, a line an action.

Nothing is rewritten: a lakehouse is told where the ledger's own Parquet files are, and what their
footers say. They hold every card, and no mask stands before them.

Delta's log is written by hand, for it is a few lines of a published protocol (reader 1, writer 2);
the files are named by absolute addresses, as the protocol allows. A version is an object that
nobody has written before, so of two who export at once one is refused.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from analytics.projections.facts import ruleset_projections
from store.archive.cached_disk import ArchiveDisk
from store.archive.object_storage import ObjectStorage
from store.archive.push import check_history, sealed_root
from store.columns import layout
from store.folder import manifest
from store.folder.disk import RealDisk, now_ms
from store.folder.manifest import Manifest, Segment
from store.proof.tree import frontier
from store.proof.tree_file import TreeFiles
from store.reader import Snapshot
from store.segments.parquet_files import FOLDER
from store.segments.reading import SegmentFiles, files_of
from store.tables.projection import STANDARD

TYPE_NAMES = {  # of Arrow's types, those that a ledger's files have
    pa.int32(): "int",
    pa.int64(): "long",
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.float64(): "double",
    pa.timestamp("ms", tz="UTC"): "timestamp",
}


class CannotRegister(Exception):
    """Why the files cannot be a lakehouse's; nothing was changed."""


class CommitOrigin(Struct, frozen=True):
    """Which ledger a commit is of, how far it reached, and which version of the table it is of."""

    ledger: str
    manifest: int
    closed: int
    root: str
    table: int

    def follows(self, old: "CommitOrigin", where: str, disk: "RealDisk | ArchiveDisk") -> None:
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
    files: SegmentFiles

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


class RegisteredTable(Struct, frozen=True):
    """The state of a lakehouse's table, and what its newest commit changed."""

    table: str
    version: int
    added: int
    removed: int
    files: int
    rows: int


class Registration(Struct, frozen=True):
    """The number of closed streams that the tables hold now, and what changed of each table."""

    closed: int
    tables: tuple[RegisteredTable, ...]


class Lakehouse(Protocol):
    """A format of tables: what it has of one, and how a commit is made."""

    def prepare(self, table: SealedTable, origin: CommitOrigin) -> "Commit": ...


class Commit(Protocol):
    """A commit that is known to be possible, and not made yet."""

    def make(self) -> RegisteredTable: ...


def register(
    snapshot: Snapshot, tables: Sequence[str], out: ObjectStorage, into: Lakehouse
) -> Registration:
    """Commit what is sealed to these tables; `Refuted` or `CannotRegister` before any is made."""
    disk = snapshot.live.disk
    current = manifest.decode_manifest(disk.read(manifest.PATH))
    sealed_root(disk, current)
    root = frontier(current.next_seq, TreeFiles(disk)).root().hex()
    where = sealed_address(disk).rpartition("/")[0]
    every = [_table(snapshot, current, name) for name in tables]
    commits = [
        into.prepare(one, CommitOrigin(where, current.number, current.next_seq, root, one.version))
        for one in every
    ]
    for one in every:
        out.put(f"{one.name}.sql", one.select.encode())
    return Registration(current.next_seq, tuple(commit.make() for commit in commits))


def sealed_address(disk: RealDisk | ArchiveDisk) -> str:
    """The address of the folder of sealed files."""
    where = disk.url if isinstance(disk, ArchiveDisk) else disk.root.absolute().as_uri()
    return f"{where}/{FOLDER}"


def is_within(out: str, disk: RealDisk | ArchiveDisk) -> bool:
    """Whether a place is the ledger's own folder, or in it."""
    ledger = sealed_address(disk).rpartition("/")[0]
    if isinstance(disk, RealDisk) and "://" not in out:
        return Path(out).resolve().is_relative_to(disk.root.resolve())
    return f"{out.rstrip('/')}/".startswith(f"{ledger}/")


def _table(snapshot: Snapshot, current: Manifest, name: str) -> SealedTable:
    """A table of all sealed segments; `CannotRegister` if one has no current file of it."""
    disk = snapshot.live.disk
    files, where = files_of(disk), sealed_address(disk).removesuffix(FOLDER)
    if name == "events":
        version, schema, columns = layout.SCHEMA_VERSION, layout.SCHEMA, layout.events_view_sql()
        lacking = [
            segment
            for segment in current.segments
            if segment.schema not in layout.READABLE_VERSIONS
        ]
    else:
        known = (*STANDARD, *ruleset_projections(snapshot.ruleset))
        one = next(it for it in known if it.name == name)
        version, schema, columns = one.version, one.build([]).schema, one.view
        lacking = [segment for segment in current.segments if not files.is_current(one, segment)]
    if lacking:
        raise CannotRegister(
            f"{name} of what closed as {lacking[0].first_seq} to {lacking[0].last_seq} is not kept"
            " as it is made today: muckrake compact makes it"
        )
    only = " WHERE number IS NOT NULL" if name == "hands" else ""
    select = f"SELECT {columns} FROM {name}{only}\n"
    segments = {where + segment.files[name]: segment for segment in current.segments}
    return SealedTable(name, version, schema, select, segments, disk, files)


def bounds(metadata: pq.FileMetaData) -> Iterator[tuple[str, int, Any, Any]]:
    """The null count, minimum and maximum of each column whose footer has them."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    for at in range(metadata.num_columns if groups else 0):
        statistics = [group.column(at).statistics for group in groups]
        if all(one and one.has_min_max and one.has_null_count for one in statistics):
            nulls = sum(one.null_count for one in statistics)
            low, high = min(one.min for one in statistics), max(one.max for one in statistics)
            yield groups[0].column(at).path_in_schema, nulls, low, high


def origin_text(origin: CommitOrigin) -> str:
    """An origin as a commit tells it."""
    return msgspec.json.encode(origin).decode()


def parse_origin(text: Any, where: str) -> CommitOrigin:
    """The origin that a commit tells; one without was made by another program."""
    try:
        return msgspec.json.decode(text, type=CommitOrigin)
    except (msgspec.MsgspecError, TypeError):
        raise CannotRegister(
            f"{where} was written by another program: muckrake adds to what it made alone"
        ) from None


_NAMES = {"int": "integer"}  # what Delta calls otherwise


class _DeltaLog(NamedTuple):
    """A table's log: its next version, what it names, and whose hands these are."""

    version: int
    schema: str
    rows: dict[str, int]
    origin: CommitOrigin | None
    id: str


class DeltaTables:
    """Delta tables below a place, each in a folder of its name."""

    def __init__(self, out: ObjectStorage) -> None:
        self._out = out

    def prepare(self, table: SealedTable, origin: CommitOrigin) -> "_DeltaCommit":
        """The next commit of a table's log: the files to add and to remove."""
        log = self._log(table.name)
        if log.origin:
            origin.follows(log.origin, f"{self._out.url}/{table.name}", table.disk)
        added = [table.file(uri) for uri in table.segments if uri not in log.rows]
        return _DeltaCommit(self._out, table, origin, log, added)

    def _log(self, name: str) -> _DeltaLog:
        """Every version from the first one on."""
        where = f"{self._out.url}/{name}"
        log = _DeltaLog(0, "", {}, None, str(uuid4()))
        while entry := self._out.get(_path(name, log.version)):
            origin, schema, rows, id = None, log.schema, dict(log.rows), log.id
            try:
                for line in entry[0].splitlines():
                    ((action, content),) = json.loads(line).items()
                    if action == "commitInfo":
                        origin = parse_origin(content.get("muckrake"), where)
                    elif action == "metaData":
                        schema, id = content["schemaString"], content["id"]
                    elif action == "add":
                        rows[content["path"]] = json.loads(content["stats"])["numRecords"]
                    elif action == "remove":
                        del rows[content["path"]]
            except (ValueError, LookupError, AttributeError, TypeError):
                raise CannotRegister(
                    f"{where} has a version {log.version} that cannot be read"
                ) from None
            if origin is None:
                parse_origin(None, where)
            log = _DeltaLog(log.version + 1, schema, rows, origin, id)
        return log


class _DeltaCommit(NamedTuple):
    """The next version of a table's log."""

    out: ObjectStorage
    table: SealedTable
    origin: CommitOrigin
    log: _DeltaLog
    added: list[SealedFile]

    def make(self) -> RegisteredTable:
        """Write it, unless it would say nothing."""
        gone = [uri for uri in self.log.rows if uri not in self.table.segments]
        rows = {uri: count for uri, count in self.log.rows.items() if uri not in gone}
        rows |= {one.uri: one.metadata.num_rows for one in self.added}
        version = self.log.version - 1
        fields = [
            {
                "name": field.name,
                "type": _NAMES.get(TYPE_NAMES[field.type], TYPE_NAMES[field.type]),
                "nullable": True,
                "metadata": {},
            }
            for field in self.table.schema
        ]
        schema = json.dumps({"type": "struct", "fields": fields})
        if self.added or gone or schema != self.log.schema:
            version += 1
            lines = "".join(f"{json.dumps(one)}\n" for one in self._actions(schema, gone))
            if not self.out.put_if_unchanged(_path(self.table.name, version), lines.encode(), None):
                raise CannotRegister(
                    f"{self.out.url}/{self.table.name} has got a version {version} meanwhile from"
                    " somebody else: export again"
                )
        return RegisteredTable(
            self.table.name, version, len(self.added), len(gone), len(rows), sum(rows.values())
        )

    def _actions(self, schema: str, gone: list[str]) -> list[dict[str, Any]]:
        now, log = now_ms(), self.log
        content = {
            "timestamp": now,
            "operation": "WRITE",
            "operationParameters": {"mode": "Append" if not gone else "Overwrite"},
            "engineInfo": "muckrake",
            "muckrake": origin_text(self.origin),
        }
        actions: list[dict[str, Any]] = [{"commitInfo": content}]
        if log.origin is None:
            actions.append({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})
        if schema != log.schema:
            actions.append(
                {
                    "metaData": {
                        "id": log.id,
                        "name": self.table.name,
                        "format": {"provider": "parquet", "options": {}},
                        "schemaString": schema,
                        "partitionColumns": [],
                        "configuration": {},
                        "createdTime": now,
                    }
                }
            )
        # Compaction alone changes no row: readers of the table need not read them again.
        of = (self.origin.closed, self.origin.table)
        changes = log.origin is None or (log.origin.closed, log.origin.table) != of
        actions += [
            {"remove": {"path": uri, "deletionTimestamp": now, "dataChange": changes}}
            for uri in gone
        ]
        for file in self.added:
            columns = list(bounds(file.metadata))
            stats = {  # what readers leave files out by
                "numRecords": file.metadata.num_rows,
                "minValues": {name: _delta_value(low) for name, _, low, _ in columns},
                "maxValues": {name: _delta_value(high) for name, _, _, high in columns},
                "nullCount": {name: nulls for name, nulls, _, _ in columns},
            }
            content = {
                "path": file.uri,
                "partitionValues": {},
                "size": file.size,
                "modificationTime": now,
                "dataChange": changes,
                "stats": json.dumps(stats),
            }
            actions.append({"add": content})
        return actions


def _path(name: str, version: int) -> str:
    return f"{name}/_delta_log/{version:020}.json"


def _delta_value(value: Any) -> Any:
    """Times as Delta spells them, to the millisecond that the ledger keeps."""
    return (
        value
        if isinstance(value, str | int)
        else f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
    )
