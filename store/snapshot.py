"""A ledger's folder read from outside while it is written: manifest, segments, and the log so far.

No lock is taken and nobody waits. A file that is gone has been sealed or compacted: the newest
manifest then names another that holds the same. Gone although it is named is damage.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa

from events.ledger import Recorded, is_match
from store.archive.disk import disk_of
from store.columns.codec import leaves_of
from store.folder import manifest
from store.folder.frames import Damaged
from store.folder.manifest import Manifest, Segment
from store.log import hot
from store.log.leaf import Closed, Leaf, Placed, Tail, Watermark, durable_size, last_mark
from store.proof.tree import Refuted
from store.segments.reading import Files, files_of
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


T = TypeVar("T", Listed, Leaf)
R = TypeVar("R")


class Live:
    """Everything durable in a folder, as far as `refresh` has seen; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk = disk_of(folder)
        self._lock = threading.RLock()
        self._units: dict[str, str | None] = {}
        self._state = self._opened(None)
        self.refresh()

    def mark(self) -> Watermark | None:
        """What the writer published last: while it stays the same there is nothing new."""
        return last_mark(self.disk)

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

        def found(state: _State) -> tuple[Recorded, ...]:
            with self._lock:
                tail = state.tail.read(stream)
            return tail if tail and tail[0].index == 0 else (*state.sealed.read(stream), *tail)

        return self._with_state(found)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Events from a position on as far as they are known."""
        while True:
            with self._lock:
                state = self._state
                tail = state.tail.read_from(pos)
            try:
                for recorded in merged(state.sealed.read_from(pos), tail):
                    pos = recorded.pos + 1
                    yield recorded
                return
            except (FileNotFoundError, Damaged) as missing:
                self.retired(state.manifest.number, missing)

    def ruleset(self, fingerprint: str) -> bytes | None:
        """The text of a ruleset that was kept with the hands."""
        return manifest.ruleset(self.disk, fingerprint)

    def rulesets(self) -> tuple[str, ...]:
        """The fingerprints of all rulesets that were kept with the hands."""
        return tuple(manifest.rulesets(self.disk))

    def units(self) -> dict[str, str | None]:
        """What amounts count by each of them; None if its text is damaged."""
        for one in self.rulesets():
            if one not in self._units:
                self._units[one] = manifest.unit_of(self.ruleset(one))
        return dict(self._units)

    def hands(self, after: int) -> Iterator[Listed]:
        """Closed hands after a place in their order, as far as they are known."""
        listed = partial(_listed, files_of(self.disk))
        for hand in self._after(after, listed, lambda it: Listed(it.hand_seq, it.stream)):
            if not is_match(hand.hand):
                yield hand

    def leaves(self, after: int) -> Iterator[Leaf]:
        """Everything that closed after a place in that order, as far as it is known."""

        def sealed(segment: Segment) -> Iterator[Leaf]:
            for rows in self.events(segment):
                yield from leaves_of(rows)

        yield from self._after(after, sealed, lambda leaf: Leaf(leaf.hand_seq, leaf.recorded()))

    def _after(
        self, after: int, sealed: Callable[[Segment], Iterable[T]], closed: Callable[[Closed], T]
    ) -> Iterator[T]:
        """What closed after a place: what is made of segments, and of what is in the log."""
        while True:
            number = self.number
            segments, hot = self.parts()
            try:
                for segment in segments:
                    for one in sealed(segment) if segment.last_seq > after else ():
                        if one.hand_seq > after:
                            after = one.hand_seq
                            yield one
            except (FileNotFoundError, Damaged) as missing:
                self.retired(number, missing)
                continue
            yield from (closed(each) for each in hot if each.hand_seq > after)
            return

    def _with_state(self, ask: Callable[[_State], R]) -> R:
        """What a state says; the next one is asked if its files were compacted meanwhile."""
        while True:
            with self._lock:
                state = self._state
            try:
                return ask(state)
            except (FileNotFoundError, Damaged) as missing:
                self.retired(state.manifest.number, missing)

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

        def found(state: _State) -> tuple[Leaf, ...]:
            with self._lock:
                closed = [stream for stream in state.tail.closed if stream.stream == match]
            hot = (Leaf(stream.hand_seq, stream.recorded()) for stream in closed)
            return (*state.sealed.records(match), *hot)

        return self._with_state(found)

    def begun_last(self, match: str, end: int) -> str | None:
        """The last hand of a match that began before a position and is not sealed yet."""
        with self._lock:
            return self._state.tail.begun_last(match, end)

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
            hot = [closed.hand_seq for closed in state.tail.closed if closed.stream == stream]
        return [*state.sealed.hand_seqs(stream), *hot]

    def parts(self) -> Parts:
        """The segments and the closed part of the log, of one moment."""
        with self._lock:
            return Parts(self._state.manifest.segments, tuple(self._state.tail.closed))

    def since(self, pos: int) -> tuple[tuple[Segment, ...], tuple[Placed, ...]]:
        """Of one moment: segments with events from a position on, and such appends of the log."""
        with self._lock:
            state = self._state
            segments = tuple(
                segment for segment in state.manifest.segments if segment.last_pos >= pos
            )
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
        mark = last_mark(self.disk)
        state = self._state
        if anew or mark is None or mark.log != state.manifest.log:
            state = self._opened(state)
        end = durable_size(mark, state.manifest)
        if end <= state.size:
            return state
        recovered = hot.read(self.disk, state.manifest.log, state.size, end)
        if recovered.torn or recovered.size != end:
            raise Damaged(
                f"{state.manifest.log} is damaged at byte {recovered.size}:"
                f" {end} bytes were durable"
            )
        state.tail.add_all(recovered.calls)
        return state._replace(size=end)

    def _opened(self, known: _State | None) -> _State:
        """The manifest of now; what is known of its log stays, if it is the same."""
        now = manifest.read(self.disk) if self.folder.is_dir() else None
        if now is None:
            raise NoLedger(f"{self.folder} holds no ledger")
        if known is not None and known.manifest.number == now.number:
            return known
        return _State(now, Sealed(self.disk, now.segments), Tail(now), 0)


def _listed(files: Files, segment: Segment) -> Iterator[Listed]:
    """The hands of a segment, from the table that has a row for each if it is there."""
    name = "hands" if "hands" in segment.files else "events"
    for group in range(files.open(segment, name).groups):
        rows = files.rows(segment, name, group, ["hand_seq", "match", "number"])
        last = -1
        for hand_seq, match, number in zip(
            *map(pa.ChunkedArray.to_pylist, rows.columns), strict=True
        ):
            if hand_seq != last and number is not None:
                yield Listed(hand_seq, f"{match}/{number}")
            last = hand_seq
