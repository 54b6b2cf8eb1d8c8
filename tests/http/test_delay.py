"""The public sees a running match later, whichever process is asked; its players see it at once."""

import json
from pathlib import Path

import pytest

from api.http.ledger_service import DelayedSnapshots
from api.viewpoints.viewer import Viewer
from dealer.play import play
from engine.changes import ruleset
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events.ledger import Append, is_match
from events.match import MatchEnded, MatchStarted
from store.folder.disk import now_ms
from store.ledger import open_ledger
from store.reader import Reader, Snapshot
from tests.http.clients import site_of

DELAY_S = 30
PUBLIC, AUDITOR = Viewer(), Viewer("auditor")
HANDS = 8


class Clock:
    """The time of day, as a test says it is."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now

    def go_on(self, seconds: float) -> None:
        self.now += round(seconds * 1000)


class House:
    """A ledger in which hands are played second by second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.ledger, self._lock = open_ledger(folder, "a test")
        self.delay = DelayedSnapshots(DELAY_S, self.clock)
        self._reader = Reader(folder)

    def begin(self, match: str) -> None:
        start = MatchStarted(
            match, "site-nl", "0" * 16, ("random-0", "random-1"), "seeded", "sealed", True, "1"
        )
        self.ledger.append(Append(match, 0, (start,), self.clock.now))

    def play(self, match: str, number: int) -> None:
        hand = list(play(GAMES["site-nl"], match, number, "7", 2))[-1]
        self.ledger.append(Append(f"{match}/{number}", 0, hand, self.clock.now))

    def end(self, match: str) -> None:
        self.ledger.append(Append(match, 1, (MatchEnded((0, 0), "over"),), self.clock.now))

    def close(self) -> None:
        self.ledger.close()
        self._lock.release()

    def seen(self, viewer: Viewer = PUBLIC, delay: DelayedSnapshots | None = None) -> Snapshot:
        return (delay or self.delay).snapshot(viewer, self._reader.snapshot())

    def hands(self, viewer: Viewer = PUBLIC, delay: DelayedSnapshots | None = None) -> list[str]:
        """The hands that have closed for him; and the same is told by every count."""
        seen = self.seen(viewer, delay)
        leaves = [leaf for leaf in seen.leaves() if not is_match(leaf.stream)]
        closed = [leaf.stream for leaf in leaves]
        assert closed == [one.hand for one in seen.hands()]
        assert closed == [
            one.stream for one in seen.read_from(0) if not is_match(one.stream) and not one.index
        ]
        assert all(one.pos < seen.next_pos for leaf in leaves for one in leaf.recorded)
        return closed


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "ledger")


def test_a_hand_is_shown_when_the_delay_is_over_and_not_before(house: House) -> None:
    house.begin("a")
    house.play("a", 1)
    assert [] == house.hands()
    house.clock.go_on(10)
    house.play("a", 2)
    house.clock.go_on(DELAY_S - 10 - 0.001)
    assert [] == house.hands()
    house.clock.go_on(0.001)
    assert ["a/1"] == house.hands()
    house.clock.go_on(10)
    assert ["a/1", "a/2"] == house.hands()


def test_not_even_the_beginning_of_a_match_is_shown_before(house: House) -> None:
    house.begin("a")
    assert {} == house.seen().matches()
    house.clock.go_on(DELAY_S)
    assert {"a": 1} == house.seen().matches()


def test_an_auditor_waits_for_nothing(house: House) -> None:
    house.begin("a")
    house.play("a", 1)
    assert ["a/1"] == house.hands(AUDITOR)


def test_a_match_that_is_over_is_held_back_no_more(house: House) -> None:
    house.begin("a")
    for number in range(1, HANDS + 1):
        house.play("a", number)
    house.end("a")
    assert [f"a/{number}" for number in range(1, HANDS + 1)] == house.hands()
    assert {"a": 2} == house.seen().matches()


def test_the_end_of_a_match_waits_for_what_is_held_before_it(house: House) -> None:
    house.begin("a")
    house.play("a", 1)
    house.begin("b")
    house.clock.go_on(5)
    house.play("b", 1)
    house.end("b")
    assert [] == house.hands()
    house.clock.go_on(DELAY_S - 5)
    assert ["a/1", "b/1"] == house.hands()  # of b nothing was held but what came after a


def test_who_plays_sees_his_match_at_once_and_others_as_the_public_does(house: House) -> None:
    seat = Viewer("seat:random-0")
    house.begin("a")
    house.play("a", 1)
    assert ["a/1"] == house.hands(seat)
    assert [] == house.hands(Viewer("seat:random-0", ("another",)))
    assert [] == house.hands(Viewer("seat:somebody"))
    house.begin("b")
    house.play("b", 1)
    assert ["a/1"] == house.hands(Viewer("seat:random-0", ("a",)))


@pytest.mark.parametrize("sealed", [False, True])
def test_another_process_shows_the_same(sealed: bool, house: House) -> None:
    """Nothing of it is kept in memory only: the times of the record decide."""
    house.begin("a")
    for number in range(1, HANDS + 1):
        house.play("a", number)
        house.clock.go_on(6)
        if sealed and number % 3 == 0:
            house.ledger.seal()
        assert house.hands() == house.hands(delay=DelayedSnapshots(DELAY_S, house.clock))
    assert [f"a/{number}" for number in range(1, HANDS - 3)] == house.hands()
    house.clock.go_on(60)
    again = DelayedSnapshots(DELAY_S, house.clock)
    assert HANDS == len(house.hands(delay=again)) == len(house.hands())
    assert house.seen(AUDITOR).as_of == house.seen(delay=again).as_of


def test_a_crash_in_a_match_does_not_hold_it_back_for_ever(house: House) -> None:
    house.begin("a")
    house.play("a", 1)
    house.close()
    house.clock.go_on(DELAY_S)
    assert ["a/1"] == house.hands()


def test_a_match_without_a_beginning_is_delayed_too(house: House) -> None:
    house.play("a", 1)
    assert [] == house.hands()
    house.clock.go_on(DELAY_S)
    assert ["a/1"] == house.hands()


def test_every_route_shows_the_public_the_same_moment(house: House, tmp_path: Path) -> None:
    house.clock.now = now_ms()  # as this machine has it
    house.begin("a")
    house.play("a", 1)
    site = site_of(house.folder, delay_s=3600)
    everybody, auditor = site.as_(), site.as_("auditor")
    assert [] == everybody.get("/api/v1/matches").json()["data"]
    assert ["a"] == [one["match"] for one in auditor.get("/api/v1/matches").json()["data"]]
    for path in ("/api/v1/hands/a/1", "/api/v1/hands/a/1/events", "/api/v1/matches/a"):
        assert 404 == everybody.get(path).status_code, path
        assert 200 == auditor.get(path).status_code, path
    stream = "/api/v1/stream?after=start&until=now&format=ndjson"
    assert "" == everybody.get(stream).text
    told = [json.loads(line) for line in auditor.get(stream).text.splitlines()]
    assert {"a", "a/1"} == {one["hand"] or one["match"] for one in told}
    place = told[3]["id"].replace("o", "p")
    refused = everybody.get(f"/api/v1/stream?after={place}&until=now")
    unknown = everybody.get("/api/v1/stream?after=a/7:4p&until=now")
    assert 400 == refused.status_code == unknown.status_code
    assert refused.json()["detail"].replace(place, "") == unknown.json()["detail"].replace(
        "a/7:4p", ""
    )


def test_a_ruleset_is_told_with_its_match_and_not_before(house: House, tmp_path: Path) -> None:
    """Neither as a row of SQL nor by its fingerprint, which who guesses the rules can count out."""
    house.clock.now = now_ms()
    game = ruleset("site-nl.big-20")
    mark = fingerprint(game)
    house.ledger.keep_ruleset(mark, to_json(game))
    house.ledger.append(Append("a", 0, (_announced("a", mark),), house.clock.now))
    asked = ("sql?q=SELECT ruleset FROM rulesets", f"games/{mark}")

    def told(delay_s: int, who: str | None = None) -> list[str]:
        client = site_of(house.folder, delay_s=delay_s).as_(who)
        found = [client.get(f"/api/v1/{path}") for path in asked]
        return [it.text if it.status_code == 200 else str(it.status_code) for it in found]

    assert ["404"] == told(3600)[1:]
    assert mark not in told(3600)[0]
    for everything in (told(3600, "auditor"), told(0)):
        assert all(mark in text for text in everything)


def _announced(match: str, mark: str) -> MatchStarted:
    bots = ("random-0", "random-1")
    return MatchStarted(match, "site-nl.big-20", mark, bots, "seeded", "sealed", True, "1")


def test_the_tree_is_as_large_as_what_is_told(house: House) -> None:
    """Its size, its tiles and every proof from it: what is held is not even counted there."""
    house.clock.now = now_ms() - 7_200_000
    game = GAMES["site-nl"]
    house.ledger.keep_ruleset(fingerprint(game), to_json(game))
    house.begin("a")
    for number in (1, 2, 3):
        house.play("a", number)
    house.end("a")
    house.close()
    asked = (
        "log/checkpoint",
        "log/consistency?from=1",
        "log/consistency?from=1&format=txt",
        "log/tile/entries/000.p/5",
        "log/tile/entries/000.p/6",
        "log/tile/0/000.p/5",
        "log/tile/0/000.p/6",
        "matches/a/root",
        "hands/a/1/proof",
        "hands/a/1/proof?format=zip",
        "hands/b/1/proof",
    )

    def told(who: str | None = None) -> list[tuple[int, bytes]]:
        client = site_of(house.folder, delay_s=3600).as_(who)
        found = [client.get(f"/api/v1/{path}") for path in asked]
        return [(it.status_code, it.content) for it in found if it.status_code != 404]

    before = told()
    assert b"\n5\n" in before[0][1]
    assert [200] * 8 == [status for status, _ in before]
    again = House(house.folder)
    again.clock.now = now_ms()
    again.begin("b")
    again.play("b", 1)
    again.close()
    assert before == told()
    everything = told("auditor")
    assert b"\n7\n" in everything[0][1]
    assert len(asked) == len(everything)
    root = site_of(house.folder).as_("auditor").get("/api/v1/log/consistency?from=5").json()
    assert root["from"]["root"].encode() in before[0][1], "one log, and one beginning of it"


def test_a_ledger_that_is_all_held_has_no_tree_yet(house: House) -> None:
    house.clock.now = now_ms()
    house.begin("a")
    house.play("a", 1)
    empty = site_of(house.folder, delay_s=3600).as_().get("/api/v1/log/checkpoint")
    house.close()
    held = site_of(house.folder, delay_s=3600).as_().get("/api/v1/log/checkpoint")
    assert 503 == held.status_code == empty.status_code
    assert empty.json()["detail"] == held.json()["detail"]
