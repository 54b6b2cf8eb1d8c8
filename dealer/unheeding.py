"""Processes that do not heed Ctrl-C: a terminal sends it to all, and it is for who started them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

_CTRL_C = {signal.SIGINT}


@contextmanager
def unheard() -> Iterator[None]:
    """A process that is started here hears no Ctrl-C before it has said that it does not heed it.

    It takes a third of a second to start, and would be ended by one that comes meanwhile.
    """
    resource_tracker.ensure_running()  # else it starts with the process, and lets Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def unheeding() -> None:
    """For the process itself to call first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)
