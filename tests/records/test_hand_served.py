"""What is served of one hand is the same whichever way it is asked."""

import re
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import viewer_of
from store.reader import Reader
from tests.exports import exported
from tests.http import ledgers
from tests.http.clients import Site
from tests.profiles import sized
from tests.records.conftest import HANDS
from tests.sessions import Captured, printed

VIEWS = {"auditor": "auditor", "lynx": "seat:lynx", None: "public"}


@pytest.mark.parametrize("who", VIEWS)
@pytest.mark.parametrize("hand", [*HANDS, "running/5"])
def test_the_state_after_an_event_is_its_frame(site: Site, who: str | None, hand: str) -> None:
    client = site.as_(who)
    path = f"/api/v1/hands/{hand}"
    frames: list[dict[str, Any]] = client.get(f"{path}/frames").json()["frames"]
    events = client.get(f"{path}/events").json()["data"]
    assert [event["idx"] for event in events] == [frame["idx"] for frame in frames]
    assert [event["type"] for event in events] == [frame["type"] for frame in frames]
    for at in (0, 1, len(frames) // 2, len(frames) - 1):
        assert frames[at] == client.get(f"{path}/state?at={at}").json()
    assert frames[-1] == client.get(f"{path}/state").json()
    assert client.get(f"{path}/state?at={len(frames)}").status_code == 404


@pytest.mark.parametrize("who", VIEWS)
def test_a_picture_of_a_moment_has_the_words_of_its_text_and_the_cards_that_are_seen(
    site: Site, who: str | None
) -> None:
    client, path = site.as_(who), "/api/v1/hands/auction/3"
    every = [*enumerate(client.get(f"{path}/frames").json()["frames"])]
    for at, frame in every[:: sized(4, 2, 1)]:  # the last one, too
        answer = client.get(f"/hands/auction/3/picture?at={at}")
        assert answer.headers["content-type"] == "image/svg+xml"
        found = [*ElementTree.fromstring(answer.content).iter()]
        notation = client.get(f"{path}/state?at={at}&format=txt").text.splitlines()[-1]
        words = [one.text or "" for one in found]
        assert [one for one in words if one.startswith(f"auction/3, event {at} of 33: ")]
        assert notation in words
        seen = [card for seat in frame["seats"] for card in seat["cards"]]
        known = sorted(card for card in (*frame["board"], *seen) if isinstance(card, str))
        felt = next(one for one in found if one.get("class", "").startswith("felt"))
        faces = [one for one in felt.iter() if re.fullmatch("card [shdc]", one.get("class", ""))]
        assert known == sorted("".join(one.itertext()) for one in faces)
    assert client.get("/hands/auction/3/picture?at=34").status_code == 404


@pytest.mark.parametrize("who", VIEWS)
@pytest.mark.parametrize("hand", HANDS)
def test_lines_of_events_are_those_of_an_export(site: Site, who: str | None, hand: str) -> None:
    snapshot = Reader(site.folder).snapshot()
    told = exported(snapshot, "ndjson", VIEWS[who], names=(hand,)).splitlines()
    served = site.as_(who).get(f"/api/v1/hands/{hand}/events?format=ndjson").content.splitlines()
    expected = [msgspec.json.decode(line) for line in told]
    for line in expected:
        line.pop("pos", None)  # an auditor's export tells where in the ledger it is
    assert expected == [msgspec.json.decode(line) for line in served]


@pytest.mark.parametrize("who", ["auditor", "lynx", None])
def test_the_text_of_a_hand_is_what_replay_prints(
    site: Site, capsys: Captured, who: str | None
) -> None:
    words = ("replay", "swap/4", "--as", VIEWS[who], "--ledger", str(site.folder))
    lines = [line[5:] for line in printed(capsys, *words).splitlines()]
    assert lines == site.as_(who).get("/api/v1/hands/swap/4?format=txt").text.splitlines()


@pytest.mark.parametrize("match", ["holdem", "auction", "swap", "open"])
def test_a_summary_says_what_the_list_says(site: Site, match: str) -> None:
    client = site.as_()
    rows = client.get("/api/v1/hands", params={"match": match}).json()["data"]
    assert len(rows) == ledgers.HANDS
    shared = (
        *("hand", "game", "players", "board", "pot", "net", "unit", "showdown", "void", "at"),
        *("played", "line"),
    )
    for row in rows:
        hand = client.get(f"/api/v1/hands/{row['hand']}").json()
        assert {name: row[name] for name in shared} == {name: hand[name] for name in shared}


def test_all_pages_of_a_list_are_the_list(site: Site) -> None:
    client = site.as_("lynx")
    for path, name in (("/hands", "hand"), ("/matches", "match")):
        for newest in (False, True):
            asked: dict[str, Any] = {"newest": newest, "limit": sized(9, 5, 3)}
            whole = client.get(f"/api/v1{path}", params={**asked, "limit": 1000}).json()["data"]
            found: list[str] = []
            cursor = None
            while True:
                page = client.get(
                    f"/api/v1{path}", params={**asked, **({"cursor": cursor} if cursor else {})}
                ).json()
                found += [row[name] for row in page["data"]]
                cursor = page["next_cursor"]
                assert page["has_more"] == (cursor is not None)
                if cursor is None:
                    break
            assert [row[name] for row in whole] == found


def test_matches_of_the_command_line_are_those_of_a_viewpoint(site: Site, capsys: Captured) -> None:
    for view in ("auditor", "public", "seat:lynx"):
        words = ("matches", "--as", view, "--ledger", str(site.folder), "--json")
        told = msgspec.json.decode(printed(capsys, *words))["matches"]
        served = site.as_("auditor").get("/api/v1/matches", params={"as": view}).json()["data"]
        assert told == [{name: row[name] for name in told[0]} for row in served]
    assert "nobody" in str(site.as_("lynx").get("/api/v1/matches?as=seat:nobody").text)


def test_lines_of_a_page_are_the_lines_of_its_hands(site: Site) -> None:
    from api.questions.one_line import hand_lines, one_line

    viewed = LedgerView(Reader(site.folder).snapshot(), viewer_of("seat:ursa"))
    hands = [f"{match}/{number}" for match in ("holdem", "swap") for number in (3, 1, 2, 7)]
    assert [one_line(viewed.redacted_hand(hand)) for hand in hands] == hand_lines(viewed, hands)
    assert [None] == hand_lines(viewed, ["holdem/99"])
    viewed.close()
