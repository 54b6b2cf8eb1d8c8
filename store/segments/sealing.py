"""Sealing: what has closed becomes a segment, what is open is carried into a new log.

Each file is durable before the next names it: the segment's files, the tree's hashes and the
checkpoint over them, then the new log with what is still open, then the manifest that names all.
A crash at any point leaves the old manifest or the new one, and what it names is complete; the next
opening sweeps away the rest.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from store.folder import manifest
from store.folder.disk import Disk
from store.folder.macs import new_begin
from store.folder.manifest import Answer, Manifest, Segment
from store.log import hot
from store.log.hot import Placing
from store.log.recovery import Found
from store.log.tail import Tail
from store.proof.notary import Notary
from store.segments.sealed import write_segment
from store.tables.projection import Projection


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
    if notary:
        notary.seal(tail.closed)
    return renewed(disk, found, tail, producers, segment, notary, tail.matches())


def renewed(
    disk: Disk,
    found: Found,
    tail: Tail,
    producers: Mapping[str, Answer],
    segment: Segment,
    notary: Notary | None,
    matches: dict[str, int],
) -> Found:
    """The ledger with one more segment, and a new log that begins with what is still open."""
    carried = sorted(placed for _, one in tail.open() for placed in one.placed)
    new = replace(
        found.manifest,
        next_pos=tail.next_pos,
        next_seq=tail.next_seq,
        segments=(*found.manifest.segments, segment),
        matches=matches,
        producers=dict(producers),
        tree=notary.size if notary else found.manifest.tree,
        root=notary.root if notary else found.manifest.root,
    )
    return logged(disk, found, new, tuple((one,) for one in carried))


def logged(disk: Disk, found: Found, now: Manifest, calls: tuple[Placing, ...]) -> Found:
    """The ledger of this manifest with a new log that begins with these calls; the old log goes."""
    marks = found.marks
    number = found.manifest.number + 1
    begin = new_begin() if marks else ""
    new = replace(now, number=number, log=hot.path_of(number), begin=begin)
    log = hot.create(disk, new.log, calls, new.chain(marks))
    new = replace(new, log_size=log.size)
    manifest.write(disk, new, marks)
    found.log.close()
    disk.remove(found.log.path)
    return Found(new, log, calls, found.notes, marks)
