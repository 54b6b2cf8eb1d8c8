"""Run tasks on Spark, and register a ledger's views for Spark SQL.

Java and pyspark are needed for this alone: what lacks is said in a sentence.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from api.cluster.tasks import (
    Task,
    TaskViewer,
    TaskWork,
    audit,
    decode_audit,
    ledger_folder,
    rows,
    schema,
    tasks,
)
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import viewer_of
from store.reader import Reader
from store.sql.result_values import json_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
JAVA = 17
MASTERS = re.compile(r"(local(\[[1-9][0-9]*\])?|spark://[^/]+:\d+|sc://.+)")
FACTS = "facts"
LEAST, MOST = 16, 4_096  # tasks whose answers the driver takes together
BATCH_BYTES = 128 << 20  # bytes of them, or a few times that where they grow
ANSWER_SCHEMA = pa.schema([("task", pa.int64()), ("place", pa.int64()), ("answer", pa.binary())])
VERDICT_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("hand", "ruleset", "verdict")),
        ("assumed", pa.list_(pa.string())),
        *((name, pa.int64()) for name in ("moves", "at")),
        *((name, pa.list_(pa.int64())) for name in ("recorded", "decided")),
    ]
)


class NoSpark(Exception):
    """Spark cannot be had, or it failed."""


@contextmanager
def session(master: str) -> Iterator["SparkSession"]:
    """A session on `local[N]`, `spark://HOST:PORT` or `sc://HOST`; one begun before is left
    open."""
    if not MASTERS.fullmatch(master):
        raise NoSpark(f"{master} is no Spark: there are local[N], spark://HOST:PORT and sc://HOST")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise NoSpark(
            "there is no pyspark here: pip install 'muckrake-poker[spark]' brings it"
        ) from None
    begun = SparkSession.getActiveSession()
    if begun is not None and begun.conf.get("spark.master", None) == master:
        yield begun
        return
    builder = SparkSession.builder.appName("muckrake")
    if master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        _check_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        if master.startswith("local"):  # nothing is served or listened to beyond this machine
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            settings |= dict.fromkeys(
                ("spark.driver.host", "spark.driver.bindAddress"), "127.0.0.1"
            )
        builder = builder.master(master)
        for name, value in settings.items():
            builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    except Exception as failure:
        raise NoSpark(f"{master} does not answer: {_last_line(failure)}") from None
    try:
        yield spark
    finally:
        spark.stop()


def _check_java() -> None:
    """Spark's driver is a Java program."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    need = f"Spark needs Java {JAVA} or newer: Debian's default-jre-headless has it"
    if java is None or not Path(java).exists():
        raise NoSpark(f"there is no Java here, and {need}")
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "(\d+)', output)
    if match is None or int(match[1]) < JAVA:
        raise NoSpark(f"{java} is {match[1] if match else 'no Java that says its version'}: {need}")


# Tasks and their answers.


def answers(spark: "SparkSession", every: list[Task], work: TaskWork) -> Iterator[bytes]:
    """Run tasks on Spark's workers and yield their answers in the order of the tasks.

    The driver takes the answers of some tasks together: of how many, the size of those before says,
    since Spark refuses more than 1 GB at once.
    """
    start, count = 0, LEAST
    while start < len(every):
        some = every[start : start + count]
        frame = _frame_of_tasks(
            spark, list(enumerate(some)), partial(_answered, work), ANSWER_SCHEMA
        )
        table = _collected(frame).sort_by([("task", "ascending"), ("place", "ascending")])
        yield from (one.as_py() for batch in table.to_batches() for one in batch["answer"])
        start += len(some)
        count = max(
            LEAST, min(MOST, 4 * len(some), BATCH_BYTES * len(some) // max(table.nbytes, 1))
        )


def _answered(work: TaskWork, numbered: tuple[int, Task]) -> Iterator[pa.RecordBatch]:
    """In a worker: the answers to a task, with its number."""
    number, task = numbered
    for place, answer in enumerate(work(task)):
        columns = [pa.array([number]), pa.array([place]), pa.array([answer], pa.binary())]
        yield pa.record_batch(columns, schema=ANSWER_SCHEMA)


def _frame_of_tasks(
    spark: "SparkSession",
    every: Sequence[T],
    answer: Callable[[T], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
) -> "DataFrame":
    """A frame of what workers answer to tasks, each in a partition of its own."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def in_worker(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (it for batch in batches for it in batch["id"].to_pylist()):
            yield from answer(every[number])

    numbers = spark.range(0, len(every), 1, max(len(every), 1))
    return numbers.mapInArrow(in_worker, from_arrow_schema(schema))


def _collected(frame: "DataFrame") -> pa.Table:
    """The rows of a frame; what Spark failed with is one sentence."""
    try:
        return frame.toArrow()
    except Exception as failure:
        raise NoSpark(f"Spark failed: {_last_line(failure)}") from None


def _last_line(failure: Exception) -> str:
    """The last sentence of a failure, without a worker's traceback."""
    text = str(getattr(failure, "desc", None) or failure)
    raised = re.findall(r"^[\w.]+(?:Error|Exception|Program|Damaged): (.+)$", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line.strip()]
    return str(raised[-1] if raised else lines[0] if lines else type(failure).__name__).strip()


# A ledger in a session of somebody's.


def views(
    spark: "SparkSession", ledger: str | os.PathLike[str], view: str = "auditor"
) -> "dict[str, DataFrame]":
    """Register the tables of a ledger, as a viewpoint sees them, as views of a session: those that
    `muckrake sql` has, and `facts`. Each is a frame, too."""
    snapshot = Reader(ledger_folder(ledger)).snapshot()
    viewed = LedgerView(snapshot, viewer_of(view))
    try:
        every = tasks(snapshot)
        names = (*viewed.query.public, FACTS)
        who = TaskViewer(view)
        frames = {name: frame(spark, every, who, name, schema(viewed, name)) for name in names}
    finally:
        viewed.close()
    for name, one in frames.items():
        one.createOrReplaceTempView(name)
    return frames


def frame(
    spark: "SparkSession", every: list[Task], who: TaskViewer, name: str, schema: pa.Schema
) -> "DataFrame":
    """A view of a ledger as a frame, in these columns."""
    return _frame_of_tasks(spark, every, partial(rows, who=who, name=name, schema=schema), schema)


def verdicts(
    spark: "SparkSession", ledger: str | os.PathLike[str], ruleset: str | None = None
) -> "DataFrame":
    """The verdict on every hand of a ledger as a frame: by its own rules, or by others."""

    def judged(task: Task) -> Iterator[pa.RecordBatch]:
        """In a worker: a row for each hand of a task; a damaged segment ends it."""
        for answer in audit(task, ruleset=ruleset, all_entries=True):
            audited = decode_audit(answer)
            if audited.damaged is not None:
                raise ValueError(audited.damaged)
            if audited.entries:
                yield pa.RecordBatch.from_pylist(audited.entries, VERDICT_SCHEMA)

    return _frame_of_tasks(
        spark, tasks(Reader(ledger_folder(ledger)).snapshot()), judged, VERDICT_SCHEMA
    )


class SparkFacts:
    """Facts of a ledger, asked in Spark's SQL; of each question only the columns that it names."""

    def __init__(self, spark: "SparkSession", viewed: LedgerView) -> None:
        self._spark = spark
        self._every = tasks(viewed.snapshot)
        self._who = TaskViewer(viewed.viewer.view, viewed.only, viewed.by_tag)
        self._schema = schema(viewed, FACTS)

    def ask(self, sql: str) -> pa.Table:
        """The answer as a table."""
        words = set(re.findall(r"\w+", sql))
        schema = pa.schema([it for it in self._schema if it.name in words])
        one = frame(self._spark, self._every, self._who, FACTS, schema)
        one.createOrReplaceTempView(FACTS)
        return answer(self._spark, _TEXTS.sub(_spark_literal, sql))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as plain values."""

        return json_rows(self.ask(sql))


_TEXTS = re.compile(r"""--[^\n]*|"[^"]*"|'(?:[^']|'')*'""")


def _spark_literal(match: re.Match[str]) -> str:
    """A text of standard SQL as Spark spells it, for which a backslash begins an escape."""
    if not match[0].startswith("'"):
        return match[0]
    text = match[0][1:-1].replace("''", "'")
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def answer(spark: "SparkSession", sql: str) -> pa.Table:
    """The answer to one SELECT."""
    try:
        frame = spark.sql(f"SELECT * FROM (\n{sql}\n)")
    except Exception as failure:
        raise NoSpark(f"Spark takes no such question: {_last_line(failure)}") from None
    return _collected(frame)
