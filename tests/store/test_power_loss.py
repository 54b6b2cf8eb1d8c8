"""A power loss at any moment: nothing acknowledged is lost, nothing half-written is visible.

Every trial is a random writer on a disk that breaks its promises wherever it made none; see
`power_trials.py` and `simulated_disk.py`. `./mr fuzz --power-losses N` runs as many as you like.
"""

import random

import pytest

from store.ledger import FileLedger
from tests.profiles import sized
from tests.store.cheap_segments import cheap_segments
from tests.store.power_trials import SECRETS, trial
from tests.store.simulated_disk import SECTOR, PowerLost, SimulatedDisk

SYNCS = {
    "write log": "a write to the hot log",
    "create log": "a new hot log, with the open hands carried into it",
    "reopen log": "the hot log when a killed writer's ledger is opened again",
    "create segment": "a new segment, before it is renamed",
    "create manifest": "a new manifest, before it is renamed",
    "folder ": "the ledger's folder, after the manifest is renamed",
    "folder log": "the folder of logs, after a new one is made",
    "folder segments": "the folder of segments, after one is renamed",
    "create tree": "a new level of the tree",
    "write tree": "hashes of the tree, before the manifest counts them",
    "reopen tree": "the first hashes after the tree was opened again",
    "create checkpoint": "a new checkpoint, before it is renamed",
    "create keys": "the public keys, before they are renamed",
    "create nonces": "the digest of the nonces' secret, before it is renamed",
    "folder tree": "the folder of the tree, after a level or a checkpoint is named",
    "settle": "the ledger's folder when a killed writer's ledger is opened again",
}

# One trial in hundreds: look there first.
RARE = {("settle", 0.1): 1519, ("reopen log", 0.1): 235}

WRITERS = sized(quick=80, ci=200, slow=2000)


def test_writers_lose_power_and_nothing_else() -> None:
    with cheap_segments():
        crashes = sum(trial(f"cheap {number}") for number in range(WRITERS))
    assert crashes > 1.5 * WRITERS


def test_writers_of_parquet_lose_power_and_nothing_else() -> None:
    trials = sized(8, 16, 40)
    assert trials < sum(trial(f"parquet {number}", parquet=True) for number in range(trials))


@pytest.mark.parametrize("begun", [1, 3], ids=["from the first life", "later"])
def test_writers_that_leave_marks_lose_power_and_nothing_else(begun: int) -> None:
    """Also while a ledger from before there were marks is taken over."""
    with cheap_segments():
        crashes = sum(trial(f"marked {number}", marked=begun) for number in range(WRITERS // 4))
    assert crashes > WRITERS // 4


@pytest.mark.slow
def test_many_more_writers_lose_power() -> None:
    with cheap_segments():
        assert sum(trial(f"many {number}") for number in range(40_000)) > 60_000
    assert sum(trial(f"many parquet {number}", parquet=True) for number in range(1500)) > 1000


def test_a_checkpoint_that_a_killed_writer_named_is_durable_once_another_opens() -> None:
    """Somebody may have it by then, so no loss of power takes it back; one trial in thousands."""
    for seed in range(20):
        disk = SimulatedDisk(str(seed))
        FileLedger(disk, secrets=SECRETS).close()
        new = disk.create("tree/checkpoint.tmp")
        new.write(b"signed")
        new.sync()
        disk.rename("tree/checkpoint.tmp", "tree/checkpoint")
        disk.restart(power_lost=False)
        FileLedger(disk)  # who has no key signs nothing
        disk.restart(power_lost=True)
        assert "checkpoint" in disk.names("tree")


@pytest.mark.parametrize("sync", SYNCS)
def test_leaving_out_any_one_sync_would_be_noticed(sync: str) -> None:
    """Otherwise the trials above would prove nothing."""
    with cheap_segments():
        assert caught(sync, 3000)


@pytest.mark.parametrize("batches", [0, 1])
def test_leaving_out_a_sync_of_the_real_segments_would_be_noticed(batches: float) -> None:
    """Of those that are sealed, and of those that are adopted."""
    assert caught("create segment", 60, parquet=True, batches=batches)
    assert caught("folder segments", 60, parquet=True, batches=batches)


@pytest.mark.parametrize("sync", ["create manifest", "folder ", "write tree"])
def test_leaving_out_a_sync_of_who_only_writes_runs_would_be_noticed(sync: str) -> None:
    """No hand of theirs is open, so a new log has nothing to lose."""
    with cheap_segments():
        assert caught(sync, 3000, batches=1)


def caught(sync: str, trials: int, *, parquet: bool = False, batches: float = 0.1) -> bool:
    """Whether some trial fails on a disk that is deaf to this kind of sync."""
    first = RARE.get((sync, batches), 0)
    for number in (*range(first, trials), *range(first)):
        try:
            trial(str(number), sync, parquet=parquet, batches=batches)
        except Exception:  # whatever it is: something was not as it should be
            return True
    return False


# The disk itself: a gentle one would make every ledger look safe.


def test_what_was_not_synced_is_lost_sector_by_sector() -> None:
    seen = set()
    for seed in range(200):
        disk = SimulatedDisk(str(seed))
        output = disk.create("file")
        disk.sync_folder("")
        output.write(b"a" * 3 * SECTOR)
        disk.restart(power_lost=True)
        left = disk.read("file")
        seen.add((len(left) // SECTOR, left[:1], left[SECTOR : SECTOR + 1]))
    assert {(3, b"a", b"\0"), (3, b"\0", b"a"), (0, b"", b""), (2, b"a", b"a")} <= seen


def test_what_was_synced_stays() -> None:
    for seed in range(50):
        disk = SimulatedDisk(str(seed))
        output = disk.create("file")
        output.write(b"kept")
        output.sync()
        disk.sync_folder("")
        output.write(b"lost")
        disk.restart(power_lost=True)
        assert disk.read("file").startswith(b"kept")


def test_names_are_lost_from_some_point_on() -> None:
    seen = set()
    for seed in range(100):
        disk = SimulatedDisk(str(seed))
        for name in "abc":
            disk.create(name)
        disk.rename("a", "d")
        disk.restart(power_lost=True)
        seen.add("".join(disk.names("")))
    assert {"", "a", "ab", "abc", "bcd"} == seen


def test_a_power_loss_inside_a_write_leaves_its_beginning() -> None:
    lengths = set()
    for seed in range(200):
        disk = SimulatedDisk(str(seed))
        output = disk.create("file")
        disk.fuse = 1
        with pytest.raises(PowerLost):
            output.write(b"123456")
        disk.restart(power_lost=False)
        lengths.add(len(disk.read("file")))
    assert set(range(7)) == lengths


def test_a_dead_machine_does_nothing_more() -> None:
    disk = SimulatedDisk("dead")
    with cheap_segments():
        disk.fuse = random.Random("dead").randint(1, 3)
        with pytest.raises(PowerLost):
            FileLedger(disk)
        with pytest.raises(PowerLost):
            disk.names("")
