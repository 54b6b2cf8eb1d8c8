"""A live table: chairs, players who come and go, and hand after hand into a ledger.

Hands are played one at a time, by the caller of `hand`; everything else is an event that the
clock brings. Nothing here waits for anybody but in `Clock.wait`.

Between hands players join, sit out, come back, buy chips and leave. `engine/table.py` has the rules
of chairs, button and blinds. Here is what is around them: chairs kept for who is away or has lost
all, chips that come and go, and that none of this is possible in a freeze-out.
"""

from collections.abc import Callable, Iterator, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dealer.deck import Decks
from dealer.live.clock import (
    SITE,
    Answered,
    Clock,
    Joins,
    Leaves,
    LivePlayer,
    Returns,
    SeatRequest,
    SitsOut,
    Times,
    TopsUp,
)
from dealer.live.hand import LiveHand, TableLoop
from engine.game import Game
from engine.table import (
    Chair,
    Seating,
    Table,
    add_chips,
    deal_in,
    fresh,
    has_all,
    is_freeze_out,
    moved,
    set_anew,
    settled,
    sit,
    stand_up,
)
from engine.turn import IllegalCommand
from events.ledger import Ledger
from events.state import Hand
from events.types import Events


class Away(Struct, frozen=True):
    """A player who keeps a chair and is not dealt in; `gone` if only his connection is lost."""

    chair: int
    player: str
    stack: int
    gone: bool = False


class LiveSeats(Struct, frozen=True):
    """A table and the chairs kept for others; `bought`, `taken`: all chips that came and went."""

    table: Table
    away: tuple[Away, ...] = ()
    bought: int = 0
    taken: int = 0


def requested(game: Game, seats: LiveSeats, request: SeatRequest) -> LiveSeats:
    """The seats after a request; `IllegalCommand` says why it cannot be."""
    return _REQUESTS[type(request)](game, seats, request)


def before_hand(game: Game, seats: LiveSeats, gone: Set[str]) -> LiveSeats:
    """The seats before a hand: who is gone is not dealt in, who is back has his chair again.

    A freeze-out goes on without asking who is there. Any other table at which too few are dealt
    in has come to a stop: it begins as a fresh one, and nobody waits any more (T1).
    """
    if is_freeze_out(game):
        return seats
    if game.broke == "set_anew":
        seats = _set_anew(game, seats)
    for away in seats.away:
        if away.gone and away.player not in gone:
            seats = _seated_again(seats, away, posts=False)
    for chair, sitter in enumerate(seats.table.chairs):
        if sitter is not None and sitter.player in gone:
            seats = _stood_up(seats, chair, sitter, gone=True)
    return seats if players_in(seats) > 1 else replace(seats, table=fresh(seats.table))


def players_in(seats: LiveSeats) -> int:
    """How many would be dealt in."""
    return sum(chair is not None and not chair.waits for chair in seats.table.chairs)


def after_hand(game: Game, seats: LiveSeats, seating: Seating, hand: Hand) -> LiveSeats:
    """The seats after a hand: who has lost all is out, has bought in again, or keeps his chair."""
    table, away, bought = settled(game, seats.table, seating, hand), seats.away, seats.bought
    for seat, chair in enumerate(seating.chairs):
        sitter = table.chairs[chair]
        if sitter is None or game.stacks == "reset":
            continue
        bought += sitter.stack - hand.stacks[seat]
        if not sitter.stack:
            table, away = stand_up(table, chair), (*away, Away(chair, sitter.player, 0))
    return replace(seats, table=table, away=away, bought=bought)


def _join(game: Game, seats: LiveSeats, request: Joins) -> LiveSeats:
    """A chair that nobody has or keeps, with chips of one's own."""
    if is_freeze_out(game) and seats.table.button is not None:
        raise IllegalCommand(f"{request.player} may not join: this freeze-out has begun")
    if game.stacks == "reset" and request.chips != game.stack:
        raise IllegalCommand(
            f"{request.player} may not bring {request.chips}: "
            f"{game.name} gives every hand {game.stack}"
        )
    for away in seats.away:
        if away.chair == request.chair:
            raise IllegalCommand(f"chair {request.chair} is kept for {away.player}")
        if away.player == request.player:
            raise IllegalCommand(f"{request.player} sits at this table already")
    _can_post(game, request)
    table = sit(seats.table, request.chair, request.player, request.chips, posts=request.posts)
    return replace(seats, table=table, bought=seats.bought + request.chips)


def _sit_out(game: Game, seats: LiveSeats, request: SitsOut) -> LiveSeats:
    _no_freeze_out(game, request.player, "sit out")
    away = _away(seats, request.player)
    if away is not None and not away.gone:
        raise IllegalCommand(f"{request.player} sits out already")
    if away is not None:  # he was gone: now that he is back, he stays away by will
        others = (other for other in seats.away if other is not away)
        return replace(seats, away=(*others, replace(away, gone=False)))
    return _stood_up(seats, *_sitting(seats, request.player), gone=False)


def _return(game: Game, seats: LiveSeats, request: Returns) -> LiveSeats:
    """Back into his chair, as a newcomer: he posts, or waits for the big blind."""
    away = _away(seats, request.player)
    if away is None:
        _sitting(seats, request.player)
        raise IllegalCommand(f"{request.player} does not sit out")
    _can_post(game, request)
    return _seated_again(seats, away, request.posts)


def _top_up(game: Game, seats: LiveSeats, request: TopsUp) -> LiveSeats:
    """ "the player cannot get additional funds [...] while he is in the midst of a game": now he
    can, as he is in none (T17)."""
    _no_freeze_out(game, request.player, "add chips")
    if game.stacks == "reset":
        raise IllegalCommand(
            f"{request.player} may not add chips: {game.name} gives every hand {game.stack}"
        )
    away = _away(seats, request.player)
    if away is None:
        chair, _ = _sitting(seats, request.player)
        seats = replace(seats, table=add_chips(seats.table, chair, request.amount))
    elif request.amount < 1:
        raise IllegalCommand(f"{request.player} may add at least one chip, not {request.amount}")
    else:
        richer = replace(away, stack=away.stack + request.amount)
        seats = replace(
            seats, away=tuple(richer if other is away else other for other in seats.away)
        )
    return replace(seats, bought=seats.bought + request.amount)


def _leave(game: Game, seats: LiveSeats, request: Leaves) -> LiveSeats:
    """ "no player can take money off the table (except the final winner, of course)" (M5)."""
    _no_freeze_out(game, request.player, "leave")
    if _away(seats, request.player) is None:
        seats = _stood_up(seats, *_sitting(seats, request.player), gone=False)
    away = _away(seats, request.player)
    assert away is not None
    others = tuple(other for other in seats.away if other is not away)
    return replace(seats, away=others, taken=seats.taken + away.stack)


def _stood_up(seats: LiveSeats, chair: int, sitter: Chair, *, gone: bool) -> LiveSeats:
    away = (*seats.away, Away(chair, sitter.player, sitter.stack, gone))
    return replace(seats, table=stand_up(seats.table, chair), away=away)


def _seated_again(seats: LiveSeats, away: Away, posts: bool) -> LiveSeats:
    """Dealt in again; he had kept his chair, so he sat down when he first took it."""
    table = sit(seats.table, away.chair, away.player, away.stack, posts=posts)
    table = replace(table, order=seats.table.order)
    return replace(
        seats, table=table, away=tuple(other for other in seats.away if other is not away)
    )


def _set_anew(game: Game, seats: LiveSeats) -> LiveSeats:
    """Once one player has all the chips and others have none, each of them gets a new stack."""
    chips = [
        holder.stack
        for holder in (*seats.table.chairs, *seats.away)
        if holder is not None and holder.stack
    ]
    broke = {holder.player for holder in seats.away if not holder.stack}
    if len(chips) != 1 or not broke:
        return seats
    away = tuple(replace(holder, stack=game.stack) for holder in seats.away)
    seats = replace(seats, table=set_anew(game, seats.table), away=away)
    for holder in away:
        if holder.player in broke:
            seats = _seated_again(seats, holder, posts=False)
    bought = seats.bought + game.stack * (1 + len(broke))
    return replace(seats, bought=bought, taken=seats.taken + chips[0])


def _sitting(seats: LiveSeats, player: str) -> tuple[int, Chair]:
    for chair, sitter in enumerate(seats.table.chairs):
        if sitter is not None and sitter.player == player:
            return chair, sitter
    raise IllegalCommand(f"{player} does not sit at this table")


def _away(seats: LiveSeats, player: str) -> Away | None:
    return next((other for other in seats.away if other.player == player), None)


def _no_freeze_out(game: Game, player: str, doing: str) -> None:
    if is_freeze_out(game):
        raise IllegalCommand(f"{player} may not {doing}: this is a freeze-out")


def _can_post(game: Game, request: Joins | Returns) -> None:
    """ "an option of placing a Big Blind": where a game has none, a newcomer waits."""
    if request.posts and not any(getattr(step, "big", 0) for step in game.script):
        raise IllegalCommand(f"{request.player} may not post: {game.name} has no big blind")


_REQUESTS: dict[type[SeatRequest], Callable[[Game, LiveSeats, Any], LiveSeats]] = {
    Joins: _join,
    SitsOut: _sit_out,
    Returns: _return,
    TopsUp: _top_up,
    Leaves: _leave,
}


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
            self._between(until, single=True)
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

    def _between(self, until: int, *, single: bool = False) -> None:
        """Take all events up to this moment, or a single one; grant or refuse the requests."""
        while arrived := self._loop.next_event(until):
            if isinstance(arrived.event, Answered):
                event = arrived.event
                self._loop.refuse(event.player, f"question {event.question} is not open")
            if single:
                break
        requests, self._loop.requests = self._loop.requests, []
        for request in requests:
            try:
                self.seats = requested(self._game, self.seats, request)
            except IllegalCommand as refusal:
                self._loop.refuse(request.player, str(refusal))
        self.seats = before_hand(self._game, self.seats, self._loop.gone)
