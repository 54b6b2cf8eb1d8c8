"""A match and its quick bots share one processor, until that is no longer the best for them."""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dealer.deck import SeededDecks
from dealer.wire import process
from dealer.wire.match import play, running_bots
from dealer.wire.player import WirePlayer
from dealer.wire.process import LOOK_HANDS, QUICK_S, BotUsage, fits_one_processor, on_one_processor
from dealer.wire.program import Limits, named_programs
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import Isolation
from engine.games import GAMES
from events.state import Finished
from events.types import Events

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors"
)
THREADED = "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()"
PLAIN = "import time; time.sleep(60)"
HAND = Finished((), (400, 400))


class Bot:
    """A bot as the match sees it: its one process."""

    def __init__(self, words: list[str]) -> None:
        self.process = subprocess.Popen(words)
        self.questions_asked, self.clock = 0, 30.0

    @property
    def processes(self) -> list[int]:
        return [self.process.pid] if self.process.poll() is None else []


@contextmanager
def bots(*programs: str) -> Iterator[tuple[Bot, Bot]]:
    one, two = (Bot([sys.executable, "-c", program]) for program in programs)
    try:
        yield one, two
    finally:
        for bot in (one, two):
            bot.process.kill()
            bot.process.wait()


def places(bot: Bot) -> list[set[int]]:
    """On which processors each thread of a bot may run."""
    threads = os.listdir(f"/proc/{bot.process.pid}/task")
    return [os.sched_getaffinity(int(thread)) for thread in threads]


def looked_at(pair: tuple[Bot, Bot], *better: bool) -> Generator[None]:
    """Stops after every look, which finds what is given, and at the end."""
    answers = iter(better)
    hands = on_one_processor((HAND for _ in range(LOOK_HANDS * len(better))), pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "fits_one_processor", lambda then, now: next(answers))
        for number, _ in enumerate(hands, 1):
            if number % LOOK_HANDS == 0:
                yield
    yield


@pytest.fixture
def everywhere() -> Iterator[set[int]]:
    found = os.sched_getaffinity(0)
    yield found
    os.sched_setaffinity(0, found)


def test_quick_bots_and_their_match_share_the_processor_that_the_match_is_on(
    everywhere: set[int],
) -> None:
    with bots(PLAIN, PLAIN) as pair:
        found = [
            (os.sched_getaffinity(0), *places(pair[0]), *places(pair[1]))
            for _ in looked_at(pair, False, True, True, False, True)
        ]
    alone = [len(one) == 1 and one == two == three for one, two, three in found]
    assert [False, True, True, False, True, False] == alone
    assert (everywhere,) * 3 == found[0] == found[3] == found[-1]


def test_a_bot_with_threads_is_left_alone(everywhere: set[int]) -> None:
    with bots(PLAIN, THREADED) as pair:
        while len(places(pair[1])) < 2:
            time.sleep(0.01)
        for _ in looked_at(pair, True, True):
            assert everywhere == os.sched_getaffinity(0)
            assert [everywhere] == places(pair[0])
            assert [everywhere] * 2 == places(pair[1])


def test_a_bot_that_chose_its_processors_is_left_alone(everywhere: set[int]) -> None:
    with bots(PLAIN, PLAIN) as pair:
        chosen = {max(everywhere)}
        os.sched_setaffinity(pair[1].process.pid, chosen)
        for _ in looked_at(pair, True):
            assert everywhere == os.sched_getaffinity(0)
            assert [everywhere] == places(pair[0])
            assert [chosen] == places(pair[1])


def test_what_a_bot_starts_meanwhile_may_run_everywhere_afterwards(everywhere: set[int]) -> None:
    later = f"import sys, time; sys.stdin.readline(); {THREADED}"
    with bots(PLAIN, PLAIN) as pair:
        pair[1].process.kill()
        pair[1].process.wait()
        pair[1].process = subprocess.Popen([sys.executable, "-c", later], stdin=subprocess.PIPE)
        for at, _ in enumerate(looked_at(pair, True, False)):
            if at == 0:
                stdin = pair[1].process.stdin
                assert stdin is not None
                with stdin:
                    stdin.write(b"now\n")
                while len(places(pair[1])) < 2:
                    time.sleep(0.01)
                assert all(len(place) == 1 for place in places(pair[1]))
            else:
                assert [everywhere] * 2 == places(pair[1])


def test_a_bot_that_has_ended_moves_nobody(everywhere: set[int]) -> None:
    with bots(PLAIN, PLAIN) as pair:
        pair[0].process.kill()
        pair[0].process.wait()
        for _ in looked_at(pair, True):
            assert everywhere == os.sched_getaffinity(0)
            assert [everywhere] == places(pair[1])


def test_a_match_that_is_stopped_lets_everybody_run_everywhere_again(everywhere: set[int]) -> None:
    with bots(PLAIN, PLAIN) as pair:
        steps = looked_at(pair, True, True)
        next(steps)
        assert 1 == len(os.sched_getaffinity(0))
        steps.close()
        assert everywhere == os.sched_getaffinity(0)
        assert [everywhere] == places(pair[1])


@pytest.mark.parametrize(
    ("thought", "ran", "waited", "better"),
    [
        (0.5, 100, 10, True),
        (1.5, 100, 10, False),  # they think
        (0.5, 100, 99, True),
        (0.5, 100, 101, False),  # others want the processor
    ],
)
def test_one_is_enough_for_bots_that_reply_at_once_while_nobody_else_is_there(
    thought: float, ran: int, waited: int, better: bool
) -> None:
    then = BotUsage(7, 50.0, 1_000, 2_000)
    now = BotUsage(107, 50.0 - thought * 100 * QUICK_S, 1_000 + ran, 2_000 + waited)
    assert better == fits_one_processor(then, now)


def test_a_real_match_is_the_same_on_one_processor(
    everywhere: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes of both bots are found, in whatever means keeps them apart."""
    examples = Path(__file__).parents[2] / "dealer/examples"
    programs = named_programs(examples / "steady", examples / "gruff")
    match = wire_plan(GAMES["auction-2024-mit"], "m", ("steady", "gruff"), LOOK_HANDS + 5)
    records: list[list[Events]] = []
    where: list[int] = []  # on how many processors a bot may run, hand by hand
    for answer in (lambda then, now: True, lambda then, now: False):
        monkeypatch.setattr(process, "fits_one_processor", answer)
        with running_bots(programs, Limits(), Isolation(()), lambda sentence: None) as players:
            hands = on_one_processor(play(match, match.legs[0], SeededDecks("1"), players), players)
            found = []
            for hand in hands:
                found.append(hand.record)
                where.append(_width(players))
            records.append(found)
            assert everywhere == os.sched_getaffinity(0)
    assert records[0] == records[1]
    apart, together = [len(everywhere)], [1]
    assert apart * (LOOK_HANDS - 1) + together * 6 + apart * (LOOK_HANDS + 5) == where


def _width(players: tuple[WirePlayer, WirePlayer]) -> int:
    """On how many processors a bot may run at most; nothing of one has ended yet."""
    processes = [process for player in players for process in player.processes]
    assert len(processes) >= 2
    return max(len(os.sched_getaffinity(process)) for process in processes)
