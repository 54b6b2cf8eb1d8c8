"""Tables of Delta Lake over a ledger's sealed files: a log of JSON, a line an action.

The log is written by hand, for it is a few lines of a published protocol (reader 1, writer 2); the
files are named by absolute addresses, as the protocol allows. A version is an object that nobody
has written before, so of two who export at once one is refused.
"""

import json
from typing import Any, NamedTuple
from uuid import uuid4

from api.exporting.lakehouse import (
    TYPES,
    CannotRegister,
    Origin,
    Registered,
    SealedFile,
    SealedTable,
    as_origin,
    as_text,
    bounds,
)
from store.archive.objects import Objects
from store.folder.disk import now_ms

_NAMES = {"int": "integer"}  # what Delta calls otherwise


class _Log(NamedTuple):
    """A table's log: its next version, what it names, and whose hands these are."""

    version: int
    schema: str
    rows: dict[str, int]
    origin: Origin | None
    id: str


class Delta:
    """Delta tables below a place, each in a folder of its name."""

    def __init__(self, out: Objects) -> None:
        self._out = out

    def prepare(self, table: SealedTable, origin: Origin) -> "_Commit":
        """What has to be added to a table's log, and what is to go."""
        log = self._log(table.name)
        if log.origin:
            origin.follows(log.origin, f"{self._out.url}/{table.name}", table.disk)
        added = [table.file(uri) for uri in table.segments if uri not in log.rows]
        return _Commit(self._out, table, origin, log, added)

    def _log(self, name: str) -> _Log:
        """Every version from the first one on."""
        where = f"{self._out.url}/{name}"
        log = _Log(0, "", {}, None, str(uuid4()))
        while entry := self._out.get(_path(name, log.version)):
            origin, schema, rows, id = None, log.schema, dict(log.rows), log.id
            try:
                for line in entry[0].splitlines():
                    ((action, content),) = json.loads(line).items()
                    if action == "commitInfo":
                        origin = as_origin(content.get("muckrake"), where)
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
                as_origin(None, where)
            log = _Log(log.version + 1, schema, rows, origin, id)
        return log


class _Commit(NamedTuple):
    """The next version of a table's log."""

    out: Objects
    table: SealedTable
    origin: Origin
    log: _Log
    added: list[SealedFile]

    def make(self) -> Registered:
        """Write it, unless it would say nothing."""
        gone = [uri for uri in self.log.rows if uri not in self.table.segments]
        rows = {uri: count for uri, count in self.log.rows.items() if uri not in gone}
        rows |= {one.uri: one.metadata.num_rows for one in self.added}
        version = self.log.version - 1
        fields = [
            {
                "name": field.name,
                "type": _NAMES.get(TYPES[field.type], TYPES[field.type]),
                "nullable": True,
                "metadata": {},
            }
            for field in self.table.schema
        ]
        schema = json.dumps({"type": "struct", "fields": fields})
        if self.added or gone or schema != self.log.schema:
            version += 1
            lines = "".join(f"{json.dumps(one)}\n" for one in self._actions(schema, gone))
            if not self.out.swap(_path(self.table.name, version), lines.encode(), None):
                raise CannotRegister(
                    f"{self.out.url}/{self.table.name} has got a version {version} meanwhile from"
                    " somebody else: export again"
                )
        return Registered(
            self.table.name, version, len(self.added), len(gone), len(rows), sum(rows.values())
        )

    def _actions(self, schema: str, gone: list[str]) -> list[dict[str, Any]]:
        now, log = now_ms(), self.log
        content = {
            "timestamp": now,
            "operation": "WRITE",
            "operationParameters": {"mode": "Append" if not gone else "Overwrite"},
            "engineInfo": "muckrake",
            "muckrake": as_text(self.origin),
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
                "minValues": {name: _spelled(low) for name, _, low, _ in columns},
                "maxValues": {name: _spelled(high) for name, _, _, high in columns},
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


def _spelled(value: Any) -> Any:
    """Times as Delta spells them, to the millisecond that the ledger keeps."""
    return (
        value
        if isinstance(value, str | int)
        else f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
    )
