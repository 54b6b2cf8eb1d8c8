"""One ledger as the callers of a process ask it: snapshots of now, and views shared among equals.

Whoever sees the same is answered from the same `Viewed`, which is replaced when the ledger has
grown and let go when nobody uses it any more.

Verdicts of a large ledger are judged in a thread of their own, when an auditor asks for it. Nobody
waits for that: what is judged is kept hand by hand, and a page says how many are left.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from api.http.cursor import Cursors
from api.http.delay import Delay
from api.http.limits import Limits
from api.http.private_files import cursor_key
from api.problem import Problem
from api.questions.verdicts import verdicts_of
from api.viewpoints.viewer import Viewer
from api.viewpoints.views import Viewed
from store.reader import Reader, Snapshot
from store.snapshot import NoLedger

NO_LEDGER = "there is no ledger here yet: muckrake play or muckrake import makes one"
FRESH_S = 0.5  # views of a growing ledger are made again no more often than this
STOP_S = 5.0  # that a batch of judged hands may take to come to its end
VIEWERS_MAX = 8  # views that are kept for later callers


class Settings(Struct, frozen=True):
    """What `muckrake serve` was asked for."""

    folder: Path
    delay_s: float = 30.0  # the public sees a running match so much later
    hosts: tuple[str, ...] = ()  # the names it answers to; any, if there are none
    allow_origins: tuple[str, ...] = ()  # other sites whose scripts may read answers
    frame_origins: tuple[str, ...] = ()  # other sites that may frame the pages made for it
    limits: Limits = Limits()
    logs: bool = False  # a line on stderr for each request
    fronted: bool = False  # by a proxy on this machine, whose word is taken
    bots: Path | None = None  # whose folders hold bots that a key may have played


class Judging:
    """At most one thread that judges what is left of a ledger."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def going(self) -> bool:
        """Whether somebody judges now."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, snapshot: Snapshot) -> None:
        """All that is left of this ledger, unless it is being judged already."""
        with self._turn:
            if not self.going and not self._stop.is_set():
                self._thread = threading.Thread(target=self._judge, args=(snapshot,), daemon=True)
                self._thread.start()

    def close(self) -> None:
        """What was judged so far stays."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(STOP_S)

    def _judge(self, snapshot: Snapshot) -> None:
        try:
            for _ in verdicts_of(snapshot).judge(snapshot):
                if self._stop.is_set():
                    return
        except FileNotFoundError:
            return  # compacted meanwhile: whoever asks again goes on, over the new files


class _Shared:
    """Views of one viewer, how many callers are at them, and when they were made."""

    def __init__(self, viewed: Viewed) -> None:
        self.viewed = viewed
        self.users = 0
        self.made = time.monotonic()


class LedgerService:
    """The ledger of a folder, whether it is there already or will be."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._delay = Delay(settings.delay_s)
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._reader: Reader | None = None
        self._cursors: Cursors | None = None
        self._shared: OrderedDict[Viewer, _Shared] = OrderedDict()
        self.judging = Judging()

    @property
    def reader(self) -> Reader:
        """The ledger, or the sentence that there is none yet."""
        with self._opening:
            if self._reader is None:
                try:
                    self._reader = Reader(self.settings.folder)
                except (NoLedger, FileNotFoundError):
                    raise Problem("unavailable", NO_LEDGER) from None
            return self._reader

    @property
    def cursors(self) -> Cursors:
        """What seals cursors: the same for all workers of this ledger."""
        with self._opening:
            if self._cursors is None:
                self._cursors = Cursors(cursor_key(self.settings.folder))
            return self._cursors

    def snapshot(self, viewer: Viewer) -> Snapshot:
        """The ledger of this moment, as far as the viewer may know that it has come."""
        return self._delay.snapshot(viewer, self.reader.snapshot())

    @contextmanager
    def viewed(self, viewer: Viewer) -> Iterator[Viewed]:
        """The ledger through the viewer's eyes, for the time of one answer."""
        shared = self._taken(viewer)
        try:
            yield shared.viewed
        finally:
            self._let_go(viewer, shared)

    def close(self) -> None:
        """Nobody asks any more."""
        self.judging.close()
        with self._lock:
            for one in self._shared.values():
                one.viewed.close()
            self._shared.clear()
            if self._reader is not None:
                self._reader.close()

    def _taken(self, viewer: Viewer) -> _Shared:
        snapshot = self.snapshot(viewer)
        with self._lock:
            known = self._shared.get(viewer)
            stale = known is None or (
                known.viewed.snapshot.as_of != snapshot.as_of
                and time.monotonic() - known.made >= FRESH_S
            )
            if known is None or stale:
                self._shared[viewer] = _Shared(Viewed(snapshot, viewer))
                if known is not None and not known.users:
                    known.viewed.close()
                known = self._shared[viewer]
            self._shared.move_to_end(viewer)
            known.users += 1
            self._forget()
            return known

    def _let_go(self, viewer: Viewer, shared: _Shared) -> None:
        with self._lock:
            shared.users -= 1
            if not shared.users and self._shared.get(viewer) is not shared:
                shared.viewed.close()

    def _forget(self) -> None:
        """The viewers that were here longest ago, if there are too many."""
        for viewer in list(self._shared):
            if len(self._shared) <= VIEWERS_MAX:
                return
            if not self._shared[viewer].users:
                self._shared.pop(viewer).viewed.close()
