"""Between hands: who takes a chair, sits out, comes back, buys chips or leaves, and who may not.

`engine/table.py` has the rules of chairs, button and blinds. Here is what is around them: chairs
kept for who is away or has lost all, chips that come and go, and that none of this is possible
in a freeze-out.
"""

from collections.abc import Callable, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dealer.live.news import Joins, Leaves, Returns, SitsOut, TopsUp, Wish
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


class Away(Struct, frozen=True):
    """Who keeps a chair and is not dealt in; `gone` if only because his connection is."""

    chair: int
    player: str
    stack: int
    gone: bool = False


class Room(Struct, frozen=True):
    """A table and what is around it; `bought` and `taken` are all chips that came and went."""

    table: Table
    away: tuple[Away, ...] = ()
    bought: int = 0
    taken: int = 0


def granted(game: Game, room: Room, wish: Wish) -> Room:
    """The room after a wish; `IllegalCommand` says why it cannot be."""
    return _WISHES[type(wish)](game, room, wish)


def gathered(game: Game, room: Room, gone: Set[str]) -> Room:
    """The room before a hand: who is gone is not dealt in, who is back takes his chair again.

    A freeze-out goes on without asking who is there. Any other table at which too few are dealt
    in has come to a stop: it begins as a fresh one, and nobody waits any more (T1).
    """
    if is_freeze_out(game):
        return room
    if game.broke == "set_anew":
        room = _set_anew(game, room)
    for away in room.away:
        if away.gone and away.player not in gone:
            room = _seated_again(room, away, posts=False)
    for chair, one in enumerate(room.table.chairs):
        if one is not None and one.player in gone:
            room = _stood_up(room, chair, one, gone=True)
    return room if players_in(room) > 1 else replace(room, table=fresh(room.table))


def players_in(room: Room) -> int:
    """How many would be dealt in."""
    return sum(one is not None and not one.waits for one in room.table.chairs)


def after(game: Game, room: Room, seating: Seating, hand: Hand) -> Room:
    """The room after a hand: who has lost all is out, has bought in again, or keeps his chair."""
    table, away, bought = settled(game, room.table, seating, hand), room.away, room.bought
    for seat, chair in enumerate(seating.chairs):
        one = table.chairs[chair]
        if one is None or game.stacks == "reset":
            continue
        bought += one.stack - hand.stacks[seat]
        if not one.stack:
            table, away = stand_up(table, chair), (*away, Away(chair, one.player, 0))
    return replace(room, table=table, away=away, bought=bought)


def _joined(game: Game, room: Room, wish: Joins) -> Room:
    """A chair that nobody has or keeps, with chips of one's own."""
    if is_freeze_out(game) and room.table.button is not None:
        raise IllegalCommand(f"{wish.player} may not join: this freeze-out has begun")
    if game.stacks == "reset" and wish.chips != game.stack:
        raise IllegalCommand(
            f"{wish.player} may not bring {wish.chips}: {game.name} gives every hand {game.stack}"
        )
    for away in room.away:
        if away.chair == wish.chair:
            raise IllegalCommand(f"chair {wish.chair} is kept for {away.player}")
        if away.player == wish.player:
            raise IllegalCommand(f"{wish.player} sits at this table already")
    _can_post(game, wish)
    table = sit(room.table, wish.chair, wish.player, wish.chips, posts=wish.posts)
    return replace(room, table=table, bought=room.bought + wish.chips)


def _sat_out(game: Game, room: Room, wish: SitsOut) -> Room:
    _no_freeze_out(game, wish.player, "sit out")
    away = _away(room, wish.player)
    if away is not None and not away.gone:
        raise IllegalCommand(f"{wish.player} sits out already")
    if away is not None:  # he was gone: now that he is back, he stays away by will
        others = (one for one in room.away if one is not away)
        return replace(room, away=(*others, replace(away, gone=False)))
    return _stood_up(room, *_sitting(room, wish.player), gone=False)


def _returned(game: Game, room: Room, wish: Returns) -> Room:
    """Back into his chair, as a newcomer: he posts, or waits for the big blind."""
    away = _away(room, wish.player)
    if away is None:
        _sitting(room, wish.player)
        raise IllegalCommand(f"{wish.player} does not sit out")
    _can_post(game, wish)
    return _seated_again(room, away, wish.posts)


def _topped_up(game: Game, room: Room, wish: TopsUp) -> Room:
    """ "the player cannot get additional funds [...] while he is in the midst of a game": now he
    can, as he is in none (T17)."""
    _no_freeze_out(game, wish.player, "add chips")
    if game.stacks == "reset":
        raise IllegalCommand(
            f"{wish.player} may not add chips: {game.name} gives every hand {game.stack}"
        )
    away = _away(room, wish.player)
    if away is None:
        chair, _ = _sitting(room, wish.player)
        room = replace(room, table=add_chips(room.table, chair, wish.amount))
    elif wish.amount < 1:
        raise IllegalCommand(f"{wish.player} may add at least one chip, not {wish.amount}")
    else:
        more = replace(away, stack=away.stack + wish.amount)
        room = replace(room, away=tuple(more if one is away else one for one in room.away))
    return replace(room, bought=room.bought + wish.amount)


def _left(game: Game, room: Room, wish: Leaves) -> Room:
    """ "no player can take money off the table (except the final winner, of course)" (M5)."""
    _no_freeze_out(game, wish.player, "leave")
    if _away(room, wish.player) is None:
        room = _stood_up(room, *_sitting(room, wish.player), gone=False)
    away = _away(room, wish.player)
    assert away is not None
    others = tuple(one for one in room.away if one is not away)
    return replace(room, away=others, taken=room.taken + away.stack)


def _stood_up(room: Room, chair: int, one: Chair, *, gone: bool) -> Room:
    away = (*room.away, Away(chair, one.player, one.stack, gone))
    return replace(room, table=stand_up(room.table, chair), away=away)


def _seated_again(room: Room, away: Away, posts: bool) -> Room:
    """Dealt in again; he had kept his chair, so he sat down when he first took it."""
    table = sit(room.table, away.chair, away.player, away.stack, posts=posts)
    table = replace(table, order=room.table.order)
    return replace(room, table=table, away=tuple(one for one in room.away if one is not away))


def _set_anew(game: Game, room: Room) -> Room:
    """Once one player has all the chips and others have none, each of them gets a new stack."""
    chips = [one.stack for one in (*room.table.chairs, *room.away) if one is not None and one.stack]
    broke = {one.player for one in room.away if not one.stack}
    if len(chips) != 1 or not broke:
        return room
    away = tuple(replace(one, stack=game.stack) for one in room.away)
    room = replace(room, table=set_anew(game, room.table), away=away)
    for one in away:
        if one.player in broke:
            room = _seated_again(room, one, posts=False)
    bought = room.bought + game.stack * (1 + len(broke))
    return replace(room, bought=bought, taken=room.taken + chips[0])


def _sitting(room: Room, player: str) -> tuple[int, Chair]:
    for chair, one in enumerate(room.table.chairs):
        if one is not None and one.player == player:
            return chair, one
    raise IllegalCommand(f"{player} does not sit at this table")


def _away(room: Room, player: str) -> Away | None:
    return next((one for one in room.away if one.player == player), None)


def _no_freeze_out(game: Game, player: str, what: str) -> None:
    if is_freeze_out(game):
        raise IllegalCommand(f"{player} may not {what}: this is a freeze-out")


def _can_post(game: Game, wish: Joins | Returns) -> None:
    """ "an option of placing a Big Blind": where a game has none, a newcomer waits."""
    if wish.posts and not any(getattr(step, "big", 0) for step in game.script):
        raise IllegalCommand(f"{wish.player} may not post: {game.name} has no big blind")


_WISHES: dict[type[Wish], Callable[[Game, Room, Any], Room]] = {
    Joins: _joined,
    SitsOut: _sat_out,
    Returns: _returned,
    TopsUp: _topped_up,
    Leaves: _left,
}
