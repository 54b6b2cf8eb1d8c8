"""A standalone Spark on loopback: a master and workers of one core each, each a process of its own,
started and ended by benches and tests."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

MASTER, WORKER = (f"org.apache.spark.deploy.{it}" for it in ("master.Master", "worker.Worker"))
PATIENCE = 60  # seconds until a process listens
Process = subprocess.Popen[bytes]


class Standalone(NamedTuple):
    """Where the master listens, and the processes of its workers."""

    master: str
    workers: list[Process]


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[Standalone]:
    """A master and so many workers, which write their logs and files into this folder."""
    port, page = free_port(), free_port()
    host = ("--host", "127.0.0.1")
    master = start(folder, MASTER, *host, "--port", str(port), "--webui-port", str(page))
    found: list[Process] = []
    try:
        wait_for(port, master)
        url = f"spark://127.0.0.1:{port}"
        size = ("--cores", "1", "--memory", "1g", "--webui-port", "0")
        found += [start(folder, WORKER, *host, *size, url) for _ in range(workers)]
        yield Standalone(url, found)
    finally:
        for one in (*found, master):
            end(one)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start(folder: Path, *words: str, program: str = "spark-class") -> Process:
    """One of Spark's programs in a process group of its own."""
    import pyspark

    home = Path(pyspark.__file__).parent
    env = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "512m",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [str(home / "bin" / program), *words],
            env=env,
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def wait_for(port: int, process: Process) -> None:
    """Until the process listens there."""
    last = time.monotonic() + PATIENCE
    while True:
        with closing(socket.socket()) as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} has ended with code {process.returncode}")
        if time.monotonic() > last:
            raise TimeoutError(f"{process.args!r} does not listen after {PATIENCE} s")
        time.sleep(0.1)


def end(process: Process) -> None:
    """The process and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
