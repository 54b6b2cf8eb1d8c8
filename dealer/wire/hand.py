"""One hand between two bots: they are asked in turn, and what they reply becomes its record.

A bot that replies nothing usable gets the default answer, and its raw reply stands in the record
right before it.
"""

from collections.abc import Iterator

from dealer.wire.ahead import Ahead, Habits
from dealer.wire.player import Answering
from dealer.wire.spot import Referee, Spot
from dealer.wire.words import acknowledgement_fault
from events.types import Event, Events, Faulted

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
