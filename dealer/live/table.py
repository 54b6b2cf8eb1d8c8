"""A live table: chairs, players who come and go, and hand after hand into a ledger.

Hands are played one at a time by whoever calls `hand`; everything else is news that the clock
brings. Nothing here waits for anybody but in `Clock.wait`.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from dealer.clock import SITE, Times
from dealer.deck import Decks
from dealer.live.chairs import Room, after, gathered, granted, players_in
from dealer.live.floor import Floor
from dealer.live.hand import LiveHand
from dealer.live.news import Answered, Clock, Player
from engine.game import Game
from engine.table import Seating, Table, deal_in, has_all, is_freeze_out, moved
from engine.turn import IllegalCommand
from events.ledger import Ledger
from events.types import Events


def clocked(game: Game) -> Game:
    """A game whose document has no clock, under the site's: the record's ruleset says so (C6)."""
    return replace(game, time_out="all_in_if_paid") if game.time_out == "none" else game


class LiveTable:
    """So many chairs, at which a game is played under a clock."""

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
        self.room = Room(Table((None,) * chairs))
        self.hands = 0
        self.raked = 0
        self._game, self._match = game, match
        self._decks = decks
        self._checkpoint = ""
        self._floor = Floor(game, ledger, clock, times)

    def meet(self, player: str, who: Player) -> None:
        """From now on this is who is asked when it is this player's turn."""
        self._floor.players[player] = who
        if self._checkpoint:  # who comes later is given it, too
            who.committed(self._checkpoint)

    def committed(self, checkpoint: str) -> None:
        """Everybody at the table is given what was signed over the decks to come."""
        self._checkpoint = checkpoint
        for who in self._floor.players.values():
            who.committed(checkpoint)

    def ready(self, until: int | None = None) -> bool:
        """Whether the next hand can begin, once all that was heard up to now is granted.

        With `until`, it is waited for up to that moment.
        """
        clock = self._floor.clock
        self._between(clock.now_ms())
        while until is not None and not self._can_begin() and clock.now_ms() <= until:
            self._between(until, one=True)
        return self._can_begin()

    def hand(self) -> Iterator[Events]:
        """The next hand: what each answer made, once it is durable."""
        if not self.ready():
            raise IllegalCommand(
                f"a hand needs two players with chips, not {players_in(self.room)}"
            )
        table = moved(self._game, self.room.table)
        seating = _posting(self._game, deal_in(self._game, table))
        self.room = replace(self.room, table=table)
        self.hands += 1
        deck = self._decks.deck(self.hands)
        hand = LiveHand(self._floor, f"{self._match}/{self.hands}", seating, deck)
        yield from hand.play()
        self.raked += hand.hand.rake
        self.room = after(self._game, self.room, seating, hand.hand)

    @property
    def winner(self) -> str | None:
        """Who has won a freeze-out (M5)."""
        return has_all(self.room.table) if is_freeze_out(self._game) and self.hands else None

    def _can_begin(self) -> bool:
        return players_in(self.room) > 1

    def _between(self, until: int, *, one: bool = False) -> None:
        """Everything heard up to this moment, or one piece of it; wishes are granted or refused."""
        while heard := self._floor.hear(until):
            if isinstance(heard.news, Answered):
                said = heard.news
                self._floor.refuse(said.player, f"question {said.question} is not open")
            if one:
                break
        wishes, self._floor.wishes = self._floor.wishes, []
        for wish in wishes:
            try:
                self.room = granted(self._game, self.room, wish)
            except IllegalCommand as refusal:
                self._floor.refuse(wish.player, str(refusal))
        self.room = gathered(self._game, self.room, self._floor.gone)


def _posting(game: Game, seating: Seating) -> Seating:
    """Who has nothing left after the ante has nothing to post."""
    ante = max(getattr(step, "ante", 0) for step in game.script)
    posts = tuple(post for post in seating.posts if seating.stacks[post.seat] > ante)
    return replace(seating, posts=posts)
