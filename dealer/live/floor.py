"""What goes on around the hands of a live table: who is connected, what is wished, who is told."""

from dealer.clock import SITE, Times
from dealer.live.news import Answered, Back, Clock, Heard, Lost, Player, Wish
from engine.game import Game
from events.ledger import Append, Ledger
from events.types import Events


class Floor:
    """The one ear of a table: all its news pass here, in the order in which they arrived."""

    def __init__(self, game: Game, ledger: Ledger, clock: Clock, times: Times = SITE) -> None:
        self.game = game
        self.clock = clock
        self.times = times
        self.players: dict[str, Player] = {}
        self.gone: set[str] = set()
        self.wishes: list[Wish] = []
        self.questions = 0
        self._ledger = ledger

    def hear(self, until: int) -> Heard | None:
        """The next news up to this moment; a connection lost twice is lost once.

        Wishes are kept for the time between hands (T17).
        """
        while heard := self.clock.wait(until):
            match heard.news:
                case Answered():
                    pass
                case Lost(player=player) if player not in self.gone:
                    self.gone.add(player)
                case Back(player=player) if player in self.gone:
                    self.gone.remove(player)
                case Lost() | Back():
                    continue
                case wish:
                    self.wishes.append(wish)
            return heard
        return None

    def refuse(self, player: str, sentence: str) -> None:
        """A player is told what was not possible, if anybody is there to hear it."""
        if player in self.players and player not in self.gone:
            self.players[player].refused(sentence)

    def write(self, stream: str, expected: int, events: Events, at: int) -> None:
        """Events of a hand, durable on return."""
        self._ledger.append(Append(stream, expected, events, at))
