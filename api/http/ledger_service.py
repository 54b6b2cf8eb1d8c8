"""One ledger as the requests of a process share it: its newest snapshot, and a view for each
viewer.

Viewers who see the same are answered from the same `LedgerView`, which is replaced when the ledger
has grown and let go when nobody uses it any more.

Verdicts of a large ledger are judged in a thread of their own, when an auditor asks for it: first
the hands that he looks at. Nobody waits for that: what is judged is kept hand by hand, and a page
says how many are left.

The public may know a match that is being played some seconds later than it happens, by the time in
the envelope of its events, which every process and every restart reads alike. When the match is
over nothing of it is held back any more. A snapshot is a beginning of the ledger, so what came
after something that is held is held with it: the end of one match may wait for another one, never
longer than the delay. What the public is never told holds nothing back: that something is held
would tell of it. A player is kept from nothing as long as he sits in every match that is held. An
auditor never is.
"""

import threading
import time
from bisect import bisect_left
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from api.http.cursors import Cursors, cursor_key
from api.http.limits import Limits
from api.problem import Problem
from api.viewpoints.hand_selection import match_end, match_records
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress, Viewer, without_progress
from api.viewpoints.withheld_events import WITHHELD_FIELDS
from events.match import MatchEnded, MatchStarted
from events.views import Public, see_one
from store.folder.disk import held_since, now_ms
from store.folder.manifest import Segment
from store.log.streams import split_stream
from store.reader import LiveLedger, NoLedger, Reader, Snapshot
from store.segments.reading import files_of

_WANTED = ("pos", "at", "match", "type", *(field for field, _ in WITHHELD_FIELDS.values()))


class _EventRun(NamedTuple):
    """The first of events in a row, of one match and one time."""

    pos: int
    at: int
    match: str


class DelayedSnapshots:
    """Snapshots that leave out what a viewer may not know yet (`--delay`); threads may share it."""

    def __init__(self, delay_s: float, clock: Callable[[], int] = now_ms) -> None:
        self._clock = clock
        self._delay_ms = round(delay_s * 1000)
        self._turn = threading.Lock()
        self._known: int | None = None
        self._recent: deque[_EventRun] = deque()
        self._over: set[str] = set()
        self._players: dict[str, tuple[str, ...]] = {}

    def snapshot(self, viewer: Viewer, newest: Snapshot) -> Snapshot:
        """The newest snapshot, or the part of it that this viewer may know already."""
        if viewer.auditor or not self._delay_ms:
            return newest
        with self._turn:
            since = self._clock() - self._delay_ms
            self._add_runs(newest, since)
            held = (one for one in self._recent if self._is_delayed(one, since))
            pos = next((it.pos for it in held if not self._sits(viewer, it.match, newest)), None)
        if pos is None or pos >= newest.next_pos:
            return newest
        closed = min(newest.next_seq, _closed_before(newest.live, pos))
        return Snapshot(newest.live, pos, closed, early=True)

    def _is_delayed(self, span: _EventRun, since: int) -> bool:
        return span.at > since and span.match not in self._over

    def _sits(self, viewer: Viewer, match: str, newest: Snapshot) -> bool:
        if not viewer.sits_in(match):
            return False
        if match not in self._players:
            records = (one.event for one in newest.read(match))
            found = (record.players for record in records if isinstance(record, MatchStarted))
            self._players[match] = next(found, ())
        return viewer.player in self._players[match]

    def _add_runs(self, newest: Snapshot, since: int) -> None:
        """Spans that have come; those go that are held from nobody any more."""
        if self._known is None:
            self._known = _first_after(newest.live, since, newest.next_pos)
        if self._known < newest.next_pos:
            spans, over = _spans(newest.live, self._known, newest.next_pos)
            self._recent.extend(spans)
            self._over |= over
            self._known = newest.next_pos
        while self._recent and not self._is_delayed(self._recent[0], since):
            self._recent.popleft()
        if not self._recent:
            self._over.clear()
            self._players.clear()


def _first_after(live: LiveLedger, since: int, end: int) -> int:
    """The first position of an event later than this time, searched for from the newest on."""
    segments, placed = live.since(0)
    positions = [one.pos for one in placed if one.append.at > since]
    for segment in reversed(segments):
        for group in reversed(range(files_of(live.disk).open(segment, "events").groups)):
            rows = _rows(live, segment, group, ["pos", "at"])
            late = rows["at"].cast(pa.int64()).to_numpy() > since
            if not late.any():
                return min(positions, default=end)
            positions.append(int(rows["pos"].to_numpy()[late].min()))
    return min(positions, default=end)


def _spans(live: LiveLedger, first: int, end: int) -> tuple[list[_EventRun], set[str]]:
    """The events from one position to another as runs; and the matches that are over by then."""
    segments, placed = live.since(first)
    spans, over = [], set()
    for pos, append in placed:
        if pos < end:
            match = split_stream(append.stream)[0]
            if any(see_one(event, Public()) is not None for event in append.events):
                spans.append(_EventRun(pos, append.at, match))
            if any(isinstance(event, MatchEnded) for event in append.events):
                over.add(match)
    for segment in segments:
        for group in _groups(live, segment, first):
            rows = _rows(live, segment, group, [*_WANTED]).filter(
                (pc.field("pos") >= first) & (pc.field("pos") < end)
            )
            spans += _spans_of(rows)
            over.update(rows.filter(pc.field("type") == "MatchEnded")["match"].to_pylist())
    spans.sort(key=lambda one: one.pos)
    return spans, over


def _spans_of(rows: pa.Table) -> Iterator[_EventRun]:
    """Rows of one match and time that follow one another, as one; without replies to bids that
    failed, of which `events.views` tells nobody."""
    for kind, (field, value) in WITHHELD_FIELDS.items():
        if field in rows.column_names:  # else nothing failed here
            hidden = (pc.field("type") == kind) & (pc.field(field) == value)
            rows = rows.filter(~pc.coalesce(hidden, False))
    rows = rows.sort_by("pos")
    match = rows["match"].combine_chunks()
    names = match.dictionary_encode() if not pa.types.is_dictionary(match.type) else match
    codes = names.indices.to_numpy()
    pos, at = rows["pos"].to_numpy(), rows["at"].cast(pa.int64()).to_numpy()
    new = np.ones(len(pos), dtype=bool)
    new[1:] = (np.diff(pos) != 1) | (np.diff(at) != 0) | (np.diff(codes) != 0)
    for place in new.nonzero()[0].tolist():
        yield _EventRun(int(pos[place]), int(at[place]), names[place].as_py())


def _closed_before(live: LiveLedger, pos: int) -> int:
    """The number of hands and records that had closed when the ledger had so many events."""
    segments, closed = live.parts()
    first = bisect_left(closed, pos, key=lambda one: one.placed[-1].pos)
    places = [closed[first].hand_seq] if first < len(closed) else []
    for segment in segments:
        for group in _groups(live, segment, pos):
            rows = _rows(live, segment, group, ["pos", "hand_seq"])
            later = rows["hand_seq"].to_numpy()[rows["pos"].to_numpy() >= pos]
            places += [int(later.min())] if len(later) else []
    return min(places, default=live.refresh()[1])


def _groups(live: LiveLedger, segment: Segment, pos: int) -> list[int]:
    """The row groups that may have events from a position on."""
    if segment.last_pos < pos:
        return []
    bounds = files_of(live.disk).open(segment, "events").bounds["pos"]
    return [group for group, (_, high) in enumerate(bounds) if high >= pos]


def _rows(live: LiveLedger, segment: Segment, group: int, columns: list[str]) -> pa.Table:
    return files_of(live.disk).rows(segment, "events", group, columns)


NO_LEDGER = "there is no ledger here yet: muckrake play or muckrake import makes one"
FRESH_S = 0.5  # views of a growing ledger are made again no more often than this
VIEWERS_MAX = 8  # views that are kept for later callers


class Settings(Struct, frozen=True):
    """The options of `muckrake serve`."""

    folder: Path
    delay_s: float = 30.0  # the public sees a running match so much later
    hosts: tuple[str, ...] = ()  # the names it answers to; any, if there are none
    allow_origins: tuple[str, ...] = ()  # other sites whose scripts may read answers
    frame_origins: tuple[str, ...] = ()  # other sites that may frame the pages made for it
    limits: Limits = Limits()
    logs: bool = False  # a line on stderr for each request
    fronted: bool = False  # by a proxy on this machine, whose word is taken
    bots: Path | None = None  # whose folders hold bots that a key may have played


class _SharedView:
    """A viewer's view of the ledger, how many requests use it, and when it was made."""

    def __init__(self, viewed: LedgerView) -> None:
        self.viewed = viewed
        self.users = 0
        self.made_at = time.monotonic()


class LedgerService:
    """The ledger of a folder, which need not exist yet, for all requests of a process.

    With `pinned` it is for one answer, whose asker knows so much of it; `watch` is called with the
    progress.
    """

    def __init__(
        self,
        settings: Settings,
        pinned: tuple[int, int, bool] | None = None,
        watch: ShowProgress = without_progress,
    ) -> None:
        self.settings = settings
        self.watch = watch
        self._pinned = pinned
        self._delay = DelayedSnapshots(settings.delay_s)
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._reader: Reader | None = None
        self._cursors: Cursors | None = None
        self._shared: OrderedDict[Viewer, _SharedView] = OrderedDict()

    @property
    def reader(self) -> Reader:
        """The ledger's reader; a problem says so if there is no ledger yet."""
        with self._opening:
            if self._reader is None:
                try:
                    self._reader = Reader(self.settings.folder)
                except (NoLedger, FileNotFoundError):
                    raise Problem("unavailable", NO_LEDGER) from None
            return self._reader

    @property
    def cursors(self) -> Cursors:
        """The cursor encoder, the same for all workers of this ledger."""
        with self._opening:
            if self._cursors is None:
                self._cursors = Cursors(cursor_key(self.settings.folder))
            return self._cursors

    def open(self) -> None:
        """Read the ledger before a caller asks; why it cannot be read is said in his answer."""
        with suppress(Exception):
            self.reader.snapshot()

    def snapshot(self, viewer: Viewer) -> Snapshot:
        """The newest snapshot that the viewer may know."""
        newest = self.reader.snapshot()
        if self._pinned is not None:
            return Snapshot(newest.live, *self._pinned)
        return self._delay.snapshot(viewer, newest)

    def is_played(self, viewer: Viewer, snapshot: Snapshot, match: str) -> bool:
        """Whether a match goes on, as far as the viewer may know: it was announced, has no end, and
        the process that announced it still writes the ledger.

        Who has the ledger's lock is told when the delay is over, as all that is written is. As long
        as the viewer may not know that, it goes on if the newest event that he sees is new.
        """
        records_of_match = match_records(snapshot, match)
        if not records_of_match or match_end(snapshot, match) is not None:
            return False
        since = held_since(self.settings.folder)
        held_ms = 0 if viewer.auditor else round(self.settings.delay_s * 1000)
        known = now_ms() - held_ms
        if since is not None and since > known:
            since = None
        if since is not None and records_of_match[0].at >= since:
            return True
        if not held_ms:  # unless it has ended since the snapshot was taken: then it went on
            return match_end(self.snapshot(viewer), match) is not None
        if since is not None:
            return False
        newest = next(snapshot.read_from(snapshot.next_pos - 1))
        return newest.at >= known - held_ms

    @contextmanager
    def viewed(self, viewer: Viewer) -> Iterator[LedgerView]:
        """The ledger as the viewer sees it, for the time of one answer."""
        shared = self._acquire(viewer)
        try:
            yield shared.viewed
        finally:
            self._release(viewer, shared)

    def close(self) -> None:
        """Close every view and the ledger."""
        with self._lock:
            for one in self._shared.values():
                one.viewed.close()
            self._shared.clear()
            if self._reader is not None:
                self._reader.close()

    def _acquire(self, viewer: Viewer) -> _SharedView:
        snapshot = self.snapshot(viewer)
        with self._lock:
            known = self._shared.get(viewer)
            stale = known is None or (
                known.viewed.snapshot.as_of != snapshot.as_of
                and time.monotonic() - known.made_at >= FRESH_S
            )
            if known is None or stale:
                self._shared[viewer] = _SharedView(LedgerView(snapshot, viewer))
                if known is not None and not known.users:
                    known.viewed.close()
                known = self._shared[viewer]
            self._shared.move_to_end(viewer)
            known.users += 1
            self._evict()
            return known

    def _release(self, viewer: Viewer, shared: _SharedView) -> None:
        with self._lock:
            shared.users -= 1
            if not shared.users and self._shared.get(viewer) is not shared:
                shared.viewed.close()

    def _evict(self) -> None:
        """Close the views of the viewers that were here longest ago, if there are too many."""
        for viewer in list(self._shared):
            if len(self._shared) <= VIEWERS_MAX:
                return
            if not self._shared[viewer].users:
                self._shared.pop(viewer).viewed.close()
