"""The matches that the words of `muckrake play` ask for, or why they make no sense."""

import re
import secrets
from hashlib import sha256
from typing import Any, cast, get_args

import click

from dealer.bots import BOTS
from dealer.deck import SEED_BYTES, drawn_seed
from dealer.live.bots import Happening, Stage, What
from dealer.live.clock import SITE, turns_of
from dealer.live.table import clocked
from dealer.play import Plan, plan, player_name, usual_seats
from engine.changes import changed, origin
from engine.game import Game
from engine.games import GAMES, is_dealt
from engine.table import is_freeze_out
from events.types import Dealing

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
HANDS = 1000  # how many, unless somebody says otherwise
ENDLESS = 2**31 - 1  # a freeze-out ends by itself: with the last dollar
_NEWS = re.compile(rf"({'|'.join(get_args(What))}):([^@:]+)@([1-9][0-9]{{0,8}})", re.ASCII)
THINK_MS = 40  # what a bot thinks at a live table, unless told otherwise


def plans_of(game: Game, said: dict[str, Any]) -> list[Plan]:
    """The matches, in the order of their numbers; each has a seed of its own."""
    _playable(game, said)
    game = _freeze_out(game, said["freeze_out"])
    # Many matches are dealt elsewhere, so all their decks are committed to before they begin.
    endless = is_freeze_out(game) and not said["hands"]
    if endless and said["matches"] and said["dealing"] == "committed":
        raise click.UsageError(
            "--matches commits to all decks first: say how many --hands a freeze-out may take"
        )
    if said["live"]:
        game = clocked(game)
    bots = _seated(game, said["bots"], said["seats"])
    # As many hands as the document says, a freeze-out to its end, else no more than needed.
    hands = said["hands"] or (
        game.hands or (ENDLESS if is_freeze_out(game) else (len(bots) if said["mirror"] else 1))
    )
    if said["mirror"] and hands % len(bots):
        raise click.UsageError(
            f"each deck is dealt {len(bots)} times: {hands} hands are no multiple of that"
        )
    seed = drawn_seed() if said["seed"] is None else said["seed"]
    many = said["matches"]
    match = named(said["match"], f"-{many}" if many else "")
    return [
        plan(
            game,
            f"{match}{number}",
            hands,
            seed_of(seed, number),
            bots,
            mirrored=said["mirror"],
        )
        for number in ([f"-{one}" for one in range(1, many + 1)] if many else [""])
    ]


def dealing_of(said: str | None, seed: str | None, usual: Dealing) -> Dealing:
    """How decks are made: as it was said; a seed that is given asks for its own decks."""
    return cast(Dealing, said) if said else "seeded" if seed is not None else usual


def seed_of(seed: str, number: str) -> str:
    """The seed of one of many matches: who learns it learns nothing of the other matches' seeds."""
    return sha256(f"{seed}{number}".encode()).hexdigest()[: 2 * SEED_BYTES] if number else seed


def stage_of(match: Plan, said: dict[str, Any]) -> Stage:
    """How long a turn is at a live table, and what is to happen there."""
    if not said["live"] and (said["clock"] is not None or said["news"]):
        raise click.UsageError("--clock and --news are for --live: no other table has a clock")
    times = SITE if said["clock"] is None else turns_of(round(said["clock"] * 1000))
    return Stage(times, tuple(_happening(match, one) for one in said["news"]))


def _happening(match: Plan, said: str) -> Happening:
    """`lost:caller-1@3`: what, to whom, in which hand."""
    found = _NEWS.fullmatch(said)
    if not found:
        kinds = ", ".join(get_args(What))
        raise click.UsageError(f"{said!r} is no news: WHAT:PLAYER@HAND, with {kinds}")
    what, player, hand = found.groups()
    chairs = range(len(match.bots))
    seats = {player_name(kind, chair) for kind in BOTS for chair in chairs}
    if player not in (BOTS if what == "joins" else seats):
        told = f"a bot is one of {', '.join(BOTS)}" if what == "joins" else "players are BOT-CHAIR"
        raise click.UsageError(f"{said!r} names nobody who could be at this table: {told}")
    return Happening(cast(What, what), player, int(hand))


def named(match: str | None, ending: str = "") -> str:
    """A name that can stand in a hand's id, in a line of notation and in a path."""
    if match is None:
        return secrets.token_hex(6)
    if not NAME.fullmatch(match + ending):
        raise click.UsageError(f"{match!r} cannot name a match: letters, digits, '.', '_' and '-'")
    return match


def _playable(game: Game, said: dict[str, Any]) -> None:
    """Whether this game is dealt here, and dealt in the way that is asked for."""
    if not is_dealt(game):
        raise click.UsageError(
            f"{game.name} is for foreign records and is not dealt: there are {', '.join(GAMES)}"
        )
    if said["mirror"] and game.burn:
        raise click.UsageError(
            f"{game.name} burns cards: in a mirrored deck every card has a place"
        )
    if said["live"] and origin(game)[1].get("time_out") in ("none", "bot_default"):
        raise click.UsageError(f"{game.name} has no clock that waits: --live needs one")
    if said["mirror"] and game.stacks == "carried":
        raise click.UsageError(
            f"{game.name} carries stacks from hand to hand: a mirrored hand needs the same stacks"
        )
    _under_a_clock(said)


def _freeze_out(game: Game, wanted: bool | None) -> Game:
    """The game as it is, or a ruleset of its own that is a freeze-out, or none."""
    if wanted is None or wanted == is_freeze_out(game):
        return game
    if game.stacks != "carried":
        raise click.UsageError(
            f"{game.name} gives every hand new stacks: nobody can ever have it all"
        )
    if broke := origin(game)[1].get("broke"):
        it_is = f"{'no' if wanted else 'a'} freeze-out by broke={broke}"
        raise click.UsageError(f"{game.name} is {it_is}: say one of both")
    return changed(game, {"broke": "leaves" if wanted else "set_anew"})


def _under_a_clock(said: dict[str, Any]) -> None:
    """A live match is one table, and goes on in the pace of its players."""
    if not said["live"]:
        if said["think_ms"] is not None:
            raise click.UsageError("--think-ms is for --live: nobody else takes time to think")
        return
    for option in ("mirror", "matches"):
        if said[option]:
            raise click.UsageError(f"--live plays one table as it is: leave out --{option}")


def _seated(game: Game, bots: str | None, seats: int | None) -> tuple[str, ...]:
    """The bots around the table: as they were named, and round again for more seats."""
    kinds = tuple(bots.split(",")) if bots is not None else ("random",)
    for kind in kinds:
        if kind not in BOTS:
            raise click.UsageError(f"no bot is called {kind}: there are {', '.join(BOTS)}")
    if seats is None:
        seats = usual_seats(game) if bots is None else max(len(kinds), game.seats_min)
    if not game.seats_min <= seats <= game.seats_max:
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise click.UsageError(f"{game.name} seats {allowed} players, not {seats}")
    if len(kinds) > seats:
        raise click.UsageError(f"{len(kinds)} bots are named for {seats} seats")
    return tuple(kinds[seat % len(kinds)] for seat in range(seats))
