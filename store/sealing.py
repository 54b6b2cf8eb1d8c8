"""Sealing: what has closed becomes a segment, what is open is carried into a new log.

Each file is durable before the next names it: the segment's files, the tree's hashes and the
checkpoint over them, then the new log with what is still open, then the manifest that names all.
A crash at any point leaves the old manifest or the new one, and what it names is complete; the next
opening sweeps away the rest.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from store import hot, manifest
from store.disk import Disk
from store.hot import HotLog
from store.manifest import Answer, Segment
from store.notary import Notary
from store.projection import Projection
from store.recovery import Found
from store.sealed import write_segment
from store.tail import Tail


def seal(
    disk: Disk,
    found: Found,
    tail: Tail,
    producers: Mapping[str, Answer],
    projections: Sequence[Projection],
    notary: Notary | None = None,
) -> Found:
    """The ledger after sealing everything that has closed; the old log is gone."""
    segment = write_segment(disk, tail.closed, projections)
    tree = notary.seal(tail.closed) if notary else found.manifest.tree
    return renewed(disk, found, tail, producers, segment, tree, tail.matches())


def renewed(
    disk: Disk,
    found: Found,
    tail: Tail,
    producers: Mapping[str, Answer],
    segment: Segment,
    tree: int,
    matches: dict[str, int],
) -> Found:
    """The ledger with one more segment, and a new log that begins with what is still open."""
    carried = sorted(placed for _, one in tail.open() for placed in one.placed)
    number = found.manifest.number + 1
    log = hot.create(disk, hot.path_of(number), carried)
    new = replace(
        found.manifest,
        number=number,
        log=log.path,
        log_size=log.size,
        next_pos=tail.next_pos,
        next_seq=tail.next_seq,
        segments=(*found.manifest.segments, segment),
        matches=matches,
        producers=dict(producers),
        tree=tree,
    )
    manifest.write(disk, new)
    _leave(disk, found.log)
    return Found(new, log, tuple((one,) for one in carried))


def _leave(disk: Disk, old: HotLog) -> None:
    old.close()
    disk.remove(old.path)
