"""The loop of a live table: takes its events in order, keeps its requests, writes its hands."""

from dealer.live.clock import SITE, Times
from dealer.live.events import (
    Answered,
    Arrival,
    Clock,
    ConnectionBack,
    ConnectionLost,
    LivePlayer,
    SeatRequest,
)
from engine.game import Game
from events.ledger import Append, Ledger
from events.types import Events


class TableLoop:
    """One table's events, all of which pass here; its players, its ledger, its clock."""

    def __init__(self, game: Game, ledger: Ledger, clock: Clock, times: Times = SITE) -> None:
        self.game = game
        self.clock = clock
        self.times = times
        self.players: dict[str, LivePlayer] = {}
        self.gone: set[str] = set()
        self.requests: list[SeatRequest] = []
        self.questions = 0
        self._ledger = ledger

    def next_event(self, until: int) -> Arrival | None:
        """The next event up to this moment; a connection lost twice is lost once.

        Requests are kept for the time between hands (T17).
        """
        while arrived := self.clock.wait(until):
            match arrived.event:
                case Answered():
                    pass
                case ConnectionLost(player=player) if player not in self.gone:
                    self.gone.add(player)
                case ConnectionBack(player=player) if player in self.gone:
                    self.gone.remove(player)
                case ConnectionLost() | ConnectionBack():
                    continue
                case request:
                    self.requests.append(request)
            return arrived
        return None

    def refuse(self, player: str, sentence: str) -> None:
        """Tell a player what was not possible, if he is known here and connected."""
        if player in self.players and player not in self.gone:
            self.players[player].refused(sentence)

    def write(self, stream: str, expected: int, events: Events, at: int) -> None:
        """Write events of a hand; they are durable on return."""
        self._ledger.append(Append(stream, expected, events, at))
