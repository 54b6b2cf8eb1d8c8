"""Check what a job is asked to do before it begins, and fill in what was left out.

That is the matches that `muckrake play` asks for, and what an import is. What is not given is
drawn, and what makes no sense refused in the sentences of the command line.
"""

import re
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, cast, get_args

import click

from api.playing.names import InvalidName, parse_names, parse_tags, tagged_records
from api.problem import Problem
from api.questions.games import InvalidRuleset, UnknownGame, game_with_settings
from dealer.bots.built_in import BOTS
from dealer.deck import SEED_BYTES, random_seed
from dealer.live.bots import HappeningKind, ScriptedEvent, TableScript
from dealer.live.clock import SITE_TIMES, turn_times
from dealer.live.table import with_site_clock
from dealer.play import Plan, plan, player_name, usual_seats
from dealer.wire.program import NoBotFolder, named_programs
from dealer.wire.protocol import wire_plan
from engine.changes import changed, origin
from engine.game import Game
from engine.games import GAMES, is_dealt
from engine.parameters import Impossible, named_values
from engine.table import is_freeze_out
from events.match import Dealing
from formats.rakes import RakeFrom
from formats.registry import FORMATS
from formats.source import ImportRules

CLOCK_S = 30.0
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
HANDS = 1000  # how many, unless somebody says otherwise
ENDLESS = 2**31 - 1  # a freeze-out ends by itself: with the last dollar
_HAPPENING = re.compile(
    rf"({'|'.join(get_args(HappeningKind))}):([^@:]+)@([1-9][0-9]{{0,8}})", re.ASCII
)
THINK_MS = 40  # what a bot thinks at a live table, unless told otherwise


def match_plans(game: Game, options: dict[str, Any], own: Collection[str] = ()) -> list[Plan]:
    """The matches, in the order of their numbers; each has a seed of its own.

    `own` are bots of the user of this machine, `module:Class`: nobody else may name one.
    """
    _check_playable(game, options)
    freeze_out = options["freeze_out"]
    if freeze_out is not None and freeze_out != is_freeze_out(game):
        if game.stacks != "carried":
            raise click.UsageError(
                f"{game.name} gives every hand new stacks: nobody can ever have it all"
            )
        if broke := origin(game)[1].get("broke"):
            it_is = f"{'no' if freeze_out else 'a'} freeze-out by broke={broke}"
            raise click.UsageError(f"{game.name} is {it_is}: say one of both")
        game = changed(game, {"broke": "leaves" if freeze_out else "set_anew"})
    # Many matches are dealt elsewhere, so all their decks are committed to before they begin.
    endless = is_freeze_out(game) and not options["hands"]
    if endless and options["matches"] and options["dealing"] == "committed":
        raise click.UsageError(
            "--matches commits to all decks first: say how many --hands a freeze-out may take"
        )
    if options["live"]:
        game = with_site_clock(game)
    bots = _seated(game, options["bots"], options["seats"], own)
    # As many hands as the document says, a freeze-out to its end, else no more than needed.
    hands = options["hands"] or (
        game.hands or (ENDLESS if is_freeze_out(game) else (len(bots) if options["mirror"] else 1))
    )
    if options["mirror"] and hands % len(bots):
        raise click.UsageError(
            f"each deck is dealt {len(bots)} times: {hands} hands are no multiple of that"
        )
    seed = random_seed() if options["seed"] is None else options["seed"]
    many = options["matches"]
    match = valid_match_name(options["match"], f"-{many}" if many else "")
    return [
        plan(
            game,
            f"{match}{number}",
            hands,
            match_seed(seed, number),
            bots,
            mirrored=options["mirror"],
        )
        for number in ([f"-{one}" for one in range(1, many + 1)] if many else [""])
    ]


def dealing_of(text: str | None, seed: str | None, usual: Dealing) -> Dealing:
    """The dealing that was asked for; a seed that is given asks for its own decks."""
    return cast(Dealing, text) if text else "seeded" if seed is not None else usual


def match_seed(seed: str, number: str) -> str:
    """The seed of one of many matches: who learns it learns nothing of the other matches' seeds."""
    return sha256(f"{seed}{number}".encode()).hexdigest()[: 2 * SEED_BYTES] if number else seed


def stage_of(match: Plan, options: dict[str, Any]) -> TableScript:
    """The turn times and the happenings of a live table."""
    if not options["live"] and (options["clock"] is not None or options["news"]):
        raise click.UsageError("--clock and --news are for --live: no other table has a clock")
    times = SITE_TIMES if options["clock"] is None else turn_times(round(options["clock"] * 1000))
    happenings = []
    for text in options["news"]:  # `lost:caller-1@3`: what, to whom, in which hand
        news = _HAPPENING.fullmatch(text)
        if not news:
            kinds = ", ".join(get_args(HappeningKind))
            raise click.UsageError(f"{text!r} is no news: WHAT:PLAYER@HAND, with {kinds}")
        what, player, hand = news.groups()
        chairs = range(len(match.bots))
        seats = {player_name(kind, chair) for kind in BOTS for chair in chairs}
        if player not in (BOTS if what == "joins" else seats):
            possible = (
                f"a bot is one of {', '.join(BOTS)}" if what == "joins" else "players are BOT-CHAIR"
            )
            raise click.UsageError(f"{text!r} names nobody who could be at this table: {possible}")
        happenings.append(ScriptedEvent(cast(HappeningKind, what), player, int(hand)))
    return TableScript(times, tuple(happenings))


def valid_match_name(match: str | None, ending: str = "") -> str:
    """A match name that is valid in a hand's id, in notation and in a path, or a drawn one."""
    if match is None:
        return secrets.token_hex(6)
    if not NAME.fullmatch(match + ending):
        raise click.UsageError(f"{match!r} cannot name a match: letters, digits, '.', '_' and '-'")
    return match


def _check_playable(game: Game, options: dict[str, Any]) -> None:
    """Refuse a game that is not dealt here, or not in the way that is asked for."""
    if not is_dealt(game):
        raise click.UsageError(
            f"{game.name} is for foreign records and is not dealt: there are {', '.join(GAMES)}"
        )
    if options["mirror"] and game.burn:
        raise click.UsageError(
            f"{game.name} burns cards: in a mirrored deck every card has a place"
        )
    if options["live"] and origin(game)[1].get("time_out") in ("none", "bot_default"):
        raise click.UsageError(f"{game.name} has no clock that waits: --live needs one")
    if options["mirror"] and game.stacks == "carried":
        raise click.UsageError(
            f"{game.name} carries stacks from hand to hand: a mirrored hand needs the same stacks"
        )
    if not options["live"] and options["think_ms"] is not None:
        raise click.UsageError("--think-ms is for --live: nobody else takes time to think")
    for option in ("mirror", "matches") if options["live"] else ():
        if options[option]:  # a live match goes on in the pace of its players
            raise click.UsageError(f"--live plays one table as it is: leave out --{option}")


def _seated(
    game: Game, bots: str | None, seats: int | None, own: Collection[str]
) -> tuple[str, ...]:
    """The bots around the table: as they were named, and round again for more seats."""
    kinds = tuple(bots.split(",")) if bots is not None else ("random",)
    for kind in kinds:
        if kind not in BOTS and kind not in own:
            raise click.UsageError(f"no bot is called {kind}: there are {', '.join(BOTS)}")
    if seats is None:
        seats = usual_seats(game) if bots is None else max(len(kinds), game.seats_min)
    if not game.seats_min <= seats <= game.seats_max:
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise click.UsageError(f"{game.name} seats {allowed} players, not {seats}")
    if len(kinds) > seats:
        raise click.UsageError(f"{len(kinds)} bots are named for {seats} seats")
    return tuple(kinds[seat % len(kinds)] for seat in range(seats))


@contextmanager
def _refusals() -> Iterator[None]:
    """Answer misuse of the command line as an invalid request."""
    try:
        yield
    except click.UsageError as reason:
        raise Problem("invalid", reason.format_message()) from None
    except (InvalidName, UnknownGame, InvalidRuleset, Impossible) as reason:
        raise Problem("invalid", str(reason)) from None


def match_request(options: dict[str, Any]) -> dict[str, Any]:
    """The request of a match between bots of ours, as `muckrake play` plays it."""
    game = requested_ruleset(options)
    if options["open_bids"]:
        raise Problem("invalid", "open_bids is for bots from folders")
    if options["names"]:
        raise Problem("invalid", "names are for bots from folders")
    bots = None if options["bots"] is None else ",".join(options["bots"])
    request = {**options, "bots": bots, "matches": None}
    request["dealing"] = dealing_of(options["dealing"], options["seed"], "committed")
    with _refusals():
        (plan,) = match_plans(game, request)
        stage_of(plan, request)
        tagged_records(options["tags"], {name: name for name in plan.players})
    request["asked"] = 0 if plan.hands == ENDLESS else plan.hands
    return request | {
        "match": plan.match
    }  # a seed is drawn where it is used, and kept nowhere else


def bots_request(options: dict[str, Any], bots: Path | None) -> dict[str, Any]:
    """The request of a match between bots in folders, as `muckrake match` plays it."""
    if bots is None:
        raise Problem(
            "forbidden", "this server starts no programs: muckrake serve --bots-dir DIR does"
        )
    for option in ("bots", "seats", "freeze_out", "live", "think_ms", "news"):
        if options[option]:
            raise Problem("invalid", f"{option} is not for bots from folders")
    game = requested_ruleset(options)
    hands = options["hands"] or game.hands or HANDS
    for name in options["folders"]:  # each is right in the one that bots may be started from
        if not NAME.fullmatch(name):
            raise Problem("invalid", f"{name[:80]!r} is not the name of a folder")
    folders = [bots / name for name in options["folders"]]
    try:
        one, two = named_programs(folders[0], folders[1], options["names"])
        tagged_records(options["tags"], {"A": one.name, "B": two.name})
        match = valid_match_name(options["match"])
        players = (one.name, two.name)
        how = {"mirrored": options["mirror"], "open_bids": options["open_bids"]}
        wire_plan(game, match, players, hands, **how)
    except NoBotFolder:
        names = " and ".join(options["folders"])
        raise Problem(
            "not-found", f"{names} are not both bots: folders with commands.json"
        ) from None
    except click.UsageError as reason:
        raise Problem("invalid", reason.format_message()) from None
    except ValueError as reason:
        raise Problem("invalid", str(reason)) from None
    dealing = dealing_of(options["dealing"], options["seed"], "committed")
    if dealing == "committed" and options["seed"] is not None:
        raise Problem("invalid", "a seed decides no committed deck: leave it out")
    drawn = {"match": match, "dealing": dealing, "hands": hands, "asked": hands}
    clock = options["clock"] or CLOCK_S
    return {**options, **drawn, "clock": clock, "folders": [str(folder) for folder in folders]}


def requested_ruleset(options: dict[str, Any]) -> Game:
    """The ruleset of a match: by its name or as it was sent, with the settings asked for."""
    handed_in = options.get("ruleset")
    if (options["game"] is None) == (handed_in is None):
        raise Problem("invalid", "name one game, or send one ruleset")
    with _refusals():
        return game_with_settings(options["game"], options.get("set", {}), handed_in)


def import_request(
    form: str | None,
    game: str | None,
    settings: list[str] | None,
    names: list[str] | None,
    strict: bool,
    audit: bool,
    match: str | None = None,
    rake: RakeFrom = "fitted",
) -> dict[str, Any]:
    """The request of an import of uploaded files, as `muckrake import` reads them."""
    if form is not None and form not in FORMATS:
        raise Problem(
            "invalid", f"there is no format {form[:40]!r}: there are {', '.join(FORMATS)}"
        )
    if strict and not audit:
        raise Problem("invalid", "strict is about what an audit finds: leave out audit=false")
    with _refusals():
        changes = named_values(settings or ())
        import_rules({"game": game, "set": changes, "rake": rake})
        renamed = parse_names(names or ())
        if match is not None:
            valid_match_name(match)
    return {
        "format": form,
        "game": game,
        "set": changes,
        "rake": rake,
        "names": renamed,
        "strict": strict,
        "audit": audit,
        "match": match,
        "owner": "",
    }


def valid_tags(text: list[str] | None) -> dict[str, dict[str, str]]:
    """The tags of players of uploaded files, each of which can be kept."""
    with _refusals():
        tags = parse_tags(text or ())
        tagged_records(tags)
        return tags


def import_rules(request: dict[str, Any]) -> ImportRules:
    """The import rules of a request."""
    game, changes = request["game"], request.get("set", {})
    named = game_with_settings(game, changes) if game else None
    return ImportRules(named, tuple(changes.items()), request.get("rake", "fitted"))
