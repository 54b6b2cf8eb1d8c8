"""Appends that are durable when they return, beside the stores one would otherwise take."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import duckdb
import pyarrow as pa

from bench.auction import simulated
from bench.runner import Bench, Contender
from events.codec import encode
from events.ledger import Append
from store.folder.disk import RealDisk
from store.ledger import SEAL_HANDS, FileLedger
from store.tables.projection import STANDARD

ABOUT = """\
Every contender gets the same hands as events in memory, encodes them itself and is synced before
it answers; all stay open from round to round, so nobody pays for opening. Our log is sealed every
20,000 hands, which most rounds do not meet: so a second ledger of ours is sealed every 1,000, and
at a hundred hands a commit it pays for segments and projections in every round. Only ours checks
what it is given: expected versions, closed hands, repeats, and that its bytes will be read back as
the same events."""
DISTINCT = 2_000
ROW = "stream TEXT, idx INTEGER, ms BIGINT, event TEXT"


class Store(NamedTuple):
    """How a contender takes a commit, and how it ends."""

    commit: Callable[[Sequence[Append]], object]
    close: Callable[[], object]


def benches(scratch: Path, stack: ExitStack, seconds: float) -> list[Bench]:
    """One hand a commit, and a hundred; the stack closes the stores.

    Everybody makes the same commits in a round: about as many as a good disk syncs in so long.
    """
    return [
        _bench(scratch / "one", stack, 1, max(1, round(200 * seconds))),
        _bench(scratch / "many", stack, 100, max(1, round(40 * seconds))),
    ]


def _bench(scratch: Path, stack: ExitStack, hands: int, commits: int) -> Bench:
    stores: list[tuple[str, Callable[[Path], Store], str | None]] = [
        ("muckrake", muckrake, None),
        ("muckrake, sealed every 1,000", partial(muckrake, seal_hands=1_000), None),
        ("SQLite, row per event", sqlite_rows, None),
        ("SQLite, blob per hand", sqlite_blobs, None),
        ("DuckDB, Arrow insert", duckdb_arrow, "duckdb"),
        ("DuckDB, appender", duckdb_appender, "duckdb"),
    ]
    if hands == 1:
        stores.append(("DuckDB, executemany", duckdb_rows, "duckdb"))
    stores.append(("JSON lines", json_lines, None))
    contenders = []
    for number, (name, opened, package) in enumerate(stores):
        folder = scratch / str(number)
        folder.mkdir(parents=True)
        store = opened(folder)
        stack.callback(store.close)
        contenders.append(Contender(name, _run(store.commit, hands), package))
    told = ("One hand", "hand", "event") if hands == 1 else (f"{hands} hands", "commit", "hand")
    title = f"{told[0]} a commit, durable, {commits:,} commits a round"
    return Bench(title, *told[1:], tuple(contenders), clock=perf_counter, size=commits)


def _run(commit: Callable[[Sequence[Append]], object], hands: int) -> Callable[[int], int]:
    """So many commits; the units are events, or hands where there are many in one."""
    waiting = simulated(DISTINCT)

    def run(count: int) -> int:
        units = 0
        for _ in range(count):
            appends = list(islice(waiting, hands))
            commit(appends)
            units += len(appends[0].events) if hands == 1 else hands
        return units

    return run


def muckrake(folder: Path, seal_hands: int = SEAL_HANDS) -> Store:
    """Ours, with all projections."""
    ledger = FileLedger(RealDisk(folder), STANDARD, seal_hands=seal_hands)
    return Store(lambda appends: ledger.append(*appends), ledger.close)


def sqlite_rows(folder: Path) -> Store:
    """Events as canonical text, one row each."""
    connection = _sqlite(folder, f"{ROW}, PRIMARY KEY (stream, idx)")

    def commit(appends: Sequence[Append]) -> None:
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", _rows(appends))
        connection.execute("COMMIT")

    return Store(commit, connection.close)


def sqlite_blobs(folder: Path) -> Store:
    """A hand's events as one value: nothing in it can be asked for."""
    connection = _sqlite(folder, "stream TEXT PRIMARY KEY, ms BIGINT, events BLOB")

    def commit(appends: Sequence[Append]) -> None:
        connection.execute("BEGIN")
        hands = [(one.stream, one.at, _lines(one)) for one in appends]
        connection.executemany("INSERT INTO events VALUES (?, ?, ?)", hands)
        connection.execute("COMMIT")

    return Store(commit, connection.close)


def duckdb_arrow(folder: Path) -> Store:
    """A file database that takes Arrow tables."""
    connection = _duckdb(folder)
    names = ["stream", "idx", "ms", "event"]

    def commit(appends: Sequence[Append]) -> None:
        columns = [list(column) for column in zip(*_rows(appends), strict=True)]
        connection.register("new", pa.table(columns, names=names))
        connection.execute("INSERT INTO events SELECT * FROM new").fetchall()

    return Store(commit, connection.close)


def duckdb_appender(folder: Path) -> Store:
    """The same table, fed by DuckDB's own appender: its flush is the commit."""
    connection = _duckdb(folder)

    def commit(appends: Sequence[Append]) -> None:
        appender = connection.appender("events")
        appender.append_rows(_rows(appends))
        appender.flush()

    return Store(commit, connection.close)


def duckdb_rows(folder: Path) -> Store:
    """The same table, fed as one feeds SQLite."""
    connection = _duckdb(folder)

    def commit(appends: Sequence[Append]) -> None:
        connection.begin()
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", _rows(appends)).fetchall()
        connection.commit()

    return Store(commit, connection.close)


def json_lines(folder: Path) -> Store:
    """A file that grows, synced at every commit: no version, no checksum, no order but its own."""
    file = os.open(folder / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def commit(appends: Sequence[Append]) -> None:
        os.write(file, b"".join(map(_lines, appends)))
        os.fdatasync(file)

    return Store(commit, lambda: os.close(file))


def _sqlite(folder: Path, columns: str) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "events.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"CREATE TABLE events ({columns}) WITHOUT ROWID")
    return connection


def _duckdb(folder: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(folder / "events.duckdb")
    connection.execute(f"CREATE TABLE events ({ROW})").fetchall()
    return connection


def _rows(appends: Sequence[Append]) -> list[tuple[str, int, int, str]]:
    return [
        (one.stream, index, one.at, encode(event).decode())
        for one in appends
        for index, event in enumerate(one.events)
    ]


def _lines(append: Append) -> bytes:
    return b"".join(encode(event) + b"\n" for event in append.events)
