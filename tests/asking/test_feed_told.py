"""What a feed tells: what is seen and no more, under places that tell nothing else."""

import asyncio
import random
from collections import defaultdict
from functools import cache
from pathlib import Path

import msgspec
import pytest

from api.questions import feed as feeds
from api.questions.feed import EventFilter, Feed, Feeds
from api.viewpoints.feed_events import FeedEncoder, FeedEvent, UnknownPlace, resume_position
from api.viewpoints.redaction import Redactor
from api.viewpoints.viewer import Viewer
from engine.games import GAMES
from store.folder.frames import Damaged
from store.reader import Snapshot
from tests.asking.seen_ledgers import ledger_of, matches, viewers, worlds
from tests.profiles import sized

PLAYED = matches((GAMES["auction-2024-mit"], GAMES["swap-2022"], GAMES["site-nl"]))
VIEWERS = viewers(PLAYED)
STRIDE = sized(41, 29, 13)
each_viewer = pytest.mark.parametrize(
    "viewer", VIEWERS, ids=lambda one: f"{one.view} {len(one.matches)}"
)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return ledger_of(tmp_path_factory.mktemp("feed") / "ledger", PLAYED)


@cache
def told_of(ledger: Snapshot, viewer: Viewer) -> list[FeedEvent]:
    return list(FeedEncoder(viewer).encode(ledger.read_from(0), ledger))


def told_as_bytes(told: list[FeedEvent]) -> bytes:
    return b"".join(b"%b %b\n" % (one.place, one.line) for one in told)


@pytest.mark.parametrize("viewer", [one for one in VIEWERS if not one.auditor])
def test_worlds_that_differ_in_what_is_hidden_are_told_alike_ids_included(
    viewer: Viewer, ledger: Snapshot, tmp_path: Path
) -> None:
    others = worlds(PLAYED, viewer, random.Random(repr(viewer)))
    other = ledger_of(tmp_path, others, "other")
    assert ledger.next_pos != other.next_pos  # replies that were no bids: more here, fewer there
    assert told_as_bytes(told_of(ledger, viewer)) == told_as_bytes(told_of(other, viewer))


@each_viewer
def test_places_count_what_is_seen_without_a_gap(viewer: Viewer, ledger: Snapshot) -> None:
    counts: dict[str, list[int]] = defaultdict(list)
    for one in told_of(ledger, viewer):
        stream, _, count = one.place.decode().rpartition(":")
        counts[stream].append(int(count[:-1]))
    assert counts
    for stream, found in counts.items():
        assert list(range(1, len(found) + 1)) == found, stream


@each_viewer
def test_after_every_place_comes_what_was_told_next(viewer: Viewer, ledger: Snapshot) -> None:
    told = told_of(ledger, viewer)
    for one, following in zip(told[::STRIDE], told[1::STRIDE], strict=False):
        pos = resume_position(one.place.decode(), viewer, ledger)
        assert following.place == next(it.place for it in told if it.pos >= pos)


@each_viewer
def test_what_is_told_is_what_is_seen_while_the_match_is_played(
    viewer: Viewer, ledger: Snapshot
) -> None:
    """Of `after` more is seen by now: it opened when it ended, and a feed takes nothing back."""
    redactor = Redactor(ledger, viewer)
    seen = {
        leaf.stream: [
            msgspec.json.decode(msgspec.json.encode(one.seen))
            for one in redactor.redact(leaf).events
        ]
        for leaf in ledger.leaves()
        if "/" in leaf.stream
    }
    told: dict[str, list[object]] = defaultdict(list)
    for one in told_of(ledger, viewer):
        line = msgspec.json.decode(one.line)
        if line["hand"] is not None:
            told[line["hand"]].append(line["event"])
    for stream in seen:
        if not stream.startswith("after") or viewer.auditor:
            assert seen[stream] == told[stream], stream


def test_a_match_that_opened_is_told_as_it_was_seen_before(ledger: Snapshot) -> None:
    told = [one for one in told_of(ledger, Viewer()) if one.match.startswith("after")]
    dealt = [one.line for one in told if one.type == "HoleDealt"]
    assert dealt
    assert all(b"redacted" in line for line in dealt)


def test_a_place_of_another_viewpoint_is_none_unless_everybody_was_told_it(
    ledger: Snapshot,
) -> None:
    seat = VIEWERS[1]
    own = [one.place.decode() for one in told_of(ledger, seat)]
    public = [one.place.decode() for one in told_of(ledger, Viewer())]
    auditor = [one.place.decode() for one in told_of(ledger, Viewer("auditor"))]
    assert all(resume_position(place, seat, ledger) for place in public[::50])
    for place in own[::50]:
        if place.endswith("s"):
            with pytest.raises(UnknownPlace, match="not in the feed of this viewpoint"):
                resume_position(place, Viewer(), ledger)
    for place in auditor[::50]:
        if place.startswith("closed"):
            with pytest.raises(UnknownPlace):
                resume_position(place, seat, ledger)


@pytest.mark.parametrize(
    "place", ["", "x", "closed-site-nl/1", "closed-site-nl/1:0p", "closed-site-nl/1:999p", ":1p"]
)
def test_what_was_never_told_is_no_place(place: str, ledger: Snapshot) -> None:
    with pytest.raises(UnknownPlace):
        resume_position(place, Viewer(), ledger)


@each_viewer
def test_pages_are_the_same_in_whichever_order_they_are_asked_for(
    viewer: Viewer, ledger: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that begin in the middle of a hand, after something that is hidden."""
    size = sized(57, 38, 19)
    monkeypatch.setattr(feeds, "PAGE_EVENTS", size)
    monkeypatch.setattr(feeds, "PAGES_MAX", 5)
    feed = Feed(viewer)
    feed.advance(ledger)
    firsts = list(range(0, ledger.next_pos, size))
    random.Random(1).shuffle(firsts)
    found = {pos: feed.read_batch(pos, EventFilter()).events for pos in firsts}
    whole = [one for pos in sorted(found) for one in found[pos]]
    assert told_of(ledger, viewer) == whole
    assert all(feed.cached_batch(pos, EventFilter()) is None for pos in firsts[:-5])


def test_a_ledger_that_cannot_be_read_on_is_no_silence(ledger: Snapshot) -> None:
    """Who follows is let go, and hears why when he comes again."""
    looks = iter([ledger])

    async def follow() -> int:
        def newest(viewer: Viewer) -> Snapshot:
            try:
                return next(looks)
            except StopIteration:
                raise Damaged("a byte is wrong") from None

        every = Feeds(newest)
        count = 0
        with every.feed(Viewer(), await every.snapshot(Viewer())) as feed:
            async for batch in every.batches(feed, 0, None, EventFilter(), 5.0):
                count += len(batch.events) if batch else 0
        return count

    with pytest.raises(Damaged, match="a byte is wrong"):
        asyncio.run(follow())


def test_of_a_feed_one_may_want_a_match_or_types(ledger: Snapshot) -> None:
    told = told_of(ledger, Viewer())
    match = told[-1].match
    wanted = EventFilter(match, frozenset({"HandStarted"}))
    feed = Feed(Viewer())
    feed.advance(ledger)
    found = [
        one
        for pos in range(0, ledger.next_pos, feeds.PAGE_EVENTS)
        for one in feed.read_batch(pos, wanted).events
    ]
    assert [one for one in told if (one.match, one.type) == (match, "HandStarted")] == found
    assert found
