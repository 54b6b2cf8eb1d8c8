"""A live table: chairs, players who come and go, and hand after hand into a ledger.

Hands are played one at a time by whoever calls `hand`; everything else is an event that the
clock brings. Nothing here waits for anybody but in `Clock.wait`.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from dealer.deck import Decks
from dealer.live.clock import SITE, Times
from dealer.live.events import Answered, Clock, LivePlayer
from dealer.live.hand import LiveHand, TableLoop
from dealer.live.seating import (
    LiveSeats,
    after_hand,
    before_hand,
    players_in,
    requested,
)
from engine.game import Game
from engine.table import Table, deal_in, has_all, is_freeze_out, moved
from engine.turn import IllegalCommand
from events.ledger import Ledger
from events.types import Events


def clocked(game: Game) -> Game:
    """A game whose document has no clock, under the site's: the record's ruleset says so (C6)."""
    return replace(game, time_out="all_in_if_paid") if game.time_out == "none" else game


class LiveTable:
    """A table with so many chairs, at which a game is played under a clock."""

    def __init__(
        self,
        game: Game,
        match: str,
        chairs: int,
        ledger: Ledger,
        decks: Decks,
        clock: Clock,
        *,
        times: Times = SITE,
    ) -> None:
        if game.time_out == "none":
            raise IllegalCommand(f"{game.name} has no clock: play it under one with clocked()")
        if not game.seats_min <= chairs <= game.seats_max:
            allowed = f"{game.seats_min}..{game.seats_max}"
            raise IllegalCommand(f"{game.name} seats {allowed} players, not {chairs}")
        self.seats = LiveSeats(Table((None,) * chairs))
        self.hands = 0
        self.raked = 0
        self._game, self._match = game, match
        self._decks = decks
        self._checkpoint = ""
        self._loop = TableLoop(game, ledger, clock, times)

    def meet(self, player: str, who: LivePlayer) -> None:
        """Ask `who` from now on when it is this player's turn."""
        self._loop.players[player] = who
        if self._checkpoint:  # who comes later is given it, too
            who.committed(self._checkpoint)

    def committed(self, checkpoint: str) -> None:
        """Give every player what was signed over the decks to come."""
        self._checkpoint = checkpoint
        for who in self._loop.players.values():
            who.committed(checkpoint)

    def ready(self, until: int | None = None) -> bool:
        """Whether the next hand can begin, once all requests up to now are granted or refused.

        With `until`, it is waited for up to that moment.
        """
        clock = self._loop.clock
        self._between(clock.now_ms())
        while until is not None and not self._can_begin() and clock.now_ms() <= until:
            self._between(until, one=True)
        return self._can_begin()

    def hand(self) -> Iterator[Events]:
        """The next hand: what each answer made, once it is durable."""
        if not self.ready():
            raise IllegalCommand(
                f"a hand needs two players with chips, not {players_in(self.seats)}"
            )
        table = moved(self._game, self.seats.table)
        seating = deal_in(self._game, table)
        ante = max(getattr(step, "ante", 0) for step in self._game.script)
        posts = tuple(post for post in seating.posts if seating.stacks[post.seat] > ante)
        seating = replace(seating, posts=posts)  # nothing is left to post after an ante of all
        self.seats = replace(self.seats, table=table)
        self.hands += 1
        deck = self._decks.deck(self.hands)
        hand = LiveHand(self._loop, f"{self._match}/{self.hands}", seating, deck)
        yield from hand.play()
        self.raked += hand.hand.rake
        self.seats = after_hand(self._game, self.seats, seating, hand.hand)

    @property
    def winner(self) -> str | None:
        """The winner of a freeze-out, once it is won (M5)."""
        return has_all(self.seats.table) if is_freeze_out(self._game) and self.hands else None

    def _can_begin(self) -> bool:
        return players_in(self.seats) > 1

    def _between(self, until: int, *, one: bool = False) -> None:
        """Take every event up to this moment, or `one`; grant or refuse the requests among them."""
        while arrived := self._loop.next_event(until):
            if isinstance(arrived.event, Answered):
                said = arrived.event
                self._loop.refuse(said.player, f"question {said.question} is not open")
            if one:
                break
        requests, self._loop.requests = self._loop.requests, []
        for request in requests:
            try:
                self.seats = requested(self._game, self.seats, request)
            except IllegalCommand as refusal:
                self._loop.refuse(request.player, str(refusal))
        self.seats = before_hand(self._game, self.seats, self._loop.gone)
