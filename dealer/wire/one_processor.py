"""A match and its quick bots share one processor: to wake another takes longer than they think.

One of the three works at a time and the others sleep, so one processor is enough, and nothing has
to be woken on an idle one. A bot with threads, or with processors that it chose, is left alone.
"""

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from events.state import Finished

LOOK_HANDS = 20
QUICK_S = 0.000_3  # for a reply: who takes longer thinks, and may want to do it on many processors

_PROC = Path("/proc")


class Running(Protocol):
    """A bot: what it was asked, what is left of its clock, the processes that it runs in."""

    replies: int
    clock: float

    @property
    def processes(self) -> list[int]: ...


class Used(NamedTuple):
    """So far: what bots replied and what of their clocks is left; the nanoseconds in which this
    process has run, and those in which it waited for a processor that others had."""

    replies: int
    clocks: float
    ran: int
    waited: int


def on_one_processor(
    hands: Iterable[Finished], bots: tuple[Running, Running]
) -> Generator[Finished]:
    """These hands as they are played; in the end everybody may run everywhere again.

    Looked at again and again: a bot may begin to think, others may want the processor.
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
    """Put all on the processor that this process is on, unless a bot is to be left alone."""
    each = [bot.processes for bot in bots]
    if not all(each):  # it is over, or the system does not list what runs
        return False
    processes = [process for of_bot in each for process in of_bot]
    try:
        for process in processes:
            if len(_threads(process)) > 1 or os.sched_getaffinity(process) != everywhere:
                return False
        here = {int((_PROC / "self/stat").read_text().rpartition(") ")[2].split()[36])}
        for process in (0, *processes):
            os.sched_setaffinity(process, here)
    except OSError:  # one has just ended, or is not ours to move
        _spread(bots, everywhere)
        return False
    return True


def _spread(bots: tuple[Running, Running], everywhere: set[int]) -> None:
    """All may run everywhere, whatever a bot has started meanwhile, too."""
    for process in (0, *(process for bot in bots for process in bot.processes)):
        with suppress(OSError):
            for thread in _threads(process):
                os.sched_setaffinity(thread, everywhere)


def _threads(process: int) -> list[int]:
    return [int(name) for name in os.listdir(_PROC / str(process or "self") / "task")]
