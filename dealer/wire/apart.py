"""A match over the wire in a process of its own, so that nothing else holds up the bots' replies.

Whoever writes the hands down does so meanwhile. The process ends its bots before it ends itself,
also when its reader is gone: the pipe breaks then, and no hand is played after that.
"""

import signal
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic
from types import FrameType
from typing import NamedTuple, NoReturn

import msgspec

from dealer.deck import Decks
from dealer.unheeding import unheard, unheeding
from dealer.wire.limits import Limits
from dealer.wire.match import play, started
from dealer.wire.plan import Plan
from dealer.wire.player import Conduct
from dealer.wire.process import sweep
from dealer.wire.program import Program
from dealer.wire.sandbox import Guard, remove_stale
from engine.game import Game
from events.cards import DECK
from events.types import Events
from odds.rank import ranker

BATCH_S = 0.05  # so often hands go to the writer: with the end of a hand, not in the middle of one
BATCH_HANDS = 200
PATIENCE_S = 0.1  # how long it may take until somebody hears that he is to stop
_LAST_S = 5.0  # for ending its bots, when the process is told to go

_HANDS, _NOTE, _CONDUCT, _OVER, _FAILED = b"+", b"#", b"=", b".", b"!"

_encoder = msgspec.msgpack.Encoder()
_hands: msgspec.msgpack.Decoder[tuple[Events, ...]] = msgspec.msgpack.Decoder(tuple[Events, ...])
_conduct: msgspec.msgpack.Decoder[tuple[Conduct, Conduct]] = msgspec.msgpack.Decoder(
    tuple[Conduct, Conduct]
)


class Gone(Exception):
    """The process that played the match ended before the match did."""


class Job(NamedTuple):
    """All that is needed to play a match."""

    match: Plan
    programs: tuple[Program, Program]
    limits: Limits
    decks: Decks
    guard: Guard


class Ears(NamedTuple):
    """Who hears what is no hand: remarks, and what each bot did in a leg."""

    note: Callable[[str], None]
    conduct: Callable[[tuple[Conduct, Conduct]], None]


def played_apart(
    job: Job, ears: Ears, stop: Callable[[], bool]
) -> Generator[Events | None, None, None]:
    """Every hand of the match, and None when no other is at hand; after `stop` none is begun."""
    spawned = get_context("spawn")  # a fork would take the writer's threads and locks along
    ours, theirs = spawned.Pipe()
    process = spawned.Process(target=_work, args=(theirs, job), daemon=True)
    with unheard():
        process.start()
    theirs.close()
    stopped = False
    try:
        while True:
            if not stopped and stop():
                stopped = True
                ours.send_bytes(_OVER)
            if not ours.poll(PATIENCE_S):
                yield None
                continue
            kind, body = _heard(ours)
            if kind == _HANDS:
                yield from _hands.decode(body)
            elif kind == _CONDUCT:
                ears.conduct(_conduct.decode(body))
                yield None
            elif kind == _NOTE:
                ears.note(body.decode())
            elif kind == _FAILED:
                raise Gone(f"the process that played {job.match.match} failed: {body.decode()}")
            else:
                return
    finally:
        _ended(process, ours)


def _heard(pipe: Connection) -> tuple[bytes, bytes]:
    try:
        said = pipe.recv_bytes()
    except (EOFError, ConnectionResetError):
        raise Gone("the process that played the match is gone") from None
    return said[:1], said[1:]


def _ended(process: BaseProcess, pipe: Connection) -> None:
    """It is told to go, and ends its bots; if it cannot any more, they are ended here."""
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


def _work(pipe: Connection, job: Job) -> None:
    unheeding()  # Ctrl-C is for the writer to hear
    signal.signal(signal.SIGTERM, _go)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            _play(pipe, job)
        except (OSError, EOFError):
            raise
        except Exception as failure:
            pipe.send_bytes(_FAILED + f"{type(failure).__name__}: {failure}".encode())
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is going already


def _go(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _play(pipe: Connection, job: Job) -> None:
    """Leg by leg, each by newly started bots."""

    def note(sentence: str) -> None:
        pipe.send_bytes(_NOTE + sentence.encode())

    _tables_read(job.match.game)
    for leg in job.match.legs:
        with started(job.programs, job.limits, job.guard, note) as players:
            whole = _hands_of(pipe, job, play(job.match, leg, job.decks, players))
        pipe.send_bytes(_CONDUCT + _encoder.encode([player.conduct() for player in players]))
        if not whole:
            break
    pipe.send_bytes(_OVER)


def _hands_of(pipe: Connection, job: Job, hands: Generator[Events, None, None]) -> bool:
    """These hands into the pipe, until all are played or it is told to stop."""
    gathered: list[Events] = []
    sent = monotonic()
    whole = True
    for hand in hands:
        gathered.append(hand)
        if len(gathered) >= BATCH_HANDS or monotonic() - sent >= BATCH_S:
            pipe.send_bytes(_HANDS + _encoder.encode(gathered))
            gathered, sent = [], monotonic()
            if pipe.poll():  # told to stop; a reader that is gone is met by the next word
                whole = False
                break
    pipe.send_bytes(_HANDS + _encoder.encode(gathered))
    return whole


def _tables_read(game: Game) -> None:
    """What a showdown looks up is read before the first question, not in the middle of a hand."""
    best = ranker(game.straights, game.ranking, game.hole_min)
    for held in (2, 3):
        best(DECK[:held], DECK[held : held + 5])
