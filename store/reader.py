"""The ledger for any process that only reads: it takes no lock, and nothing waits for it.

What a snapshot holds is a matter of two counts: the events before `next_pos`, and of the hands,
those closed before `next_seq`. Sealing and compaction move events from file to file and change
neither, so a snapshot outlives both: its token shows the same, today or later, in this process or
another.
"""

import threading
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from events.ledger import Recorded, is_match
from store.log.leaf import Leaf
from store.snapshot import Listed, Live, Parts

POLL_SECONDS = 0.01


class Unreachable(Exception):
    """A snapshot's token that this ledger cannot answer for."""


class Snapshot:
    """The ledger as it was when it had so many events and closed hands; it never changes.

    `early` says that it is for somebody who may not know how much more there is.
    """

    def __init__(self, live: Live, next_pos: int, next_seq: int, early: bool = False) -> None:
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
        return self.live.ruleset(fingerprint)

    def rulesets(self) -> tuple[str, ...]:
        """The fingerprints of all rulesets that this ledger keeps."""
        return self.live.rulesets()

    def units(self) -> dict[str, str | None]:
        """What amounts count by each of them, such as chips; None if its text is damaged."""
        return self.live.units()

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """Everything in one stream, in order; nothing if there is no such stream."""
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

    def hands(self, match: str | None = None, after: int = -1) -> Iterator[Listed]:
        """Hands in the order they closed, of one match or of all, after a place in that order."""
        known = takewhile(lambda hand: hand.hand_seq < self.next_seq, self.live.hands(after))
        return (hand for hand in known if match is None or hand.hand.rpartition("/")[0] == match)

    def leaves(self, after: int = -1) -> Iterator[Leaf]:
        """Everything that closed, hands and match records, in that order, after a place in it."""
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

    def parts(self) -> Parts:
        """Where the closed hands are now; rows from `next_seq` on came later."""
        segments, closed = self.live.parts()
        return Parts(
            tuple(segment for segment in segments if segment.first_seq < self.next_seq),
            tuple(stream for stream in closed if stream.hand_seq < self.next_seq),
        )


class Reader:
    """One folder's ledger, followed from outside; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._live = Live(folder)
        self._ended = threading.Event()

    def snapshot(self, as_of: str | None = None) -> Snapshot:
        """The newest durable moment, or the one that a token names."""
        newest = Snapshot(self._live, *self._live.refresh())
        if as_of is None:
            return newest
        pos, dot, seq = as_of.partition(".")
        if not (dot and _is_count(pos) and _is_count(seq)):
            raise Unreachable(f"{as_of!r} is no token of a snapshot: one looks like 1520.100")
        if int(pos) > newest.next_pos or int(seq) > newest.next_seq:
            raise Unreachable(f"this ledger is at {newest.as_of}, it cannot show {as_of}")
        return Snapshot(self._live, int(pos), int(seq))

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """Everything durable in one stream."""
        return self.snapshot().read(stream)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Every durable event from a position on, as of now."""
        return self.snapshot().read_from(pos)

    def hands(self, match: str | None = None, after: int = -1) -> Iterator[Listed]:
        """Hands that have closed, as of now."""
        return self.snapshot().hands(match, after)

    def matches(self) -> dict[str, int]:
        """Matches with records of their own, as of now."""
        return self.snapshot().matches()

    def follow(self, pos: int) -> Iterator[Recorded]:
        """As `read_from`, and then every event as it becomes durable; ends with `close`."""
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
