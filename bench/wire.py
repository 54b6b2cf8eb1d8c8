"""A match over the wire beside a bare loop that sends the same lines and waits for the replies.

Two bots in processes of their own, as the public skeletons are: Python, every clause taken apart,
one flushed line for each reply. The bare loop knows the lines from a match before; it times no bot,
knows no rule and writes nothing down. What the match takes longer, a hand, is engine, clocks,
recording and ledger together: from the first question to the last reply, and then until the last
hand is durable. Both wait for the same bots in turn, so the clock on the wall is what counts:
whatever else the machine does is measured too, and its load is told. Both sleep until a reply is
there. The match shares one processor with its bots. So the bare loop is timed in both ways: with
its bots wherever the system puts them, and on one processor, which is quicker for it, too.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time

from api.playing.recording import Recording
from api.playing.wire_match import BotMatch, bad_replies
from bench.ledger import disk
from dealer.deck import SeededDecks
from dealer.wire.match import Listener, MatchJob, MatchProcesses, play, running_bots
from dealer.wire.player import Reply, WirePlayer
from dealer.wire.program import BotProgram, Limits, read_program
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import Isolation
from engine.games import GAMES
from store.ledger import open_ledger
from store.tables.projection import STANDARD

HANDS = 1_000
LIMIT_MS, AIM_MS = 0.25, 0.15
NAMES = ("one", "two")
BARE = {"a bare loop": False, "a bare loop on one processor": True}

# The shape of a skeleton: clauses are told apart by their letters, the state of the hand is kept.
BOT = """
import random, socket, sys
link = socket.create_connection(("127.0.0.1", int(sys.argv[-1])))
lines = link.makefile("rw")
hole, board, pips, stacks, seat, bid = [], [], [0, 0], [400, 400], 0, False
draw = random.Random(7).randrange
while True:
    over = False
    for clause in lines.readline().strip().split(" "):
        kind, rest = clause[0], clause[1:]
        if kind == "T": clock = float(rest)
        elif kind == "P": seat = int(rest)
        elif kind == "H": hole, board, pips, bid = rest.split(","), [], [1, 2], False
        elif kind == "B": board, pips = rest.split(","), [0, 0]
        elif kind == "N": stacks, bid = [int(x) for x in rest.split("_")[0].split(",")], True
        elif kind == "R": pips[0] = int(rest)
        elif kind == "D": over = True
        elif kind == "Q": sys.exit()
    if over: reply = "K"
    elif len(board) == 3 and not bid: reply = BID
    elif clause[0] == "R": reply = "C"
    elif clause[0] == "H" and seat == 0: reply = OPENS
    elif clause[0] in "BK" and board: reply = BETS
    else: reply = "K"
    lines.write(reply + "\\n")
    lines.flush()
"""
# Expressions for a bid, for the first action before the flop and for the first on a street.
QUIET = {"BID": "'A0'", "OPENS": "'R400'", "BETS": "'K'"}
CHANCE = {"BID": "f'A{draw(40)}'", "OPENS": "f'R{4 + draw(9)}'", "BETS": "f'R{2 + draw(9)}'"}
PAIRS = {
    "as the public skeletons play: all-in before the flop, and checks from there": (QUIET, QUIET),
    "one that raises and bids, and one that calls": (
        {"BID": "'A3'", "OPENS": "'C'", "BETS": "'K'"},
        {"BID": "'A3'", "OPENS": "'R4'", "BETS": "'R6'"},
    ),
    "whose bids and bets come by chance": (CHANCE, CHANCE),
}


class Overheard:
    """A player whose lines are kept, for the bare loop to say them again; it is timed, too."""

    def __init__(self, player: WirePlayer, seat: int, lines: list[tuple[int, bytes]]) -> None:
        self._player, self._seat, self._lines = player, seat, lines
        self.inside = 0.0  # CPU seconds

    def ask(self, told: str) -> Reply | None:
        begun = thread_time()
        self._lines.append((self._seat, f"T29.999 {told}\n".encode()))
        reply = self._player.ask(told)
        self.inside += thread_time() - begun
        return reply


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """Both kinds of bots."""
    load = f"Load of the machine when this began: {os.getloadavg()[0]:.1f}."
    lines = [f"{disk(scratch)} {load}", ""]
    for number, (about, habits) in enumerate(PAIRS.items()):
        folder = scratch / str(number)
        folder.mkdir()
        lines += _section(folder, about, _bots(folder, habits), hands, rounds)
    return lines


def _section(
    scratch: Path, about: str, bots: tuple[BotProgram, BotProgram], hands: int, rounds: int
) -> list[str]:
    """Both in every round, the match first in one and last in the next."""
    lines, between = _overheard(bots, hands)
    ours: list[float] = []
    bare: dict[str, list[float]] = {name: [] for name in BARE}
    for number in range(rounds):
        turns = [
            partial(_took, bare[name], partial(_bare, bots, lines, BARE[name])) for name in BARE
        ]
        turns.insert(
            -1 if number % 2 else 0,
            partial(_took, ours, partial(_match, bots, scratch / f"ledger-{number}", hands)),
        )
        for turn in turns:
            turn(hands)
    return [
        f"## Two bots: {about}",
        "",
        f"{hands} hands of auction-2024-mit, {len(lines) / hands:.1f} questions a hand.",
        "",
        "| | ms a hand | hands/s | muckrake beside it (rounds) |",
        "|---|---:|---:|---:|",
        _row("muckrake, into a ledger on disk", ours, []),
        *(_row(name, took, ours) for name, took in bare.items()),
        "",
        *(line for name, took in bare.items() for line in _verdicts(name, ours, took)),
        _between(between),
        "",
    ]


def _took(times: list[float], run: Callable[[], float], hands: int) -> None:
    """One more time, in milliseconds a hand."""
    times.append(run() * 1_000 / hands)


def _between(cpu_ms: float) -> str:
    return (
        f"- of that, from a reply to the next question: {cpu_ms:.3f} ms of CPU for rules and words"
    )


def _verdicts(name: str, ours: list[float], bare: list[float]) -> Iterator[str]:
    """The goal and the aim beside one bare loop."""
    more = [mine - other for mine, other in zip(ours, bare, strict=True)]
    added, spread = median(more), f"{min(more):.3f}..{max(more):.3f}"
    for kind, most in (("goal", LIMIT_MS), ("aim", AIM_MS)):
        verdict = "met" if added <= most else "**missed**"
        how = f"at most {most:g} ms a hand more than {name}"
        yield f"- {kind}: {how}: {verdict}, {added:.3f} ms ({spread})"


def _row(name: str, took: list[float], ours: list[float]) -> str:
    each, beside = median(took), [mine / other for mine, other in zip(ours, took, strict=False)]
    cell = f"**{median(beside):.2f}** × ({min(beside):.2f}..{max(beside):.2f})" if beside else ""
    return f"| {name} | {each:.3f} | {1_000 / each:,.0f} | {cell} |"


def _bots(scratch: Path, habits: tuple[dict[str, str], ...]) -> tuple[BotProgram, BotProgram]:
    made = []
    for name, habit in zip(NAMES, habits, strict=True):
        folder = scratch / name
        folder.mkdir()
        source = BOT
        for word, expression in habit.items():
            source = source.replace(word, expression)
        (folder / "bot.py").write_text(source)
        commands = {"build": [], "run": [sys.executable, "bot.py"]}
        (folder / "commands.json").write_text(json.dumps(commands))
        made.append(read_program(folder, name))
    return made[0], made[1]


def _overheard(
    bots: tuple[BotProgram, BotProgram], hands: int
) -> tuple[list[tuple[int, bytes]], float]:
    """Every line of a match, in order, and whom it was for; what a hand costs between replies."""
    lines: list[tuple[int, bytes]] = []
    match = wire_plan(GAMES["auction-2024-mit"], "bench", NAMES, hands)
    with running_bots(bots, Limits(), Isolation(()), print) as players:
        heard = (Overheard(players[0], 0, lines), Overheard(players[1], 1, lines))
        begun = thread_time()
        for _ in play(match, match.legs[0], SeededDecks("wire"), heard):
            pass
        between = thread_time() - begun - sum(one.inside for one in heard)
    return lines, between * 1_000 / hands


def _match(bots: tuple[BotProgram, BotProgram], folder: Path, hands: int) -> float:
    """Seconds from the first question to the last reply, and then until all is durable."""
    match = wire_plan(GAMES["auction-2024-mit"], "bench", NAMES, hands)
    job = MatchJob(match, bots, Limits(), SeededDecks("wire"), Isolation((folder,)))
    ledger, lock = open_ledger(folder, "bench", STANDARD)
    try:
        over: list[tuple[float, float]] = []
        listener = Listener(print, lambda legs: over.append((perf_counter(), legs[0].lasted)))
        recording = Recording(ledger, BotMatch(job).match_start("wire", "sealed"), match.game)
        durable = 0.0
        with MatchProcesses() as processes:
            played = processes.play(job, listener, lambda: False)
            for hand in recording.keep(played, lambda: False):
                assert not any(bad_replies(match.game, hand))
                durable = perf_counter()
        heard, lasted = over[0]
        return lasted + max(0.0, durable - heard)
    finally:
        ledger.close()
        lock.release()


def _bare(
    bots: tuple[BotProgram, BotProgram], lines: list[tuple[int, bytes]], alone: bool
) -> float:
    """Seconds for the same lines and replies, and nothing else; `alone` on one processor."""
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)} if alone else everywhere)  # bots inherit it
    try:
        return _lines_said(bots, lines)
    finally:
        os.sched_setaffinity(0, everywhere)


def _lines_said(bots: tuple[BotProgram, BotProgram], lines: list[tuple[int, bytes]]) -> float:
    with _linked(bots[0]) as one, _linked(bots[1]) as two:
        links = (one, two)
        begun = perf_counter()
        for seat, line in lines:
            link = links[seat]
            link.sendall(line)
            while not link.recv(65_536).endswith(b"\n"):
                pass
        took = perf_counter() - begun
        for link in links:
            link.sendall(b"Q\n")
    return took


@contextmanager
def _linked(bot: BotProgram) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        running = subprocess.Popen((*bot.run, port), cwd=bot.folder)
        link = listener.accept()[0]
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with link:
        yield link
    running.wait(10)
