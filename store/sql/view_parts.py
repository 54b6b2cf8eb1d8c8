"""Parts of a view: some of its rows, as they can be asked for alone, and what tells them apart."""

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from store.folder.manifest import Segment

if TYPE_CHECKING:
    import duckdb

_NAMES = re.compile(r"_[0-9a-f]{32}\b")


class Sources(NamedTuple):
    """The segments that have a file for a table, and all its other rows, made by a question."""

    segments: tuple[Segment, ...]
    tables: Sequence[pa.Table]


class Part(NamedTuple):
    """Some rows of a view: equal ones have the same digest, for every viewer at any time.

    `number` is the manifest that they were found by, `segment` where they lie if they are sealed.
    """

    name: str
    sql: str
    digest: str
    number: int
    segment: Segment | None


def write(con: "duckdb.DuckDBPyConnection", part: Part, columns: Sequence[str], path: Path) -> None:
    """Some columns of a part as the table `rows` in a new file of DuckDB's."""
    names = ", ".join(f'"{column}"' for column in columns)
    file, to = str(path).replace("'", "''"), f"to_{secrets.token_hex(16)}"
    con.execute(f"ATTACH '{file}' AS {to}")
    try:
        con.execute(f"CREATE TABLE {to}.rows AS SELECT {names} FROM ({part.sql})")
    finally:
        con.execute(f"DETACH {to}")


class Moved(Exception):
    """The rows of a part lie elsewhere: they were compacted."""


class JoinedTable(NamedTuple):
    """A table for views alone, and which of its columns says what a row of it is about."""

    rows: pa.Table
    of: Mapping[str, str]

    def digest(self, segment: Segment | None) -> str:
        """Of what matters to the rows of a segment."""
        rows = self.rows
        if segment is not None and (segment.numbers or segment.records):  # else it is an old one
            for kind, column in self.of.items():
                rows = rows.filter(_ABOUT[kind](segment, pc.field(column)))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows.combine_chunks())
        return hashlib.sha256(sink.getvalue()).hexdigest()


_ABOUT: dict[str, Callable[[Segment, pc.Expression], pc.Expression]] = {
    "seq": lambda one, at: (at >= one.first_seq) & (at <= one.last_seq),
    "pos": lambda one, at: (at >= one.first_pos) & (at <= one.last_pos),
    "match": lambda one, at: at.isin([*one.numbers, *one.records]),
}


def digest_of(sql: str, joined: Mapping[str, JoinedTable], segment: Segment | None) -> str:
    """Of rows: how they are asked for, and what of the tables that they are joined with matters."""

    def content(name: re.Match[str]) -> str:
        return joined[name[0]].digest(segment) if name[0] in joined else name[0]

    return hashlib.sha256(_NAMES.sub(content, sql).encode()).hexdigest()
