"""Many matches at once: the same hands as one by one, and nothing lost however it ends."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.main import main
from api.playing.recording import ALL_PLAYED, STOPPED
from dealer.deck import Deck, SeededDecks, check_deal
from dealer.play import DealJob, DealtHands, Plan, deal_matches, hand_records
from dealer.worker import WorkerGone
from engine.games import GAMES
from events import types as t
from events.ledger import is_match
from events.match import DeckOpened
from store.proof.ledger_secrets import SecretFolder
from store.reader import Reader
from tests.processes import Popen
from tests.sessions import kept, printed, said

GAME = GAMES["auction-2024"]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def jobs(
    count: int, hands: int, deck: Callable[[str], SeededDecks] = SeededDecks
) -> Iterator[DealJob]:
    for number in range(1, count + 1):
        plan = Plan(GAME, f"m-{number}", hands, f"7-{number}", ("random", "caller"))
        yield DealJob(plan, deck(plan.seed))


def never() -> bool:
    return False


def test_processes_deal_what_one_process_would(home: Path) -> None:
    found: dict[str, list[t.Events]] = {}
    over: list[str] = []
    for news in deal_matches(jobs(3, 30), 2, never):
        found.setdefault(news.match, []).extend(hand.record for hand in news.hands)
        over += [news.match] if news.over else []
    assert {"m-1", "m-2", "m-3"} == set(over)
    for job in jobs(3, 30):
        assert list(hand_records(job.plan, job.decks)) == found[job.plan.match]


def test_matches_are_named_and_seeded_by_their_number(home: Path, capsys: Captured) -> None:
    words = ("auction-2024", "--hands", "8", "--bots", "random,caller")
    text = printed(capsys, "play", *words, "--matches", "3", "--match", "m", "--seed", "7")
    assert ["m-1", "m-2", "m-3"] == [line.split()[0] for line in text.splitlines()]
    seeds = [line.split()[-1] for line in text.splitlines()]
    again = printed(capsys, "play", *words, "--matches", "3", "--match", "n", "--seed", "7")
    assert seeds == [line.split()[-1] for line in again.splitlines()]
    for number, seed in enumerate(seeds, 1):
        printed(capsys, "play", *words, "--match", f"one-{number}", "--seed", seed)
        for hand in range(1, 9):
            assert kept(home, f"m-{number}/{hand}")[1:] == kept(home, f"one-{number}/{hand}")[1:]
        assert kept(home, f"m-{number}")[-1] == kept(home, f"one-{number}")[-1]


def test_many_matches_as_json(home: Path, capsys: Captured) -> None:
    words = ("auction-2024", "--hands", "2", "--matches", "2", "--seed", "7", "--json")
    document = json.loads(printed(capsys, "play", *words))
    assert "muckrake.play-matches/1" == document["schema"]
    one, two = document["matches"]
    assert (32, 32) == (len(one["seed"]), len(two["seed"]))
    assert one["seed"] != two["seed"]
    assert (2, ALL_PLAYED, "sealed") == (one["hands"], one["reason"], one["disclosure"])


def test_committed_matches_are_bound_before_another_process_deals_them(
    home: Path, capsys: Captured
) -> None:
    words = ("--dealing", "committed", "--disclosure", "open-after-match", "--match", "m")
    printed(capsys, "play", "auction-2024", "--hands", "12", "--matches", "2", *words)
    for name in ("m-1", "m-2"):
        kinds = [type(one).__name__ for one in kept(home, name)]
        bound = ["MatchStarted", "DeckCommitted", "NonceGiven", "NonceGiven"]
        assert [*bound, "DeckOpened", "MatchEnded"] == kinds
        assert 1 == len(SecretFolder(home).chains(name))


def test_a_name_that_is_taken_is_noticed_before_anything_is_played(
    home: Path, capsys: Captured
) -> None:
    printed(capsys, "play", "site-nl", "--match", "m-2")
    sentence = said(capsys, 1, "play", "auction-2024", "--match", "m", "--matches", "3")
    assert sentence.startswith("there is a match m-2 in ")
    assert () == kept(home, "m-1")


class Torn(SeededDecks):
    """Decks that fail at the fifth hand."""

    def deck(self, number: int) -> Deck:
        if number == 5:
            raise RuntimeError("the deck fell on the floor")
        return super().deck(number)


class Deadly(SeededDecks):
    """Decks that take their whole process with them."""

    def deck(self, number: int) -> Deck:
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().deck(number)


@pytest.mark.parametrize(
    ("decks", "sentence"),
    [
        (Torn, "the process that dealt m-1 failed: RuntimeError: the deck fell on the floor"),
        pytest.param(Deadly, "the process that dealt m-1 is gone", marks=pytest.mark.ci),
    ],
)
def test_a_process_that_fails_is_told_and_none_is_left(
    decks: Callable[[str], SeededDecks], sentence: str
) -> None:
    with pytest.raises(WorkerGone) as failure:
        list(deal_matches(jobs(1, 10, decks), 2, never))
    assert sentence == str(failure.value)
    assert [] == children()


def test_stopping_ends_every_match_at_work_with_a_whole_hand() -> None:
    heard: list[DealtHands] = []
    for news in deal_matches(jobs(4, 1_000_000), 2, lambda: len(heard) > 3):
        heard.append(news)
    assert {"m-1", "m-2"} == {news.match for news in heard}
    assert {"m-1", "m-2"} == {news.match for news in heard if news.over}
    assert all(hand.record[-1] == t.HandEnded() for news in heard for hand in news.hands)
    assert [] == children()


def children() -> list[int]:
    """Processes that we started and that are still there."""
    return [process.pid or 0 for process in multiprocessing.active_children()]


@pytest.fixture
def running(home: Path) -> Iterator[Popen]:
    """Two endless matches on their way, with some hands already durable."""
    door = "import sys; from api.main import main; sys.exit(main())"
    words = ["play", "auction-2024", "--hands", "100000", "--matches", "2", "--match", "long"]
    words += ["--dealing", "committed"]
    process = Popen(
        [sys.executable, "-c", door, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: bool(kept(home, "long-1/1")) and bool(kept(home, "long-2/1")))
    yield process
    process.kill()
    process.wait()


def test_ctrl_c_ends_every_match_after_its_last_hand(
    home: Path, running: Popen, capsys: Captured
) -> None:
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: all of them hear it
    out, err = running.communicate(timeout=30)
    assert 130 == running.returncode
    assert err.startswith(f"{STOPPED}: ")
    for line, name in zip(out.splitlines(), ("long-1", "long-2"), strict=True):
        assert STOPPED == kept(home, name)[-1].reason
        hands = int(line.split()[2])
        assert t.HandEnded() == kept(home, f"{name}/{hands}")[-1]
        assert () == kept(home, f"{name}/{hands + 1}")
    assert main(["audit", "--all"]) == 0


def test_a_writer_that_is_killed_loses_nothing_it_said_and_leaves_no_process(
    home: Path, running: Popen, capsys: Captured
) -> None:
    group = running.pid
    before = [(one.pos, one.event) for one in Reader(home).snapshot().read_from(0)]
    running.kill()
    running.wait()
    wait_for(lambda: not members(group))
    assert main(["play", "site-nl", "--match", "next"]) == 0
    after = [(one.pos, one.event) for one in Reader(home).snapshot().read_from(0)]
    assert before == after[: len(before)]
    last = {one.stream: one.event for one in Reader(home).snapshot().read_from(0)}
    assert {t.HandEnded()} == {event for name, event in last.items() if not is_match(name)}
    secret = SecretFolder(home).chains("long-1")[0]
    records = (*kept(home, "long-1"), DeckOpened(secret.hands, secret.secret))
    for hand in (1, 2, 3):
        assert "agree" == check_deal(GAME, records, kept(home, f"long-1/{hand}")).verdict


def members(group: int) -> list[str]:
    """Who is still alive in a process group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        if int(of) == group and state != "Z":
            found.append(path.parent.name)
    return found


def wait_for(seen: Callable[[], bool]) -> None:
    """Until it is so; a minute is too long."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if seen():
                return
        except Exception:  # there is no ledger yet
            pass
        time.sleep(0.02)
    raise AssertionError("it never came")
