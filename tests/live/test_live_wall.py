"""The real clock, in less than two seconds; and `muckrake play --live`, as a user types it."""

import threading
import time
from itertools import chain
from pathlib import Path

import pytest

from api.main import main
from dealer.deck import SeededDecks
from dealer.live.bots import ThinkingBot
from dealer.live.clock import (
    Arrival,
    ConnectionLost,
    Joins,
    Leaves,
    Question,
    TurnTimes,
    WallClock,
)
from dealer.live.table import LiveTable
from engine.audit import audit
from engine.games import named
from events import types as t
from events.match import DeckCommitted
from store.reader import Reader
from tests.sessions import Captured, kept, said, told
from tests.store.memory import MemoryLedger

SITE = named("site-nl")


class Mute:
    """A player who hears everything and says nothing."""

    def asked(self, question: Question) -> None: ...
    def committed(self, checkpoint: str) -> None: ...
    def refused(self, sentence: str) -> None: ...


def test_a_table_in_real_time() -> None:
    """Two who think for a few milliseconds, and one who never answers, on a short clock."""
    clock, ledger = WallClock(), MemoryLedger()
    times = TurnTimes(silent=30, countdown=30, extension=30)
    table = LiveTable(SITE, "m", 3, ledger, SeededDecks("7"), clock, times=times)
    for chair, name in enumerate(("ann", "bob", "mute")):
        bot = ThinkingBot("caller", name, "7", 4, clock.send)
        table.meet(name, Mute() if name == "mute" else bot)
        clock.send(Joins(name, chair, 1000))
    began = time.monotonic()
    record = tuple(chain.from_iterable(table.hand()))
    took = time.monotonic() - began
    assert audit(SITE, record) is None
    assert any(isinstance(event, t.TimedOut) for event in record)
    assert 0.06 < took < 20
    times_of = [one.at for one in ledger.read("m/1")]
    assert times_of == sorted(times_of)
    assert 60 < times_of[-1] - times_of[0] <= 1000 * took + 1


def test_news_from_another_thread_wake_the_table() -> None:
    clock = WallClock()
    threading.Timer(0.02, clock.send, (ConnectionLost("ann"),)).start()
    arrived = clock.wait(clock.now_ms() + 1_500)
    assert isinstance(arrived, Arrival)
    assert ConnectionLost("ann") == arrived.event
    assert clock.wait(clock.now_ms() - 1) is None


def test_news_that_arrived_too_late_are_left_for_the_next_who_waits() -> None:
    clock = WallClock()
    clock.send(ConnectionLost("ann"), 15)
    clock.send(Leaves("bob"))
    deadline = clock.now_ms() + 5
    first = clock.wait(deadline)
    assert first is not None
    assert Leaves("bob") == first.event
    assert clock.wait(deadline) is None
    assert clock.now_ms() > deadline
    later = clock.wait(deadline + 1_000)
    assert later is not None
    assert first.at + 15 <= later.at


def test_the_clock_tells_the_time_of_day() -> None:
    assert abs(WallClock().now_ms() - time.time() * 1000) < 500


# The command.

LIVE = ("play", "site-nl", "--live", "--seats", "3", "--think-ms", "4")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def test_a_live_match_is_committed_to_written_answer_by_answer_and_agreed_with(
    home: Path, capsys: Captured
) -> None:
    words = ("--hands", "3", "--match", "m", "--disclosure", "open-after-match")
    document = told(capsys, *LIVE, *words)
    assert (3, "every hand was played") == (document["hands"], document["reason"])
    assert 0 == sum(document["nets"])
    start, committed, *_ = kept(home, "m")
    assert "committed" == start.dealing
    assert isinstance(committed, DeckCommitted)
    first, *events = Reader(home).read("m/1")
    answers = t.Folded | t.Checked | t.Called | t.Bet | t.Raised
    answered = [one.at for one in events if isinstance(one.event, answers)]
    assert first.at < answered[0]
    assert sorted(set(answered)) == answered  # each is thought about for two milliseconds or more
    verdicts = [one["verdict"] for one in told(capsys, "audit", "--all")["hands"]]
    assert 3 == len(verdicts)
    assert {"agree", "contested"} >= set(verdicts)  # no seed decides these decks
    assert 7 == main(["verify", "--all"])  # it holds, and no key was said


def test_seeded_decks_are_dealt_live_if_they_are_asked_for(home: Path, capsys: Captured) -> None:
    told(capsys, *LIVE, "--seed", "7", "--match", "one")
    told(capsys, "play", "site-nl", "--seats", "3", "--seed", "7", "--match", "other")
    assert kept(home, "one/1")[1:] == kept(home, "other/1")[1:]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("site-nl --think-ms 5", "--think-ms is for --live"),
        ("auction-2024 --live --mirror", "--live plays one table as it is: leave out --mirror"),
        ("site-nl --live --matches 2", "--live plays one table as it is: leave out --matches"),
    ],
)
def test_what_a_live_table_cannot_be_is_refused(
    home: Path, capsys: Captured, words: str, sentence: str
) -> None:
    assert sentence in said(capsys, 2, "play", *words.split())
