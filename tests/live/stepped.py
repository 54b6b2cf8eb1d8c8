"""A clock that nobody waits for: it steps from one piece of news to the next; and a table on it."""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import chain

from dealer.bots.built_in import BOTS
from dealer.deck import Decks, SeededDecks
from dealer.live.clock import (
    SITE_TIMES,
    Answered,
    Arrival,
    Joins,
    Question,
    TableEvent,
    TurnTimes,
)
from dealer.live.seats import LiveSeats
from dealer.live.table import LiveTable
from engine.game import Game
from engine.turn import Command
from events.ledger import Append, Appended, Recorded
from events.types import Events
from tests.store.memory import MemoryLedger

START = 1_000_000


class SteppedClock:
    """Time passes only while somebody waits, and at once."""

    def __init__(self) -> None:
        self.now = START
        self._arrived: list[tuple[int, int, TableEvent]] = []
        self._sent = 0

    def now_ms(self) -> int:
        return self.now

    def send(self, event: TableEvent, after_ms: int = 0) -> None:
        self._sent += 1
        heappush(self._arrived, (self.now + after_ms, self._sent, event))

    def wait(self, until: int) -> Arrival | None:
        if self._arrived and self._arrived[0][0] <= until:
            at, _, event = heappop(self._arrived)
            self.now = max(self.now, at)
            return Arrival(at, event)
        self.now = max(self.now, until + 1)
        return None


def chips_in(seats: LiveSeats) -> int:
    """All chips at a table, of who is dealt in and of who is away."""
    sitting = sum(one.stack for one in seats.table.chairs if one is not None)
    return sitting + sum(away.stack for away in seats.away)


class Sitter:
    """A player of a test: it answers by its plan, and keeps what it was asked and refused."""

    def __init__(self, name: str, clock: SteppedClock, plan: Callable[[Question], None]) -> None:
        self.name = name
        self.questions: list[Question] = []
        self.refusals: list[str] = []
        self.checkpoints: list[str] = []
        self._clock, self._plan = clock, plan

    def asked(self, question: Question) -> None:
        assert self._clock.now <= question.deadline
        self.questions.append(question)
        self._plan(question)

    def committed(self, checkpoint: str) -> None:
        self.checkpoints.append(checkpoint)

    def refused(self, sentence: str) -> None:
        self.refusals.append(sentence)


class Noted(MemoryLedger):
    """A ledger that keeps every append as it was called."""

    def __init__(self) -> None:
        super().__init__()
        self.appends: list[Append] = []

    def append(self, *appends: Append) -> tuple[Appended, ...]:
        self.appends += appends
        return super().append(*appends)


class Scene:
    """A table on a stepped clock; `plan[name]` is how a player answers, else by a calling bot."""

    def __init__(
        self,
        game: Game,
        stacks: tuple[int, ...],
        *,
        bot: str = "caller",
        chairs: int | None = None,
        times: TurnTimes = SITE_TIMES,
        decks: Decks | None = None,
    ) -> None:
        self.game = game
        self.clock = SteppedClock()
        self.ledger = Noted()
        self.table = LiveTable(
            game,
            "m",
            chairs or len(stacks),
            self.ledger,
            decks or SeededDecks("seed"),
            self.clock,
            times=times,
        )
        self.sitters: dict[str, Sitter] = {}
        self.plans: dict[str, Callable[[Question], None]] = {}
        self._bot = bot
        for chair, stack in enumerate(stacks):
            if stack:
                self.enter(NAMES[chair])
                self.clock.send(Joins(NAMES[chair], chair, stack))

    def enter(self, name: str) -> Sitter:
        """A player comes through the door; he has no chair yet."""

        def plan(question: Question) -> None:
            self.plans.get(name, self.answers(name))(question)

        self.sitters[name] = Sitter(name, self.clock, plan)
        self.table.meet(name, self.sitters[name])
        return self.sitters[name]

    def answers(self, name: str, after_ms: int = 1_000) -> Callable[[Question], None]:
        """To answer as the bot would, after so long."""

        def plan(question: Question) -> None:
            hand = question.seen.hand
            choice = BOTS[self._bot](f"{hand}/{name}/{question.number}").choose(question.seen)
            self.clock.send(Answered(name, question.number, choice), after_ms)

        return plan

    def says(self, name: str, question: Question, command: Command, after_ms: int = 0) -> None:
        self.clock.send(Answered(name, question.number, command), after_ms)

    def hand(self) -> Events:
        """The next hand, to its end."""
        return tuple(chain.from_iterable(self.table.hand()))

    def recorded(self, number: int = 1) -> tuple[Recorded, ...]:
        return self.ledger.read(f"m/{number}")


NAMES = ("ann", "bob", "cid", "dot", "eve", "fox")


def never(question: Question) -> None:
    """Who does not answer at all."""
