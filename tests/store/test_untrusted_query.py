"""A stranger's SQL runs in a process of its own: attacks on memory, time, files and others."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest

from store.reader import Reader
from store.sql import worker_pool as pool
from store.sql.guard import Refused
from store.sql.query import Query
from store.sql.untrusted_query import UntrustedQuery
from store.sql.worker_pool import WorkerPool
from tests.profiles import sized
from tests.store.test_query import PLAYED, filled

MEMORY = "200MB"
MOST = 900 << 20  # bytes that a process may ever have: DuckDB, Python, the limit and some more
OWN = 150 << 20  # by which the process that asks may grow
HANDS = sum(PLAYED.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with two segments and a hot tail."""
    found = tmp_path_factory.mktemp("ledger")
    filled(found, lambda count: count in (5, 11)).close()
    return found


@pytest.fixture(scope="module")
def processes() -> Iterator[WorkerPool]:
    found = WorkerPool(memory=MEMORY)
    yield found
    found.close()


@pytest.fixture(scope="module")
def query(folder: Path) -> Query:
    return Query(Reader(folder).snapshot())


@pytest.fixture(scope="module")
def asked(query: Query, processes: WorkerPool) -> UntrustedQuery:
    """Warm: its tables are made, its processes wait."""
    found = UntrustedQuery(query, processes=processes)
    found.ask("FROM players")
    return found


ATTACKS = (
    "SELECT len(range(1000000000))",
    "SELECT levenshtein(repeat('a', 100000000), repeat('b', 100000000))",
    "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000)) + count(*) FROM players",
    "SELECT len(list_resize([1], 1000000000, 2))",
    "SELECT length(lpad('x', 2000000000, 'y'))",
    "SELECT length(strftime(DATE '2020-01-01', repeat('%c %A %B', 60000000)))",
    "SELECT length(array_to_string(range(300000000), repeat('x', 100)))",
    f"SELECT count(*) FROM {', '.join(f'range(9) AS t{n}' for n in range(700))}",
    "SELECT count(*) FROM range(1000000000) a, range(1000) b",
    "SELECT string_agg(repeat('x', 1000000), '') FROM range(1000000)",
    "SELECT range, repeat('x', 100000) FROM range(1000000)",
)


FEW = (*ATTACKS[:2], ATTACKS[4], *ATTACKS[7:9], ATTACKS[-1])  # lists, time, a text, tables, rows


@pytest.mark.parametrize("sql", sized(FEW, ATTACKS), ids=lambda sql: str(sql)[7:40])
def test_an_attack_is_one_sentence_and_nobody_else_s_matter(
    asked: UntrustedQuery, sql: str
) -> None:
    """Memory and time are its own process's, and others are answered meanwhile."""
    said: list[str] = []

    def attack() -> None:
        try:
            asked.ask(sql, 100_000, sized(0.5, 1.0, 2.0))
            said.append("answered")
        except Refused as reason:
            said.append(str(reason))

    before, peak = memory(os.getpid()), 0
    thread = threading.Thread(target=attack)
    began = time.monotonic()
    thread.start()
    counted = asked.rows("SELECT count(*) AS n FROM players")
    while thread.is_alive():
        peak = max(peak, *map(memory, children(parent(asked))), 0)
        time.sleep(0.005)
    assert [{"n": 2 * HANDS}] == counted
    assert len(said) == 1
    assert said[0].startswith(("stopped: ", "the answer has more than ")), said
    assert "\n" not in said[0]
    assert peak < MOST
    assert memory(os.getpid()) - before < OWN
    assert time.monotonic() - began < 60


def test_the_system_s_limit_holds_where_duckdb_s_does_not(processes: WorkerPool) -> None:
    """DuckDB counts what its own buffers take; the address space counts everything."""
    with pytest.raises(Refused, match=r"^stopped: the answer needs more memory than 200MB$"):
        unguarded(processes, "SELECT len(range(1000000000))")


DEEP = (
    "SELECT " + "(" * 30_000 + "1" + ")" * 30_000,
    "SELECT " + "NOT " * 30_000 + "true",
    "SELECT " + "[" * 5_000 + "1" + "]" * 5_000,
    "SELECT " + "1 + " * 50_000 + "1",
    "SELECT * FROM " + "(SELECT * FROM " * 3_000 + "hands" + ")" * 3_000,
)


@pytest.mark.parametrize("sql", DEEP, ids=lambda sql: str(sql)[7:20])
def test_what_no_parser_survives_ends_its_own_process_only(asked: UntrustedQuery, sql: str) -> None:
    try:
        said = str(asked.ask(sql, 10, 10.0).num_rows)
    except Refused as reason:
        said = str(reason)
    assert "\n" not in said
    assert [{"n": HANDS}] == asked.rows("SELECT count(*) AS n FROM hands")


REACHING = (
    "SELECT content FROM read_text('/etc/passwd')",
    "SELECT content FROM read_text('/proc/self/environ')",
    "SELECT content FROM read_blob('/proc/self/mem')",
    "SELECT * FROM glob('/proc/self/fd/*')",
    "FROM '{segment}'",
    "FROM read_parquet('{segment}')",
    "ATTACH '{segment}' AS other",
    "ATTACH '/proc/self/fd/3' AS other",
    "COPY (SELECT 1) TO '{out}'",
    "COPY hands TO '{out}'",
    "EXPORT DATABASE '{out}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "RESET lock_configuration",
    "DELETE FROM part0.rows",
    "CALL enable_logging(storage = 'file', storage_config = {{'path': '{out}'}})",
)


@pytest.mark.parametrize("sql", REACHING)
def test_without_the_guard_nothing_is_reached(
    folder: Path, tmp_path: Path, asked: UntrustedQuery, sql: str
) -> None:
    names = {"segment": min((folder / "segments").glob("events*")), "out": tmp_path / "out"}
    with pytest.raises(Refused):
        with_tables(asked, sql.format(**names))
    assert [] == list(tmp_path.iterdir())


LOCK = """
import ctypes, mmap, os, socket, sys
from store.sql import seccomp
held = os.open("/etc/passwd", os.O_RDONLY)
libc = ctypes.CDLL(None, use_errno=True)
seccomp.lock()
def refused(act):
    try:
        act()
    except PermissionError:
        return True
    return False
tried = {
    "open": lambda: os.open("/etc/passwd", os.O_RDONLY),
    "stat": lambda: os.stat("/etc/passwd"),
    "list": lambda: os.listdir("/"),
    "link": lambda: os.readlink("/proc/self/exe"),
    "socket": lambda: socket.socket(),
    "fork": os.fork,
    "run": lambda: os.execv("/bin/true", ["true"]),
    "kill": lambda: os.kill(os.getppid(), 0),
    "limits": lambda: __import__("resource").setrlimit(7, (9, 9)),
    "executable memory": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
    "memory file": lambda: os.memfd_create("x"),
    "pipe": os.pipe,
    "user": lambda: os.setuid(1),
    "remove": lambda: os.unlink("/tmp/nothing"),
}
print([name for name, act in tried.items() if not refused(act)], len(os.read(held, 1)))
sys.stdout.flush()
os._exit(0)
"""


def test_a_locked_process_can_compute_and_read_what_it_holds_and_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", LOCK], capture_output=True, text=True, check=False)
    assert "[] 1\n" == done.stdout, done.stderr


def test_where_nothing_can_be_locked_nothing_is_answered(
    asked: UntrustedQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import platform; platform.machine = lambda: 'riscv64'\n" + LOCK
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    why = "SeccompUnavailable: it needs Linux on x86_64 or aarch64, this is linux on riscv64"
    assert why in done.stderr
    monkeypatch.setattr(pool._Worker, "opened", lambda *given: {"refused": "it needs Linux"})
    with pytest.raises(Refused, match=r"^SQL is not answered on this system: it needs Linux$"):
        asked.ask("SELECT 'never asked before'")


def test_no_question_finds_what_another_left(asked: UntrustedQuery) -> None:
    for sql in (
        "CREATE TEMP TABLE left_behind AS SELECT 1 AS x",
        "CREATE MACRO left_behind() AS 1",
        "SET VARIABLE left_behind = 1",
        "PREPARE left_behind AS SELECT 1",
    ):
        try:
            with_tables(asked, sql)
        except Refused:
            continue
    for sql in ("FROM left_behind", "SELECT left_behind()", "EXECUTE left_behind"):
        with pytest.raises(Refused):
            with_tables(asked, sql)
    answer = with_tables(asked, "SELECT getvariable('left_behind') AS x")
    assert [{"x": None}] == answer.to_pylist()


def test_a_process_that_is_killed_is_a_sentence(asked: UntrustedQuery) -> None:
    said: list[str] = []

    def ask() -> None:
        try:
            asked.ask("SELECT count(*) FROM range(1000000000) a, range(1000) b", None, 30.0)
        except Refused as reason:
            said.append(str(reason))

    asked.ask("SELECT 1")  # the parent is there
    idle = set(children(parent(asked)))
    thread = threading.Thread(target=ask)
    thread.start()
    busy = until(lambda: [one for one in children(parent(asked)) if processor(one) > 0.3])
    for one in busy:
        os.kill(one, signal.SIGKILL)
    thread.join(20)
    assert ["stopped: the answer needs more than its process may have (signal 9)"] == said
    assert idle
    assert 1 == asked.ask("SELECT 1").num_rows


def test_a_parent_that_is_killed_is_replaced(asked: UntrustedQuery) -> None:
    asked.ask("SELECT 1")
    before = parent(asked)
    os.kill(before, signal.SIGKILL)
    until(lambda: not children(before))
    assert 1 == asked.ask("SELECT 1").num_rows
    assert before != parent(asked)


def test_processes_end_with_the_server(tmp_path: Path) -> None:
    """However it ends: nobody is left who could still be asked."""
    code = (
        "import os, time; from store.sql.worker_pool import WorkerPool; w = WorkerPool();"
        "w.ask({'views': {}, 'rows_max': None}, (), 'SELECT 1', 5);"
        "print(w._parent.pid, flush=True); time.sleep(60)"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    ended = int(server.stdout.readline())
    assert children(ended)
    server.kill()
    server.wait(10)
    server.stdout.close()
    until(lambda: not Path(f"/proc/{ended}").exists() or not children(ended))


def test_at_most_so_many_are_asked_at_once(query: Query) -> None:
    one = WorkerPool(memory=MEMORY, at_once=1, idle=1)
    asked, most = UntrustedQuery(query, processes=one), 0
    asked.ask("SELECT 1")
    rows = sized(3_000, 6_000, 20_000)
    long = f"SELECT sum(a.range + b.range) FROM range({rows}) a, range(1500) b"
    threads = [threading.Thread(target=lambda: asked.ask(long)) for _ in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most = max(most, len(children(parent(asked))))
        time.sleep(0.002)
    assert 1 <= most < 8  # the one that is asked, the one that waits, and those that are going
    one.close()


def test_an_answer_is_bounded_in_bytes(
    asked: UntrustedQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "BYTES_MAX", 1 << 20)
    with pytest.raises(Refused, match=r"^the answer has more than 1 MB: add a LIMIT$"):
        asked.ask("SELECT repeat('x', 1000) AS x FROM range(100000)")


def test_a_broken_answer_is_a_sentence(
    asked: UntrustedQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who made it is not believed."""
    monkeypatch.setattr(
        WorkerPool,
        "ask",
        lambda *given: pool.WorkerReply({"views": [], "words": []}, b"no Arrow at all"),
    )
    with pytest.raises(Refused, match=r"^this answer cannot be told: "):
        asked.ask("SELECT 'nobody asked this'")


def test_text_that_is_none_is_refused(asked: UntrustedQuery) -> None:
    with pytest.raises(Refused, match="it is no text"):
        asked.ask("SELECT '\ud800'")


def unguarded(processes: WorkerPool, sql: str) -> None:
    processes.ask({"views": {}, "rows_max": None}, (), sql, 10)


def with_tables(asked: UntrustedQuery, sql: str) -> pa.Table:
    """The answer to a statement that nobody looked at, with all tables of a stranger."""
    with ExitStack() as stack:
        files, views = asked._shown({"views": asked.views, "words": None}, stack)
        answer = asked._workers.ask({"views": views, "rows_max": None}, files, sql, 10)
    return pa.ipc.open_stream(answer.pieces).read_all()


def parent(asked: UntrustedQuery) -> int:
    found = asked._workers._parent
    assert found is not None
    return found.pid


def children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def memory(pid: int) -> int:
    """What a process has of the machine's, in bytes."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def until(found: Callable[[], object], seconds: float = 20.0) -> list[int]:
    """What is there as soon as there is any."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if there := found():
            return there if isinstance(there, list) else []
        time.sleep(0.01)
    raise AssertionError("nothing came of it")
