"""`audit --all` by one process, by two, by Spark in one Java, and by a Spark of two workers.

Takes some minutes and needs Java and the extra `spark`, so it runs only when it is named. Every way
audits 1,000 hands before the clock runs: what it takes until then is its start, and the processes
start once more in every round. Memory is that of all processes of a way together, this one with it.
"""

import os
import shutil
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from msgspec.structs import replace

from api.cluster.spark import answers, session
from api.cluster.tasks import Task, answers_of_processes, audit, decode_audit, tasks
from bench.large import build
from bench.standalone import standalone
from store.folder import manifest
from store.reader import Reader
from store.tables.projection import STANDARD

HANDS = 1_000_000
MOST = 3  # rounds
TENTHS = (1, 3, 10)  # of the hands, a row for each
DISTINCT = 10_000
JOBS = 2
FEW = 100  # hands of a small segment
FIRST = 1_000  # hands that a way audits for a start
PAGE = os.sysconf("SC_PAGE_SIZE")
WORK = partial(audit, ruleset=None, all_entries=False)
Run = Callable[[list[Task]], Iterable[bytes]]


class Measured(NamedTuple):
    """What one way did with one ledger."""

    start: float
    spent: float
    memory: int
    answered: int


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """Hands a second of each way, by the clock on the wall."""
    distinct = max(1, min(DISTINCT, hands // 10))
    sizes = [hands * tenth // 10 // distinct * distinct for tenth in TENTHS]
    found: dict[int, dict[str, Measured]] = {}
    driver = ""
    for size in sizes:
        folder = scratch / str(size)
        build(scratch / "small", folder, size, distinct, projections=STANDARD)
        begun = perf_counter()
        every = tasks(Reader(folder).snapshot())
        handed = perf_counter() - begun
        found[size] = {way: _measured(one, every, size, rounds) for way, one in _ways(scratch)}
        stored = sum(it.stat().st_size for it in folder.rglob("*.parquet"))
        answered = next(iter(found[size].values())).answered
        driver = (
            f"The driver made {len(every):,} tasks in {handed:.2f} s, and workers answered with"
            f" {answered:,} bytes. The ledger has {stored:,} bytes in Parquet."
        )
        shutil.rmtree(folder)
    size, last = sizes[-1], found[sizes[-1]]
    head = list(last)
    return [
        "| hands | " + " | ".join(f"{way}: hands/s" for way in head) + " | Spark to processes |",
        "|---:|" + "---:|" * (len(head) + 1),
        *(_row(one, found[one]) for one in sizes),
        "",
        f"| with {size:,} hands | start, s | most memory, MB | ahead of {head[1]} from |",
        "|---|---:|---:|---:|",
        *(
            f"| {way} | {it.start:.1f} | {it.memory >> 20:,} | {_ahead(it, last[head[1]], size)} |"
            for way, it in last.items()
        ),
        "",
        driver,
        "",
        "| segments | manifest, bytes | opened, s | made into tasks, s |",
        "|---:|---:|---:|---:|",
        *(_handed_out(scratch, hands // one) for one in (100_000, 10_000)),
        "",
    ]


def _handed_out(scratch: Path, segments: int) -> str:
    """What the driver does with a ledger of so many small segments."""
    count, folder = max(1, segments), scratch / f"segments-{segments}"
    build(scratch / "few", folder, count * FEW, FEW, FEW, projections=STANDARD)
    begun = perf_counter()
    snapshot = Reader(folder).snapshot()
    opened = perf_counter()
    handed = tasks(snapshot, FEW)
    spent = perf_counter() - opened
    size = (folder / manifest.PATH).stat().st_size
    shutil.rmtree(folder)
    return f"| {len(handed):,} | {size:,} | {opened - begun:.3f} | {spent:.3f} |"


def _row(size: int, found: dict[str, Measured]) -> str:
    rates = [size / it.spent for it in found.values()]
    cells = [f"{it:,.0f}" for it in rates]
    return f"| {size:,} | {' | '.join(cells)} | {rates[-1] / rates[1]:.2f} |"


def _ahead(one: Measured, other: Measured, size: int) -> str:
    """From how many hands on the way ends before the other does, both starts counted."""
    gained = (other.spent - one.spent) / size
    late = one.start - other.start
    if one is other or gained <= 0:
        return "never" if late > 0 else "-"
    return f"{max(0, round(late / gained)):,} hands"


def _ways(scratch: Path) -> Iterator[tuple[str, AbstractContextManager[Run]]]:
    yield "one process", nullcontext(_one_after_the_other)
    yield f"{JOBS} processes", nullcontext(lambda every: answers_of_processes(every, WORK, JOBS))
    yield f"Spark, local[{JOBS}]", _spark(nullcontext(f"local[{JOBS}]"))
    yield f"Spark, {JOBS} workers", _spark(_master(scratch))


def _one_after_the_other(every: list[Task]) -> Iterator[bytes]:
    for task in every:
        yield from WORK(task)


@contextmanager
def _spark(master: AbstractContextManager[str]) -> Iterator[Run]:
    with master as url, session(url) as spark:
        yield lambda every: answers(spark, every, WORK)


@contextmanager
def _master(scratch: Path) -> Iterator[str]:
    folder = scratch / "spark"
    folder.mkdir(exist_ok=True)
    with standalone(folder, JOBS) as running:
        yield running.master


def _measured(
    way: AbstractContextManager[Run], every: list[Task], size: int, rounds: int
) -> Measured:
    """The median of so many rounds, after a start."""
    spent, answered = [], 0
    begun = perf_counter()
    with _watched() as most, way as run:
        first = replace(every[0], end=min(FIRST, every[0].end))
        deque(run([first] * JOBS), maxlen=0)
        start = perf_counter() - begun
        for _ in range(rounds):
            begun = perf_counter()
            judged, answered = _judged(run(every))
            spent.append(perf_counter() - begun)
            assert judged == size, f"{judged} hands of {size} were judged"
    return Measured(start, median(spent), most[0], answered)


def _judged(found: Iterable[bytes]) -> tuple[int, int]:
    """How many hands have a verdict, and the bytes that say so."""
    judged = size = 0
    for answer in found:
        size += len(answer)
        judged += sum(sum(counts.values()) for _, _, counts in decode_audit(answer).verdicts)
    return judged, size


@contextmanager
def _watched() -> Iterator[list[int]]:
    """The most memory that this process and those below it had together, in bytes."""
    most, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            most[0] = max(most[0], _resident())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()


def _resident() -> int:
    """What this process and all below it hold now."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rpartition(")")[2]
            parents[int(folder.name)] = int(stat.split()[1])
            pages[int(folder.name)] = int((folder / "statm").read_text().split()[1])
        except OSError:  # it has ended
            continue
    ours, grown = {os.getpid()}, True
    while grown:
        below = {one for one, parent in parents.items() if parent in ours} - ours
        ours |= below
        grown = bool(below)
    return PAGE * sum(pages.get(one, 0) for one in ours)
