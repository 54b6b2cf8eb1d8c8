"""Tables of Apache Iceberg over a ledger's sealed files: metadata that pyiceberg writes.

Columns are found by the table's name mapping, since the ledger's files have no field ids. A table
is a folder without a catalog: `metadata/vN.metadata.json`, which nobody has written before, and
`version-hint.text`. Every catalog can register the newest of these, and readers can open it.
"""

from typing import NamedTuple
from urllib.parse import unquote

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.exceptions import CommitFailedException, ValidationError
from pyiceberg.io import load_file_io
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableResponse, Table, TableProperties, Transaction
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, new_table_metadata
from pyiceberg.table.name_mapping import create_mapping_from_schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
)

from api.exporting.lakehouse import (
    TYPE_NAMES,
    CannotRegister,
    CommitOrigin,
    RegisteredTable,
    SealedFile,
    SealedTable,
    bounds,
    origin_text,
    parse_origin,
)
from store.archive.object_storage import ObjectStorage

_TYPES = {
    "int": IntegerType,
    "long": LongType,
    "string": StringType,
    "boolean": BooleanType,
    "double": DoubleType,
    "timestamp": TimestamptzType,
}
_ORIGIN = "muckrake"  # in the summary of a snapshot


class IcebergTables:
    """Iceberg tables below a folder, each in one of its name."""

    def __init__(self, out: ObjectStorage) -> None:
        if not out.url.startswith("file:"):
            raise CannotRegister(
                f"{out.url} is no folder: an Iceberg table's metadata is written into one of this"
                " machine, from where a catalog registers it"
            )
        self._out = out

    def prepare(self, table: SealedTable, origin: CommitOrigin) -> "_IcebergCommit":
        """The next commit of a table: the files to add and to remove."""
        where = f"{self._out.url}/{table.name}"
        if odd := next(
            (it for it in (unquote(where), *table.segments) if {"#", "?"} & {*unquote(it)}), None
        ):
            raise CannotRegister(f"{unquote(odd)} has a sign in it that no Iceberg table may name")
        catalog = _Catalog(self._out, table.name)
        known = catalog.newest()
        metadata = known or _empty(table, unquote(where))
        io = load_file_io({}, metadata.location)
        there: dict[str, DataFile] = {}
        try:
            snapshot = metadata.current_snapshot()
            for one in snapshot.manifests(io) if snapshot else ():
                for entry in one.fetch_manifest_entry(io, discard_deleted=True):
                    there[entry.data_file.file_path] = entry.data_file
        except (OSError, ValueError):
            raise CannotRegister(f"{where} has a snapshot that cannot be read") from None
        if known:
            kept = snapshot.summary.additional_properties if snapshot and snapshot.summary else {}
            origin.follows(parse_origin(kept.get(_ORIGIN), where), where, table.disk)
        added = [table.file(uri) for uri in table.segments if unquote(uri) not in there]
        return _IcebergCommit(
            Table((table.name,), metadata, where, io, catalog), table, origin, there, added
        )


class _IcebergCommit(NamedTuple):
    """The next version of a table."""

    iceberg: Table
    table: SealedTable
    origin: CommitOrigin
    there: dict[str, DataFile]
    added: list[SealedFile]

    def make(self) -> RegisteredTable:
        """Write it, unless it would say nothing."""
        named = {unquote(uri) for uri in self.table.segments}
        gone = [one for path, one in self.there.items() if path not in named]
        names = self.iceberg.schema().column_names
        new = [field for field in self.table.schema if field.name not in names]
        catalog = self.iceberg.catalog
        assert isinstance(catalog, _Catalog)
        if self.added or gone or new:
            transaction = Transaction(self.iceberg)
            with transaction.update_schema() as schema:
                for field in new:
                    schema.add_column(field.name, _TYPES[TYPE_NAMES[field.type]]())
            if self.added or gone:
                self._change_files(transaction, gone)
            try:
                transaction.commit_transaction()
            except CommitFailedException as reason:
                raise CannotRegister(str(reason)) from None
        rows = sum(one.record_count for path, one in self.there.items() if path in named)
        rows += sum(one.metadata.num_rows for one in self.added)
        files = len(self.there) - len(gone) + len(self.added)
        return RegisteredTable(
            self.table.name, catalog.version, len(self.added), len(gone), files, rows
        )

    def _change_files(self, transaction: Transaction, gone: list[DataFile]) -> None:
        """Remove and add files in one snapshot, with the bounds of their footers."""
        fields = transaction.table_metadata.schema()
        properties = {_ORIGIN: origin_text(self.origin)}
        with transaction.update_snapshot(snapshot_properties=properties).overwrite() as snapshot:
            for data_file in gone:
                snapshot.delete_data_file(data_file)
            for file in self.added:
                nulls: dict[int, int] = {}
                low: dict[int, bytes] = {}
                high: dict[int, bytes] = {}
                for name, count, least, greatest in bounds(file.metadata):
                    field = fields.find_field(name)
                    nulls[field.field_id] = count
                    low[field.field_id] = to_bytes(field.field_type, least)
                    high[field.field_id] = to_bytes(field.field_type, greatest)
                data_file = DataFile.from_args(
                    content=DataFileContent.DATA,
                    file_path=unquote(file.uri),
                    file_format=FileFormat.PARQUET,
                    partition=Record(),
                    record_count=file.metadata.num_rows,
                    file_size_in_bytes=file.size,
                    value_counts=dict.fromkeys(nulls, file.metadata.num_rows),
                    null_value_counts=nulls,
                    lower_bounds=low,
                    upper_bounds=high,
                    sort_order_id=None,
                    spec_id=0,
                    equality_ids=None,
                    key_metadata=None,
                )
                snapshot.append_data_file(data_file)


class _Catalog(NoopCatalog):  # type: ignore[misc]
    """A table's versions in its own folder; `version` is the newest."""

    def __init__(self, out: ObjectStorage, name: str) -> None:
        super().__init__("muckrake")
        self._out = out
        self._name = name
        self.version = 0

    def newest(self) -> TableMetadata | None:
        """The newest version; None if there is none yet."""
        found = None
        while raw := self._out.get(self._path(self.version + 1)):
            self.version += 1
            found = raw[0]
        if found is None:
            return None
        try:
            return TableMetadataUtil.parse_raw(found.decode())
        except ValidationError:
            where = f"{self._out.url}/{self._name}"
            raise CannotRegister(
                f"{where} has a version {self.version} that cannot be read"
            ) from None

    def commit_table(
        self,
        table: Table,
        requirements: tuple[TableRequirement, ...],
        updates: tuple[TableUpdate, ...],
    ) -> CommitTableResponse:
        """The next version, unless somebody else has made one meanwhile."""
        before = f"{table.metadata.location}/metadata/v{self.version}.metadata.json"
        metadata = update_table_metadata(
            table.metadata, updates, metadata_location=before if self.version else None
        )
        path, data = self._path(self.version + 1), metadata.model_dump_json().encode()
        if not self._out.put_if_unchanged(path, data, None):
            raise CommitFailedException(
                f"{self._out.url}/{self._name} has got a version {self.version + 1} meanwhile from"
                " somebody else: export again"
            )
        self.version += 1
        self._out.put(f"{self._name}/metadata/version-hint.text", str(self.version).encode())
        location = f"{table.metadata.location}/metadata/v{self.version}.metadata.json"
        return CommitTableResponse(metadata=metadata, metadata_location=location)

    def _path(self, version: int) -> str:
        return f"{self._name}/metadata/v{version}.metadata.json"


def _empty(table: SealedTable, location: str) -> TableMetadata:
    """A table without rows, not written anywhere yet."""
    fields = (
        NestedField(at, field.name, _TYPES[TYPE_NAMES[field.type]](), required=False)
        for at, field in enumerate(table.schema, 1)
    )
    schema = Schema(*fields)
    properties = {
        TableProperties.DEFAULT_NAME_MAPPING: create_mapping_from_schema(schema).model_dump_json(),
        TableProperties.COMMIT_NUM_RETRIES: "0",
    }
    return new_table_metadata(
        schema, UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, location, properties
    )
