"""Encode events for a feed as its viewer saw each when it became durable.

What a feed has told it never takes back: a match that opens when it ends is read anew where hands
are read, not sent again here. So what is sent depends on the record and the viewpoint alone,
the same at any time and in any process, and so is its place.

A place is `scrim/12:7p`: after the seventh event of the hand scrim/12 that one sees. It counts what
is seen, so it tells nothing of what is not, and it is found again without reading anything else.
The letter says whose count it is: the public's, a seat's own, or an auditor's, which is everybody's
in an open match.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote, unquote

import msgspec

from api.viewpoints.hand_selection import match_start
from api.viewpoints.viewer import Viewer
from events import types as t
from events.ledger import Recorded, is_match
from events.match import MatchStarted
from events.views import Auditor, Public, Seated, Viewpoint, match_openness, see_one
from store.log.streams import split_stream
from store.reader import Snapshot

_PLACE = re.compile(r"(?P<stream>[^:\s]{1,400}):(?P<count>[1-9][0-9]{0,8})(?P<whose>[pso])")
_PUBLIC, _SEAT, _ALL = "p", "s", "o"
_STREAMS_MAX = 2_000  # streams and matches that are remembered: those of now, and then some
_encode = msgspec.json.Encoder(order="sorted").encode


class UnknownPlace(ValueError):
    """A place that is not in the feed of this viewer, or never was one."""


class FeedEvent(NamedTuple):
    """One event as encoded for one viewpoint; `pos` is its position in the ledger, which no
    viewer gets."""

    pos: int
    place: bytes
    match: str
    type: str
    line: bytes


class _StreamState(msgspec.Struct):
    """The viewpoint on a stream (None if all of it is hidden), the number of hidden events so
    far, and the index of the next event."""

    who: Viewpoint | None
    hidden: int
    next: int


class FeedEncoder:
    """Encodes the events of a ledger as one viewer sees them, stream by stream."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._streams: OrderedDict[str, _StreamState] = OrderedDict()
        self._starts: OrderedDict[str, MatchStarted | None] = OrderedDict()

    def encode(self, recorded: Iterable[Recorded], snapshot: Snapshot) -> Iterator[FeedEvent]:
        """Encode recorded events as the viewer sees them, in their order."""
        for record in recorded:
            watched = self._state(record, snapshot)
            seen = None if watched.who is None else see_one(record.event, watched.who)
            watched.next += 1
            if seen is None or watched.who is None:
                watched.hidden += 1
                continue
            count = record.index - watched.hidden + 1
            place = (
                f"{_quoted_stream(record.stream)}:{count}{_viewpoint_letter(watched.who)}".encode(
                    "ascii"
                )
            )
            head = _envelope_head(record.stream, record.at)
            line = b'{"id":"%b",%b"place":%d,"event":%b}' % (place, head, count, _encode(seen))
            match, _ = split_stream(record.stream)
            yield FeedEvent(record.pos, place, match, type(record.event).__name__, line)

    def _state(self, recorded: Recorded, snapshot: Snapshot) -> _StreamState:
        known = self._streams.get(recorded.stream)
        if known is None or known.next != recorded.index:
            known = self._first_state(recorded, snapshot)
            self._streams[recorded.stream] = known
            if len(self._streams) > _STREAMS_MAX:
                self._streams.popitem(last=False)
        return known

    def _first_state(self, recorded: Recorded, snapshot: Snapshot) -> _StreamState:
        """The state of a stream that begins, or that is joined in the middle."""
        if is_match(recorded.stream):
            return _StreamState(Auditor() if self.viewer.auditor else Public(), 0, recorded.index)
        before = snapshot.read(recorded.stream)[: recorded.index] if recorded.index else ()
        who = self.viewpoint_of_hand(before[0] if before else recorded, snapshot)
        hidden = 0 if who is None else sum(see_one(each.event, who) is None for each in before)
        return _StreamState(who, hidden, recorded.index)

    def viewpoint_of_hand(self, first: Recorded, snapshot: Snapshot) -> Viewpoint | None:
        """The viewpoint on a hand while it is played, by its first event; None for a hand of a
        mirrored match, unless the viewer is an auditor."""
        match, _ = split_stream(first.stream)
        if self.viewer.auditor:
            return Auditor()
        start = self._match_start(match, snapshot)
        if start is not None:
            rule = match_openness(start.disclosure, mirrored=start.deals > 1, over=False)
            if rule.withheld or rule.hands:
                return None if rule.withheld else Auditor()
        hand, player = first.event, self.viewer.player
        if player is None or not isinstance(hand, t.HandStarted) or player not in hand.players:
            return Public()
        return Seated(hand.players.index(player)) if self.viewer.sits_in(match) else Public()

    def _match_start(self, match: str, snapshot: Snapshot) -> MatchStarted | None:
        """A match's first record: while a match is played, only its start decides what is
        visible."""
        if match not in self._starts:
            self._starts[match] = match_start(snapshot, match)
            if len(self._starts) > _STREAMS_MAX:
                self._starts.popitem(last=False)
        return self._starts[match]


def resume_position(place: str, viewer: Viewer, snapshot: Snapshot) -> int:
    """The ledger position after a place that this viewer was sent; `UnknownPlace` if he was not."""
    parsed = _PLACE.fullmatch(place)
    if parsed is None:
        raise UnknownPlace(f"{place[:80]!r} is no place of a feed: take an id of it as it is")
    recorded = snapshot.read(unquote(parsed["stream"]))
    if recorded:
        if is_match(recorded[0].stream):
            own: Viewpoint | None = Auditor() if viewer.auditor else Public()
        else:
            own = FeedEncoder(viewer).viewpoint_of_hand(recorded[0], snapshot)
        # What the public was told, anybody was told; any other count must be his own.
        whose = parsed["whose"]
        who = Public() if own is not None and whose == _PUBLIC else own
        if who is not None and whose == _viewpoint_letter(who):
            seen = (one for one in recorded if see_one(one.event, who) is not None)
            found = next(islice(seen, int(parsed["count"]) - 1, None), None)
            if found is not None:
                return found.pos + 1
    raise UnknownPlace(f"{place[:80]} is not in the feed of this viewpoint: begin it anew")


_quoted_stream = lru_cache(4096)(quote)  # a stream's name as a header can carry it


def _viewpoint_letter(who: Viewpoint) -> str:
    match who:
        case Auditor():
            return _ALL
        case Seated():
            return _SEAT
        case Public():
            return _PUBLIC


@lru_cache(4096)
def _envelope_head(stream: str, at: int) -> bytes:
    """The JSON members that the events of one append share; a match's own records have no hand."""
    match, number = split_stream(stream)
    hand = None if number is None else stream
    fields = {"match": match, "hand": hand, "at": time_of(at)}
    return msgspec.json.encode(fields)[1:-1] + b","


def time_of(at: int) -> str:
    """A time in milliseconds as RFC 3339 text."""
    try:
        moment = datetime.fromtimestamp(at / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
