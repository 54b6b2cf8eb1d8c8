"""Readers beside a writer that works, seals, compacts and dies: nothing missing, nothing twice.

The writers here are processes of their own, as in life.
"""

import multiprocessing
import os
import re
import shutil
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from events.ledger import Append, Recorded
from events.match import NonceGiven
from events.types import HandEnded
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import FileLedger
from store.reader import NoLedger, NoSnapshot, Reader
from tests.store.test_contract import begun, whole

NEVER = 10**9
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def ledger(tmp_path: Path) -> FileLedger:
    """A ledger that seals only when told to."""
    return FileLedger(RealDisk(tmp_path), seal_hands=NEVER)


def hand(ledger: FileLedger, name: str) -> None:
    """One hand of four events, in one append."""
    ledger.append(Append(name, 0, whole(name), 1))


def spoken(recorded: list[Recorded]) -> list[tuple[int, str, int]]:
    """Where events are, without what they say."""
    return [(one.pos, one.stream, one.index) for one in recorded]


def test_a_reader_sees_what_is_durable_when_it_asks(tmp_path: Path, ledger: FileLedger) -> None:
    reader = Reader(tmp_path)
    assert [] == list(reader.read_from(0))
    for number in range(1, 6):
        hand(ledger, f"m/{number}")
        assert ledger.read(f"m/{number}") == reader.read(f"m/{number}")
        if number % 2:
            ledger.seal()
    assert list(ledger.read_from(0)) == list(reader.read_from(0))
    assert list(ledger.read_from(7)) == list(reader.read_from(7))
    assert [(0, "m/1"), (1, "m/2"), (2, "m/3"), (3, "m/4"), (4, "m/5")] == list(reader.hands())


def test_hands_and_matches_are_listed(tmp_path: Path, ledger: FileLedger) -> None:
    ledger.append(Append("m", 0, (NonceGiven("a", "1"), NonceGiven("b", "2")), 1))
    hand(ledger, "m/1")
    ledger.seal()
    hand(ledger, "m-2/1")
    ledger.append(Append("m", 2, (NonceGiven("a", "3"),), 1))
    ledger.append(Append("m/2", 0, begun("m/2"), 1))
    reader = Reader(tmp_path)
    before = reader.snapshot()
    ledger.append(Append("n", 0, (NonceGiven("a", "3"),), 1))
    ledger.append(Append("m", 3, (NonceGiven("a", "3"),), 1))
    assert [(1, "m/1")] == list(reader.hands("m"))
    assert [(2, "m-2/1")] == list(reader.hands(after=1))
    assert {"m": 4, "n": 1} == reader.matches()
    assert {"m": 3} == before.matches()


def test_a_snapshot_never_changes(tmp_path: Path, ledger: FileLedger) -> None:
    ledger.append(Append("m/1", 0, begun("m/1"), 1))
    ledger.append(Append("m", 0, (NonceGiven("a", "1"),), 1))
    hand(ledger, "m/2")
    snapshot = Reader(tmp_path).snapshot()
    before = (
        list(snapshot.read_from(0)),
        snapshot.read("m/1"),
        list(snapshot.hands()),
        snapshot.matches(),
    )
    assert "8.2" == snapshot.as_of
    assert 3 == len(before[1])
    ledger.append(Append("m/1", 3, (HandEnded(),), 1))
    ledger.append(Append("m", 1, (NonceGiven("a", "1"),), 1))
    ledger.seal()
    hand(ledger, "m/3")
    ledger.seal()
    after = Reader(tmp_path).snapshot(snapshot.as_of)
    for one in (snapshot, after):
        assert before == (
            list(one.read_from(0)),
            one.read("m/1"),
            list(one.hands()),
            one.matches(),
        )


def test_a_token_of_another_ledger_is_refused(tmp_path: Path, ledger: FileLedger) -> None:
    hand(ledger, "m/1")
    reader = Reader(tmp_path)
    assert "4.1" == reader.snapshot("4.1").as_of
    with pytest.raises(NoSnapshot, match=r"^this ledger is at 4\.1, it cannot show 5\.1$"):
        reader.snapshot("5.1")
    with pytest.raises(NoSnapshot, match=r"^this ledger is at 4\.1, it cannot show 4\.2$"):
        reader.snapshot("4.2")
    for token in ("", "4", "4.", "-4.1", "4.1.1", "\u0664.1", "9" * 99 + ".1"):
        sentence = re.escape(f"{token!r} is no token of a snapshot: one looks like 1520.100")
        with pytest.raises(NoSnapshot, match=f"^{sentence}$"):
            reader.snapshot(token)


def test_a_folder_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoLedger, match=re.escape(f"{tmp_path} holds no ledger")):
        Reader(tmp_path)
    with pytest.raises(NoLedger, match=re.escape(f"{tmp_path / 'none'} holds no ledger")):
        Reader(tmp_path / "none")
    assert [] == list(tmp_path.iterdir())


def test_what_is_written_but_not_yet_durable_is_not_read(
    tmp_path: Path, ledger: FileLedger
) -> None:
    hand(ledger, "m/1")
    log = tmp_path / "log" / "00000000.log"
    good = log.read_bytes()
    other = tmp_path / "other"
    beyond = FileLedger(RealDisk(other), seal_hands=NEVER)
    hand(beyond, "m/1")
    hand(beyond, "m/2")
    log.write_bytes((other / "log" / "00000000.log").read_bytes())
    reader = Reader(tmp_path)
    assert 4 == len(list(reader.read_from(0)))
    log.write_bytes(good)


def test_damage_in_the_durable_log_is_named_and_not_read(
    tmp_path: Path, ledger: FileLedger
) -> None:
    hand(ledger, "m/1")
    log = tmp_path / "log" / "00000000.log"
    data = bytearray(log.read_bytes())
    data[-3] ^= 1
    log.write_bytes(data)
    with pytest.raises(Damaged, match=r"^log/00000000.log is damaged at byte 0"):
        Reader(tmp_path)


def test_a_log_that_is_gone_is_damage(tmp_path: Path, ledger: FileLedger) -> None:
    hand(ledger, "m/1")
    (tmp_path / "log" / "00000000.log").unlink()
    with pytest.raises(Damaged, match=r"^log/00000000.log is gone, and the manifest names it$"):
        Reader(tmp_path)


def test_a_segment_that_is_gone_is_damage(tmp_path: Path, ledger: FileLedger) -> None:
    hand(ledger, "m/1")
    ledger.seal()
    reader = Reader(tmp_path)
    shutil.rmtree(tmp_path / "segments")
    with pytest.raises(
        Damaged, match=r"^segments/events\S+ is missing: it holds what closed as 0 to 0$"
    ):
        list(reader.read_from(0))


def test_a_reader_without_a_watermark_sees_up_to_the_last_seal(
    tmp_path: Path, ledger: FileLedger
) -> None:
    hand(ledger, "m/1")
    ledger.seal()
    hand(ledger, "m/2")
    (tmp_path / "watermark").write_bytes(b"{half a mark")
    assert ["m/1"] * 4 == [one.stream for one in Reader(tmp_path).read_from(0)]


def test_a_seal_between_mark_and_manifest_hides_nothing(
    tmp_path: Path, ledger: FileLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand(ledger, "m/1")
    reader = Reader(tmp_path)
    hand(ledger, "m/2")
    read = manifest.read

    def sealed_meanwhile(disk: RealDisk) -> manifest.Manifest | None:
        monkeypatch.setattr(manifest, "read", read)
        found = read(disk)
        hand(ledger, "m/3")
        ledger.seal()
        return found

    monkeypatch.setattr(manifest, "read", sealed_meanwhile)
    assert [one.pos for one in reader.read_from(0)][:8] == list(range(8))
    assert [one.pos for one in Reader(tmp_path).read_from(0)] == list(range(12))


def test_who_follows_is_let_go_when_asked(tmp_path: Path, ledger: FileLedger) -> None:
    reader = Reader(tmp_path)
    heard: list[Recorded] = []
    listener = threading.Thread(target=lambda: heard.extend(reader.follow(0)), daemon=True)
    listener.start()
    hand(ledger, "m/1")
    deadline = time.monotonic() + 10
    while len(heard) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    reader.close()
    listener.join(5)
    assert not listener.is_alive()
    assert list(range(4)) == [one.pos for one in heard]


def write_hands(folder: Path, hands: int, seal: int, pipe: Connection) -> None:
    """The writer's process: hands that overlap, one answer to the test for each append."""
    ledger = FileLedger(RealDisk(folder), seal_hands=seal)
    pipe.send("ready")
    for number in range(1, hands + 1):
        name = f"m/{number}"
        ledger.append(Append(name, 0, begun(name), number))
        if number > 3:
            old = f"m/{number - 3}"
            ledger.append(Append(old, 3, (HandEnded(),), number))
        if number % 10 == 0:
            index = number // 10 - 1
            ledger.append(Append("m", index, (NonceGiven("a", str(number)),), number))
        pipe.send(ledger.next_pos)
    with suppress(EOFError, OSError):
        pipe.recv()


def length(hands: int) -> int:
    """How many events it writes."""
    return hands * 3 + (hands - 3) + hands // 10


class Writer:
    """A writer in another process."""

    def __init__(self, folder: Path, hands: int, seal: int) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(
            target=write_hands, args=(folder, hands, seal, theirs), daemon=True
        )
        self.process.start()
        theirs.close()
        assert "ready" == self.pipe.recv()
        self.acknowledged = 0

    def heard(self) -> int:
        """How many events it has been told are durable, so far."""
        with suppress(EOFError):
            while self.pipe.poll(0):
                self.acknowledged = self.pipe.recv()
        return self.acknowledged

    def kill(self) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()


def check_dense(events: list[Recorded]) -> None:
    """No gap, no duplicate, every stream counted from nought."""
    assert list(range(len(events))) == [one.pos for one in events]
    counted: dict[str, int] = {}
    for one in events:
        assert counted.get(one.stream, 0) == one.index
        counted[one.stream] = one.index + 1


@pytest.mark.ci
def test_a_follower_in_another_process_has_no_gap_over_many_seals(tmp_path: Path) -> None:
    writer = Writer(tmp_path, hands=100, seal=9)
    reader = Reader(tmp_path)
    heard: list[Recorded] = []
    whole_length = length(100)
    timer = threading.Timer(20, reader.close)
    timer.start()
    for one in reader.follow(0):
        heard.append(one)
        if len(heard) == whole_length:
            break
    timer.cancel()
    assert whole_length == len(heard)
    check_dense(heard)
    writer.kill()
    assert spoken(heard) == spoken(list(Reader(tmp_path).read_from(0)))


def test_what_was_acknowledged_is_read_whatever_the_writer_does(tmp_path: Path) -> None:
    writer = Writer(tmp_path, hands=100, seal=7)
    reader = Reader(tmp_path)
    kept: dict[str, list[tuple[int, str, int]]] = {}
    acknowledged = 0
    while acknowledged < length(100) and writer.process.is_alive():
        acknowledged = writer.heard()
        snapshot = reader.snapshot()
        assert acknowledged <= snapshot.next_pos
        events = list(snapshot.read_from(0))
        assert snapshot.next_pos == len(events)
        check_dense(events)
        ended = [one.stream for one in events if isinstance(one.event, HandEnded)]
        assert ended == [one.hand for one in snapshot.hands()]
        kept[snapshot.as_of] = spoken(events)
    writer.kill()
    late = Reader(tmp_path)
    for as_of in list(kept)[:: max(1, len(kept) // 8)]:
        assert kept[as_of] == spoken(list(late.snapshot(as_of).read_from(0)))


@pytest.mark.ci
def test_a_killed_writer_leaves_its_readers_in_peace(tmp_path: Path) -> None:
    writer = Writer(tmp_path, hands=10_000, seal=50)
    reader = Reader(tmp_path)
    while writer.heard() < 500 and writer.process.is_alive():
        time.sleep(0.005)
    writer.kill()
    acknowledged = writer.heard()
    snapshot = reader.snapshot()
    assert acknowledged <= snapshot.next_pos
    before = list(snapshot.read_from(0))
    check_dense(before)
    again = FileLedger(RealDisk(tmp_path))
    assert 3 <= len(again.notes)
    after = list(reader.read_from(0))
    assert before == after[: len(before)]
    assert before == list(snapshot.read_from(0))
    check_dense(after)
    again.close()


def test_a_snapshot_outlives_compaction(tmp_path: Path, ledger: FileLedger) -> None:
    reader = Reader(tmp_path)
    for number in range(1, 9):
        hand(ledger, f"m/{number}")
        ledger.seal()
    snapshot = reader.snapshot()
    half = snapshot.read_from(0)
    head = [next(half) for _ in range(5)]
    before = list(snapshot.read_from(0))
    segments = set((tmp_path / "segments").iterdir())
    ledger.compact(grace_ms=0)
    assert not segments & set((tmp_path / "segments").iterdir())
    hand(ledger, "m/9")
    assert before == list(snapshot.read_from(0))
    assert before == head + list(half)
    assert [(one, f"m/{one + 1}") for one in range(8)] == list(snapshot.hands())
    assert 36 == len(list(reader.read_from(0)))
