"""How far another process may believe the hot log: what the writer has synced, and said so.

It is written after a sync and not synced itself: after a power loss it may tell of an earlier
state, never of a later one. So it also tells a torn end from one that had been durable.
"""

import zlib

import msgspec

from store.folder.disk import Disk
from store.folder.manifest import Manifest

PATH = "watermark"
_WIDTH = 96
_TRIES = 3


class Mark(msgspec.Struct, frozen=True):
    """A log, and how many bytes of it are durable."""

    log: str
    size: int


def publish(disk: Disk, log: str, size: int) -> None:
    """So many bytes of this log are durable; written in one piece of fixed width."""
    said = msgspec.json.encode(Mark(log, size))
    disk.publish(PATH, (b"%08x " % zlib.crc32(said) + said).ljust(_WIDTH))


def reach(mark: Mark | None, now: Manifest) -> int:
    """How many bytes of the manifest's log are durable; read the mark first, then the manifest."""
    if mark is None or mark.log != now.log:
        return now.log_size
    return max(mark.size, now.log_size)


def last(disk: Disk) -> Mark | None:
    """What the writer said last; a read between two halves of a write is tried again."""
    for _ in range(_TRIES):
        try:
            checksum, _, said = disk.read(PATH).rstrip().partition(b" ")
            if checksum == b"%08x" % zlib.crc32(said):
                return msgspec.json.decode(said, type=Mark)
        except (FileNotFoundError, ValueError):
            pass
    return None
