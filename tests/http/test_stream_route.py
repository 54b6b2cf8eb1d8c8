"""`/api/v1/stream` by its parameters: from where, what, until when, in which form, for whom."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from api.http.routes.stream import feeds_of
from api.http.routes.stream import stream as follow
from api.viewpoints.feed_events import FeedEncoder
from api.viewpoints.viewer import Viewer
from store.reader import Reader
from tests.http.clients import Site, site_of
from tests.http.ledgers import MATCHES
from tests.http.served import served
from tests.http.servers import Follower

STREAM = "/api/v1/stream"
ALL = f"{STREAM}?after=start&until=now"


def lines(site: Site, path: str, who: str | None = None) -> list[dict[str, Any]]:
    """What is told as NDJSON."""
    answer = site.as_(who).get(path, headers={"Accept": "application/x-ndjson"})
    assert 200 == answer.status_code, answer.text
    assert "application/x-ndjson" == answer.headers["content-type"]
    return [json.loads(line) for line in answer.text.splitlines()]


def sentence(site: Site, path: str, status: int = 400, who: str | None = None) -> str:
    answer = site.as_(who).get(path)
    assert status == answer.status_code
    return str(answer.json()["detail"])


@pytest.mark.parametrize(
    ("who", "viewer"),
    [
        (None, Viewer()),
        ("lynx", Viewer("seat:lynx")),
        ("one-match", Viewer("seat:lynx", ("auction",))),
        ("auditor", Viewer("auditor")),
    ],
)
def test_each_viewpoint_is_told_what_it_sees(who: str | None, viewer: Viewer, site: Site) -> None:
    snapshot = Reader(site.folder).snapshot()
    expected = [one.line for one in FeedEncoder(viewer).encode(snapshot.read_from(0), snapshot)]
    answer = site.as_(who).get(ALL, headers={"Accept": "application/x-ndjson"})
    assert b"".join(line + b"\n" for line in expected) == answer.content


def test_both_forms_tell_the_same(site: Site) -> None:
    answer = site.as_().get(ALL)
    assert "text/event-stream; charset=utf-8" == answer.headers["content-type"]
    assert "no-store" == answer.headers["cache-control"]
    first, *blocks = answer.text.removesuffix("\n\n").split("\n\n")
    assert "retry: 2000\nid: start" == first
    told = lines(site, ALL)
    spelled = [block.split("\ndata: ") for block in blocks]
    assert [one["id"] for one in told] == [name.removeprefix("id: ") for name, _ in spelled]
    assert told == [json.loads(data) for _, data in spelled]


def test_an_event_says_where_it_stands(site: Site) -> None:
    (first,) = lines(site, f"{STREAM}?match=auction&after=start&until=auction:1p")
    assert {
        "id": "auction:1p",
        "match": "auction",
        "hand": None,
        "at": "2026-09-21T14:13:20.000Z",
        "place": 1,
    } == {name: value for name, value in first.items() if name != "event"}
    (third,) = lines(site, f"{STREAM}?after=auction/1:2p&until=auction/1:3p")
    assert ("auction/1:3p", "auction", "auction/1", 3) == tuple(
        third[name] for name in ("id", "match", "hand", "place")
    )


def test_after_any_id_comes_the_rest(site: Site) -> None:
    told = lines(site, ALL)
    for place in (0, 1, 499, 500, 501, len(told) - 1):
        after = told[place]["id"]
        assert told[place + 1 :] == lines(site, f"{STREAM}?after={after}&until=now")
    header = site.as_().get(ALL, headers={"Last-Event-ID": told[-2]["id"]})  # a browser's, stronger
    assert 1 == header.text.count("\ndata: ")


def test_a_stream_that_begins_now_says_after_which_event(site: Site) -> None:
    """Who is cut off before anything came has an id to come back with."""
    last = lines(site, ALL)[-1]["id"]
    answer = site.as_().get(f"{STREAM}?until=now")
    assert f"retry: 2000\nid: {last}\n\n" == answer.text


def test_one_match_from_its_beginning_to_its_end(site: Site) -> None:
    for match in MATCHES:
        if match.over:
            told = lines(site, f"{STREAM}?match={match.name}&after=start&until=end")
            assert {match.name} == {one["match"] for one in told}
            assert "MatchStarted" == told[0]["event"]["type"]
            assert "MatchEnded" == told[-1]["event"]["type"]
            assert [] == lines(
                site, f"{STREAM}?match={match.name}&after={told[-1]['id']}&until=end"
            )


def test_some_types_only_and_the_end_with_them(site: Site) -> None:
    told = lines(site, f"{STREAM}?match=swap&types=CardSwapped&after=start&until=end")
    assert {"CardSwapped", "MatchEnded"} == {one["event"]["type"] for one in told}
    told = lines(site, f"{STREAM}?types=Folded,HandEnded&after=start&until=now")
    assert {"Folded", "HandEnded"} == {one["event"]["type"] for one in told}


def test_when_all_is_quiet_that_is_said_with_the_place_one_has_come_to(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wanted may be rare: who comes again need not pass by all the rest once more."""
    monkeypatch.setattr(sys.modules[follow.__module__], "WAIT_S", 0.05)
    told = site.as_().get(f"{STREAM}?types=RakeTaken&match=running&after=start&until=next").text
    last = lines(site, ALL)[-1]["id"]
    assert told.endswith(f": all is quiet\nid: {last}\n\n")


def test_until_next_takes_what_is_there(site: Site) -> None:
    told = lines(site, f"{STREAM}?after=auction:1p&until=next")
    assert "auction/1:1p" == told[0]["id"]


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("after=nonsense", 400, "'nonsense' is no place of a feed: take an id of it as it is"),
        ("after=auction/99:1p", 400, "auction/99:1p is not in the feed of this viewpoint"),
        ("after=auction/1:9999p", 400, "auction/1:9999p is not in the feed of this viewpoint"),
        ("after=auction/1:5o", 400, "auction/1:5o is not in the feed of this viewpoint"),
        ("until=auction/1:5s", 400, "auction/1:5s is not in the feed of this viewpoint"),
        ("until=end", 422, "until=end is the end of a match: say which with match="),
        ("types=Folded,Nix", 422, "'Nix' is no type of event: docs/events.md"),
        ("format=csv", 406, "there is no csv of this: sse, ndjson"),
        ("as=auditor", 403, "auditor is not among the viewpoints of this caller"),
    ],
)
def test_what_cannot_be_followed_is_said(query: str, status: int, told: str, site: Site) -> None:
    assert told in sentence(site, f"{STREAM}?{query}", status)


def test_whether_a_hidden_event_is_there_is_not_to_be_found_out(site: Site) -> None:
    """An auditor's ids count everything; a count of the public's own tells it no more."""
    everything = lines(site, ALL, "auditor")
    ids = [one["id"] for one in everything if one["match"] == "auction"]
    assert ids[0].endswith("o")
    for one in ids[::40]:
        assert "is not in the feed of this viewpoint" in sentence(site, f"{STREAM}?after={one}")


def test_its_head_is_told_without_following(site: Site) -> None:
    answer = site.as_().head(STREAM)
    assert 200 == answer.status_code
    assert b"" == answer.content


def test_who_goes_away_is_followed_by_nothing(own: Path) -> None:
    """A feed is kept for who listens: with the last of them it goes."""
    site = site_of(own)
    feeds = feeds_of(site.app)
    with served(site.app) as port:
        followers = [Follower(port, STREAM) for _ in range(10)]
        until = time.monotonic() + 20
        while feeds.followers < 10:
            assert time.monotonic() < until
        for follower in followers:
            follower.close()
        while feeds.followers:
            assert time.monotonic() < until
            time.sleep(0.01)


def test_more_than_so_many_are_sent_away_for_now(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[follow.__module__], "FOLLOWERS_MAX", 0)
    answer = site.as_().get(ALL)
    assert 503 == answer.status_code
    assert "10" == answer.headers["retry-after"]
