"""The process that plays matches over the wire for another, so that nothing holds up the bots.

It plays one match after another: to start it takes longer than many a match. Whoever has several
matches keeps such processes between them.
"""

import gc
import signal
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import FrameType, TracebackType
from typing import NamedTuple, NoReturn

import msgspec

from dealer.deck import Decks
from dealer.wire.match import play, started
from dealer.wire.one_processor import on_one_processor
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
    """Takes what is no hand: remarks, and what each bot did in a leg."""

    note: Callable[[str], None]
    conduct: Callable[[tuple[Conduct, Conduct]], None]


class Processes:
    """Processes that play matches; who has played one to its end waits for the next one."""

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
        """End those that wait."""
        while self._idle:
            _end(*self._idle.pop())

    def play(
        self, job: MatchJob, listener: Listener, stop: Callable[[], bool]
    ) -> Generator[Finished | None, None, None]:
        """Every hand of the match, and None when no other is at hand; after `stop` none is begun.

        Several threads may play a match each.
        """
        try:
            process, pipe = self._idle.pop()
        except IndexError:
            process, pipe = start(_work)
        whole = False
        try:
            with suppress(OSError):  # it is gone, and `receive` says so
                pipe.send(job)
            yield from _played(pipe, job, listener, stop)
            whole = not stop()
        finally:
            if whole:
                self._idle.append((process, pipe))
            else:
                _end(process, pipe)


def _played(
    pipe: Connection, job: MatchJob, listener: Listener, stop: Callable[[], bool]
) -> Generator[Finished | None, None, None]:
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
    """The process is told to go, and ends its bots; if it cannot, they are ended here."""
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
    """One match after another, until nobody is there any more."""
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
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is going already


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _play(pipe: Connection, job: MatchJob) -> None:
    """Leg by leg, each by newly started bots."""

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
                whole = send_hands(pipe, hands, BATCH_HANDS, _HANDS, _HANDS)
        pipe.send_bytes(_CONDUCT + msgspec.msgpack.encode([player.conduct() for player in players]))
        if not whole:
            break
    pipe.send_bytes(_OVER)
