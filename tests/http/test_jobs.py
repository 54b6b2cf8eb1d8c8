"""Matches that are asked for over HTTP: done once, told for long, stopped in order."""

import http.client
import json
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.jobs.jobs import WAITING_MAX, Jobs, is_alive
from api.main import main
from events.match import DeckCommitted, DeckOpened, MatchStarted
from events.types import Disconnected
from store.folder.disk import RealDisk
from store.ledger import open_ledger
from store.reader import Reader
from store.recovery import check_files
from tests.http.clients import Site, over, site_of
from tests.http.servers import Server, killed
from tests.profiles import sized
from tests.wire.misfits import bot

GAME = "auction-2024-mit"
LONG = 400_000  # hands: nobody waits for the last of them


def test_a_match_is_played_and_can_be_read(new: Site) -> None:
    writer = new.as_("writer")
    wanted = {"game": GAME, "hands": 12, "match": "scrim", "seed": "7", "bots": ["random", "tight"]}
    begun = writer.post("/api/v1/matches", json=wanted)
    assert 202 == begun.status_code
    where = begun.headers["location"]
    assert f"/api/v1/jobs/{begun.json()['id']}" == where
    told = over(writer, where)
    assert ("done", 12, 12) == (told["state"], told["hands"], told["total"])
    assert "seeded" == told["result"]["dealing"]
    assert "seed" not in told["result"]
    row = writer.get("/api/v1/matches/scrim").json()
    for name in ("winner", "leader", "draw", "places"):
        assert row[name] == told["result"][name]
    assert row["winner"] in row["players"]
    assert ["random", "tight"] == [one.partition("-")[0] for one in told["result"]["players"]]
    assert 12 == len(list(Reader(new.folder).hands("scrim")))


def test_it_is_told_while_it_goes_on(new: Site) -> None:
    writer = new.as_("writer")
    begun = writer.post("/api/v1/matches", json={"game": GAME, "hands": 800})
    where = begun.headers["location"]
    heard = writer.get(where, headers={"Accept": "text/event-stream"}).text
    told = [json.loads(line[6:]) for line in heard.splitlines() if line.startswith("data: ")]
    hands = [one["hands"] for one in told]
    assert hands == sorted(hands)
    assert len(set(hands)) > 1
    assert ("done", 800) == (told[-1]["state"], told[-1]["hands"])


@pytest.mark.parametrize(
    ("wanted", "status", "sentence"),
    [
        ({"game": "nix"}, 422, "no ruleset is called nix: there are"),
        ({"game": GAME, "set": {"x": 1}}, 422, f"no parameter of {GAME} is called x: there are"),
        ({"game": GAME, "set": {"stack": 0.5}}, 422, "stack of auction-2024-mit may be a whole"),
        ({"game": GAME, "set": {"ask_when_closed": None}}, 422, None),
        ({}, 422, "name one game, or send one ruleset"),
        ({"game": GAME, "ruleset": {}}, 422, "name one game, or send one ruleset"),
        ({"ruleset": {"name": "mine"}}, 422, "this is no ruleset: Object missing required field"),
        ({"game": GAME, "bots": ["deep-blue"]}, 422, "no bot is called deep-blue"),
        ({"game": GAME, "match": "a/b"}, 422, "'a/b' cannot name a match"),
        ({"game": GAME, "hands": 0}, 422, None),
        ({"game": GAME, "folder": "/etc"}, 422, None),
        ({"game": GAME, "hands": 3, "mirror": True}, 422, "each deck is dealt 2 times"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_begun(
    wanted: dict[str, Any], status: int, sentence: str | None, new: Site
) -> None:
    answer = new.as_("writer").post("/api/v1/matches", json=wanted)
    assert status == answer.status_code
    assert (sentence or "") in answer.json()["detail"]
    assert not (new.folder / "jobs").exists()


@pytest.mark.parametrize("who", [None, "auditor", "lynx"])
def test_only_who_may_write_begins_or_sees_a_job(who: str | None, new: Site) -> None:
    client = new.as_(who)
    assert 403 == client.post("/api/v1/matches", json={"game": GAME}).status_code
    assert 403 == client.post("/api/v1/imports", content=b"x").status_code
    status = 404 if who == "auditor" else 403  # an auditor has jobs that only read
    assert status == client.get("/api/v1/jobs/0123456789abcdef").status_code
    assert status == client.delete("/api/v1/jobs/0123456789abcdef").status_code


def test_a_job_of_somebody_else_is_as_if_there_was_none(new: Site) -> None:
    begun = new.as_("writer").post("/api/v1/matches", json={"game": GAME, "hands": 1})
    where = begun.headers["location"]
    _, other = new.app.state.keys.make(("matches:write", "audit:read"), "writer")
    stranger = new.as_()
    stranger.headers["Authorization"] = f"Bearer {other}"
    nothing = stranger.get("/api/v1/jobs/0123456789abcdef")
    hidden = stranger.get(where)
    assert 404 == nothing.status_code == hidden.status_code == stranger.delete(where).status_code
    name = where.rpartition("/")[2]
    assert nothing.json()["detail"] == hidden.json()["detail"].replace(name, "0123456789abcdef")
    assert 200 == new.as_("admin").get(where).status_code


def test_the_same_request_with_the_same_key_is_done_once_and_outlives_a_restart(new: Site) -> None:
    wanted = {"game": GAME, "hands": 5, "seed": "1"}
    key = {"Idempotency-Key": "once"}
    first = new.as_("writer").post("/api/v1/matches", json=wanted, headers=key)
    over(new.as_("writer"), first.headers["location"])
    again = site_of(new.folder)  # another process would read the same files
    writer = new.as_("writer")
    writer = TestClient(again.app, "http://127.0.0.1:8000", headers=writer.headers)
    second = writer.post("/api/v1/matches", json=wanted, headers=key)
    assert 202 == second.status_code
    assert first.headers["location"] == second.headers["location"]
    assert "done" == second.json()["state"]
    assert 1 == len(Reader(new.folder).matches())
    other = writer.post("/api/v1/matches", json=wanted | {"hands": 6}, headers=key)
    assert 409 == other.status_code
    assert "this Idempotency-Key has started another request" == other.json()["detail"]


def test_requests_with_one_key_that_come_together_start_one_job(new: Site) -> None:
    wanted = {"game": GAME, "hands": 500}
    key = {"Idempotency-Key": "together"}

    def ask(_: int) -> Any:
        return new.as_("writer").post("/api/v1/matches", json=wanted, headers=key)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    assert [202] * 4 == [one.status_code for one in answers]
    (where,) = {one.headers["location"] for one in answers}
    over(new.as_("writer"), where)
    assert 1 == len(Reader(new.folder).matches())


def test_what_goes_while_old_jobs_are_looked_for_stops_nobody(new: Site) -> None:
    """As the job does of who comes second with a key."""
    jobs = Jobs(new.folder)
    jobs.room()
    (jobs.folder / "keys/gone").symlink_to("nowhere")
    assert jobs.room().is_dir()


def test_a_live_table_is_played_under_its_clock(new: Site) -> None:
    writer = new.as_("writer")
    wanted = {"game": "site-nl", "hands": 2, "seats": 3, "live": True, "think_ms": 1}
    told = over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    assert ("done", 2) == (told["state"], told["result"]["hands"])
    start = Reader(new.folder).read(told["match"])[0].event
    assert "committed" == getattr(start, "dealing", "")


@pytest.mark.ci
def test_what_happens_at_a_live_table_is_as_it_was_told(new: Site) -> None:
    writer = new.as_("writer")
    wanted = {"game": "site-nl", "hands": 1, "seats": 3, "live": True, "think_ms": 1, "clock": 1}
    begun = writer.post("/api/v1/matches", json={**wanted, "news": ["lost:random-1@1"]})
    told = over(writer, begun.headers["location"])
    assert "done" == told["state"]
    record = [one.event for one in Reader(new.folder).read(f"{told['match']}/1")]
    assert [1] == [one.seat for one in record if isinstance(one, Disconnected)]


@pytest.mark.ci  # before, a command's are: tests/wire/test_wire_command.py
def test_decks_of_bots_from_folders_may_be_committed_to(tmp_path: Path) -> None:
    for name in ("ursa", "lynx"):
        bot(tmp_path / "bots", name)
    site = site_of(tmp_path / "ledger", bots=tmp_path / "bots")
    writer = site.as_("writer")
    wanted = {"game": GAME, "folders": ["ursa", "lynx"], "hands": 2}
    wanted["disclosure"] = "open"
    told = over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    assert ("done", 2, "committed") == (told["state"], told["hands"], told["result"]["dealing"])
    kinds = [type(one.event) for one in Reader(site.folder).read(told["match"])]
    assert [MatchStarted, DeckCommitted] == kinds[:2]
    assert DeckOpened in kinds
    verified = writer.get(f"/api/v1/matches/{told['match']}/verify").json()
    assert (True, 2) == (verified["ok"], verified["decks"])


def test_bots_from_folders_play_where_the_server_allows_it(tmp_path: Path) -> None:
    for name in ("ursa", "lynx"):
        bot(tmp_path / "bots", name)
    site = site_of(tmp_path / "ledger", bots=tmp_path / "bots")
    writer = site.as_("writer")
    wanted = {"game": GAME, "folders": ["ursa", "lynx"], "hands": 6, "seed": "7", "match": "met"}
    told = over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    assert ("done", 6, 6) == (told["state"], told["hands"], told["total"])
    assert ["ursa", "lynx"] == told["result"]["players"]
    assert 2 == len(told["result"]["bots"])
    assert {"user+namespaces", "namespaces", "user", "none"} >= {
        one["kept_apart"] for one in told["result"]["bots"]
    }
    assert 6 == len(list(Reader(site.folder).hands("met")))


@pytest.mark.parametrize(
    ("wanted", "status", "sentence"),
    [
        ({"folders": ["ursa", "nobody"]}, 404, "ursa and nobody are not both bots: folders with"),
        ({"folders": ["ursa", "../bots/ursa"]}, 422, "'../bots/ursa' is not the name of a folder"),
        ({"folders": ["ursa"]}, 422, ""),
        ({"folders": ["ursa", "ursa"], "bots": ["random"]}, 422, "bots is not for bots from"),
        ({"folders": ["ursa", "ursa"], "game": "site-nl"}, 422, "is not played over the wire"),
        ({"folders": ["ursa", "ursa"], "hands": 3, "mirror": True}, 422, "3 hands are no pairs"),
        ({"folders": ["ursa", "ursa"], "news": ["lost:a-0@1"]}, 422, "news is not for bots from"),
        (
            {"folders": ["ursa", "ursa"], "dealing": "committed", "seed": "7"},
            422,
            "a seed decides no committed deck",
        ),
        ({"open_bids": True}, 422, "open_bids is for bots from folders"),
        ({"clock": 3}, 422, "--clock and --news are for --live"),
        ({"live": True, "news": ["lost"]}, 422, "'lost' is no news: WHAT:PLAYER@HAND"),
    ],
)
def test_bots_from_elsewhere_are_refused(
    wanted: dict[str, Any], status: int, sentence: str, tmp_path: Path
) -> None:
    bot(tmp_path / "bots", "ursa")
    site = site_of(tmp_path / "ledger", bots=tmp_path / "bots")
    answer = site.as_("writer").post("/api/v1/matches", json={"game": GAME, **wanted})
    assert status == answer.status_code, answer.text
    assert sentence in answer.json()["detail"]
    assert not (site.folder / "jobs").exists()


def test_a_server_starts_no_programs_unless_it_was_told_to(new: Site) -> None:
    wanted = {"game": GAME, "folders": ["ursa", "lynx"]}
    refused = new.as_("writer").post("/api/v1/matches", json=wanted)
    assert 403 == refused.status_code
    assert "muckrake serve --bots-dir DIR" in refused.json()["detail"]


def test_while_somebody_writes_nothing_is_begun_and_he_is_named(new: Site) -> None:
    ledger, lock = open_ledger(new.folder, "play elsewhere")
    try:
        key = {"Idempotency-Key": "again"}
        writer = new.as_("writer")
        wanted = {"game": GAME, "hands": 5}
        refused = writer.post("/api/v1/matches", json=wanted, headers=key)
        assert 409 == refused.status_code
        assert "play elsewhere (process " in refused.json()["detail"]
        assert str(new.folder) not in refused.json()["detail"]
    finally:
        ledger.close()
        lock.release()
    begun = writer.post("/api/v1/matches", json=wanted, headers=key)  # nothing was done before
    assert 202 == begun.status_code
    assert "done" == over(writer, begun.headers["location"])["state"]


def test_jobs_wait_for_one_another_in_the_order_in_which_they_came(new: Site) -> None:
    """No more than a few; and whoever is told to stop while he waits has done nothing."""
    writer = new.as_("writer")

    def play(hands: int, match: str) -> Any:
        return writer.post("/api/v1/matches", json={"game": GAME, "hands": hands, "match": match})

    where = {"long": play(LONG, "long").headers["location"]}
    for number in range(WAITING_MAX):
        begun = play(3, f"m{number}")
        assert (202, "waiting") == (begun.status_code, begun.json()["state"])
        where[f"m{number}"] = begun.headers["location"]
    refused = play(3, "more")
    assert 409 == refused.status_code
    assert refused.json()["detail"].startswith(f"{WAITING_MAX} jobs wait already")
    listed = writer.get("/api/v1/jobs").json()["data"]
    assert [*reversed(where)] == [one["match"] for one in listed]
    assert ["waiting"] * WAITING_MAX + ["running"] == [one["state"] for one in listed]
    assert [] == new.as_("auditor").get("/api/v1/jobs").json()["data"], "they are not his"
    assert 5 == len(new.as_("admin").get("/api/v1/jobs?format=ndjson").text.splitlines())
    assert "cancelled" == writer.delete(where["m1"]).json()["state"]
    writer.delete(where["long"])
    states = {match: over(writer, path)["state"] for match, path in where.items()}
    assert {"long": "cancelled", "m0": "done", "m1": "cancelled", "m2": "done", "m3": "done"} == (
        states
    )
    hands = [one.hand.partition("/")[0] for one in Reader(new.folder).hands()]
    assert ["long", "m0", "m2", "m3"] == [*dict.fromkeys(hands)]


def test_a_match_of_any_length_is_verified_by_a_job_that_waits_for_nobody(
    new: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes = sys.modules["api.http.routes.hands"]
    monkeypatch.setattr(routes, "LEAVES_MAX", 5)
    writer, auditor = new.as_("writer"), new.as_("auditor")
    wanted = {"game": GAME, "hands": 8, "match": "scrim"}
    over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    path = "/api/v1/matches/scrim/verify"
    short = auditor.get(path)
    assert 413 == short.status_code
    assert "POST here" in short.json()["detail"]
    ledger, lock = open_ledger(new.folder, "play elsewhere")
    try:
        begun = auditor.post(path)
        assert 202 == begun.status_code
        told = over(auditor, begun.headers["location"])
    finally:
        ledger.close()
        lock.release()
    assert ("verify", "done", 8) == (told["kind"], told["state"], told["hands"])
    monkeypatch.setattr(routes, "LEAVES_MAX", 5_000)
    assert auditor.get(path).json() == told["result"]
    assert told["result"]["ok"]
    assert [begun.json()["id"]] == [it["id"] for it in auditor.get("/api/v1/jobs").json()["data"]]
    for who in (None, "ursa"):
        assert 403 == new.as_(who).post(path).status_code
        assert 403 == new.as_(who).get("/api/v1/jobs").status_code
    assert 404 == auditor.post("/api/v1/matches/nowhere/verify").status_code
    assert 403 == auditor.post(f"{path}?as=public").status_code


def test_a_name_that_is_taken_is_a_conflict(new: Site) -> None:
    writer = new.as_("writer")
    wanted = {"game": GAME, "hands": 1, "match": "scrim"}
    over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    refused = writer.post("/api/v1/matches", json=wanted | {"hands": 2})
    assert 409 == refused.status_code
    expected = "there is a match scrim already: give this one another name"
    assert expected == refused.json()["detail"]


def test_a_cancelled_match_has_ended_and_the_ledger_is_sound(new: Site) -> None:
    writer = new.as_("writer")
    slow = ["pot-odds", "pot-odds"]  # few hands, to be verified, are played before it is stopped
    wanted = {"game": GAME, "hands": LONG, "match": "long", "bots": slow}
    where = writer.post("/api/v1/matches", json=wanted).headers["location"]
    while not writer.get(where).json()["hands"]:
        time.sleep(0.005)
    told = writer.delete(where).json()
    assert "cancelled" == told["state"]
    assert "interrupted" == told["result"]["reason"]
    assert told["hands"] == told["result"]["hands"] < LONG
    assert told["hands"] == len(list(Reader(new.folder).hands("long")))
    assert () == check_files(RealDisk(new.folder))
    known = ("--key", str(new.folder / "keys"))
    assert 0 == main(["verify", "--all", *known, "--ledger", str(new.folder)])
    assert 200 == writer.delete(where).status_code  # once more changes nothing
    assert "cancelled" == writer.get(where).json()["state"]


def test_a_job_that_is_over_cannot_be_stopped(new: Site) -> None:
    writer = new.as_("writer")
    wanted = {"game": GAME, "hands": 1}
    where = writer.post("/api/v1/matches", json=wanted).headers["location"]
    over(writer, where)
    assert 409 == writer.delete(where).status_code


def test_a_job_whose_process_is_killed_has_failed_and_what_was_written_is_safe(new: Site) -> None:
    writer = new.as_("writer")
    begun = writer.post("/api/v1/matches", json={"game": GAME, "hands": LONG})
    where, name = begun.headers["location"], begun.json()["id"]
    room = new.folder / "jobs" / name
    while not writer.get(where).json()["hands"]:
        time.sleep(0.05)
    killed(int((room / "lock").read_text()))
    while is_alive(room):
        time.sleep(0.01)
    told = writer.get(where).json()
    assert "failed" == told["state"]
    assert "the process that did it is gone: what it had written is safe" == told["detail"]
    again = writer.post("/api/v1/matches", json={"game": GAME, "hands": 1})
    assert "done" == over(writer, again.headers["location"])["state"]
    assert () == check_files(RealDisk(new.folder))


@pytest.mark.ci
def test_when_the_server_stops_its_jobs_stop_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    site = site_of(folder)
    with Server(folder, "--workers", sized("1", "2")) as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port)
        key = {"Authorization": f"Bearer {site.keys['writer']}"}
        body = json.dumps({"game": GAME, "hands": LONG, "match": "long"})
        link.request("POST", "/api/v1/matches", body, key | {"Content-Type": "application/json"})
        answer = link.getresponse()
        assert 202 == answer.status
        where = json.loads(answer.read())["id"]
        assert 0 == server.stop(signal.SIGTERM)
    assert not is_alive(folder / "jobs" / where)
    told = site.as_("writer").get(f"/api/v1/jobs/{where}").json()
    assert "cancelled" == told["state"]
    assert () == check_files(RealDisk(folder))
