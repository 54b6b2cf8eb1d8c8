"""A writer is killed (`kill -9`) under load: nothing acknowledged is lost, the next recovers."""

import multiprocessing
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from events.ledger import Record, Recorded
from events.types import HandVoided
from store.folder.disk import LedgerLocked, Lock, RealDisk
from store.ledger import VOID, FileLedger
from tests.processes import FORKS
from tests.profiles import sized
from tests.store.doomed import SECRETS, write_until_killed
from tests.store.small_hands import whole

KILLS = sized(12, 30, 40)
Told = list[tuple[str, int, int]]


@pytest.fixture(scope="module")
def children() -> Iterator[ForkServerContext]:
    """Processes that need not import anything: they are forked from one that has."""
    yield FORKS
    for child in multiprocessing.active_children():
        child.kill()


def test_killed_writers_lose_nothing_acknowledged(
    children: ForkServerContext, tmp_path: Path
) -> None:
    chance = random.Random("kill")
    first, pos, answers, voided = 0, 0, 0, 0
    for _ in range(KILLS):
        told = killed(children, tmp_path, first, chance.uniform(0.0, 0.12))
        answers += len(told)
        ledger = FileLedger(RealDisk(tmp_path), secrets=SECRETS)
        found = list(ledger.read_from(pos))
        assert list(range(pos, pos + len(found))) == [one.pos for one in found]
        streams = by_stream(found)
        there = {(one.stream, one.index, one.pos) for one in found}
        assert set() == {acknowledged for acknowledged in told if not last_of(acknowledged) & there}
        voided += whole_or_voided(streams, ledger.notes)
        numbers = [int(name.split("/")[1]) for name in streams if name != "m"]
        first, pos = max(numbers, default=first) + 1, ledger.next_pos
        ledger.close()
    assert answers > 10 * KILLS
    assert voided > KILLS / 2
    assert list((tmp_path / "segments").glob("*.parquet")), "some were killed between seals"
    everything = list(FileLedger(RealDisk(tmp_path), secrets=SECRETS).read_from(0))
    assert list(range(pos)) == [one.pos for one in everything]


def test_who_writes_is_told_until_it_is_killed(children: ForkServerContext, tmp_path: Path) -> None:
    child, _ = started(children, tmp_path, 0)
    with pytest.raises(LedgerLocked, match=rf"by a writer to be killed \(process {child.pid}\)"):
        Lock(tmp_path, "a second writer")
    kill(child)
    Lock(tmp_path, "a second writer").release()


def killed(children: ForkServerContext, folder: Path, first: int, seconds: float) -> Told:
    """What a writer said before it was killed, so long after its first word."""
    child, heard = started(children, folder, first)
    time.sleep(seconds)
    kill(child)
    told: Told = []
    try:
        while heard.poll():
            told.append(heard.recv())
    except EOFError:  # it was killed while it spoke
        pass
    return told


def started(
    children: ForkServerContext, folder: Path, first: int
) -> tuple[multiprocessing.context.ForkServerProcess, Connection]:
    heard, tells = children.Pipe(duplex=False)
    child = children.Process(target=write_until_killed, args=(folder, first, tells), daemon=True)
    child.start()
    tells.close()
    assert heard.poll(60), "the writer came to life"
    return child, heard


def kill(child: multiprocessing.context.ForkServerProcess) -> None:
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join(60)
    assert -signal.SIGKILL == child.exitcode


def by_stream(found: list[Recorded]) -> dict[str, list[Record]]:
    streams: dict[str, list[Record]] = defaultdict(list)
    for one in found:
        streams[one.stream].append(one.event)
    return streams


def last_of(told: tuple[str, int, int]) -> set[tuple[str, int, int]]:
    """Where the last event of an append is, which has one event, two or three."""
    stream, version, pos = told
    return {(stream, version - 1, pos + more) for more in range(3)}


def whole_or_voided(streams: dict[str, list[Record]], notes: list[str]) -> int:
    """Every hand is all there, or was open and is voided, which a note says; how many were."""
    voided = 0
    for name, events in streams.items():
        if name == "m":
            continue
        played = list(whole(int(name.split("/")[1])).events)
        if events != played:
            assert [played[0], HandVoided(VOID)] == events
            assert f"{name} was open: voided after 1 events" in notes
            voided += 1
    return voided
