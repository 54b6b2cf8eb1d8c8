"""Many matches at once: worker processes deal them, this one receives every hand.

Hands come back over a pipe in the order in which they were dealt. A pipe that nobody empties holds
its worker up, and one whose reader is gone ends it, so no process outlives its match.
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from dealer.deck import Decks
from dealer.play import Plan, dealt
from dealer.worker import PATIENCE_S, Gone, decode_hands, ignore_ctrl_c, receive, send_hands, start
from events.types import Events

BATCH_HANDS = 500

_MORE, _LAST, _FAILED = b"+", b".", b"!"


class DealJob(NamedTuple):
    """A match and its decks, for another process to deal."""

    plan: Plan
    decks: Decks


class DealtHands(NamedTuple):
    """Some more hands of a match; `over` if they are the last."""

    match: str
    hands: tuple[Events, ...]
    over: bool


def at_once(
    jobs: Iterator[DealJob], processes: int, stop: Callable[[], bool]
) -> Iterator[DealtHands]:
    """Deal these matches, so many at a time; after `stop` each ends with its last whole hand."""
    workers: dict[Connection, BaseProcess] = {}
    at_work: dict[Connection, str] = {}
    stopped = False
    try:
        while True:
            while not stopped and len(at_work) < processes and (job := next(jobs, None)):
                pipe = next((pipe for pipe in workers if pipe not in at_work), None)
                if pipe is None:
                    process, pipe = start(_work)
                    workers[pipe] = process
                pipe.send(job)
                at_work[pipe] = job.plan.match
            if not at_work:
                return
            for ready in wait(list(at_work), timeout=PATIENCE_S):
                assert isinstance(ready, Connection)
                match = at_work[ready]
                kind, body = receive(ready, f"dealt {match}")
                if kind == _FAILED:
                    raise Gone(f"the process that dealt {match} failed: {body.decode()}")
                if kind == _LAST:
                    del at_work[ready]
                yield DealtHands(match, decode_hands(body), kind == _LAST)
            if not stopped and stop():
                stopped = True
                for pipe in at_work:
                    pipe.send(None)
    finally:
        for pipe, process in workers.items():
            pipe.close()
            if at_work:  # something went wrong: nobody waits for their hands any more
                process.kill()
            process.join()


def _work(pipe: Connection) -> None:
    """The other process: one match after another, until nobody is there any more."""
    ignore_ctrl_c()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            if job is None:  # told to stop after the match was over
                continue
            try:
                send_hands(pipe, dealt(job.plan, job.decks), BATCH_HANDS, _MORE, _LAST)
            except OSError:
                raise
            except Exception as failure:
                reason = traceback.format_exception_only(failure)[-1].strip()
                pipe.send_bytes(_FAILED + reason.encode())
