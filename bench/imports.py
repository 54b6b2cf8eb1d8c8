"""Foreign files into a ledger: gamelogs a second, PHH and PokerStars beside pokerkit's readers.

Ours is the whole import: read, put to the rules, written, durable; from the first file to the
last answer, with the processes that this machine has cores for; they are started anew each time,
and that is counted. The last checkpoint, signed when the ledger is closed, comes on top. Targets:
gamelogs at 10,000 hands a second with --no-audit, which leaves verdicts, and the tables from
which questions are answered, for later; PHH and PokerStars ten times as fast as pokerkit. What
fewer hands cost, among which the start of processes counts for more, is told too. Texts are of
simulated hands; gamelogs are told again under other names, because to simulate them takes longer
than to read them. pokerkit reads the first of the same files and plays it to the end, in one
process that runs already.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from time import perf_counter
from typing import NamedTuple

import muckrake.__main__ as command
from api.cli.import_ import RESOLVED_LATER
from api.importing.import_writer import ImportWriter
from api.importing.input_copies import inputs
from api.importing.pool import outcomes
from api.importing.worker import ImportOptions
from api.playing.recording import ledger_projections
from bench.import_texts import FILE, gamelogs, one_log, phh_files, pokerstars_files
from bench.ledger import disk
from bench.peers import installed, label
from bench.runner import Bench, Contender, Target, measure, table
from store.folder.disk import now_ms
from store.ledger import FileLedger, open_ledger

HANDS = 20_000
MANY, FEW = 5, 2  # so many times more gamelogs, to see past the start of processes; and fewer
ROUNDS = 1_000  # of a log
GOAL = 10_000  # hands a second
BESIDE = 2  # so many times more hands beside pokerkit; and fewer
PEER = 1  # file of them is read by pokerkit, which takes its time
MOST = 3  # rounds


class Took(NamedTuple):
    """Seconds until every hand was durable, until the ledger was closed, and of all processors."""

    durable: float
    closed: float
    worked: float


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """Gamelogs alone; then two formats beside a peer."""
    many, few = hands * BESIDE, max(1, hands // BESIDE)
    lines = [disk(scratch), "", *_gamelogs(scratch, hands, rounds)]
    for name, made, peer in (
        ("PHH", phh_files, _phh),
        ("PokerStars", pokerstars_files, _stars),
    ):
        folders = made(scratch / f"{name} many", many), made(scratch / f"{name} few", few)
        bench = _beside(scratch, name, folders, (many, few), peer)
        names = {contender.name: label(contender) for contender in bench.contenders}
        lines += [table(bench, measure(bench, rounds, seconds), names), ""]
    return lines


def imported(
    scratch: Path, path: Path, *, audit: bool = False, processes: int | None = None
) -> Took:
    """One import into a new ledger."""
    start, before = perf_counter(), _worked()
    with _opened(scratch) as (folder, ledger), _as_a_command():
        files = list(inputs([path], folder))
        options = ImportOptions(audit=audit)
        now = now_ms(), ledger.nonces
        read = outcomes(files, options, folder, *now, lambda hands: None, processes)
        for found, added in ImportWriter(ledger, "sealed", () if audit else RESOLVED_LATER).write(
            read
        ):
            assert found.refused is None, found.refused
            assert added == found.hands, found.skipped
        durable = perf_counter() - start
    return Took(durable, perf_counter() - start, max(_worked() - before, 1e-6))


def _worked() -> float:
    """Seconds of processor time, of this process and of those it has waited for; `os.times` counts
    in hundredths."""
    both = (getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return sum(it.ru_utime + it.ru_stime for it in both)


_numbers = count()


@contextmanager
def _opened(scratch: Path) -> Iterator[tuple[Path, FileLedger]]:
    folder = scratch / f"ledger-{next(_numbers)}"
    ledger, lock = open_ledger(folder, "bench", ledger_projections(folder))
    try:
        yield folder, ledger
    finally:
        ledger.close()
        lock.release()


@contextmanager
def _as_a_command() -> Iterator[None]:
    """What it starts imports what a command's processes do, and not this module with all others."""
    here, sys.modules["__main__"] = sys.modules["__main__"], command
    try:
        yield
    finally:
        sys.modules["__main__"] = here


def _gamelogs(scratch: Path, hands: int, rounds: int) -> list[str]:
    """Many logs, few of them, and as many hands as in many in a single log."""
    many, few, each = hands * MANY, hands // FEW, min(ROUNDS, hands)
    logs = gamelogs(scratch / "logs", many, each)
    some = gamelogs(scratch / "some", few, min(each, few))
    long = one_log(scratch / "long.txt", many, each)
    ways: dict[str, tuple[int, Callable[[], Took]]] = {
        "--no-audit": (many, lambda: imported(scratch, logs)),
        "--no-audit, few": (few, lambda: imported(scratch, some)),
        "--no-audit, few, one process": (few, lambda: imported(scratch, some, processes=1)),
        "--no-audit, all in one log": (many, lambda: imported(scratch, long)),
        "audited, few": (few, lambda: imported(scratch, some, audit=True)),
    }
    lines = [
        f"## MIT gamelogs of {each:,} hands",
        "",
        "| | hands | hands/s, durable | hands/s, ledger closed | processor time a hand |",
        "|---|---:|---:|---:|---:|",
    ]
    reached = 0.0
    for name, (size, act) in ways.items():
        took = [act() for _ in range(1 if reached and size == many else rounds)]
        durable, closed, worked = (size / median(times) for times in zip(*took, strict=True))
        reached = reached or closed
        spent = f"{1e6 / worked:,.0f} µs"
        lines.append(f"| {name} | {size:,} | {durable:,.0f} | {closed:,.0f} | {spent} |")
    verdict = "met" if reached >= GOAL else "**missed**"
    return [
        *lines,
        "",
        f"- goal: {GOAL:,} hands/s with --no-audit, ledger closed: {verdict}, {reached:,.0f}",
        "",
    ]


def _beside(
    scratch: Path,
    name: str,
    folders: tuple[Path, Path],
    sizes: tuple[int, int],
    peer: Callable[[str], Iterable[object]],
) -> Bench:
    """Ours in as many processes as there are cores, of many hands and few, and in one; a peer."""
    (many, few), (hands, fewer) = folders, sizes

    def ours(folder: Path, size: int, processes: int | None) -> Callable[[int], int]:
        def run(count: int) -> int:
            imported(scratch, folder, processes=processes)
            return size

        return run

    def theirs(count: int) -> int:
        texts = (path.read_text("utf-8") for path in sorted(few.iterdir())[:PEER])
        read = sum(1 for text in texts for _ in peer(text))
        assert read == min(fewer, PEER * FILE)
        return read

    contenders = [
        Contender("muckrake", ours(many, hands, None)),
        Contender(f"muckrake, {fewer:,} hands", ours(few, fewer, None)),
        Contender(f"muckrake, {fewer:,} hands, one process", ours(few, fewer, 1)),
    ]
    if installed("pokerkit"):
        contenders.append(Contender("pokerkit", theirs, "pokerkit"))
    return Bench(
        f"{name}, {hands:,} six-handed hands in files of {FILE}, --no-audit",
        "hand",
        "hand",
        tuple(contenders),
        (Target("pokerkit", 10.0),),
        perf_counter,
        hands,
    )


def _phh(text: str) -> Iterator[object]:
    from pokerkit import HandHistory

    for history in HandHistory.loads_all(text):
        *_, last = history
        yield last


def _stars(text: str) -> Iterator[object]:
    from pokerkit.notation import PokerStarsParser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a field of its own
        for history in PokerStarsParser()(text):
            *_, last = history
            yield last
