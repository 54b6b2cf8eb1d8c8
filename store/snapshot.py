"""A ledger's folder read from outside while it is written: manifest, segments, and the log so far.

No lock is taken and nobody waits. A file that is gone has been sealed or compacted: the newest
manifest then names another that holds the same. Gone although it is named is damage.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from events.ledger import Recorded, is_match
from store.columns.codec import leaves_of
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.folder.manifest import Manifest, Segment
from store.log import hot, watermark
from store.log.leaf import Leaf
from store.log.tail import Closed, Placed, Tail
from store.log.watermark import Mark
from store.proof.tree import Refuted
from store.segments import rulesets
from store.segments.reading import files_of
from store.segments.sealed import Sealed, merged

TRIES = 100


class NoLedger(Exception):
    """There is nothing to read in this folder."""


class Listed(NamedTuple):
    """A hand that has ended, and its place in the order of closing."""

    hand_seq: int
    hand: str


class Parts(NamedTuple):
    """What has closed: the segments, and what of the hot log comes after them."""

    segments: tuple[Segment, ...]
    closed: tuple[Closed, ...]


class _State(NamedTuple):
    """One manifest, its segments, and its log read up to a place; the tail grows with the log."""

    manifest: Manifest
    sealed: Sealed
    tail: Tail
    size: int


class Live:
    """Everything durable in a folder, as far as `refresh` has seen; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk = RealDisk(folder)
        self._lock = threading.RLock()
        self._units: dict[str, str | None] = {}
        self._state = self._opened(None)
        self.refresh()

    def mark(self) -> Mark | None:
        """What the writer published last: while it stays the same there is nothing new."""
        return watermark.last(self.disk)

    def refresh(self, anew: bool = False) -> tuple[int, int]:
        """Read the log up to its durable end; how many events there are, and how many closed."""
        with self._lock:
            for _ in range(TRIES):
                try:
                    self._state = self._caught_up(anew)
                    return self._state.tail.next_pos, self._state.tail.next_seq
                except FileNotFoundError:
                    anew = True  # a seal has taken the log away, and left a manifest
            raise Damaged(f"{self._state.manifest.log} is gone, and the manifest names it")

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """A stream as far as it is known."""
        while True:
            with self._lock:
                state = self._state
                tail = state.tail.read(stream)
            if tail and tail[0].index == 0:
                return tail
            try:
                return (*state.sealed.read(stream), *tail)
            except (FileNotFoundError, Damaged) as missing:
                self.retired(state.manifest.number, missing)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Events from a position on as far as they are known."""
        while True:
            with self._lock:
                state = self._state
                tail = state.tail.read_from(pos)
            try:
                for one in merged(state.sealed.read_from(pos), tail):
                    pos = one.pos + 1
                    yield one
                return
            except (FileNotFoundError, Damaged) as missing:
                self.retired(state.manifest.number, missing)

    def ruleset(self, fingerprint: str) -> bytes | None:
        """The text of a ruleset that was kept with the hands."""
        return rulesets.kept(self.disk, fingerprint)

    def rulesets(self) -> tuple[str, ...]:
        """The fingerprints of all rulesets that were kept with the hands."""
        return tuple(rulesets.every(self.disk))

    def units(self) -> dict[str, str | None]:
        """What amounts count by each of them; None if its text is damaged."""
        for one in self.rulesets():
            if one not in self._units:
                self._units[one] = rulesets.unit(self.ruleset(one))
        return dict(self._units)

    def hands(self, after: int) -> Iterator[Listed]:
        """Closed hands after a place in their order, as far as they are known."""
        while True:
            number = self.number
            segments, closed = self.parts()
            try:
                for segment in segments:
                    if segment.last_seq > after:
                        for one in _listed(self.folder, segment):
                            if one.hand_seq > after:
                                after = one.hand_seq
                                yield one
            except (FileNotFoundError, Damaged) as missing:
                self.retired(number, missing)
                continue
            for each in closed:
                if each.hand_seq > after and not is_match(each.stream):
                    yield Listed(each.hand_seq, each.stream)
            return

    def leaves(self, after: int) -> Iterator[Leaf]:
        """Everything that closed after a place in that order, as far as it is known."""
        while True:
            number = self.number
            segments, closed = self.parts()
            try:
                for segment in segments:
                    for rows in self.events(segment) if segment.last_seq > after else ():
                        for leaf in leaves_of(rows):
                            if leaf.hand_seq > after:
                                after = leaf.hand_seq
                                yield leaf
            except (FileNotFoundError, Damaged) as missing:
                self.retired(number, missing)
                continue
            for each in closed:
                if each.hand_seq > after:
                    yield Leaf(each.hand_seq, each.recorded())
            return

    def matches(self) -> tuple[int, dict[str, int]]:
        """Every match's own stream with its number of events, and the position this is of."""
        with self._lock:
            return self._state.tail.next_pos, self._state.tail.matches()

    def leaves_by_place(self) -> tuple[int, tuple[Closed, ...]]:
        """How many leaves the files of the tree hold, and what has closed since, of one moment."""
        with self._lock:
            state = self._state
            closed = tuple(state.tail.closed)
        if state.manifest.tree < state.manifest.next_seq:
            raise Refuted(
                f"{self.folder} has {state.manifest.next_seq} sealed streams and"
                f" {state.manifest.tree} in its tree: whoever writes to it next adds the others"
            )
        return state.manifest.tree, closed

    def records(self, match: str) -> tuple[Leaf, ...]:
        """The appends of a match's own records, in the order of closing."""
        while True:
            with self._lock:
                state = self._state
                closed = [one for one in state.tail.closed if one.stream == match]
            try:
                sealed = tuple(state.sealed.records(match))
            except (FileNotFoundError, Damaged) as missing:
                self.retired(state.manifest.number, missing)
                continue
            return (*sealed, *(Leaf(one.hand_seq, one.recorded()) for one in closed))

    def hand_seq(self, stream: str) -> int | None:
        """A hand's place among all that closed; None if it has not."""
        with self._lock:
            state = self._state
            hot = next((one.hand_seq for one in state.tail.closed if one.stream == stream), None)
        return state.sealed.hand_seq(stream) if hot is None else hot

    def hand_seqs(self, stream: str) -> list[int]:
        """Every time that a hand closed: more than one is a second record of it."""
        with self._lock:
            state = self._state
            hot = [one.hand_seq for one in state.tail.closed if one.stream == stream]
        return [*state.sealed.hand_seqs(stream), *hot]

    def parts(self) -> Parts:
        """The segments and the closed part of the log, of one moment."""
        with self._lock:
            return Parts(self._state.manifest.segments, tuple(self._state.tail.closed))

    def since(self, pos: int) -> tuple[tuple[Segment, ...], tuple[Placed, ...]]:
        """Of one moment: segments with events from a position on, and such appends of the log."""
        with self._lock:
            state = self._state
            segments = tuple(one for one in state.manifest.segments if one.last_pos >= pos)
            return segments, state.tail.since(pos)

    @property
    def number(self) -> int:
        """The number of the manifest that is known."""
        return self._state.manifest.number

    def retired(self, number: int, missing: Exception) -> None:
        """A segment is gone: compacted, then a newer manifest says so; else the folder is hurt."""
        self.refresh(anew=True)
        if self.number != number:
            return
        if isinstance(missing, FileNotFoundError):
            raise Damaged(f"{missing.filename} is gone, and the manifest names it") from None
        raise missing

    def events(self, segment: Segment) -> Iterator[pa.Table]:
        """A segment's events in today's columns, a row group at a time."""
        files = files_of(self.disk)
        for group in range(files.open(segment, "events").groups):
            yield files.events(segment, group)

    def _caught_up(self, anew: bool) -> _State:
        """The mark before the manifest: of a seal in between, the manifest then knows."""
        mark = watermark.last(self.disk)
        state = self._state
        if anew or mark is None or mark.log != state.manifest.log:
            state = self._opened(state)
        end = watermark.reach(mark, state.manifest)
        if end <= state.size:
            return state
        found = hot.read(self.disk, state.manifest.log, state.size, end)
        if found.torn or found.size != end:
            raise Damaged(
                f"{state.manifest.log} is damaged at byte {found.size}: {end} bytes were durable"
            )
        for call in found.calls:
            for placed in call:
                state.tail.add(*placed)
        return state._replace(size=end)

    def _opened(self, known: _State | None) -> _State:
        """The manifest of now; what is known of its log stays, if it is the same."""
        found = manifest.read(self.disk) if self.folder.is_dir() else None
        if found is None:
            raise NoLedger(f"{self.folder} holds no ledger")
        if known is not None and known.manifest.number == found.number:
            return known
        return _State(found, Sealed(self.disk, found.segments), Tail(found), 0)


def _listed(folder: Path, segment: Segment) -> Iterator[Listed]:
    """The hands of a segment, from the table that has a row for each if it is there."""
    path = folder / segment.files.get("hands", segment.files["events"])
    last = -1
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=["hand_seq", "match", "number"]):
            places = batch["hand_seq"]
            new = pc.not_equal(places, pa.concat_arrays([pa.array([last]), places[:-1]]))
            last = places[-1].as_py()
            heads = batch.filter(pc.and_(new, pc.is_valid(batch["number"])))
            for hand_seq, match, number in zip(*map(pa.Array.to_pylist, heads), strict=True):
                yield Listed(hand_seq, f"{match}/{number}")
