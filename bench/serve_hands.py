"""Hands and players over HTTP: a hand, its events, the table at one, lists, a player's statistics.

The ledger is `bench/large.py`'s, with the projections that a ledger of ours has. The server is the
one that `muckrake serve` starts, in a process of its own, asked over loopback through connections
that stay open; the asker shares the machine with it. Hands and players are drawn evenly from all,
so a cache of answers would not help, and there is none. Every answer is read whole. What is asked
as the public is made from redacted views; an auditor's needs no redaction. Facets are kept for who
asks the same again: the first question about them is another each time, the last always the same.
"""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import NamedTuple
from urllib.parse import quote

from api.playing.recording import ledger_projections
from bench.large import PLAYERS, build, name_of
from bench.ledger import disk
from bench.runner import SEED

HANDS = 1_000_000
DISTINCT = 2_000  # the others are these under other names
TOGETHER = 8  # who ask at once, in the second measurement
LEAST = 3  # answers that are waited for, however slow they are
AT = 8  # an event that every hand has
GOAL_MS = 10.0  # one hand, at the median, asked by one at a time
API = "/api/v1"
Drawn = Callable[[Random], str]


class Question(NamedTuple):
    """What is asked again and again, and how its address is drawn."""

    name: str
    path: Drawn


class Measured(NamedTuple):
    """How long each answer took, in milliseconds, and how many came in a second from all askers.

    `first` is the answer that nobody counts: it opens files, and what else is not open yet.
    """

    each: list[float]
    rate: float
    size: float
    first: float


class Server(NamedTuple):
    """A server of its own, and an auditor's key to it."""

    port: int
    key: str
    process: int

    def peak(self) -> int:
        """The most memory it ever had, in bytes."""
        status = Path(f"/proc/{self.process}/status").read_text()
        return 1024 * next(
            int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")
        )


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """One table for the public and one for an auditor; `rounds` is not needed."""
    small, large = scratch / "small", scratch / "large"
    each = build(small, large, hands, min(DISTINCT, hands), projections=ledger_projections(small))
    lines = [disk(scratch), "", f"{hands:,} hands, {seconds:g} s a question and number of askers."]
    with server(large) as it:
        for who, headers in (("public", {}), ("auditor", {"Authorization": f"Bearer {it.key}"})):
            lines += ["", f"## As {who}", "", *_head()]
            every = questions(hands // each, each)
            alone = [asked(it.port, one, headers, 1, seconds) for one in every]
            several = [asked(it.port, one, headers, TOGETHER, seconds) for one in every]
            lines += map(_row, every, alone, several)
            lines += ["", _goal(alone[0])]
        lines += [f"- the server had {it.peak() / 2**20:,.0f} MB of memory at most"]
    return [*lines, ""]


def questions(copies: int, each: int) -> tuple[Question, ...]:
    """Those of a reader of hands, and of who looks at a player."""

    def hand(rest: str) -> Drawn:
        def drawn(chance: Random) -> str:
            match = name_of(chance.randrange(copies))
            return f"{API}/hands/{match}/{chance.randint(1, each)}{rest}"

        return drawn

    def hands(q: str, rest: str = "") -> Drawn:
        return lambda chance: f"{API}/hands?q={quote(q)}{rest}"

    def counted(chance: Random) -> str:
        q = f"auction-lost & pot>={chance.randrange(-(10**9), 0)}"  # all of them, in other words
        return f"{API}/hands?q={quote(q)}&facets=1"

    def stats(chance: Random) -> str:
        return f"{API}/players/p{chance.randrange(min(PLAYERS, 2 * copies)):03}/stats"

    return (
        Question("one hand", hand("")),
        Question("its events", hand("/events")),
        Question("its frames", hand("/frames")),
        Question("the table at an event", hand(f"/state?at={AT}")),
        Question("50 hands, the newest", hands("", "&newest=true")),
        Question("50 of pots of 400 and a showdown", hands("pot>=400 & showdown")),
        Question("50 of one player that he won", hands("p000:net>0")),
        Question("50 auctions lost, with facets", counted),
        Question("the same ones again", hands("auction-lost", "&facets=1")),
        Question("statistics of a player", stats),
    )


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, str]]:
    """A server of its own: its port, and an auditor's key to it."""
    with server(folder) as it:
        yield it.port, it.key


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """The same, with what else there is to say of it."""
    from api.http.credentials import Keys

    _, key = Keys(folder).make(("audit:read",), "bench")
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(folder, there))
    process.start()
    assert process.pid is not None
    try:
        yield Server(here.recv(), key, process.pid)
    finally:
        process.terminate()
        process.join()


def _serve(folder: Path, told: Connection) -> None:
    from api.http.ledger_service import Settings
    from api.http.limits import Limits
    from api.serving.server import listening_socket, run_server

    sock = listening_socket("127.0.0.1", 0)
    told.send(sock.getsockname()[1])
    run_server(Settings(folder, limits=Limits(rate=0)), sock, 1, None)


def asked(
    port: int, question: Question, headers: dict[str, str], askers: int, seconds: float
) -> Measured:
    """The question again and again from so many at once."""
    each: list[list[float]] = [[] for _ in range(askers)]
    firsts: list[float] = []
    sizes: list[list[int]] = [[] for _ in range(askers)]

    def ask(place: int) -> None:
        client, chance = http.client.HTTPConnection("127.0.0.1", port), Random(SEED + place)
        begun = 0.0
        while len(each[place]) < LEAST or perf_counter() < begun + seconds:
            path, start = question.path(chance), perf_counter()
            client.request("GET", path, headers=headers)
            answer = client.getresponse()
            body = answer.read()
            assert answer.status == 200, (path, answer.status, body[:300])
            if begun:
                each[place].append(perf_counter() - start)
                sizes[place].append(len(body))
            else:
                begun = perf_counter()  # the first answer is for warming up
                firsts.append(begun - start)
        client.close()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(askers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = [one for row in each for one in row]
    rate = sum(len(row) / sum(row) for row in each)
    size = median(it for row in sizes for it in row)
    return Measured([one * 1_000 for one in took], rate, size, max(firsts) * 1_000)


def _head() -> list[str]:
    columns = ("requests/s", "p50 ms", "p99 ms")
    several = (f"{column}, {TOGETHER} at once" for column in columns)
    return [
        f"| | bytes | first ms | {' | '.join(columns)} | {' | '.join(several)} |",
        "|---|" + "---:|" * (2 + 2 * len(columns)),
    ]


def _row(question: Question, *found: Measured) -> str:
    cells = [f"{found[0].size:,.0f}", f"{found[0].first:,.0f}"]
    for one in found:
        parts = quantiles(one.each, n=100)
        cells += [f"{one.rate:,.0f}", f"{parts[49]:.2f}", f"{parts[98]:.2f}"]
    return f"| {question.name} | {' | '.join(cells)} |"


def _goal(one: Measured) -> str:
    middle = median(one.each)
    verdict = "met" if middle < GOAL_MS else "**missed**"
    return f"- goal: one hand under {GOAL_MS:g} ms at the median: {verdict}, {middle:.2f}"
