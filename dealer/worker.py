"""Worker processes: they send hands in batches, leave Ctrl-C to their parent, and end with it.

A terminal sends Ctrl-C to every process of a group; it is for the one that started the others.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Thread
from time import monotonic
from typing import Any

import msgspec

from events.state import Finished

BATCH_S = 0.05  # hands wait no longer than this for their way to the writer
PATIENCE_S = 0.1  # how long it may take until a stop is noticed

_CTRL_C = {signal.SIGINT}
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[tuple[Finished, ...]] = msgspec.msgpack.Decoder(
    tuple[Finished, ...]
)
decode_hands = _decoder.decode


class WorkerGone(Exception):
    """A worker process ended before the match that it played."""


@contextmanager
def ctrl_c_blocked() -> Iterator[None]:
    """Start a process here, and no Ctrl-C reaches it before it has called `ignore_ctrl_c`.

    It takes a third of a second to start, and would be ended by one that comes meanwhile.
    """
    resource_tracker.ensure_running()  # else it starts with the process, and lets Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_ctrl_c() -> None:
    """Ignore Ctrl-C in this process, which calls this first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)


def end_with_parent(end: Callable[[], None]) -> None:
    """Call `end` when the process that started this one is gone: it leaves nobody at work."""

    def wait() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            end()

    Thread(target=wait, daemon=True).start()


def start_worker(work: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
    """Start a process that runs `work(pipe, *arguments)`, with our end of the pipe."""
    spawned = get_context("spawn")  # a fork would take the writer's threads and locks along
    ours, theirs = spawned.Pipe()
    process = spawned.Process(target=work, args=(theirs, *arguments), daemon=True)
    with ctrl_c_blocked():
        process.start()
    theirs.close()
    return process, ours


def receive(pipe: Connection, deed: str) -> tuple[bytes, bytes]:
    """The next message: its first byte, by which messages are told apart, and the rest."""
    try:
        message = pipe.recv_bytes()
    except (EOFError, ConnectionResetError):
        raise WorkerGone(f"the process that {deed} is gone") from None
    return message[:1], message[1:]


def send_hands(
    pipe: Connection, hands: Iterable[Finished], most: int, kind: bytes, last: bytes
) -> bool:
    """Send hands in batches of `most`; False if a message from the reader stopped it."""
    batch: list[Finished] = []
    sent, complete = monotonic(), True
    for hand in hands:
        batch.append(hand)
        if len(batch) >= most or monotonic() - sent >= BATCH_S:
            pipe.send_bytes(kind + _encoder.encode(batch))
            batch, sent = [], monotonic()
            if pipe.poll():
                complete = False
                break
    pipe.send_bytes(last + _encoder.encode(batch))
    return complete
