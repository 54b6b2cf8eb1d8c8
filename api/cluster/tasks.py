"""Split a ledger into tasks of consecutive hands, and answer a task in any process.

A task is hands that follow one another in the order of closing: no hand is ever in two. The ledger
may be sealed or compacted meanwhile, for what is named is hands, and not the files they lie in.
"""

import atexit
import io
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

import msgspec
import pyarrow as pa
from msgspec import Struct

from api.auditing.batches import BatchAudit, audit_batches
from api.auditing.record import RulesetLookup
from api.version import program_digest
from api.viewpoints.hand_selection import Selection, leaves
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import Redactor
from api.viewpoints.viewer import Viewer, viewer_of
from engine.games import named
from events.ledger import is_match
from store.folder.disk import archive_folder, archive_url
from store.folder.frames import Damaged
from store.log.streams import Leaf
from store.reader import Reader, Snapshot
from store.segments.reading import files_of
from store.sql.query import COMPUTED_VIEWS
from store.sql.sessions import fetch_table
from store.sql.views import PartMoved, ViewPart

TASK_HANDS = 1 << 16  # of one task: half a second to a few seconds of work
BATCH_ROWS = 1 << 16  # that leave a worker together


class Task(Struct, frozen=True):
    """The hands `first` to `end` of a ledger as of `as_of`, and the digest of the program that
    asks."""

    ledger: str
    as_of: str
    first: int
    end: int
    program: str


class TaskViewer(Struct, frozen=True):
    """A worker's viewpoint: its view, the units of its hands, the tags that name players."""

    view: str
    only: frozenset[str] | None = None
    by_tag: tuple[str, ...] = ()


class ProgramMismatch(Exception):
    """A worker has another muckrake than who asks: its answer could be another one."""


class TaskWork(Protocol):
    """A function that a worker runs on a task; it yields answers as bytes."""

    def __call__(self, task: Task) -> Iterator[bytes]: ...


def tasks(snapshot: Snapshot, hands: int = TASK_HANDS) -> list[Task]:
    """The ledger in tasks of about so many hands; sealed ones begin and end with a row group."""
    files, cuts, next_cut = files_of(snapshot.live.disk), [0], hands
    for segment in snapshot.parts().segments:
        try:
            bounds = files.open(segment, "events").bounds["hand_seq"]
        except Damaged:  # who gets the task says so
            bounds = []
        for low in (segment.first_seq, *(low for low, _ in bounds)):
            if low is not None and low >= next_cut:
                cuts.append(low)
                next_cut = low + hands
    cuts += range(next_cut, snapshot.next_seq, hands)
    ends = [*cuts[1:], snapshot.next_seq]
    folder, mark = snapshot.live.folder.absolute(), program_digest()
    ledger = archive_url(folder) or str(folder)
    return [
        Task(ledger, snapshot.as_of, first, end, mark)
        for first, end in zip(cuts, ends, strict=True)
        if first < end
    ]


def task_snapshot(task: Task) -> Snapshot:
    """The ledger of a task at its moment; one process opens it once."""
    if task.program != program_digest():
        raise ProgramMismatch(
            "a worker has another muckrake than this one: install the same on every machine"
        )
    return _snapshot(task.ledger, task.as_of)


@lru_cache(maxsize=4)
def _snapshot(ledger: str, as_of: str) -> Snapshot:
    return Reader(ledger_folder(ledger)).snapshot(as_of)


def ledger_folder(ledger: str | os.PathLike[str]) -> Path:
    """The folder of a ledger, or of the cache for an archive's URL."""
    place = os.fspath(ledger)
    return archive_folder(place) if "://" in place else Path(place)


@lru_cache(maxsize=4)
def _viewed(ledger: str, as_of: str, who: TaskViewer) -> LedgerView:
    viewed = LedgerView(_snapshot(ledger, as_of), viewer_of(who.view), who.only, who.by_tag)
    atexit.register(viewed.close)
    return viewed


def answers_of_processes(every: Sequence[Task], work: TaskWork, jobs: int) -> Iterator[bytes]:
    """Run tasks in processes of this machine and yield their answers in the order of the tasks."""
    try:
        pool = ProcessPoolExecutor(jobs, get_context("spawn"))
    except OSError as why:
        raise OSError(
            "several processes need shared memory, and this system gives none"
            f" ({why.strerror}): leave --workers out, and one process does it"
        ) from None
    with pool:
        for answers in pool.map(partial(_answers, work), every):
            yield from answers


def _answers(work: TaskWork, task: Task) -> list[bytes]:
    return list(work(task))


# The tasks of a question.


def audit(task: Task, *, ruleset: str | None, all_entries: bool) -> Iterator[bytes]:
    """Audit the hands of a task, some thousand at a time, each as a `BatchAudit`; damaged segments
    are named, and the others are judged."""
    other = named(ruleset) if ruleset else None
    ledger = task_snapshot(task)
    rules = RulesetLookup(ledger, other)

    def judged(first: int, end: int) -> list[bytes]:
        found = audit_batches(ledger, rules, other, all_entries=all_entries, between=(first, end))
        return [msgspec.msgpack.encode(one) for one in found]

    try:
        yield from judged(task.first, task.end)
    except (Damaged, OSError):
        parts = ledger.parts().segments
        segments = [it for it in parts if it.first_seq < task.end and it.last_seq >= task.first]
        cuts = [task.first, *(segment.first_seq for segment in segments[1:])]
        if segments and segments[-1].last_seq + 1 < task.end:  # hands that lie in no segment
            cuts.append(segments[-1].last_seq + 1)
        for first, end in zip(cuts, [*cuts[1:], task.end], strict=True):
            try:
                yield from judged(first, end)
            except (Damaged, OSError) as reason:
                yield msgspec.msgpack.encode(BatchAudit(damaged=str(reason)))


def decode_audit(answer: bytes) -> BatchAudit:
    """Decode the audit that a worker answered."""
    return msgspec.msgpack.decode(answer, type=BatchAudit)


class ExportedRows(Struct, frozen=True):
    """The rows of some hands as they stand in a file of this format."""

    hands: int
    rows: int
    content: bytes


def export(task: Task, *, table: str, to: str, view: str, quoted: bool = False) -> Iterator[bytes]:
    """The rows of a table as a viewpoint sees them: `ExportedRows`. CSV may be for a spreadsheet:
    then no text in it is a formula (`quoted`)."""
    from api.exporting.redacted_tables import write_view
    from api.exporting.table_files import without_formulas

    snapshot = task_snapshot(task)
    redactor, sink = Redactor(snapshot, Viewer(view)), io.BytesIO()
    hands = 0

    def counted() -> Iterator[Leaf]:
        nonlocal hands
        for leaf in redactor.visible_leaves(
            leaves(snapshot, Selection(), between=(task.first, task.end))
        ):
            hands += not is_match(leaf.stream)
            yield leaf

    count = write_view(sink, to, counted(), table, redactor, without_formulas if quoted else None)
    yield msgspec.msgpack.encode(ExportedRows(hands, count, sink.getvalue()))


def schema(viewed: LedgerView, name: str) -> pa.Schema:
    """The columns of a view, in types that every engine has."""
    fields = _answer(viewed, viewed.query.parts(name)[0], "SELECT * FROM ({}) LIMIT 0").schema
    kinds = [it.type.value_type if pa.types.is_dictionary(it.type) else it.type for it in fields]
    return pa.schema(list(zip(fields.names, kinds, strict=True)))


def rows(task: Task, who: TaskViewer, name: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a view as `who` sees them; the first task has those of a view without hands."""
    task_snapshot(task)
    viewed = _viewed(task.ledger, task.as_of, who)
    where = ""
    if name not in COMPUTED_VIEWS:
        where = f"WHERE hand_seq >= {task.first} AND hand_seq < {task.end}"
    elif task.first:
        return
    columns = ", ".join(f'"{one}"' for one in schema.names) or "1"
    for table in _parts(viewed, task, name, f"SELECT {columns} FROM ({{}}) {where}"):
        for batch in table.cast(schema).to_batches(max_chunksize=BATCH_ROWS):
            if batch.num_rows:
                yield batch


def _parts(viewed: LedgerView, task: Task, name: str, sql: str) -> Iterator[pa.Table]:
    """The answers of those parts of a view that may have rows of the task."""
    while True:
        tables = []
        try:
            for part in viewed.query.parts(name):
                of = part.segment
                if of is None or (of.first_seq < task.end and of.last_seq >= task.first):
                    tables.append(_answer(viewed, part, sql))
        except PartMoved:
            continue  # compacted meanwhile: the same rows are in other files
        yield from tables
        return


def _answer(viewed: LedgerView, part: ViewPart, sql: str) -> pa.Table:
    viewed.query.check(part)
    with viewed.query.reading(part) as connection:
        return fetch_table(connection, sql.format(part.sql))
