"""What a folder holds when a writer opens it: the manifest's files and the log, and no leftovers.

Nothing is guessed. What a crash can leave is put right and told in a sentence; what no crash
explains is damage and is refused, and then no file is changed.
"""

from typing import NamedTuple

from store.folder import manifest
from store.folder.disk import Disk
from store.folder.frames import Damaged, Marks, new_begin
from store.folder.manifest import Manifest
from store.log import hot
from store.log.hot import HotLog, Placing, Watermark

SEGMENTS = "segments"
_OURS = (".log", ".parquet", ".tmp")


class Found(NamedTuple):
    """A ledger ready to be written, and what had to be dropped to make it so."""

    manifest: Manifest
    log: HotLog
    calls: tuple[Placing, ...]
    notes: tuple[str, ...] = ()
    marks: Marks | None = None


def recover(disk: Disk, marks: Marks | None = None) -> Found:
    """The ledger of a folder; a new one where there is none."""
    for folder in (hot.FOLDER, SEGMENTS):
        disk.make_folder(folder)
    now = manifest.read(disk, marks)
    if now is None:
        return _new_ledger(disk, marks)
    if now.begin and marks is None:
        raise Damaged(
            "private/log.key is missing: without it nobody can tell what this ledger's writer wrote"
            " from what somebody else did; put it back from a copy"
        )
    paths = {f"{folder}/{name}" for folder in (hot.FOLDER, SEGMENTS) for name in disk.names(folder)}
    for path in (now.log, *(file for segment in now.segments for file in segment.files.values())):
        if path not in paths:
            raise Damaged(f"{path} is missing: {manifest.PATH} names it")
    chain = now.chain(marks)
    recovered = hot.read(disk, now.log, chain=chain)
    durable_bytes_are_there(hot.last_mark(disk), now, recovered)
    notes = [torn(now.log, recovered)] if recovered.torn else []
    log = hot.reopen(disk, now.log, recovered, chain)
    disk.sync_folder("")  # a writer that was killed may have renamed what no disk has seen yet
    return Found(now, log, recovered.calls, tuple(notes), marks)


def _new_ledger(disk: Disk, marks: Marks | None) -> Found:
    """A folder without a manifest is new, or the first opening was cut short."""
    for name in disk.names(SEGMENTS):
        raise Damaged(f"{manifest.PATH} is missing, but {SEGMENTS}/{name} is there")
    for name in disk.names(hot.FOLDER):
        if disk.read(f"{hot.FOLDER}/{name}"):
            raise Damaged(f"{manifest.PATH} is missing, but {hot.FOLDER}/{name} is not empty")
    new = Manifest(0, hot.path_of(0), 0, 0, 0, begin=new_begin() if marks else "")
    log = hot.create(disk, new.log, [], new.chain(marks))
    manifest.write(disk, new, marks)
    return Found(new, log, (), marks=marks)


def durable_bytes_are_there(
    mark: Watermark | None, now: Manifest, recovered: hot.Recovered
) -> None:
    """A torn end was never acknowledged; what the writer has called durable is not torn."""
    durable = hot.durable_size(mark, now)
    if recovered.size < durable:
        why = f"{durable} bytes of it were durable"
        raise hot.damaged(now.log, recovered.size, recovered.calls, why)


def torn(path: str, recovered: hot.Recovered) -> str:
    """What is said of a torn end."""
    return (
        f"{path}: dropped the last {recovered.torn} bytes, from byte {recovered.size} on, "
        f"{hot.after(recovered.calls)}: a write was cut short and never acknowledged"
    )


def drop_leftovers(disk: Disk, now: Manifest) -> None:
    """Files of ours that no manifest names are left over from a crash.

    Only once it is known that this is the newest manifest: otherwise they are hands.
    """
    named = {now.log, *now.retired}
    named.update(file for segment in now.segments for file in segment.files.values())
    for folder in (hot.FOLDER, SEGMENTS):
        for name in disk.names(folder):
            if name.endswith(_OURS) and f"{folder}/{name}" not in named:
                disk.remove(f"{folder}/{name}")
