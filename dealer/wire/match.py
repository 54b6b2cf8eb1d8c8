"""A match between two bots over the wire: started, played leg by leg, ended with nothing left.

Whatever the bots do, the match runs to its last hand.

In a hand they are asked in turn, and what they reply becomes its record. A bot that replies nothing
usable gets the default answer, and its raw reply stands in the record right before it. What it will
probably reply is tried while it thinks, and a guess that was wrong is dropped.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from dealer.deck import Decks
from dealer.wire.connection import done
from dealer.wire.limits import Limits
from dealer.wire.plan import Plan
from dealer.wire.player import Answering, Player, Reply
from dealer.wire.program import Program
from dealer.wire.sandbox import Guard, Sandbox, rooms
from dealer.wire.spot import Referee, Spot
from dealer.wire.words import acknowledgement_fault
from events.types import Event, Events, Faulted

Habits = dict[tuple[str, str], str]
"""A bot's last reply to each kind of question: on this street, told clauses of these kinds."""


class Ahead:
    """One question and the replies to it that were tried; bots repeat themselves."""

    def __init__(self, referee: Referee, habits: Habits, spot: Spot) -> None:
        self._referee, self._habits, self._spot = referee, habits, spot
        self._kind: tuple[str, str] | None = None
        self._tried: dict[str, Spot] = {}

    def pieces(self) -> Iterator[None]:
        """One likely reply after the other, each a piece of work."""
        spot = self._spot
        self._kind = spot.hand.street, "".join(clause[:1] for clause in spot.line.split(" "))
        for text in (self._habits.get(self._kind), _usual(spot)):
            if text is not None and text not in self._tried:
                self._tried[text] = self._referee.after(spot, Reply(text))
                yield

    def after(self, reply: Reply | None) -> Spot:
        """What the reply leads to, if it was not foreseen found now."""
        if reply is None or reply.fault:
            return self._referee.after(self._spot, reply)
        if self._kind is not None:
            self._habits[self._kind] = reply.text
        return self._tried.get(reply.text) or self._referee.after(self._spot, reply)


def _usual(spot: Spot) -> str | None:
    """Whatever the cards: check, or call; of bids one is as likely as another."""
    now = spot.hand.round
    if now is None or spot.seat is None:
        return None
    return "C" if now.bet > now.bets[spot.seat] else "K"


Pair = tuple[Answering, Answering]


class WireHand:
    """One hand, dealt and about to be played."""

    def __init__(
        self, referee: Referee, players: Pair, habits: tuple[Habits, Habits], opening: Spot
    ) -> None:
        self._referee, self._players, self._habits = referee, players, habits
        self._opening = opening
        self._record: list[Event] = []

    def play(self, meanwhile: Iterator[None]) -> Events:
        """From the blinds to the last acknowledgement; `meanwhile` the bots think about that."""
        spot = self._opening
        self._record += spot.events
        while spot.seat is not None:
            ahead = Ahead(self._referee, self._habits[spot.seat], spot)
            spot = ahead.after(self._players[spot.seat].ask(spot.line, ahead.pieces()))
            self._record += spot.events
        button = spot.hand.start.button
        for seat in (button, 1 - button):
            self._acknowledged(seat, spot.telling.take(seat), meanwhile)
        return tuple(self._record)

    def _acknowledged(self, seat: int, told: str, meanwhile: Iterator[None]) -> None:
        """The end of the hand is told, and must be answered too."""
        reply = self._players[seat].ask(told, meanwhile)
        if reply is None:
            return
        kind = reply.fault or acknowledgement_fault(self._referee.tongue, reply.text)
        if kind is not None:
            self._record.append(Faulted(seat, reply.text, kind, "acknowledgement"))


@contextmanager
def started(
    programs: tuple[Program, Program], limits: Limits, guard: Guard, tell: Callable[[str], None]
) -> Iterator[tuple[Player, Player]]:
    """Both bots, the second one built once the first has connected; at the end nothing is left."""
    one, two = programs
    with rooms() as (first, second):
        players = (
            Player(one, limits, Sandbox(one, two.folder, guard, limits, first)),
            Player(two, limits, Sandbox(two, one.folder, guard, limits, second)),
        )
        try:
            for player in players:
                player.start()
                for sentence in (*player.notes, *player.sandbox.warnings):
                    tell(f"{player.program.name}: {sentence}")
            yield players
            for player in players:
                player.dismiss()
            deadline = time.monotonic() + limits.quit
            for player in players:
                player.leave(deadline)
        finally:
            for player in players:  # after an interruption nobody is waited for
                player.end()


def play(
    match: Plan, leg: Iterable[int], decks: Decks, players: Pair
) -> Generator[Events, None, None]:
    """The hands of one leg; in odd hands the first player is the dealer.

    A hand is dealt while the end of the one before it is acknowledged.
    """
    referee, habits = Referee(match), (Habits(), Habits())
    numbers = iter(leg)
    dealt: list[WireHand] = []

    def deal() -> Iterator[None]:
        for number in islice(numbers, 1):
            deck = decks.deck(number)
            yield
            dealt.append(WireHand(referee, players, habits, referee.opened(number, deck)))

    done(deal())
    while dealt:
        next_hand = deal()
        record = dealt.pop().play(meanwhile=next_hand)
        done(next_hand)  # what no bot left time for
        yield record
