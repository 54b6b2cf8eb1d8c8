"""Many matches at once: other processes deal them, this one hears of every hand.

Hands come back over a pipe in the order in which they were dealt. A pipe that nobody empties holds
its dealer up, and one whose reader is gone ends it, so no process outlives its match.
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import NamedTuple

import msgspec

from dealer.deck import Decks
from dealer.play import Plan, dealt
from dealer.unheeding import unheard, unheeding
from events.types import Events

BATCH_S = 0.05  # hands wait no longer than this for their way to the writer
BATCH_HANDS = 500
PATIENCE_S = 0.1  # how long it may take until somebody hears that he is to stop

_MORE, _LAST, _FAILED = b"+", b".", b"!"

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[tuple[Events, ...]] = msgspec.msgpack.Decoder(tuple[Events, ...])


class Gone(Exception):
    """A process that dealt a match ended before the match did."""


class Job(NamedTuple):
    """A match and its decks, for another process to deal."""

    plan: Plan
    decks: Decks


class News(NamedTuple):
    """What came of a match: some more hands, or no more of them."""

    match: str
    hands: tuple[Events, ...]
    over: bool


class _Dealer(NamedTuple):
    """A process that deals one match after another, and our end of its pipe."""

    process: BaseProcess
    ours: Connection


def at_once(jobs: Iterator[Job], processes: int, stop: Callable[[], bool]) -> Iterator[News]:
    """All these matches, so many at a time; after `stop` each ends with its last whole hand."""
    dealers: list[_Dealer] = []
    at_work: dict[Connection, str] = {}
    stopped = False
    try:
        while True:
            while not stopped and len(at_work) < processes and (job := next(jobs, None)):
                pipe = _idle(dealers, at_work)
                pipe.send(job)
                at_work[pipe] = job.plan.match
            if not at_work:
                return
            for ready in wait(list(at_work), timeout=PATIENCE_S):
                assert isinstance(ready, Connection)
                news = _heard(ready, at_work[ready])
                if news.over:
                    del at_work[ready]
                yield news
            if not stopped and stop():
                stopped = True
                for pipe in at_work:
                    pipe.send(None)
    finally:
        for dealer in dealers:
            dealer.ours.close()
            if at_work:  # something went wrong: nobody waits for their hands any more
                dealer.process.kill()
            dealer.process.join()


def _idle(dealers: list[_Dealer], at_work: dict[Connection, str]) -> Connection:
    """A dealer without a match; a new one, if all have one."""
    for dealer in dealers:
        if dealer.ours not in at_work:
            return dealer.ours
    spawned = get_context("spawn")  # a fork would take the writer's threads and locks along
    ours, theirs = spawned.Pipe()
    process = spawned.Process(target=_work, args=(theirs,), daemon=True)
    with unheard():
        process.start()
    theirs.close()
    dealers.append(_Dealer(process, ours))
    return ours


def _heard(pipe: Connection, match: str) -> News:
    """The next hands of a match, and whether there are more."""
    try:
        said = pipe.recv_bytes()
    except (EOFError, ConnectionResetError):
        raise Gone(f"the process that dealt {match} is gone") from None
    kind, body = said[:1], said[1:]
    if kind == _FAILED:
        raise Gone(f"the process that dealt {match} failed: {body.decode()}")
    return News(match, _decoder.decode(body), kind == _LAST)


def _work(pipe: Connection) -> None:
    """The other process: one match after another, until nobody is there any more."""
    unheeding()  # Ctrl-C is for the writer to hear
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            if job is None:  # told to stop after the match was over
                continue
            try:
                _deal(job, pipe)
            except OSError:
                raise
            except Exception as failure:
                told = traceback.format_exception_only(failure)[-1].strip()
                pipe.send_bytes(_FAILED + told.encode())


def _deal(job: Job, pipe: Connection) -> None:
    """The hands of a match into the pipe, until all are dealt or it is told to stop."""
    gathered: list[Events] = []
    sent = monotonic()
    for hand in dealt(job.plan, job.decks):
        gathered.append(hand)
        if len(gathered) >= BATCH_HANDS or monotonic() - sent >= BATCH_S:
            pipe.send_bytes(_MORE + _encoder.encode(gathered))
            gathered, sent = [], monotonic()
        if pipe.poll():
            break
    pipe.send_bytes(_LAST + _encoder.encode(gathered))
