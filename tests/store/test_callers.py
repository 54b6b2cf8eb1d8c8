"""Callers of all kinds: mistaken ones, repeating ones, many at once, one who goes away."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest

from events.ledger import Append, Conflict, Ledger
from events.match import DeckCommitted, DeckOpened
from events.types import BettingOpened, Folded, HandEnded, HandStarted, Raised
from store.folder.disk import RealDisk
from store.ledger import FileLedger, LedgerBroken
from store.log.hot_log import CALL_MAX
from store.reader import Reader
from tests.store.faulty_disk import FaultyDisk
from tests.store.memory import MemoryLedger
from tests.store.small_hands import begun, ended, noted, whole


def test_what_could_not_be_read_back_is_refused_before_it_is_written(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path))
    hand, record = begun(1), noted(0)
    wrong = (
        Append("m/1", 0, record.events, 0),
        Append("m", 0, hand.events, 0),
        Append("m/1", 0, (*hand.events, Folded(-1, None)), 0),
        Append("m/1", 0, hand.events, 2**63),
        Append("\ud800", 0, record.events, 0),
        *(Append(name, 0, hand.events, 0) for name in ("m/", "/1", "m/01", "m/ 1", "m/x", "m/1/2")),
        noted(0, "\ud800"),
        noted(0, "x" * CALL_MAX),
    )
    for one in wrong:
        for each in (ledger, MemoryLedger()):
            with pytest.raises(Conflict):
                each.append(one)
    assert () == ledger.append()
    ledger.close()
    assert [] == list(FileLedger(RealDisk(tmp_path)).read_from(0))


def test_the_largest_numbers_that_are_taken_can_be_sealed(tmp_path: Path) -> None:
    """What could be appended and not sealed would stop the ledger for good."""
    ledger = FileLedger(RealDisk(tmp_path))
    ledger.append(
        Append("m", 0, (DeckCommitted("", 2**31 - 1), DeckOpened(2**31 - 1, "")), 2**53 - 1)
    )
    with pytest.raises(Conflict):
        ledger.append(Append("m", 2, (DeckCommitted("", 2**31),), 0))
    chips = 2**53 - 1
    start = HandStarted("m/999999999", "", "", 22, ("",), (chips,))
    played = (Raised(22, chips, chips, True, None), BettingOpened(99, "", chips, chips, 22))
    ledger.append(Append("m/999999999", 0, (start, *played, HandEnded()), 0))
    written = list(ledger.read_from(0))
    ledger.seal()
    assert written == list(ledger.read_from(0))


def test_a_hand_cannot_go_on_after_its_end_in_the_same_call(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path))
    more = Append("m/1", 3, (Folded(0, None),), 0)
    with pytest.raises(Conflict, match="m/1 is closed"):
        ledger.append(whole(1), more)
    assert [] == list(ledger.read_from(0))


def test_a_clock_that_goes_backwards_changes_no_order(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=2)
    ledger.append(noted(0, at=3000))
    for number, at in enumerate((2000, 1000, 1500, 10)):
        ledger.append(whole(number, at))
    ledger.append(begun(7, at=5))
    ledger.close()
    ledger = FileLedger(RealDisk(tmp_path), clock=lambda: 1)
    there = list(ledger.read_from(0))
    assert list(range(15)) == [one.pos for one in there]
    told = [3000, *[2000] * 3, *[1000] * 3, *[1500] * 3, *[10] * 3, 5, 1]
    assert told == [one.at for one in there]
    assert ["m/7 was open: voided after 1 events"] == ledger.notes


def test_a_retry_is_answered_once_after_recovery_and_after_a_seal(tmp_path: Path) -> None:
    """A call of several appends is one call, however many came in the same frame."""
    ledger = FileLedger(RealDisk(tmp_path))
    calls = [(whole(1, 0, "ann", 1), whole(2, 0, "ann", 1)), (whole(3, 0, "bob", 1),)]
    told = [ledger.append(*call) for call in calls]
    for _ in range(2):
        ledger.close()
        ledger = FileLedger(RealDisk(tmp_path))
        assert told == [ledger.append(*call) for call in calls]
        ledger.seal()
    assert 9 == ledger.next_pos
    with pytest.raises(Conflict, match="ann used 1 for other events before"):
        ledger.append(whole(9, 0, "ann", 1))


def test_a_closed_ledger_says_so(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path))
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerBroken, match=r"^the ledger is closed$"):
        ledger.append(whole(1))


# Many at once.


def test_callers_who_come_together_share_a_sync(tmp_path: Path) -> None:
    disk = Slow(RealDisk(tmp_path))
    ledger = FileLedger(disk)
    disk.syncs = 0
    in_threads(16, lambda thread: [ledger.append(whole(thread * 20 + n)) for n in range(20)])
    assert 960 == ledger.next_pos
    assert 20 <= disk.syncs < 80
    ledger.close()
    assert 320 == len(hands_of(FileLedger(RealDisk(tmp_path))))


def test_others_append_and_follow_while_it_is_sealed(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=50)
    seen: list[int] = []
    follower = threading.Thread(target=lambda: seen.extend(one.pos for one in ledger.follow(0)))
    follower.start()

    def play(thread: int) -> None:
        for number in range(thread * 60, thread * 60 + 60):
            ledger.append(begun(number))
            assert 1 == len(ledger.read(f"m/{number}"))
            ledger.append(ended(number))

    in_threads(8, play)
    assert 8 <= len(list((tmp_path / "segments").glob("events-*.parquet")))
    last = time.monotonic() + 20
    while len(seen) < ledger.next_pos and time.monotonic() < last:
        time.sleep(0.01)
    ledger.close()
    follower.join(20)
    assert not follower.is_alive()
    assert list(range(1440)) == seen


def test_a_reader_sees_a_growing_prefix_while_it_is_sealed(tmp_path: Path) -> None:
    """A writer never blocks readers, and no reader ever sees a gap, a duplicate, or half a call."""
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=10)
    done = threading.Event()
    seen: list[int] = []

    def look() -> None:
        reader = Reader(tmp_path)
        while not done.is_set():
            positions = [one.pos for one in reader.read_from(0)]
            assert list(range(len(positions))) == positions
            assert 0 == len(positions) % 6  # two whole hands a call
            seen.append(len(positions))

    with ThreadPoolExecutor(1) as pool:
        watcher = pool.submit(look)
        for number in range(0, 240, 2):
            ledger.append(whole(number), whole(number + 1))
        while len(seen) < 3 and not watcher.done():
            time.sleep(0.01)
        done.set()
        watcher.result(20)
    assert sorted(seen) == seen
    assert 720 == len(list(Reader(tmp_path).read_from(0)))


def test_whoever_is_interrupted_in_line_holds_nobody_up(tmp_path: Path) -> None:
    """Ctrl-C while another writes: the turn goes on to the next, and the call was never made."""
    disk = Slow(RealDisk(tmp_path))
    ledger = FileLedger(disk)
    impatient = Impatient()
    with (
        patch("store.log.admission.threading.Lock", lambda: impatient),
        patch.object(ledger._group_commit, "_writer", object()),
        pytest.raises(KeyboardInterrupt),
    ):
        ledger.append(whole(1))
    ledger.append(whole(2))
    assert ["m/2"] == hands_of(ledger)


class Impatient:
    """A lock whose second taker is interrupted."""

    taken = 0

    def acquire(self) -> None:
        self.taken += 1
        if self.taken == 2:
            raise KeyboardInterrupt

    def release(self) -> None:
        self.taken -= 1


def test_a_log_is_sealed_by_its_bytes_too(tmp_path: Path) -> None:
    ledger = FileLedger(RealDisk(tmp_path), seal_bytes=10_000)
    for number in range(4):
        ledger.append(noted(number, "x" * 4000))
    (segment,) = (tmp_path / "segments").glob("events-*.parquet")
    assert segment.name.startswith("events-000000000000-000000000002")


class Slow(FaultyDisk):
    """Syncs of files take two milliseconds, and are counted."""

    syncs = 0

    def point(self, what: str, path: str) -> None:
        if what == "sync":
            self.syncs += 1
            time.sleep(0.002)


def in_threads(count: int, work: Callable[[int], object]) -> None:
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count), timeout=60))


def hands_of(ledger: Ledger) -> list[str]:
    return sorted({one.stream for one in ledger.read_from(0) if "/" in one.stream})
