"""The process that plays matches over the wire for another, so that nothing holds up the bots.

The process plays one match after another: its start takes longer than many a match. A caller with
several matches keeps such processes between them.

A match and its quick bots share one processor: to wake another takes longer than they think. One of
the three works at a time and the others sleep, so one processor is enough. A bot with threads, or
with processors that it chose, is left alone.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple, NoReturn, Protocol

import msgspec

from dealer.deck import Decks
from dealer.wire.match import play, started
from dealer.wire.plan import WirePlan
from dealer.wire.player import Conduct
from dealer.wire.process import sweep
from dealer.wire.program import Limits, Program
from dealer.wire.sandbox import Guard, remove_stale
from dealer.worker import PATIENCE_S, Gone, decode_hands, ignore_ctrl_c, receive, send_hands, start
from events.cards import DECK
from events.state import Finished
from odds.rank import ranker

BATCH_HANDS = 200
LOOK_HANDS = 20  # after so many it is looked at again whether one processor is enough
QUICK_S = 0.000_3  # for a reply: a slower bot thinks, and may want to do it on many processors
_PROC = Path("/proc")
_LAST_S = 5.0  # for ending its bots, when the process is told to go
_HANDS, _NOTE, _CONDUCT, _OVER, _FAILED = b"+", b"#", b"=", b".", b"!"
_conduct: msgspec.msgpack.Decoder[tuple[Conduct, Conduct]] = msgspec.msgpack.Decoder(
    tuple[Conduct, Conduct]
)


class MatchJob(NamedTuple):
    """All that is needed to play a match."""

    match: WirePlan
    programs: tuple[Program, Program]
    limits: Limits
    decks: Decks
    guard: Guard


class Listener(NamedTuple):
    """Takes the messages that are no hands: remarks, and what each bot did in a leg."""

    note: Callable[[str], None]
    conduct: Callable[[tuple[Conduct, Conduct]], None]


class Processes:
    """Processes that play matches; one that has played a match to its end waits for the next."""

    def __init__(self) -> None:
        self._idle: list[tuple[BaseProcess, Connection]] = []

    def __enter__(self) -> "Processes":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes that wait."""
        while self._idle:
            _end(*self._idle.pop())

    def play(
        self, job: MatchJob, listener: Listener, stop: Callable[[], bool]
    ) -> Generator[Finished | None, None, None]:
        """Every hand of the match, and None while none is ready; after `stop` none is begun.

        Several threads may play a match each.
        """
        try:
            process, pipe = self._idle.pop()
        except IndexError:
            process, pipe = start(_work)
        complete = False
        try:
            with suppress(OSError):  # it is gone, and `receive` says so
                pipe.send(job)
            yield from _received(pipe, job, listener, stop)
            complete = not stop()
        finally:
            if complete:
                self._idle.append((process, pipe))
            else:
                _end(process, pipe)


def _received(
    pipe: Connection, job: MatchJob, listener: Listener, stop: Callable[[], bool]
) -> Generator[Finished | None, None, None]:
    """The hands that the other process sends; its remarks go to the listener."""
    stopped = False
    while True:
        if not stopped and stop():
            stopped = True
            pipe.send(None)
        if not pipe.poll(PATIENCE_S):
            yield None
            continue
        kind, body = receive(pipe, "played the match")
        if kind == _HANDS:
            yield from decode_hands(body)
        elif kind == _CONDUCT:
            listener.conduct(_conduct.decode(body))
            yield None
        elif kind == _NOTE:
            listener.note(body.decode())
        elif kind == _FAILED:
            raise Gone(f"the process that played {job.match.match} failed: {body.decode()}")
        else:
            return


def _end(process: BaseProcess, pipe: Connection) -> None:
    """Tell a process to go; it ends its bots, and if it cannot, they are ended here."""
    pipe.close()
    process.terminate()
    process.join(_LAST_S)
    if process.is_alive():
        process.kill()
        process.join()
    if process.exitcode != 0:
        sweep(f"{process.pid}-")
    if process.pid is not None:
        remove_stale(process.pid)


# The other process.


def _work(pipe: Connection) -> None:
    """Play one match after another, until nobody is at the pipe's other end any more."""
    gc.freeze()  # what was imported stays: no collection need look at it, while a bot waits
    ignore_ctrl_c()
    signal.signal(signal.SIGTERM, _exit)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            while True:
                job = pipe.recv()
                if job is not None:  # else told to stop after the match was over
                    _play(pipe, job)
        except (OSError, EOFError):
            raise
        except Exception as failure:
            pipe.send_bytes(_FAILED + f"{type(failure).__name__}: {failure}".encode())
        finally:
            # It is going already. Python complains of a signal that comes while its handler is
            # taken away; one that is blocked waits, and says nothing.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _play(pipe: Connection, job: MatchJob) -> None:
    """Play a match leg by leg, each with newly started bots."""

    def note(sentence: str) -> None:
        pipe.send_bytes(_NOTE + sentence.encode())

    game = job.match.game
    best = ranker(game.straights, game.ranking, game.hole_min)
    for held in (2, 3):  # read a showdown's tables before the first question, not in a hand
        best(DECK[:held], DECK[held : held + 5])
    for leg in job.match.legs:
        with started(job.programs, job.limits, job.guard, note) as players:
            played = play(job.match, leg, job.decks, players)
            with closing(on_one_processor(played, players)) as hands:
                complete = send_hands(pipe, hands, BATCH_HANDS, _HANDS, _HANDS)
        pipe.send_bytes(_CONDUCT + msgspec.msgpack.encode([player.conduct() for player in players]))
        if not complete:
            break
    pipe.send_bytes(_OVER)


# One processor for the match and its bots.


class Running(Protocol):
    """A bot: how often it was asked, what is left of its clock, the processes that it runs in."""

    replies: int
    clock: float

    @property
    def processes(self) -> list[int]: ...


class Used(NamedTuple):
    """How often bots replied so far, what is left of their clocks, the nanoseconds in which this
    process has run, and those in which it waited for a processor that others had."""

    replies: int
    clocks: float
    ran: int
    waited: int


def on_one_processor(
    hands: Iterable[Finished], bots: tuple[Running, Running]
) -> Generator[Finished]:
    """These hands as they are played; at the end all processes may run on all processors again.

    It is looked again and again: a bot may begin to think, others may want the processor.
    """
    if sys.platform != "linux" or not (_PROC / "self/schedstat").exists():
        yield from hands
        return
    everywhere = os.sched_getaffinity(0)
    then, together = _used(bots), False
    try:
        for number, hand in enumerate(hands, 1):
            if number % LOOK_HANDS == 0:
                now = _used(bots)
                better = len(everywhere) > 1 and is_better(then, now)
                if better and not together:
                    together = _gathered(bots, everywhere)
                elif together and not better:
                    _spread(bots, everywhere)
                    together = False
                then = now
            yield hand
    finally:
        if together:
            _spread(bots, everywhere)


def is_better(then: Used, now: Used) -> bool:
    """Whether one processor is enough: bots reply at once, and nobody else is in the way."""
    replies, crowd = now.replies - then.replies, now.waited - then.waited
    return then.clocks - now.clocks < replies * QUICK_S and crowd < now.ran - then.ran


def _used(bots: tuple[Running, Running]) -> Used:
    ran, waited, _ = (_PROC / "self/schedstat").read_text().split()
    replies, clocks = sum(bot.replies for bot in bots), sum(bot.clock for bot in bots)
    return Used(replies, clocks, int(ran), int(waited))


def _gathered(bots: tuple[Running, Running], everywhere: set[int]) -> bool:
    """Put all bots on the processor of this process, unless a bot is to be left alone."""
    each = [bot.processes for bot in bots]
    if not all(each):  # a bot is over, or the system does not list what runs
        return False
    processes = [process for of_bot in each for process in of_bot]
    try:
        for process in processes:
            if len(_threads(process)) > 1 or os.sched_getaffinity(process) != everywhere:
                return False
        here = {int((_PROC / "self/stat").read_text().rpartition(") ")[2].split()[36])}
        for process in (0, *processes):
            os.sched_setaffinity(process, here)
    except OSError:  # a process has just ended, or is not ours to move
        _spread(bots, everywhere)
        return False
    return True


def _spread(bots: tuple[Running, Running], everywhere: set[int]) -> None:
    """Let all processes run on all processors, those that a bot has started meanwhile, too."""
    for process in (0, *(process for bot in bots for process in bot.processes)):
        with suppress(OSError):
            for thread in _threads(process):
                os.sched_setaffinity(thread, everywhere)


def _threads(process: int) -> list[int]:
    return [int(name) for name in os.listdir(_PROC / str(process or "self") / "task")]
