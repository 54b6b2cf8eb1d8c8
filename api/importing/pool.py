"""Import files in several processes, and yield their outcomes in the order of the files.

Small files are done many at a time, and few enough wait that memory does not grow with them. What
is small altogether is done here: to start a process takes longer. A process of ours leaves Ctrl-C
to the one that writes.

A very large file is read by several processes: its parts on the way out, one outcome on the way
back.
"""

import gc
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from api.importing.input_copies import InputFile, input_copy, remove_copy
from api.importing.spill import open_spill
from api.importing.worker import (
    NAMED_MAX,
    ImportOptions,
    ImportOutcome,
    format_of_input,
    import_file,
)
from dealer.worker import ctrl_c_blocked, end_with_parent, ignore_ctrl_c
from formats.file_parts import split_file
from formats.source import Refused
from store.proof.ledger_secrets import SaltedSecret

LARGE = 1 << 22  # bytes: less is not worth the cutting


def split_large(
    file: InputFile, options: ImportOptions, place: Path, tick: Callable[[int], None]
) -> tuple[InputFile, ...]:
    """Split a large file into parts; a file that cannot be read is refused when it is read
    whole."""
    if file.size < LARGE or not file.path.is_file():
        return (file,)
    try:
        copy = input_copy(file.path, place, small=-1)
        known = format_of_input(place, options)
        chunks = split_file(place, known.name, options.rules, lambda: tick(0))
    except (Refused, OSError):
        remove_copy(place)
        return (file,)
    cut = (InputFile(file.name, file.path, one.end - one.begin, one, copy) for one in chunks)
    return tuple(cut) or (InputFile(file.name, file.path, file.size, None, copy),)


def joined_outcomes(
    jobs: Iterable[Sequence[ImportOutcome]], import_whole: Callable[[InputFile], ImportOutcome]
) -> Iterator[ImportOutcome]:
    """The outcomes in order, those of a file's parts as one; spill files and copies are removed."""
    read: list[ImportOutcome] = []  # parts of a file that is not whole yet
    temporary = set[Path]()
    for job in jobs:
        for outcome in job:
            temporary.add(Path(outcome.spill))
            if outcome.file.copy and isinstance(outcome.file.copy.content, Path):
                temporary.add(outcome.file.copy.content)
            if outcome.file.part is None:
                yield outcome
                continue
            read.append(outcome)
            if outcome.file.part.last:
                whole = _joined_parts(read) or import_whole(_whole_file(read))
                temporary.add(Path(whole.spill))
                yield whole
                read = []
        if not read:
            for path in temporary:
                path.unlink(missing_ok=True)
            temporary.clear()


def _whole_file(read: Sequence[ImportOutcome]) -> InputFile:
    first = read[0].file
    size = sum(one.file.size for one in read)
    return InputFile(first.name, first.path, size, None, first.copy)


def _joined_parts(read: Sequence[ImportOutcome]) -> ImportOutcome | None:
    """The outcome of a whole file from those of its parts; None if a part is not as it was cut."""
    first = read[0]
    whole = ImportOutcome(
        file=_whole_file(read),
        digest=first.digest,
        match=first.match,
        format=first.format,
        dialect=first.dialect,
        note=first.note,
        spill=first.spill,
    )
    for one in read:
        part = one.file.part
        if part is None or one.refused is not None or one.hands != part.hands:
            return None
        # A part more, in the order of the file.
        whole.hands += one.hands
        whole.events += one.events
        whole.sealed = whole.sealed and one.sealed
        whole.skipped += one.skipped
        whole.chunks += one.chunks
        whole.inferred += [fact for fact in one.inferred if fact not in whole.inferred]
        whole.rulesets |= one.rulesets
        for game, ruleset in one.games.items():
            whole.games.setdefault(game, ruleset)
        for player, net in one.nets.items():
            whole.nets[player] = whole.nets.get(player, 0) + net
        whole.moveless += one.moveless
        for verdict, hands in one.verdicts.items():
            whole.verdicts[verdict] = whole.verdicts.get(verdict, 0) + hands
        for verdict, numbers in one.named.items():
            named = whole.named.setdefault(verdict, [])
            named += numbers[: NAMED_MAX - len(named)]
    return whole


JOB_BYTES = 1 << 17  # files are gathered until a job has so many
JOB_FILES = 200
ALONE_BYTES = 1 << 21  # less than this is done before other processes have started
AHEAD = 8  # jobs a process may be ahead of the writer, who is long at a segment
PATIENCE_S = 0.1  # between two looks at how far they are

Tick = Callable[[int], None]
JobArguments = tuple[tuple[InputFile, ...], ImportOptions, Path, int, SaltedSecret | None]


def outcomes(
    files: Sequence[InputFile],
    options: ImportOptions,
    scratch: Path,
    at: int,
    nonces: SaltedSecret | None,
    tick: Tick,
    processes: int | None = None,
    begun: Callable[[ImportOutcome], str | None] = lambda outcome: None,
) -> Iterator[ImportOutcome]:
    """Import files in processes and yield their outcomes in order, their hands in staged
    batches with `nonces`.

    A file that was begun under another name before, as `begun` says, is read again under that.
    """
    if processes is None:
        small = sum(one.size for one in files) < ALONE_BYTES
        processes = 1 if small else os.cpu_count() or 1
    todo: Iterable[InputFile] = files
    if processes > 1:
        todo = (
            part
            for n, one in enumerate(files)
            for part in split_large(one, options, scratch / f"{n}.large", tick)
        )
    works = (
        (job, options, scratch / f"{n}.spill", at, nonces)
        for n, job in zip(count(), job_files(todo))
    )

    spare = scratch / "whole.spill"

    def import_whole(file: InputFile, match: str | None = options.match) -> ImportOutcome:
        """Import a file whole whose parts were not as they seemed; its hands are counted by now."""
        other = replace(options, match=match)
        return _job((file,), other, spare, at, nonces, lambda hands: None)[0]

    results = (
        _in_this_process(works, tick) if processes == 1 else _in_processes(works, tick, processes)
    )
    # Arrow's columns in memory that is used again when it is free: its own pool gives it back every
    # time, and the next columns are put where no page is yet.
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        for outcome in joined_outcomes(results, import_whole):
            outcome.file = replace(outcome.file, copy=None)  # which is not needed any more
            name = begun(outcome)
            yield outcome if name is None else import_whole(outcome.file, name)
        spare.unlink(missing_ok=True)
    finally:
        pa.set_memory_pool(before)


def job_files(files: Iterable[InputFile]) -> Iterator[tuple[InputFile, ...]]:
    """Files next to each other, as many as are worth a process's while."""
    batch: list[InputFile] = []
    size = 0
    for file in files:
        if batch and (size + file.size > JOB_BYTES or len(batch) == JOB_FILES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield tuple(batch)


def _in_this_process(works: Iterable[JobArguments], tick: Tick) -> Iterator[list[ImportOutcome]]:
    for work in works:
        yield _job(*work, tick)


def _in_processes(
    works: Iterable[JobArguments], tick: Tick, processes: int
) -> Iterator[list[ImportOutcome]]:
    """The first of the jobs at work is waited for, the others go on meanwhile."""
    context = get_context("spawn")
    try:
        shared = context.Value("q", 0), context.Value("b", False)
        pool = ProcessPoolExecutor(processes, context, _start_worker, shared)
    except OSError:  # no shared memory for locks, as in some containers: this process does it
        yield from _in_this_process(works, tick)
        return
    waiting: deque[Future[list[ImportOutcome]]] = deque()
    try:
        for work in works:
            with ctrl_c_blocked():
                job = pool.submit(_job, *work, _tick)
            waiting.append(job)
            if len(waiting) >= AHEAD * processes:
                yield _finished(waiting.popleft(), shared[0], tick)
        while waiting:
            yield _finished(waiting.popleft(), shared[0], tick)
    except BrokenProcessPool:
        raise OSError("a process that read files is gone: what is told above is in") from None
    finally:
        shared[1].value = True
        pool.shutdown(cancel_futures=True)


def _finished(job: Future[list[ImportOutcome]], counter: Any, tick: Tick) -> list[ImportOutcome]:
    """The outcomes of a job; while it is at work, report the hands that all jobs have done."""
    while True:
        with counter.get_lock():
            hands, counter.value = counter.value, 0
        tick(hands)
        try:
            return job.result(timeout=PATIENCE_S)
        except TimeoutError:
            continue


def _job(
    files: tuple[InputFile, ...],
    options: ImportOptions,
    path: Path,
    at: int,
    nonces: SaltedSecret | None,
    tick: Tick,
) -> list[ImportOutcome]:
    """The outcomes of some files, which share a spill file."""
    with open_spill(path, at, nonces) as out:
        outcomes = [import_file(file, options, out, tick) for file in files]
    if not gc.isenabled():
        gc.collect()
    return outcomes


# In another process.

_counter: Any = None
_stop: Any = None


def _start_worker(counter: Any, stop: Any) -> None:
    """Ctrl-C is for the one that writes; when he is gone, so is this process."""
    global _counter, _stop
    ignore_ctrl_c()
    pa.set_memory_pool(pa.system_memory_pool())
    _counter, _stop = counter, stop
    gc.freeze()  # what was imported stays: a collection need not look at it
    gc.disable()  # what is read holds no cycles; a collection for every job finds what others leave
    end_with_parent(lambda: os._exit(1))


def _tick(hands: int) -> None:
    if _stop.value:
        raise KeyboardInterrupt
    with _counter.get_lock():
        _counter.value += hands
