"""The seats of a live table: chairs, and players who join, sit out, come back, buy chips and leave.

`engine/table.py` has the rules of chairs, button and blinds. Here is what is around them: chairs
kept for who is away or has lost all, chips that come and go, and that none of this is possible in a
freeze-out.
"""

from collections.abc import Callable, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dealer.live.clock import Joins, Leaves, Returns, SeatRequest, SitsOut, TopsUp
from engine.game import Game
from engine.table import (
    Chair,
    Seating,
    Table,
    add_chips,
    fresh,
    is_freeze_out,
    set_anew,
    settled,
    sit,
    stand_up,
)
from engine.turn import IllegalCommand
from events.state import Hand


class AwayPlayer(Struct, frozen=True):
    """A player who keeps a chair and is not dealt in; `gone` if only his connection is lost."""

    chair: int
    player: str
    stack: int
    gone: bool = False


class LiveSeats(Struct, frozen=True):
    """A table and the chairs kept for others; `bought`, `taken`: all chips that came and went."""

    table: Table
    away: tuple[AwayPlayer, ...] = ()
    bought: int = 0
    taken: int = 0


def after_request(game: Game, seats: LiveSeats, request: SeatRequest) -> LiveSeats:
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
        seats = _give_new_stacks(game, seats)
    for away in seats.away:
        if away.gone and away.player not in gone:
            seats = _seated_again(seats, away, posts=False)
    for chair, sitter in enumerate(seats.table.chairs):
        if sitter is not None and sitter.player in gone:
            seats = _stood_up(seats, chair, sitter, gone=True)
    return seats if players_in(seats) > 1 else replace(seats, table=fresh(seats.table))


def players_in(seats: LiveSeats) -> int:
    """The number of players who would be dealt in."""
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
            table, away = stand_up(table, chair), (*away, AwayPlayer(chair, sitter.player, 0))
    return replace(seats, table=table, away=away, bought=bought)


def free_chair(seats: LiveSeats) -> int | None:
    """The first chair that nobody has or keeps."""
    kept = {away.chair for away in seats.away}
    free = (chair for chair, taken in enumerate(seats.table.chairs) if taken is None)
    return next((chair for chair in free if chair not in kept), None)


def _join(game: Game, seats: LiveSeats, request: Joins) -> LiveSeats:
    """Seat a new player in a chair that nobody has or keeps."""
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
    """Seat a returning player in his chair: he posts, or waits for the big blind."""
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
    away = (*seats.away, AwayPlayer(chair, sitter.player, sitter.stack, gone))
    return replace(seats, table=stand_up(seats.table, chair), away=away)


def _seated_again(seats: LiveSeats, away: AwayPlayer, posts: bool) -> LiveSeats:
    """Deal a player in again, as one who sat down when he first took his chair."""
    table = sit(seats.table, away.chair, away.player, away.stack, posts=posts)
    table = replace(table, order=seats.table.order)
    return replace(
        seats, table=table, away=tuple(other for other in seats.away if other is not away)
    )


def _give_new_stacks(game: Game, seats: LiveSeats) -> LiveSeats:
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


def _away(seats: LiveSeats, player: str) -> AwayPlayer | None:
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
