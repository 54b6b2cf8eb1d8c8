"""A ledger cut into tasks at any place gives what it gives whole: no hand is in two."""

import errno
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pytest

from api.cluster import spark
from api.cluster import tasks as cluster
from api.cluster.tasks import ExportedRows, ProgramMismatch, Task
from api.main import main
from api.version import program_digest
from store.reader import Reader, Snapshot
from tests import profiles
from tests.cluster.ledgers import PLAYED, damaged
from tests.sessions import Captured, printed, said, told


def _cut(folder: Path, snapshot: Snapshot, places: list[int]) -> list[Task]:
    ends = [*places[1:], snapshot.next_seq]
    return [
        Task(str(folder), snapshot.as_of, first, end, program_digest())
        for first, end in zip(places, ends, strict=True)
    ]


def _at_the_worst(folder: Path) -> list[list[Task]]:
    """One task, and cuts in the middle of segments, before their last hands and after; `slow` cuts
    every segment so."""
    snapshot = Reader(folder).snapshot()
    segments = snapshot.parts().segments
    assert len(segments) > 1
    assert segments[-1].last_seq < snapshot.next_seq - 1, "some hands are not sealed"
    edges = {0}
    for one in segments[:: profiles.sized(2, 2, 1)]:
        middle = (one.first_seq + one.last_seq) // 2
        edges |= {middle, one.last_seq, one.last_seq + 1}
    return [_cut(folder, snapshot, places) for places in ([0], sorted(edges))]


def test_an_audit_of_the_parts_is_that_of_the_whole(ledger: Path, capsys: Captured) -> None:
    whole = told(capsys, "audit", "--all", "--ledger", str(ledger), code=3)["hands"]
    assert {"agree", "differ"} <= {one["verdict"] for one in whole}
    for every in _at_the_worst(ledger):
        found = [
            cluster.decode_audit(answer)
            for task in every
            for answer in cluster.audit(task, ruleset=None, all_entries=True)
        ]
        assert [entry for one in found for entry in one.entries] == whole
        counted = Counter[str]()
        for one in found:
            for _, _, verdicts in one.verdicts:
                counted.update(verdicts)
        assert counted == Counter(one["verdict"] for one in whole)


@pytest.mark.parametrize(
    ("name", "view"),
    profiles.in_turn(
        ("events", "hands", "facts", "decisions", "rulesets"),
        ("auditor", "public", "seat:random-0"),
    ),
)
def test_the_rows_of_the_parts_are_those_of_the_whole(ledger: Path, view: str, name: str) -> None:
    for every in _at_the_worst(ledger):
        who = cluster.TaskViewer(view)
        viewed = cluster._viewed(str(ledger), every[0].as_of, who)
        schema = cluster.schema(viewed, name)
        order = [(it, "ascending") for it in ("hand_seq", "idx", "seat") if it in schema.names]
        whole = viewed.ask(f"SELECT * FROM {name}").cast(schema)
        parts = [batch for task in every for batch in cluster.rows(task, who, name, schema)]
        found = pa.Table.from_batches(parts, schema)
        assert found.num_rows == whole.num_rows > 0
        if order:
            found, whole = found.sort_by(order), whole.sort_by(order)
            assert found.equals(whole)


FILES = (  # a format, and who looks
    *(("ndjson", "auditor"), ("csv", "public"), ("arrow", "auditor")),
    *(("ndjson", "public"), ("csv", "auditor"), ("arrow", "public")),
)


TABLES = ("events", "players", "facts", "decisions")


@pytest.mark.parametrize(
    ("table", "file"), profiles.in_turn(profiles.sized(TABLES[:3], TABLES), FILES)
)
def test_an_export_of_the_parts_is_that_of_the_whole(
    ledger: Path, table: str, file: tuple[str, str], tmp_path: Path
) -> None:
    to, view = file
    into = tmp_path / f"whole.{to}"
    words = ("--to", to, "--table", table, "--as", view, "--out", str(into))
    assert main(["export", *words, "--ledger", str(ledger)]) == 0
    for every in _at_the_worst(ledger):
        found = [
            msgspec.msgpack.decode(answer, type=ExportedRows).content
            for task in every
            for answer in cluster.export(task, table=table, to=to, view=view)
        ]
        if to == "arrow":
            tables = [pa.ipc.open_stream(one).read_all() for one in found]
            assert pa.concat_tables(tables).equals(pa.ipc.open_file(into).read_all())
        else:
            heads = [
                one.index(b"\n") + 1 if number and to == "csv" else 0
                for number, one in enumerate(found)
            ]
            joined = b"".join(one[head:] for one, head in zip(found, heads, strict=True))
            assert joined == into.read_bytes()


def test_sealed_tasks_begin_with_a_row_group(ledger: Path) -> None:
    snapshot = Reader(ledger).snapshot()
    every = cluster.tasks(snapshot, 1)
    assert [0, *(one.end for one in every)] == [*(one.first for one in every), snapshot.next_seq]
    firsts = {one.first_seq for one in snapshot.parts().segments}
    assert firsts <= {one.first for one in every}
    assert 1 == len(cluster.tasks(snapshot))


@pytest.mark.ci
def test_hands_stay_where_they_are_when_the_ledger_is_compacted(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    """A task names hands, and not the files that they lay in when it was handed out."""
    folder = tmp_path / "ledger"
    shutil.copytree(ledger, folder)
    snapshot = Reader(folder).snapshot()
    every = cluster.tasks(snapshot, 1)[:: profiles.sized(2, 1)]
    audit = partial(cluster.audit, ruleset=None, all_entries=True)
    before = [answer for task in every for answer in audit(task)]
    printed(capsys, "compact", "--ledger", str(folder))
    assert before == [answer for task in every for answer in audit(task)]


@pytest.mark.ci
def test_processes_answer_as_one_does(ledger: Path, capsys: Captured) -> None:
    words = ("audit", "--all", "--ledger", str(ledger))
    for more in profiles.sized((["--json"],), ([], ["--json"])):
        one = printed(capsys, *words, *more, code=3)
        assert one == printed(capsys, *words, "--workers", "2", *more, code=3)


@pytest.mark.ci  # before, processes read a ledger as one does, above, and commands an archive
def test_an_archive_is_audited_where_it_is(ledger: Path, tmp_path: Path, capsys: Captured) -> None:
    """Workers fetch what they judge; the ledger's own are held to be as one process above."""
    folder, url = tmp_path / "ledger", (tmp_path / "archive").as_uri()
    shutil.copytree(ledger, folder)
    printed(capsys, "compact", "--ledger", str(folder))
    printed(capsys, "push", url, "--ledger", str(folder))
    words = ("audit", "--all", "--json", "--ledger")
    here = printed(capsys, *words, str(folder), code=3)
    assert here == printed(capsys, *words, url, "--workers", "2", code=3)


def test_another_program_is_not_asked(ledger: Path) -> None:
    """Its verdict could be another one."""
    snapshot = Reader(ledger).snapshot()
    task = Task(str(ledger), snapshot.as_of, 0, 1, "of an older muckrake")
    with pytest.raises(ProgramMismatch, match="install the same on every machine"):
        list(cluster.audit(task, ruleset=None, all_entries=False))


@pytest.mark.ci
def test_what_is_damaged_is_named_and_the_rest_is_judged_if_wanted(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = damaged(ledger, tmp_path / "ledger")
    words = ("audit", "--all", "--workers", "1", "--ledger", str(tmp_path / "ledger"))
    assert file in said(capsys, 3, *words)
    assert main([*words, "--skip-damaged"]) == 3
    out, err = capsys.readouterr()
    assert f"not judged: {file}" in err
    assert PLAYED[-1] in out
    assert f"{PLAYED[0]}\t" not in out


def test_processes_that_cannot_share_memory_are_refused_in_one_sentence(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("multiprocessing.synchronize._multiprocessing.SemLock", refused)
    words = ("audit", "--all", "--workers", "2", "--ledger", str(ledger))
    assert (
        "several processes need shared memory, and this system gives none (Permission denied): "
        "leave --workers out, and one process does it"
    ) == said(capsys, 1, *words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("scrim/1", "--workers", "2"), "--workers and --on are for --all"),
        (("--all", "--engine", "--on", "local[2]"), "--workers and --on are for --all"),
        (("--all", "--workers", "2", "--on", "local[2]"), "name one"),
        (("--all", "--skip-damaged"), "--skip-damaged is for --workers and --on"),
    ],
)
def test_what_makes_no_sense_together_is_said(
    words: tuple[str, ...], sentence: str, capsys: Captured
) -> None:
    assert sentence in said(capsys, 2, "audit", *words)


class Here:
    """What the driver asks of Spark, done in this process."""

    def __init__(self) -> None:
        self.together: list[int] = []

    def range(self, start: int, end: int, _step: int, partitions: int) -> "Here":
        self.together.append(partitions)
        self.numbers = pa.record_batch([pa.array(range(start, end))], ["id"])
        return self

    def mapInArrow(  # noqa: N802
        self, work: Callable[..., Iterator[pa.RecordBatch]], _schema: str
    ) -> "Here":
        self.work = work
        return self

    def toArrow(self) -> pa.Table:  # noqa: N802
        return pa.Table.from_batches(reversed(list(self.work([self.numbers]))))


@pytest.mark.parametrize(("bytes_", "together"), [(1 << 20, [16, 64, 220]), (1, [16, 16, 16])])
def test_the_driver_takes_as_many_answers_together_as_their_size_allows(
    monkeypatch: pytest.MonkeyPatch, bytes_: int, together: list[int]
) -> None:
    """Spark refuses a driver more than 1 GB of them."""
    monkeypatch.setattr(spark, "BATCH_BYTES", bytes_)
    every = [cluster.Task("", "", number, number + 1, "") for number in range(sum(together))]
    here: Any = Here()
    found = spark.answers(here, every, lambda task: iter([bytes([task.first % 251])]))
    assert [one[0] for one in found] == [task.first % 251 for task in every]
    assert here.together == together
