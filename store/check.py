"""What is wrong with a ledger's files, found by reading every byte of them; nothing is mended."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from store import hot, manifest, watermark
from store.disk import Disk
from store.frames import Damaged
from store.hot import FOLDER, Recovered
from store.manifest import Manifest, Segment
from store.recovery import SEGMENTS, durable_bytes_are_there, torn
from store.tail import Tail

TRIES = 10
_PIECE = 1 << 24


class Finding(NamedTuple):
    """One thing in one file: from which byte and in or after which hand, as far as is known.

    A `note` is nothing wrong: the end of a write that a crash cut short, or that is under way.
    """

    file: str
    place: int | None
    hand: str
    sentence: str
    note: bool = False


def check(disk: Disk) -> tuple[Finding, ...]:
    """Everything that is found; looked at again if somebody sealed meanwhile."""
    for _ in range(TRIES):
        try:
            now = manifest.read(disk)
            if now is None:
                raise Damaged(f"{manifest.PATH} is missing: nothing says what the ledger is")
            found = (*_segments(disk, now), *_order(now), *_log(disk, now))
            again = manifest.read(disk)
            if not found or (again is not None and again.number == now.number):
                return found
        except Damaged as damage:
            return (_finding(manifest.PATH, damage),)
    return (Finding(manifest.PATH, None, "", "it changes faster than it can be checked"),)


def _segments(disk: Disk, now: Manifest) -> Iterator[Finding]:
    """Every file of every segment has the digest that the manifest tells."""
    there = {f"{SEGMENTS}/{name}" for name in disk.names(SEGMENTS)}
    for segment in now.segments:
        hands = _hands(segment)
        for name, path in segment.files.items():
            if path not in there:
                yield Finding(path, None, hands, f"{path} is missing: it holds {hands}")
                continue
            digest, size = _digest(disk, path)
            known = segment.sizes.get(name, size)
            if size < known:
                told = f"{path} ends at byte {size} of {known}: it holds {hands}"
                yield Finding(path, size, hands, told)
            elif digest != segment.sha256[name]:
                told = f"{path} is not as it was sealed: it holds {hands}"
                yield Finding(path, None, hands, told)


def _hands(segment: Segment) -> str:
    """What a segment holds, in names."""
    held = [
        f"{match}/{low}" if low == high else f"{match}/{low} to {match}/{high}"
        for match, (low, high) in segment.numbers.items()
    ]
    held += segment.records
    if 0 < len(held) < 4:
        return " and ".join(held)
    return f"what closed as {segment.first_seq} to {segment.last_seq}"


def _digest(disk: Disk, path: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := disk.read(path, size, size + _PIECE):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def _order(now: Manifest) -> Iterator[Finding]:
    """Segments follow one another: what closed is counted without a gap."""
    closed = 0
    for segment in now.segments:
        if segment.first_seq != closed:
            told = f"{manifest.PATH}: what closed as {closed} is in no segment"
            yield Finding(manifest.PATH, None, "", told)
        closed = segment.last_seq + 1
    if closed != now.next_seq:
        told = f"{manifest.PATH}: what closed as {closed} is in no segment"
        yield Finding(manifest.PATH, None, "", told)


def _log(disk: Disk, now: Manifest) -> Iterator[Finding]:
    """Every frame is intact, positions have no gap, and nothing durable is missing at the end."""
    if now.log.removeprefix(f"{FOLDER}/") not in disk.names(FOLDER):
        yield Finding(now.log, None, "", f"{now.log} is missing: {manifest.PATH} names it")
        return
    try:
        mark = watermark.last(disk)  # before the log: a writer may add to both meanwhile
        recovered = hot.read(disk, now.log)
        durable_bytes_are_there(mark, now, recovered)
        _count(now, recovered)
    except Damaged as damage:
        yield _finding(now.log, damage)
        return
    if recovered.torn:
        told = torn(now.log, recovered).replace("dropped", "to drop:")
        yield Finding(now.log, recovered.size, "", told, note=True)


def _count(now: Manifest, recovered: Recovered) -> None:
    """Sealed and carried events are as many as there were positions at the last seal."""
    tail = Tail(now)
    carried = 0
    for call in recovered.calls:
        for placed in call:
            tail.add(*placed)
            carried += len(placed.append.events) if placed.pos < now.next_pos else 0
    sealed = sum(one.events for one in now.segments)
    if sealed + carried != now.next_pos:
        raise Damaged(
            f"{now.log} carries {carried} events and {sealed} are sealed: {now.next_pos} there were"
        )


def _finding(file: str, damage: Damaged) -> Finding:
    return Finding(file, damage.place, damage.hand, str(damage))
