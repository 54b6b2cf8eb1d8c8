"""Segments that cost nothing to write: where the order of writing is on trial, not Parquet."""

import hashlib
import heapq
import pickle
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from events.ledger import Recorded
from store.columns.event_columns import EventColumns
from store.folder.disk import Disk
from store.folder.manifest import Segment
from store.log.streams import HotLeaf, Leaf
from store.segments.staged_batches import StagedBatch


@contextmanager
def cheap_segments() -> Iterator[None]:
    """Ledgers in here seal into pickles, by the same steps."""
    with ExitStack() as patches:
        patches.enter_context(patch("store.segments.sealing.write_segment", write_cheaply))
        patches.enter_context(patch("store.ledger.SealedSegments", CheapSealed))
        patches.enter_context(patch("store.segments.staged_batches.rows_of", EventColumns.leaves))
        patches.enter_context(patch("store.segments.sealing.write_batches", write_batches_cheaply))
        yield


def write_cheaply(
    disk: Disk, closed: Sequence[HotLeaf], projections: Any, level: int = 0
) -> Segment:
    """What has closed."""
    first, last = closed[0].hand_seq, closed[-1].hand_seq
    return _written(disk, first, last, [one.recorded() for one in closed])


def write_batches_cheaply(
    disk: Disk, batches: Sequence[StagedBatch], first: int, pos: int, projections: Any
) -> Segment:
    """Staged batches, each event at the next position."""
    closed = []
    for batch in batches:
        for leaf in batch.rows:  # which here are leaves
            placed = enumerate(leaf.recorded, pos)
            closed.append(tuple(replace(one, pos=at) for at, one in placed))
            pos += len(leaf.recorded)
    return _written(disk, first, first + len(closed) - 1, closed)


def _written(disk: Disk, first: int, last: int, closed: list[tuple[Recorded, ...]]) -> Segment:
    """Aside, synced, renamed, and the folder synced."""
    name = f"segments/events-{first:012}-{last:012}.parquet"
    data = pickle.dumps(closed)
    output = disk.create(f"{name}.tmp")
    output.write(data)
    output.sync()
    output.close()
    disk.rename(f"{name}.tmp", name)
    disk.sync_folder("segments")
    positions = [event.pos for one in closed for event in one]
    return Segment(
        first_seq=first,
        last_seq=last,
        first_pos=min(positions),
        last_pos=max(positions),
        events=len(positions),
        schema=1,
        files={"events": name},
        sha256={"events": hashlib.sha256(data).hexdigest()},
        projections={},
    )


class CheapSealed:
    """The segments of one manifest, for reading."""

    def __init__(self, disk: Disk, segments: tuple[Segment, ...]) -> None:
        self.segments = segments
        self._disk = disk
        self._runs: list[list[Recorded]] | None = None

    def version(self, stream: str) -> int | None:
        return len(self.read(stream)) or None

    def read(self, stream: str) -> tuple[Recorded, ...]:
        return tuple(one for run in self._all() for one in run if one.stream == stream)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        runs = [sorted(run, key=_position) for run in self._all()]
        return (one for one in heapq.merge(*runs, key=_position) if one.pos >= pos)

    def leaves(self, segment: Segment) -> Iterator[Leaf]:
        closed = pickle.loads(self._checked(segment))
        return (Leaf(segment.first_seq + place, one) for place, one in enumerate(closed))

    def _all(self) -> list[list[Recorded]]:
        if self._runs is None:
            self._runs = [
                [event for one in pickle.loads(data) for event in one]  # our own bytes
                for data in map(self._checked, self.segments)
            ]
        return self._runs

    def _checked(self, segment: Segment) -> bytes:
        data = self._disk.read(segment.files["events"])
        assert segment.sha256["events"] == hashlib.sha256(data).hexdigest()
        return data


def _position(one: Recorded) -> int:
    return one.pos
