"""The clock of a live table, and the events that it brings: questions, answers, who comes and goes.

Players never call a hand: they send their events to the clock, and the table takes them one by one,
in the order in which they arrived. So two of the same millisecond have an order too.

Time is in whole milliseconds. A site clock runs in silence, then counts down. Who comes back with
time left gets more of it, once in a turn or at every return (C4).
"""

import time
from heapq import heappop, heappush
from threading import Condition
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from dealer.bots.seat_view import Seen
from engine.policies import Policies
from engine.turn import Command

SILENT_MS = 10_000
COUNTDOWN_MS = 20_000
EXTENSION_MS = 20_000


class Answered(Struct, frozen=True):
    """A player's answer to the question of that number."""

    player: str
    question: int
    command: Command


class ConnectionLost(Struct, frozen=True):
    """A player's connection is gone."""

    player: str


class ConnectionBack(Struct, frozen=True):
    """A player's connection is there again."""

    player: str


class Joins(Struct, frozen=True):
    """A new player wants a chair; at a running table he posts, or waits for the big blind (M2)."""

    player: str
    chair: int
    chips: int
    posts: bool = False


class SitsOut(Struct, frozen=True):
    """A player wants no more hands for now, and keeps his chair."""

    player: str


class Returns(Struct, frozen=True):
    """A player who sat out wants to be dealt in again; he enters as a newcomer does."""

    player: str
    posts: bool = False


class TopsUp(Struct, frozen=True):
    """A player wants more chips; he gets them between hands (T17)."""

    player: str
    amount: int


class Leaves(Struct, frozen=True):
    """A player leaves with what he has, after the hand."""

    player: str


SeatRequest = Joins | SitsOut | Returns | TopsUp | Leaves
"""What is granted or refused between hands."""

TableEvent = Answered | ConnectionLost | ConnectionBack | SeatRequest


class Arrival(Struct, frozen=True):
    """An event, and the moment at which it arrived."""

    at: int
    event: TableEvent


class Clock(Protocol):
    """The time of a table, in milliseconds since 1970, and all that arrives while it passes."""

    def now_ms(self) -> int: ...

    def wait(self, until: int) -> Arrival | None:
        """The next event that arrives, or has arrived, up to this moment; None once it is over."""
        ...


class Question(Struct, frozen=True):
    """A question to a player: silent until `countdown`, and too late after `deadline`."""

    number: int
    seen: Seen
    countdown: int
    deadline: int


class LivePlayer(Protocol):
    """A player at the table: he is asked, and answers through the clock, later or never."""

    def asked(self, question: Question) -> None:
        """Ask the player; again, with the same number, when he comes back in time."""
        ...

    def committed(self, checkpoint: str) -> None:
        """Give the player the checkpoint that fixes the decks to come, before he sees a card."""
        ...

    def refused(self, sentence: str) -> None:
        """Tell the player that what he sent last was not possible, and why."""
        ...


class TurnTimes(Struct, frozen=True):
    """The milliseconds of a turn: silent, counted down, and added for a player who comes back."""

    silent: int = SILENT_MS
    countdown: int = COUNTDOWN_MS
    extension: int = EXTENSION_MS


SITE_TIMES = TurnTimes()


def turn_times(turn_ms: int) -> TurnTimes:
    """The times of a turn of this length, a third of it silent, as at the site."""
    site = SITE_TIMES.silent + SITE_TIMES.countdown
    silent = turn_ms * SITE_TIMES.silent // site
    return TurnTimes(silent, turn_ms - silent, turn_ms * SITE_TIMES.extension // site)


class TurnClock(Struct, frozen=True):
    """The time one seat has for one turn; `deadline` is the moment after which it is too late."""

    deadline: int
    gone: bool = False
    extended: bool = False


def new_turn(at: int, times: TurnTimes = SITE_TIMES) -> TurnClock:
    """The clock of a turn that begins now: silent seconds, then a countdown."""
    return TurnClock(at + times.silent + times.countdown)


def disconnected(clock: TurnClock) -> TurnClock:
    """The turn clock after the connection is lost: it runs on."""
    return replace(clock, gone=True)


def reconnected(
    game: Policies, clock: TurnClock, at: int, times: TurnTimes = SITE_TIMES
) -> TurnClock:
    """The turn clock of a player back in time: 20 s are added to the rest, or replace it (C4)."""
    if not clock.gone:
        return clock
    spent = clock.extended and game.extensions == "once"
    if spent or is_late(clock, at):
        return replace(clock, gone=False)
    begin = clock.deadline if game.reconnect == "add" else at
    return TurnClock(begin + times.extension, extended=True)


def is_late(clock: TurnClock, at: int) -> bool:
    """Whether an answer at this moment comes after the deadline."""
    return at > clock.deadline


class WallClock:
    """The real time, and the events that wait for a table: the one class here that reads a clock.

    It takes the time of day when it is made and is set by nobody after that. Any thread may send
    it events; the table waits for them in one.
    """

    def __init__(self) -> None:
        self._began = (time.time_ns() - time.monotonic_ns()) // 1_000_000
        self._arrived: list[tuple[int, int, TableEvent]] = []
        self._sent = 0
        self._grown = Condition()

    def now_ms(self) -> int:
        return self._began + time.monotonic_ns() // 1_000_000

    def send(self, event: TableEvent, after_ms: int = 0) -> None:
        """Put an event of the table into the queue, to arrive now or so much later."""
        with self._grown:
            self._sent += 1
            heappush(self._arrived, (self.now_ms() + after_ms, self._sent, event))
            self._grown.notify()

    def wait(self, until: int) -> Arrival | None:
        with self._grown:
            while True:
                now = self.now_ms()
                first = self._arrived[0][0] if self._arrived else until + 1
                if first <= min(now, until):
                    at, _, event = heappop(self._arrived)
                    return Arrival(at, event)
                if now > until:
                    return None
                self._grown.wait((min(first, until + 1) - now) / 1000)
