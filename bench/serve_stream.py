"""The live stream: many readers, each a connection, while a match is played at full speed.

The server is `muckrake serve` with one worker, the match `muckrake play` in a process of its own,
the readers are sockets of this one; all share the machine. Every reader's bytes are compared, by
their checksum, with those of somebody who reads the whole match afterwards: nothing may be lost,
doubled or in another order. In the last run there are others who read nothing at all.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.ledger import disk

HANDS = 3_000
GAME = "auction-2024-mit"
RUNS = ((1, 0), (50, 0), (200, 0), (200, 10))  # readers, and those who read nothing
COLUMNS = (
    "readers",
    "others asleep",
    "events",
    "match, events/s",
    "last reader, events/s",
    "all readers, MB/s",
    "lost",
    "server, MB",
    "server, CPU s",
)
AT_LEAST = 15_000  # events a second
MUCKRAKE = (sys.executable, "-c", "import sys; from api.main import main; sys.exit(main())")
PATH = "/api/v1/stream?match={match}&after=start&until=end"


class Heard(NamedTuple):
    """What a reader got, and when it was all."""

    checksum: int
    events: int
    size: int
    at: float


class Run(NamedTuple):
    """A match and those who followed it."""

    events: int
    played_s: float
    heard: tuple[Heard, ...]
    began: float
    lost: int
    memory_mb: float
    cpu_s: float


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """A row for each number of readers, one match each."""
    load = f"Load of the machine when this began: {os.getloadavg()[0]:.1f}."
    lines = [
        f"{disk(scratch)} {load}",
        "",
        f"{hands} hands of {GAME}; goal: nothing lost, {AT_LEAST} events a second to one reader.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for number, (readers, idle) in enumerate(RUNS):
        run = followed(scratch / str(number), hands, readers, idle)
        last = max(one.at for one in run.heard) - run.began
        sent = sum(one.size for one in run.heard) / last / 1e6
        lines.append(
            f"| {readers} | {idle} | {run.events} | {run.events / run.played_s:.0f}"
            f" | {run.events / last:.0f} | {sent:.0f} | {run.lost} | {run.memory_mb:.0f}"
            f" | {run.cpu_s:.1f} |"
        )
    return [*lines, ""]


def followed(folder: Path, hands: int, readers: int, idle: int) -> Run:
    """A match of so many hands, and all that its readers got."""
    with _served(folder) as (process, port):
        return asyncio.run(_followed(folder, process, port, hands, readers, idle))


async def _followed(
    folder: Path, process: int, port: int, hands: int, readers: int, idle: int
) -> Run:
    path = PATH.format(match="bench")
    asleep = [await _connected(port, path, asleep=True) for _ in range(idle)]
    following = [await _connected(port, path) for _ in range(readers)]
    await asyncio.sleep(0.5)  # all of them are told that there is nothing yet
    play = ("play", GAME, "--hands", str(hands), "--seed", "1", "--match", "bench")
    match = await asyncio.create_subprocess_exec(
        *MUCKRAKE,
        *play,
        "--ledger",
        str(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not following[0].size_of_events:
        await asyncio.sleep(0.001)
    began = time.perf_counter()
    await match.wait()
    played_s = time.perf_counter() - began
    heard = [await one.over for one in following]
    memory_mb, cpu_s = _spent(process)
    for one in asleep:
        one.transport.abort()
    whole = await (await _connected(port, path)).over
    lost = sum(one.checksum != whole.checksum for one in heard)
    return Run(whole.events, played_s, tuple(heard), began, lost, memory_mb, cpu_s)


class _Reader(asyncio.Protocol):
    """Somebody who follows: he counts, and keeps nothing. The first block tells where he begins."""

    transport: asyncio.Transport

    def __init__(self, path: str, asleep: bool) -> None:
        self.over: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()
        self.size_of_events = 0
        self._path = path
        self._asleep = asleep
        self._head = b""
        self._begun = False
        self._checksum = 0
        self._events = 0
        self._last = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(f"GET {self._path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        if self._asleep:
            transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        if not self._begun:
            self._head += data
            _, begun, rest = self._head.partition(b"\r\n\r\n")
            _, begun, data = rest.partition(b"\n\n") if begun else (b"", b"", b"")
            self._begun = bool(begun)
        self._checksum = zlib.crc32(data, self._checksum)
        self.size_of_events += len(data)
        self._events += (self._last[-8:] + data).count(b"\ndata: {") - self._last[-8:].count(
            b"\ndata: {"
        )
        self._last = data if len(data) >= 8 else (self._last + data)[-8:]

    def connection_lost(self, reason: Exception | None) -> None:
        if not self.over.done():
            heard = (self._checksum, self._events, self.size_of_events, time.perf_counter())
            self.over.set_result(Heard(*heard))


async def _connected(port: int, path: str, asleep: bool = False) -> _Reader:
    loop = asyncio.get_running_loop()
    _, reader = await loop.create_connection(lambda: _Reader(path, asleep), "127.0.0.1", port)
    return reader


@contextmanager
def _served(folder: Path) -> Iterator[tuple[int, int]]:
    """A server of its own, and its port."""
    words = ("serve", "--port", "0", "--delay", "0", "--ledger", str(folder))
    server = subprocess.Popen((*MUCKRAKE, *words), stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        yield server.pid, int(address.rstrip("/").rpartition(":")[2])
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def _spent(process: int) -> tuple[float, float]:
    """The most memory it ever had, in MB, and its CPU time in seconds."""
    status = Path(f"/proc/{process}/status").read_text()
    most = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = int(times[11]) + int(times[12])
    return int(most) / 1_000, ticks / os.sysconf("SC_CLK_TCK")
