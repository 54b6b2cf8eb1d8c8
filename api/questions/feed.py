"""Feeds of events: each is read and encoded once for each viewpoint, however many follow it.

A process has one thread that looks at the ledger, and for each viewpoint that somebody follows a
`Feed`. Its events are cut into pages of so many positions: followers at the same place get the same
page, a slow follower gets older ones, made again from the ledger if they are no longer kept. So
nobody is waited for, and memory does not grow with those who are slow.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

from msgspec import Struct

from api.viewpoints.feed_events import FeedEncoder, FeedEvent
from api.viewpoints.viewer import Viewer
from events.ledger import Recorded
from store.reader import Snapshot

T = TypeVar("T")
PAGE_EVENTS = 500  # positions
PAGES_MAX = 32  # that are kept of a viewpoint
BATCHES_MAX = 8  # in which a page is looked at by several alike
POLL_S = 0.02  # between two looks at a ledger that somebody follows
READERS_MAX = 2  # readings of older parts that are gone on with

Snapshots = Callable[[Viewer], Snapshot | None]
"""The ledger as a viewer may know it now; nothing where there is none yet."""


class EventFilter(Struct, frozen=True):
    """The events of a feed that somebody follows: of one match or all, of some types or all."""

    match: str | None = None
    types: frozenset[str] = frozenset()

    def matches(self, event: FeedEvent) -> bool:
        return (self.match is None or event.match == self.match) and (
            not self.types or event.type in self.types
        )


class Batch:
    """Events that follow one another, one object for all followers at the same place.

    `place` is where the feed has come with it, whether or not any of its events were wanted.
    """

    def __init__(self, events: tuple[FeedEvent, ...], next_pos: int, place: bytes | None) -> None:
        self.events = events
        self.next_pos = next_pos
        self.place = place
        self._forms: dict[Any, bytes] = {}

    def encoded(self, form: Callable[[tuple[FeedEvent, ...]], bytes]) -> bytes:
        """The batch in this form, encoded once."""
        if form not in self._forms:
            self._forms[form] = form(self.events)
        return self._forms[form]


class _Page:
    """The events of some positions of a feed, as far as they have come."""

    def __init__(self, first: int) -> None:
        self.next_pos = first
        self.last = first + PAGE_EVENTS
        self._events: list[FeedEvent] = []
        self._batches: dict[tuple[int, EventFilter], Batch] = {}

    def add(self, events: list[FeedEvent], next_pos: int) -> None:
        """Add events; readers meanwhile go by `next_pos`, which therefore moves last."""
        self._batches = {}
        self._events = self._events + events
        self.next_pos = next_pos

    def batch(self, pos: int, event_filter: EventFilter) -> Batch:
        """The batch of the page's events from a position on that a filter wants."""
        known = self._batches.get((pos, event_filter))
        if known is None or known.next_pos < self.next_pos:
            end, events = self.next_pos, self._events
            here = [event for event in events if pos <= event.pos < end]
            place = here[-1].place if here else None
            if len(self._batches) >= BATCHES_MAX:
                self._batches = {}
            known = Batch(tuple(one for one in here if event_filter.matches(one)), end, place)
            self._batches[pos, event_filter] = known
        return known


class Feed:
    """All events that one viewpoint sees, page by page."""

    def __init__(self, viewer: Viewer) -> None:
        self.followers = 0
        self.snapshot: Snapshot | None = None
        self.grown = asyncio.Event()
        self.lost: Exception | None = None
        self.making: dict[int, asyncio.Task[Batch]] = {}
        self._encoder = FeedEncoder(viewer)
        self._pages: OrderedDict[int, _Page] = OrderedDict()
        self._ahead: OrderedDict[int, tuple[Snapshot, Iterator[Recorded]]] = OrderedDict()
        self._turn = threading.Lock()

    @property
    def end(self) -> int:
        """The number of events that this viewpoint may know to have happened."""
        return 0 if self.snapshot is None else self.snapshot.next_pos

    def advance(self, snapshot: Snapshot) -> None:
        """Take a newer snapshot, in the thread of the event loop."""
        if snapshot.next_pos > self.end:
            self.snapshot = snapshot
            self.grown.set()
            self.grown = asyncio.Event()

    def fail(self, failure: Exception) -> None:
        """Refuse every follower, as the ledger cannot be read on; they may come again."""
        self.lost = failure
        self.grown.set()

    def cached_batch(self, pos: int, event_filter: EventFilter) -> Batch | None:
        """The batch from a position on, if any of its events are in memory already."""
        page = self._pages.get(pos // PAGE_EVENTS)
        return None if page is None or page.next_pos <= pos else page.batch(pos, event_filter)

    def read_batch(self, pos: int, event_filter: EventFilter) -> Batch:
        """The batch from a position on, read and encoded, in a thread that may wait for the
        disk."""
        with self._turn:
            number = pos // PAGE_EVENTS
            page = self._pages.get(number) or _Page(number * PAGE_EVENTS)
            snapshot = self.snapshot
            assert snapshot is not None
            until = min(page.last, snapshot.next_pos)
            if page.next_pos < until:
                recorded = self._read_events(page.next_pos, until, snapshot)
                page.add(list(self._encoder.encode(recorded, snapshot)), until)
            self._pages[number] = page
            self._pages.move_to_end(number)
            if len(self._pages) > PAGES_MAX:
                self._pages.popitem(last=False)
            return page.batch(pos, event_filter)

    def _read_events(self, pos: int, until: int, snapshot: Snapshot) -> list[Recorded]:
        """Read the events between two positions; who reads on gets what the same reading holds
        next."""
        seen, reading = self._ahead.pop(pos, (snapshot, None))
        if reading is None or seen.next_pos < until:
            seen, reading = snapshot, snapshot.read_from(pos)
        recorded = list(islice(reading, until - pos))
        if until < seen.next_pos:
            self._ahead[until] = seen, reading
            if len(self._ahead) > READERS_MAX:
                self._ahead.popitem(last=False)
        return recorded


class Feeds:
    """Every feed of a process, and the thread that polls for events."""

    def __init__(self, snapshots: Snapshots, look_s: float = POLL_S) -> None:
        self.stopping = False
        self._snapshots = snapshots
        self._look_s = look_s
        self._feeds: dict[Viewer, Feed] = {}
        self._threads = ThreadPoolExecutor(2, "feed")
        self._looking: asyncio.Task[None] | None = None

    async def snapshot(self, viewer: Viewer) -> Snapshot | None:
        """The newest snapshot: a new follower may have just written to the ledger."""
        return (await self.in_thread(self._newest_snapshots, (viewer,)))[0]

    @property
    def followers(self) -> int:
        """The number of followers in this process."""
        return sum(feed.followers for feed in self._feeds.values())

    @contextmanager
    def feed(self, viewer: Viewer, snapshot: Snapshot | None) -> Iterator[Feed]:
        """A viewpoint's feed for as long as it is followed; with the last follower it goes."""
        feed = self._feeds.setdefault(viewer, Feed(viewer))
        feed.followers += 1
        if snapshot is not None:
            feed.advance(snapshot)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._poll())
        try:
            yield feed
        finally:
            feed.followers -= 1
            if not feed.followers:
                del self._feeds[viewer]

    async def batches(
        self, feed: Feed, pos: int, until: int | None, event_filter: EventFilter, patience_s: float
    ) -> AsyncGenerator[Batch | None, None]:
        """The batches from a position on, and new ones as they come: an empty one when all is
        quiet, None when there is no more for now.

        The last one may go beyond `until`: it is the same for all.
        """
        place, sent_at, more = None, time.monotonic(), False
        while not self.stopping and (until is None or pos < until):
            if pos < feed.end:
                batch = feed.cached_batch(pos, event_filter)
                if batch is None:
                    await self._prepare(feed, pos // PAGE_EVENTS)
                    continue
                pos, place = batch.next_pos, batch.place or place
                if batch.events:
                    yield batch
                    sent_at, more = time.monotonic(), True
            elif more:
                yield None
                more = False
            else:
                left_s = sent_at + patience_s - time.monotonic()
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(0.0, left_s)):
                        await feed.grown.wait()
            if feed.lost is not None:
                raise feed.lost
            if time.monotonic() - sent_at >= patience_s:
                yield Batch((), pos, place)
                sent_at = time.monotonic()

    async def last_place(self, feed: Feed, pos: int) -> bytes | None:
        """The place of the last visible event before a position; None at the beginning."""
        while pos > 0:
            first = (pos - 1) // PAGE_EVENTS * PAGE_EVENTS
            batch = await self.in_thread(feed.read_batch, first, EventFilter())
            before = [event.place for event in batch.events if event.pos < pos]
            if before:
                return before[-1]
            pos = first
        return None

    async def _prepare(self, feed: Feed, number: int) -> None:
        """Read a page that several wait for once."""
        if number not in feed.making:
            work = self.in_thread(feed.read_batch, number * PAGE_EVENTS, EventFilter())
            feed.making[number] = asyncio.get_running_loop().create_task(work)
            feed.making[number].add_done_callback(lambda _: feed.making.pop(number))
        await asyncio.shield(feed.making[number])

    async def in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run work that reads from the disk in a thread of the feeds, where no other answer
        waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def stop(self) -> None:
        """Let every follower go as soon as he has what was being sent to him."""
        self.stopping = True
        for feed in self._feeds.values():
            feed.grown.set()

    async def _poll(self) -> None:
        """Read new events for every feed while it has followers, half of the time at most."""
        while self._feeds and not self.stopping:
            began = time.monotonic()
            viewers = tuple(self._feeds)
            try:
                found = await self.in_thread(self._newest_snapshots, viewers)
            except Exception as failure:
                for feed in self._feeds.values():
                    feed.fail(failure)
                return
            for viewer, snapshot in zip(viewers, found, strict=True):
                if snapshot is not None and viewer in self._feeds:
                    self._feeds[viewer].advance(snapshot)
            await asyncio.sleep(max(self._look_s, time.monotonic() - began))

    def _newest_snapshots(self, viewers: tuple[Viewer, ...]) -> list[Snapshot | None]:
        return [self._snapshots(viewer) for viewer in viewers]
