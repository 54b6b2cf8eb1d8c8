"""Ctrl-C is for who writes: what he starts is not ended by it, not even while it starts; and a
process that plays matches is told to go once, without a word."""

import os
import signal
import threading
from multiprocessing import get_context
from multiprocessing.connection import Connection

from dealer.wire.match import _work
from dealer.worker import ctrl_c_blocked, ignore_ctrl_c


def answer(pipe: Connection) -> None:
    """In the other process."""
    ignore_ctrl_c()
    while True:
        pipe.send(pipe.recv())


def test_who_is_started_hears_no_ctrl_c_at_any_time() -> None:
    spawned = get_context("spawn")
    ours, theirs = spawned.Pipe()
    process = spawned.Process(target=answer, args=(theirs,), daemon=True)
    with ctrl_c_blocked():
        process.start()
    theirs.close()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)  # before it has said anything
    ours.send("first")
    assert "first" == ours.recv()
    os.kill(process.pid, signal.SIGINT)
    ours.send("second")
    assert "second" == ours.recv()
    process.kill()
    process.join()


def test_who_starts_it_hears_his_ctrl_c_a_moment_later() -> None:
    heard = list[int]()
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with ctrl_c_blocked():
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            assert [] == heard
        assert [signal.SIGINT] == heard
    finally:
        signal.signal(signal.SIGINT, before)


def going(pipe: Connection, ended: Connection) -> None:
    """A process that plays matches, until its pipe is closed; and what it does with a SIGTERM then.

    Python prints `Signal 15 ignored due to race condition` if one comes while its handler is taken
    away: so the handler stays, and the signal waits.
    """
    _work(pipe)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    ended.send((callable(signal.getsignal(signal.SIGTERM)), signal.SIGTERM in blocked))
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_process_that_is_told_to_go_when_it_goes_already_says_nothing() -> None:
    spawned = get_context("spawn")
    (ours, theirs), (ended, told) = spawned.Pipe(), spawned.Pipe(duplex=False)
    process = spawned.Process(target=going, args=(theirs, told), daemon=True)
    process.start()
    theirs.close()
    ours.close()
    assert (True, True) == ended.recv()
    process.join()
    assert 0 == process.exitcode
