"""The events of a live table, the questions it asks, and what clocks and players must offer.

Players never call a hand: they send their events to the clock, and the table takes them one by one,
in the order in which they arrived. So two of the same millisecond have an order too.
"""

from typing import Protocol

from msgspec import Struct

from dealer.bots.seen import Seen
from engine.turn import Command


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
    """What a player is asked: silent until `countdown`, and too late after `deadline`."""

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
