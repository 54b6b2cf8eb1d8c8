"""A verdict that rests on an assumption, and a difference that moves no chip, at every door."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.game import Game
from engine.games import RULESETS
from engine.policies import Rake
from engine.verdict import VERDICTS, judge
from events import types as t
from events.types import Events
from tests.http.clients import Site, site_of
from tests.sessions import Captured, forged, printed
from tests.test_assumed import assuming
from tests.test_web_pages import read

GAME = RULESETS["site-nl"]
MOON = "moon full"


def shown_down(game: Game = GAME) -> Events:
    """A hand that two seats show in, one after the other, and one of them wins."""

    def fits(record: Events) -> bool:
        shows = [place for place, one in enumerate(record) if isinstance(one, t.Shown)]
        splits = [one for one in record if isinstance(one, t.PotSplit)]
        return len(shows) == 2 and shows[1] == shows[0] + 1 and len(splits) == 1

    return next(it for it in play(game, "m", 200, "shown", 2) if fits(it))


def changed(record: Events, change: Callable[[list[t.Event]], None]) -> Events:
    events = list(record)
    change(events)
    return tuple(events)


def _other_order(events: list[t.Event]) -> None:
    first = next(place for place, one in enumerate(events) if isinstance(one, t.Shown))
    events[first : first + 2] = reversed(events[first : first + 2])


def _other_winner(events: list[t.Event]) -> None:
    place = next(place for place, one in enumerate(events) if isinstance(one, t.PotSplit))
    split = events[place]
    assert isinstance(split, t.PotSplit)
    events[place] = replace(split, seats=(1 - split.seats[0],))


def _smaller_call(events: list[t.Event]) -> None:
    place = next(place for place, one in enumerate(events) if isinstance(one, t.Called))
    call = events[place]
    assert isinstance(call, t.Called)
    events[place] = replace(call, amount=call.amount - 1)


RECORD = shown_down()


def numbered(*records: Events) -> tuple[Events, ...]:
    def named(start: t.Event, number: int) -> t.Event:
        assert isinstance(start, t.HandStarted)
        return replace(start, hand=f"m/{number}")

    return tuple((named(one[0], at), *one[1:]) for at, one in enumerate(records, 1))


RECORDS = numbered(
    RECORD,
    assuming(RECORD, MOON),
    changed(RECORD, _other_order),
    changed(assuming(RECORD, MOON), _other_winner),
    changed(RECORD, _smaller_call),
)


def test_what_an_agreement_rests_on_qualifies_it() -> None:
    report = judge(GAME, assuming(RECORD, MOON, "rake 5 %"))
    assert ("assuming", (MOON,)) == (report.verdict, report.assumed)
    plain = judge(GAME, assuming(RECORD, "rake 5 %"))
    assert ("agree", ()) == (plain.verdict, plain.assumed)


def test_what_was_fitted_to_the_hand_is_no_agreement() -> None:
    raked = replace(GAME, rake=Rake(percent=5, of=100, increment=1))
    record = shown_down(raked)
    assert "assuming" == judge(raked, assuming(record, "rake 5 %")).verdict
    assert "unknown" == judge(raked, assuming(record, "rake 5 %", "shortfall 3")).verdict


def test_what_differs_differs_whatever_is_assumed() -> None:
    report = judge(GAME, RECORDS[3])
    assert ("differ", (MOON,)) == (report.verdict, report.assumed)


def test_chips_that_go_elsewhere_are_counted_after_play_alone() -> None:
    pot = next(one.shares[0] for one in RECORD if isinstance(one, t.PotSplit))
    moves = [judge(GAME, one).moves for one in RECORDS]
    assert [None, None, 0, pot, None] == moves


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    forged(tmp_path / "ledger", *RECORDS)
    return site_of(tmp_path / "ledger")


def test_the_terminal_tells_them_apart(site: Site, capsys: Captured, tmp_path: Path) -> None:
    rows = printed(capsys, "audit", "--all", code=3).splitlines()
    assert ["match", "ruleset", "hands", *VERDICTS] == rows[0].split("\t")
    assert ["m", "site-nl", "5", "1", "1", "0", "3", "0"] == rows[1].split("\t")
    text = printed(capsys, "audit", "m/2")
    assert f"AGREE, ASSUMING: the record is what site-nl pays, if it is so: {MOON}" in text
    assert "no chip goes elsewhere by it" in printed(capsys, "audit", "m/3", code=3)
    assert MOON in printed(capsys, "audit", "m/4", code=3)
    printed(capsys, "audit", "m/2", "--strict", code=6)
    told = json.loads(printed(capsys, "audit", "--all", "--json", code=3))["hands"]
    found = [(one["verdict"], one["assumed"], one["moves"]) for one in told]
    moves = judge(GAME, RECORDS[3]).moves
    assert [
        ("agree", [], None),
        ("assuming", [MOON], None),
        ("differ", [], 0),
        ("differ", [MOON], moves),
        ("differ", [], None),
    ] == found
    printed(capsys, "audit", "--all", "--csv", str(tmp_path / "out.csv"), code=3)
    with (tmp_path / "out.csv").open() as file:
        written = {(one["hand"], one["assumed"], one["moves"]) for one in csv.DictReader(file)}
    assert {("m/2", MOON, ""), ("m/3", "", "0"), ("m/4", MOON, str(moves))} < written


@pytest.mark.parametrize(
    ("asked", "hands"),
    [
        ("verdict=assuming", ["m/2"]),
        ("verdict=agree", ["m/1"]),
        ("moveless", ["m/3"]),
        ("verdict=differ & !moveless", ["m/4", "m/5"]),
    ],
)
def test_filters_find_them(site: Site, capsys: Captured, asked: str, hands: list[str]) -> None:
    told = json.loads(printed(capsys, "hands", asked, "--json"))["hands"]
    assert hands == [one["hand"] for one in told]
    answer = site.as_("auditor").get("/api/v1/hands", params={"q": asked})
    assert hands == [one["hand"] for one in answer.json()["data"]]


def test_http_tells_what_a_verdict_rests_on(site: Site) -> None:
    def audited(number: int) -> dict[str, Any]:
        found: dict[str, Any] = site.as_("auditor").get(f"/api/v1/hands/m/{number}/audit").json()
        return found

    assert ("assuming", [MOON], None) == tuple(
        audited(2)[n] for n in ("verdict", "assumed", "moves")
    )
    assert 0 == audited(3)["moves"]


def test_pages_tell_them_apart(site: Site) -> None:
    assert "<strong>Agree, assuming</strong>" in read(site, "/hands/m/2/audit")
    assert MOON in read(site, "/hands/m/2/audit")
    assert "no chip goes elsewhere by it" in read(site, "/hands/m/3/audit")
    assert f"rests on what the source does not say: {MOON}" in read(site, "/hands/m/4/audit")
    for page in (read(site, "/"), read(site, "/matches/m")):
        assert "agree, assuming" in page
        assert "1 of them moves no chip" in page
    assert "agree, assuming" in read(site, "/hands")
