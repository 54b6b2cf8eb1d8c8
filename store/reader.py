"""The ledger's readers and snapshots, for any process: they take no lock, and no writer waits.

A folder is read from outside while it is written: manifest, segments, and the log so far. A file
that is gone has been sealed or compacted: the newest manifest then names another that holds the
same. Gone although it is named is damage.

What a snapshot holds is a matter of two counts: the events before `next_pos`, and of the hands,
those closed before `next_seq`. Sealing and compaction move events from file to file and change
neither, so a snapshot outlives both: its token shows the same, today or later, in this process or
another.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, TypeVar

from events.ledger import Recorded, is_match
from store.archive.cached_disk import disk_of
from store.folder import manifest
from store.folder.frames import Damaged
from store.folder.manifest import Manifest, Segment
from store.log import hot_log
from store.log.streams import HotLeaf, Leaf, LogEntry, Tail, Watermark, durable_size, read_watermark
from store.proof.tree import Refuted
from store.segments.reading import files_of
from store.segments.sealed_segments import ClosedHand, SealedSegments, in_position_order

TRIES = 100


class NoLedger(Exception):
    """The folder holds no ledger."""


class ClosedParts(NamedTuple):
    """The closed part of a ledger: its segments, and the log's closed leaves after them."""

    segments: tuple[Segment, ...]
    closed: tuple[HotLeaf, ...]


class _State(NamedTuple):
    """One manifest, its segments, and its log read up to a place; the tail grows with the log."""

    manifest: Manifest
    sealed: SealedSegments
    tail: Tail
    size: int


T = TypeVar("T", ClosedHand, Leaf)
R = TypeVar("R")


class LiveLedger:
    """The durable state of a ledger as of the last `refresh`; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk = disk_of(folder)
        self.files = files_of(self.disk)
        self._lock = threading.RLock()
        self._units: dict[str, str | None] = {}
        self._state = self._opened(None)
        self.refresh()

    def mark(self) -> Watermark | None:
        """The writer's last watermark: while it stays the same there is nothing new."""
        return read_watermark(self.disk)

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
                for recorded in in_position_order(state.sealed.read_from(pos), tail):
                    pos = recorded.pos + 1
                    yield recorded
                return
            except (FileNotFoundError, Damaged) as missing:
                self.retired(state.manifest.number, missing)

    def units(self) -> dict[str, str | None]:
        """The unit of amounts of each ruleset; None if its text is damaged."""
        for one in manifest.rulesets(self.disk):
            if one not in self._units:
                self._units[one] = manifest.unit_of_ruleset(manifest.ruleset(self.disk, one))
        return dict(self._units)

    def hands(self, after: int) -> Iterator[ClosedHand]:
        """Closed hands after a place in their order, as far as they are known."""
        sealed = self._state.sealed.hands
        for hand in self._after(after, sealed, lambda it: ClosedHand(it.hand_seq, it.stream)):
            if not is_match(hand.hand):
                yield hand

    def leaves(self, after: int) -> Iterator[Leaf]:
        """Leaves after a place in the order of closing, as far as they are known."""
        sealed = self._state.sealed.leaves
        return self._after(after, sealed, lambda leaf: Leaf(leaf.hand_seq, leaf.recorded()))

    def _after(
        self, after: int, sealed: Callable[[Segment], Iterable[T]], closed: Callable[[HotLeaf], T]
    ) -> Iterator[T]:
        """Items after a place in the order of closing, made of segments, then of the log."""
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
        """Ask the state, and the next one if its files were compacted meanwhile."""
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

    def leaves_by_place(self) -> tuple[int, tuple[HotLeaf, ...]]:
        """The number of leaves in the tree's files, and the leaves closed since, of one moment."""
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

    def parts(self) -> ClosedParts:
        """The segments and the closed part of the log, of one moment."""
        with self._lock:
            return ClosedParts(self._state.manifest.segments, tuple(self._state.tail.closed))

    def since(self, pos: int) -> tuple[tuple[Segment, ...], tuple[LogEntry, ...]]:
        """Segments with events from a position on, and such appends of the log, of one moment."""
        with self._lock:
            state = self._state
            segments = (it for it in state.manifest.segments if it.last_pos >= pos)
            return tuple(segments), state.tail.since(pos)

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

    def _caught_up(self, anew: bool) -> _State:
        """The mark before the manifest: of a seal in between, the manifest then knows."""
        mark = read_watermark(self.disk)
        state = self._state
        if anew or mark is None or mark.log != state.manifest.log:
            state = self._opened(state)
        end = durable_size(mark, state.manifest)
        if end <= state.size:
            return state
        recovered = hot_log.read(self.disk, state.manifest.log, state.size, end)
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
        return _State(now, SealedSegments(self.disk, now.segments), Tail(now), 0)


POLL_SECONDS = 0.01


class NoSnapshot(Exception):
    """A token names a snapshot that this ledger cannot show."""


class Snapshot:
    """The ledger as it was when it had so many events and closed hands; it never changes.

    `early` says that it is for somebody who may not know how much more there is.
    """

    def __init__(self, live: LiveLedger, next_pos: int, next_seq: int, early: bool = False) -> None:
        self.live = live
        self.next_pos = next_pos
        self.next_seq = next_seq
        self.early = early

    @property
    def as_of(self) -> str:
        """A token: any reader of this ledger that is given it sees exactly this."""
        return f"{self.next_pos}.{self.next_seq}"

    def ruleset(self, fingerprint: str) -> bytes | None:
        """The text of a ruleset that this ledger keeps."""
        return manifest.ruleset(self.live.disk, fingerprint)

    def rulesets(self) -> tuple[str, ...]:
        """The fingerprints of all rulesets that this ledger keeps."""
        return tuple(manifest.rulesets(self.live.disk))

    def units(self) -> dict[str, str | None]:
        """The unit of amounts of each ruleset, such as chips; None if its text is damaged."""
        return self.live.units()

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """All events of one stream, in order; none if there is no such stream."""
        return tuple(event for event in self.live.read(stream) if event.pos < self.next_pos)

    def begun_last(self, match: str) -> str | None:
        """The last hand of a match that has begun and is not sealed yet, over or not."""
        return self.live.begun_last(match, self.next_pos)

    def hand_seq(self, stream: str) -> int | None:
        """A hand's place among all that closed; None if it has not, or not yet."""
        found = self.live.hand_seq(stream)
        return None if found is None or found >= self.next_seq else found

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Every event from this position on, in order, up to the end of the snapshot."""
        if pos >= self.next_pos:
            return iter(())
        return takewhile(lambda recorded: recorded.pos < self.next_pos, self.live.read_from(pos))

    def hands(self, match: str | None = None, after: int = -1) -> Iterator[ClosedHand]:
        """Hands in the order they closed, of one match or of all, after a place in that order."""
        known = takewhile(lambda hand: hand.hand_seq < self.next_seq, self.live.hands(after))
        return (hand for hand in known if match is None or hand.hand.rpartition("/")[0] == match)

    def leaves(self, after: int = -1) -> Iterator[Leaf]:
        """Leaves, hands and match records, in the order of closing, after a place in it."""
        return takewhile(lambda leaf: leaf.hand_seq < self.next_seq, self.live.leaves(after))

    def records(self, match: str) -> tuple[Leaf, ...]:
        """The appends of a match's own records, each a leaf, in that order."""
        return tuple(leaf for leaf in self.live.records(match) if leaf.hand_seq < self.next_seq)

    def matches(self) -> dict[str, int]:
        """Every match that has records of its own, with their number."""
        known_at, counted = self.live.matches()
        if known_at != self.next_pos:
            segments, placed = self.live.since(self.next_pos)
            later = {name for segment in segments for name in segment.records}
            later |= {entry.append.stream for entry in placed if is_match(entry.append.stream)}
            counted |= {name: len(self.read(name)) for name in later}
        return {name: count for name, count in counted.items() if count}

    def parts(self) -> ClosedParts:
        """The segments and log leaves with the closed hands; rows from `next_seq` on came later."""
        segments, closed = self.live.parts()
        return ClosedParts(
            tuple(segment for segment in segments if segment.first_seq < self.next_seq),
            tuple(stream for stream in closed if stream.hand_seq < self.next_seq),
        )


class Reader:
    """A reader of one folder's ledger; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._live = LiveLedger(folder)
        self._ended = threading.Event()

    def snapshot(self, as_of: str | None = None) -> Snapshot:
        """The newest durable moment, or the one that a token names."""
        newest = Snapshot(self._live, *self._live.refresh())
        if as_of is None:
            return newest
        pos, dot, seq = as_of.partition(".")
        if not (dot and _is_count(pos) and _is_count(seq)):
            raise NoSnapshot(f"{as_of!r} is no token of a snapshot: one looks like 1520.100")
        if int(pos) > newest.next_pos or int(seq) > newest.next_seq:
            raise NoSnapshot(f"this ledger is at {newest.as_of}, it cannot show {as_of}")
        return Snapshot(self._live, int(pos), int(seq))

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """All durable events of one stream."""
        return self.snapshot().read(stream)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Every durable event from a position on, as of now."""
        return self.snapshot().read_from(pos)

    def hands(self, match: str | None = None, after: int = -1) -> Iterator[ClosedHand]:
        """Hands that have closed, as of now."""
        return self.snapshot().hands(match, after)

    def matches(self) -> dict[str, int]:
        """Matches with records of their own, as of now."""
        return self.snapshot().matches()

    def follow(self, pos: int) -> Iterator[Recorded]:
        """Events from a position on, then each as it becomes durable; ends with `close`."""
        while not self._ended.is_set():
            mark = self._live.mark()
            for recorded in self.snapshot().read_from(pos):
                pos = recorded.pos + 1
                yield recorded
            while self._live.mark() == mark and not self._ended.wait(POLL_SECONDS):
                pass

    def close(self) -> None:
        """End every `follow`."""
        self._ended.set()


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
