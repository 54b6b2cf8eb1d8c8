"""A master and two workers of Spark on loopback, and Spark Connect: the same answers, even when a
worker is killed in the middle."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from api.cluster import tasks as cluster
from api.cluster.spark import answers, session
from bench.standalone import Standalone, end, free_port, standalone, start, wait_for
from store.reader import Reader
from tests.sessions import Captured, printed

pytestmark = pytest.mark.slow  # test_spark.py holds the same on this machine
ASKED = ((("audit", "--all"), 3), (("stats", "random-0"), 0))


@pytest.fixture(scope="module")
def running(spark_here: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    from pyspark.sql import SparkSession

    if (begun := SparkSession.getActiveSession()) is not None:
        begun.stop()  # one process drives one Spark
    with standalone(tmp_path_factory.mktemp("standalone")) as cluster_here:
        yield cluster_here


def test_a_cluster_answers_as_one_machine(
    running: Standalone, ledger: Path, capsys: Captured
) -> None:
    for words, code in ASKED:
        asked = (*words, "--json", "--ledger", str(ledger))
        here = printed(capsys, *asked, code=code)
        assert here == printed(capsys, *asked, "--on", running.master, code=code)


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    running: Standalone, ledger: Path
) -> None:
    snapshot = Reader(ledger).snapshot()
    whole = cluster.tasks(snapshot)[0]
    every = [
        cluster.Task(str(ledger), whole.as_of, at, at + 1, whole.program)
        for at in range(snapshot.next_seq)
    ]
    audit = partial(cluster.audit, ruleset=None, all_entries=True)
    expected = [answer for task in every for answer in audit(task)]
    times = 4
    killed = threading.Event()

    def kill() -> None:
        """The first worker, once it has an executor that works."""
        first = running.workers[0]
        while not killed.is_set():
            if _python_of(first.pid):
                os.killpg(first.pid, signal.SIGKILL)
                killed.set()
            time.sleep(0.05)

    with session(running.master) as spark:
        thread = threading.Thread(target=kill)
        thread.start()
        try:
            found = list(answers(spark, every * times, audit))
        finally:
            was_killed = killed.is_set()
            killed.set()
            thread.join()
    assert was_killed
    assert found == expected * times


def _python_of(group: int) -> bool:
    """Whether a process of this group runs Python: an executor has begun a task."""
    processes = subprocess.run(
        ["ps", "-eo", "pgid=,args="], capture_output=True, text=True, check=True
    ).stdout
    lines = (line.split(None, 1) for line in processes.splitlines())
    return any(int(pgid) == group and "pyspark" in args and "-m" in args for pgid, args in lines)


def test_spark_connect_answers_as_one_machine(
    spark_here: None, ledger: Path, capsys: Captured, tmp_path: Path
) -> None:
    """`sc://`: the session is elsewhere, and no Java is needed here."""
    pytest.importorskip("grpc")
    port = free_port()
    server = start(
        tmp_path,
        *("--master", "local[1]", "--conf", "spark.ui.enabled=false"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--conf", f"spark.connect.grpc.binding.port={port}"),
        *("--conf", "spark.connect.grpc.binding.address=127.0.0.1"),
        *("--name", "connect", "spark-internal"),
        program="spark-submit",
    )
    try:
        wait_for(port, server)
        program = "import sys; from api.main import main; sys.exit(main())"
        for words, code in ASKED:
            asked = (*words, "--json", "--ledger", str(ledger))
            here = printed(capsys, *asked, code=code)
            there = subprocess.run(
                [sys.executable, "-c", program, *asked, "--on", f"sc://127.0.0.1:{port}"],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (there.returncode, there.stdout) == (code, here), there.stderr
    finally:
        end(server)
