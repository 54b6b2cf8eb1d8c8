"""What `/live` shows of one match: its table now, whom it waits for, bankrolls, and if it goes on.

The ledger is written event by event, as a live table does, and looked at between two of them.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.viewpoints.viewer import Viewer
from dealer.play import play
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events import types as t
from events.ledger import Append
from events.match import Disclosure, MatchEnded, MatchStarted
from events.types import Events
from store.folder.disk import now_ms
from store.ledger import FileLedger, open_ledger
from tests.http.clients import Site, site_of
from tests.test_web_pages import read

AUCTION = GAMES["auction-2024"]
PLAYERS = ("random-0", "random-1")
HAND = next(
    one
    for one in map(tuple, play(AUCTION, "duel", 40, "7"))
    if any(isinstance(it, t.Shown) for it in one) and any(isinstance(it, t.BidPlaced) for it in one)
)
NAME = HAND[0].hand  # type: ignore[union-attr]


class Hall:
    """A ledger in which one match is played, and the server that shows it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger: FileLedger
        self.ledger, self.lock = open_ledger(folder, "a test")
        self.ledger.keep_ruleset(fingerprint(AUCTION), to_json(AUCTION))
        self.written = 0

    def begin(self, match: str = "duel", disclosure: Disclosure = "sealed", deals: int = 1) -> None:
        start = MatchStarted(
            match,
            AUCTION.name,
            fingerprint(AUCTION),
            PLAYERS,
            "seeded",
            disclosure,
            True,
            "7",
            deals,
        )
        self.ledger.append(Append(match, 0, (start,), now_ms()))

    def until(self, kind: type[t.Event], count: int = 1) -> None:
        """Play the hand up to the event of this kind, and no further."""
        places = [place for place, one in enumerate(HAND) if isinstance(one, kind)]
        self.add(HAND[self.written : places[count - 1] + 1])

    def add(self, events: Events, late_ms: int = 0) -> None:
        self.ledger.append(Append(NAME, self.written, events, now_ms() - late_ms))
        self.written += len(events)

    def end(self, reason: str = "every hand was played") -> None:
        self.ledger.append(Append("duel", 1, (MatchEnded((0, 0), reason),), now_ms()))

    def leave(self) -> None:
        """The writer is gone, whatever it was at."""
        self.ledger.close()
        self.lock.release()

    def site(self, delay_s: float = 0) -> Site:
        site = site_of(self.folder, delay_s=delay_s)
        site.keys["random-0"] = site.app.state.keys.make(("seat:random-0",), "random-0")[1]
        return site


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    hall = Hall(tmp_path / "ledger")
    hall.begin()
    yield hall
    hall.leave()


def now(site: Site, who: str | None = None, match: str = "duel") -> str:
    """What stands above the table, in words."""
    page = read(site, f"/live?match={match}", who=who)
    told = re.search(r'<p class="now">(.*?)</p>', page)
    assert told is not None, page
    return " ".join(re.sub("<[^>]+>", "", told[1]).split())


def faces(site: Site, who: str | None) -> list[list[str]]:
    """The cards of each seat as they are drawn, `hidden` where one is not seen."""
    page = read(site, "/live?match=duel", who=who)
    seats = re.findall(r'<div class="hole">(.*?)</div>', page)
    return [
        [
            letter + suit
            for letter, suit in re.findall(r'<span class="card \w ?">(\w)<svg.*?<i>(\w)</i>', one)
        ]
        + ["hidden"] * one.count("card back")
        for one in seats
    ]


def test_a_match_without_a_hand_has_an_empty_table(hall: Hall) -> None:
    assert "No hand has begun yet." in read(hall.site(), "/live?match=duel", who=None)


def test_a_match_that_is_yet_to_come_is_waited_for(hall: Hall) -> None:
    page = read(hall.site(), "/live?match=tomorrow", who=None)
    assert 'id="match"' in page
    assert 'id="table"' not in page


def test_a_live_page_says_who_is_to_act_and_since_when(hall: Hall) -> None:
    hall.until(t.Called)
    acted = next(one for one in HAND if isinstance(one, t.Called))
    other = PLAYERS[1 - acted.seat]
    assert re.fullmatch(rf"Hand \d+ {other} is to act since \d\d:\d\d:\d\d", now(hall.site()))


def test_all_who_may_bid_are_waited_for(hall: Hall) -> None:
    place = next(at for at, one in enumerate(HAND) if isinstance(one, t.BidPlaced))
    hall.add(HAND[:place])
    bidders = [PLAYERS[one.seat] for one in HAND if isinstance(one, t.BidPlaced)]
    assert f"{', '.join(sorted(bidders))} are to bid since" in now(hall.site())


def test_hidden_cards_are_hidden_and_a_player_sees_his_own(hall: Hall) -> None:
    hall.until(t.Called)
    held = {one.seat: list(one.cards) for one in HAND[:9] if isinstance(one, t.HoleDealt)}
    site = hall.site()
    assert [["hidden"] * len(held[0]), ["hidden"] * len(held[1])] == faces(site, None)
    assert [held[0], ["hidden"] * len(held[1])] == faces(site, "random-0")
    assert [held[0], held[1]] == faces(site, "auditor")


def test_of_a_mirrored_match_the_public_is_told_why_there_is_no_table(tmp_path: Path) -> None:
    hall = Hall(tmp_path / "ledger")
    hall.begin(deals=2)
    hall.until(t.Called)
    page = read(hall.site(), "/live?match=duel", who=None)
    hall.leave()
    assert 'class="felt"' not in page
    assert "mirrored" in page
    assert NAME not in page


def test_a_match_says_why_it_is_over(hall: Hall) -> None:
    hall.add(HAND)
    hall.end()
    assert now(hall.site()).endswith("This match is over: every hand was played.")


def test_a_match_that_was_stopped_says_so(hall: Hall) -> None:
    hall.add(HAND)
    hall.end("interrupted")
    assert now(hall.site()).endswith("This match was stopped.")


GONE = "This match has no end: its writer is gone, and nobody goes on with it."


def test_nobody_waits_for_a_writer_that_is_gone(hall: Hall) -> None:
    hall.until(t.Called)
    assert GONE not in now(hall.site())
    hall.leave()
    assert now(hall.site()).endswith(GONE)


def test_nobody_is_said_to_be_gone_who_ended_his_match_since_it_was_looked_at(hall: Hall) -> None:
    """A page looks at the ledger first, and then whether somebody holds its lock."""
    hall.until(t.BettingOpened)
    service, viewer = hall.site().app.state.service, Viewer()
    before = service.snapshot(viewer)
    assert service.is_played(viewer, before, "duel")
    hall.end("interrupted")
    hall.leave()
    assert service.is_played(viewer, before, "duel")  # as far as that snapshot goes
    assert not service.is_played(viewer, service.snapshot(viewer), "duel")


def test_the_public_learns_that_a_writer_is_gone_when_the_delay_is_over(hall: Hall) -> None:
    """Until then it is shown what came before, as if all was well."""
    hall.add(HAND[:9], late_ms=60_000)
    hall.add(HAND[9:12])
    hall.leave()
    site = hall.site(delay_s=30)
    assert GONE in now(site, "auditor")
    assert GONE in now(hall.site(delay_s=0))
    assert 'id="table"' not in read(site, "/live?match=duel", who=None)  # it was just announced


def test_whoever_writes_now_does_not_play_what_another_left(hall: Hall) -> None:
    """The next writer voids the hand, and plays a match of its own."""
    hall.until(t.Called)
    hall.leave()
    before = now_ms() + 5
    while now_ms() <= before:
        pass
    later = Hall(hall.folder)
    later.begin("second")
    site = later.site()
    assert GONE in now(site)
    assert GONE not in now(site, match="second")
    home = read(site, "/", who=None)
    later.leave()
    assert re.search(r'class="running">live</span><span><a href="/live\?match=second">', home)
    assert not re.search(r'class="running">live</span><span><a href="/live\?match=duel">', home)


def test_a_fragment_has_bankrolls_only_when_a_hand_has_ended(hall: Hall) -> None:
    hall.add(HAND)
    site = hall.site()
    asked = f"/live?match=duel&of=HandEnded%20{NAME}"
    assert 'id="money"' in read(site, asked, who=None)
    again = read(site, "/live?match=duel&of=table", who=None)
    assert ('id="table"' in again, 'id="money"' in again) == (True, False)


def test_bankrolls_are_the_sums_of_nets(hall: Hall) -> None:
    hall.add(HAND)
    page = read(hall.site(), "/live?match=duel", who=None)
    told = re.search(r'aria-label="Bankrolls: ([^"]*)"', page)
    nets = (
        [int(one.replace("\N{MINUS SIGN}", "-")) for one in re.findall(r" ([+−]?\d+)", told[1])]
        if told
        else []
    )
    assert len(nets) == 2
    assert nets[0] == -nets[1] != 0


def test_a_lock_tells_since_when_it_is_held(hall: Hall) -> None:
    from store.folder.disk import held_since

    held = held_since(hall.folder)
    assert held is not None
    assert abs(held - now_ms()) < 60_000
    os.utime(hall.folder / "lock", (1, 1))
    assert held_since(hall.folder) == 1000
    hall.leave()
    assert held_since(hall.folder) is None
