"""`/api/v1/stream`: what happens in the ledger, as this viewpoint sees it, while it happens."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, aclosing, contextmanager
from functools import partial
from typing import Annotated, get_args

from fastapi import APIRouter, FastAPI, Header, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from api.http.access import Auth
from api.http.ledger_service import LedgerService
from api.http.limits import caller_id
from api.http.responses import (
    MEDIA_TYPES,
    NO_STORE,
    ChunkedResponse,
    abort_connection,
    format_of,
    response_headers,
)
from api.problem import Problem
from api.questions.feed import Batch, EventFilter, Feeds
from api.viewpoints.feed_events import FeedEvent, UnknownPlace, resume_position
from api.viewpoints.viewer import Viewer
from events import types as t
from events.match import Match, MatchEnded
from store.reader import Snapshot

router = APIRouter(prefix="/api/v1", tags=["stream"])

RECONNECT_MS = 2_000  # a browser waits so long before it comes again
HEARTBEAT_S = 15.0  # after so long without an event a line says that all is well
WAIT_S = 25.0  # who asks for what comes next waits no longer
TYPES = frozenset(kind.__name__ for kind in (*get_args(t.Event), *get_args(Match)))
FOLLOWERS_MAX = 2_000  # of one process
CHUNK_BYTES = 1 << 16  # sent at once: a page's end would tell how many events it hides
START = "start"
_MATCH_END = "MatchEnded"


class _StreamRange(Struct, frozen=True):
    """A stream's first position, filter, and end: a position, if it is known already."""

    pos: int
    event_filter: EventFilter
    until: int | None
    soon: bool = False
    match_ends: bool = False


@router.get(
    "/stream",
    operation_id="stream",
    summary="Events as they become durable, to follow or to read up to a place",
    response_class=Response,
    responses={
        200: {
            "content": {
                MEDIA_TYPES["sse"]: {"schema": {"type": "string"}},
                MEDIA_TYPES["ndjson"]: {},
            }
        }
    },
)
async def stream(
    request: Request,
    ask: Auth,
    match: Annotated[str | None, Query(description="Only what happens in this match.")] = None,
    types: Annotated[
        str | None, Query(description="Only these types of event, with commas between them.")
    ] = None,
    after: Annotated[
        str | None,
        Query(description="After the event with this id; `start` for all; else from now on."),
    ] = None,
    until: Annotated[
        str | None,
        Query(description="`now`, `next` (some event), `end` (of the match), or an event's id."),
    ] = None,
    last_event_id: Annotated[str | None, Header(description="As `after`, and stronger.")] = None,
) -> Response:
    kind = format_of(request, ("sse", "ndjson"))
    feeds, viewer = feeds_of(request.app), ask.viewer
    named = frozenset(types.split(",")) if types else frozenset()
    if unknown := named - TYPES:
        raise Problem("invalid", f"{min(unknown)[:80]!r} is no type of event: docs/events.md")
    if until == "end":
        if match is None:
            raise Problem("invalid", "until=end is the end of a match: say which with match=")
        named = named | {_MATCH_END} if named else named
    event_filter = EventFilter(match, named)
    if not hasattr(request.app.state, "followers"):
        request.app.state.followers = Followers()  # of this process
    followers: Followers = request.app.state.followers
    caller = caller_id(request.scope)
    if not followers.has_room(caller, FOLLOWERS_MAX):
        raise Problem("unavailable", f"{FOLLOWERS_MAX} follow already: as many as may").after(10)
    snapshot = await feeds.snapshot(viewer)
    from_where = last_event_id or after
    span = await feeds.in_thread(_stream_range, snapshot, viewer, event_filter, from_where, until)
    headers = response_headers(request, NO_STORE)
    headers["X-Accel-Buffering"] = "no"  # a proxy that gathers would hold events back
    if getattr(request.state, "head", False):
        return Response(headers=headers, media_type=MEDIA_TYPES[kind])
    limits = request.app.state.service.settings.limits
    place = followers.follow(caller, FOLLOWERS_MAX, partial(abort_connection, request.scope))
    chunks = _chunks(place, feeds, viewer, snapshot, span, kind == "sse")
    return ChunkedResponse(chunks, MEDIA_TYPES[kind], headers, limits.stall_s)


class Followers:
    """The followers of a stream. Where all places are taken, the caller with most of them gives
    his oldest one to a newcomer who has fewer, so that a few addresses do not take them all."""

    def __init__(self) -> None:
        self._ends: dict[str, dict[object, Callable[[], None]]] = {}

    def has_room(self, caller: str, most: int) -> bool:
        """Whether one of `most` places is free for this caller, or can be taken from another."""
        return self._count < most or len(self._busiest) > len(self._ends.get(caller, ())) + 1

    @contextmanager
    def follow(self, caller: str, most: int, end: Callable[[], None]) -> Iterator[bool]:
        """Take a place while the stream is followed, if there is one; `end` cuts the stream when
        the place is taken away."""
        if not self.has_room(caller, most):
            yield False
            return
        if self._count >= most:
            self._busiest.pop(next(iter(self._busiest)))()
        key = object()
        mine = self._ends.setdefault(caller, {})
        mine[key] = end
        try:
            yield True
        finally:
            mine.pop(key, None)
            if not mine and self._ends.get(caller) is mine:
                del self._ends[caller]

    @property
    def _count(self) -> int:
        return sum(map(len, self._ends.values()))

    @property
    def _busiest(self) -> dict[object, Callable[[], None]]:
        return max(self._ends.values(), key=len, default={})


def feeds_of(app: FastAPI) -> Feeds:
    """The feeds of this process, made with the first follower."""
    if not hasattr(app.state, "feeds"):
        service: LedgerService = app.state.service

        def newest(viewer: Viewer) -> Snapshot | None:
            try:
                return service.snapshot(viewer)
            except Problem as reason:
                if reason.kind == "unavailable":
                    return None  # there is no ledger yet: who follows will hear of it
                raise

        app.state.feeds = Feeds(newest)
    feeds: Feeds = app.state.feeds
    return feeds


def _stream_range(
    snapshot: Snapshot | None,
    viewer: Viewer,
    event_filter: EventFilter,
    after: str | None,
    until: str | None,
) -> _StreamRange:
    """The requested places of a stream as positions; looked up in the ledger, so in a thread."""
    if snapshot is None:
        if after not in (None, START) or until not in (None, "now", "next", "end"):
            raise Problem("wrong-cursor", "there is no ledger here yet, and so no place in it")
        return _StreamRange(
            0, event_filter, 0 if until == "now" else None, until == "next", until == "end"
        )
    end = snapshot.next_pos
    try:
        if after is None:
            pos = end
        elif after != START:
            pos = resume_position(after, viewer, snapshot)
        else:
            records = snapshot.read(event_filter.match) if event_filter.match else ()
            pos = records[0].pos if records else 0
        match until:
            case None:
                return _StreamRange(pos, event_filter, None)
            case "now":
                return _StreamRange(pos, event_filter, end)
            case "next":
                return _StreamRange(pos, event_filter, None, soon=True)
            case "end":
                records = snapshot.read(event_filter.match or "")
                ends = (one.pos + 1 for one in records if type(one.event) is MatchEnded)
                return _StreamRange(pos, event_filter, next(ends, None), match_ends=True)
            case _:
                return _StreamRange(pos, event_filter, resume_position(until, viewer, snapshot))
    except UnknownPlace as reason:
        raise Problem("wrong-cursor", str(reason)) from None


async def _chunks(
    place_held: AbstractContextManager[bool],
    feeds: Feeds,
    viewer: Viewer,
    snapshot: Snapshot | None,
    span: _StreamRange,
    sse: bool,
) -> AsyncGenerator[bytes, None]:
    """The chunks of a stream: its beginning, events as they come, heartbeats and its end;
    nothing, if the place was lost meanwhile."""
    form = _as_sse if sse else _as_ndjson
    with ExitStack() as held:
        if not held.enter_context(place_held):
            return
        feed = held.enter_context(feeds.feed(viewer, snapshot))
        if sse:
            place = await feeds.last_place(feed, span.pos)
            yield b"retry: %d\nid: %b\n\n" % (RECONNECT_MS, place or START.encode())
        patience_s = WAIT_S if span.soon else HEARTBEAT_S
        going = feeds.batches(feed, span.pos, span.until, span.event_filter, patience_s)
        unsent = bytearray()
        async with aclosing(going) as batches:
            async for batch in batches:
                events, last = _select_events(batch, span) if batch else ((), False)
                if batch is not None and events:
                    unsent += batch.encoded(form) if events is batch.events else form(events)
                is_gap = batch is None or not batch.events
                size = len(unsent) if is_gap or last else len(unsent) // CHUNK_BYTES * CHUNK_BYTES
                for begin in range(0, size, CHUNK_BYTES):
                    yield bytes(unsent[begin : min(begin + CHUNK_BYTES, size)])
                del unsent[:size]
                if batch is not None and not batch.events:
                    place = b"id: %b\n" % batch.place if batch.place else b""
                    yield b": all is quiet\n%b\n" % place if sse else b""
                if last:
                    return
        if unsent:
            yield bytes(unsent)
        if sse and feeds.stopping:
            yield b": the server stops, come again with your last id\n\n"


def _select_events(batch: Batch, span: _StreamRange) -> tuple[tuple[FeedEvent, ...], bool]:
    """The events of a batch that were asked for, and whether the stream ends there."""
    events = batch.events
    if span.until is not None:
        if batch.next_pos > span.until:
            events = tuple(event for event in events if event.pos < span.until)
        return events, batch.next_pos >= span.until
    if span.match_ends:
        ends = [place for place, event in enumerate(events) if event.type == _MATCH_END]
        return (events[: ends[0] + 1], True) if ends else (events, False)
    return events, span.soon


def _as_sse(events: tuple[FeedEvent, ...]) -> bytes:
    return b"".join([b"id: %b\ndata: %b\n\n" % (event.place, event.line) for event in events])


def _as_ndjson(events: tuple[FeedEvent, ...]) -> bytes:
    return b"".join([event.line + b"\n" for event in events])
