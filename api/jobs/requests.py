"""What a job is asked to do, looked at before it is begun: drawn what is not given, refused what
makes no sense, in the sentences of the command line.
"""

from pathlib import Path
from typing import Any

import click

from api.jobs.plans import ENDLESS, HANDS, NAME, dealing_of, plans_of, stage_of
from api.jobs.plans import named as match_name
from api.problem import Problem
from api.questions.games import NoGame, Unfit, wanted
from dealer.wire.plan import plan
from dealer.wire.program import NoBot
from dealer.wire.program import named as programs
from engine.game import Game
from engine.parameters import Impossible, named_values
from formats.known import FORMATS
from formats.rakes import RakeFrom
from formats.rules import Rules

CLOCK_S = 30.0


def of_match(asked: dict[str, Any]) -> dict[str, Any]:
    """A match between bots of ours, as `muckrake play` plays it."""
    game = rules_of(asked)
    if asked["open_bids"]:
        raise Problem("invalid", "open_bids is for bots from folders")
    bots = None if asked["bots"] is None else ",".join(asked["bots"])
    request = {**asked, "bots": bots, "matches": None}
    request["dealing"] = dealing_of(asked["dealing"], asked["seed"], "committed")
    try:
        (found,) = plans_of(game, request)
        stage_of(found, request)
    except click.UsageError as reason:
        raise Problem("invalid", reason.format_message()) from None
    request["asked"] = 0 if found.hands == ENDLESS else found.hands
    return request | {
        "match": found.match
    }  # a seed is drawn where it is used, and kept nowhere else


def of_folders(asked: dict[str, Any], bots: Path | None) -> dict[str, Any]:
    """A match between bots in folders of this machine, as `muckrake match` plays it."""
    if bots is None:
        raise Problem("forbidden", "this server starts no programs: muckrake serve --bots DIR does")
    for option in ("bots", "seats", "freeze_out", "live", "think_ms", "news"):
        if asked[option]:
            raise Problem("invalid", f"{option} is not for bots from folders")
    game = rules_of(asked)
    hands = asked["hands"] or game.hands or HANDS
    folders = [_inside(bots, name) for name in asked["folders"]]
    try:
        one, two = programs(folders[0], folders[1])
        match = match_name(asked["match"])
        players = (one.name, two.name)
        how = {"mirrored": asked["mirror"], "open_bids": asked["open_bids"]}
        plan(game, match, players, hands, **how)
    except NoBot:
        names = " and ".join(asked["folders"])
        raise Problem(
            "not-found", f"{names} are not both bots: folders with commands.json"
        ) from None
    except click.UsageError as reason:
        raise Problem("invalid", reason.format_message()) from None
    except ValueError as reason:
        raise Problem("invalid", str(reason)) from None
    dealing = dealing_of(asked["dealing"], asked["seed"], "committed")
    if dealing == "committed" and asked["seed"] is not None:
        raise Problem("invalid", "a seed decides no committed deck: leave it out")
    drawn = {"match": match, "dealing": dealing, "hands": hands, "asked": hands}
    clock = asked["clock"] or CLOCK_S
    return {**asked, **drawn, "clock": clock, "folders": [str(one) for one in folders]}


def rules_of(asked: dict[str, Any]) -> Game:
    """The ruleset of a match: by its name or as it was sent, changed as it was asked for."""
    handed_in = asked.get("ruleset")
    if (asked["game"] is None) == (handed_in is None):
        raise Problem("invalid", "name one game, or send one ruleset")
    try:
        return wanted(asked["game"], asked.get("set", {}), handed_in)
    except (NoGame, Unfit, Impossible) as reason:
        raise Problem("invalid", str(reason)) from None


def of_import(
    form: str | None,
    game: str | None,
    settings: list[str] | None,
    names: list[str] | None,
    strict: bool,
    audit: bool,
    match: str | None = None,
    rake: RakeFrom = "fitted",
) -> dict[str, Any]:
    """Files that were sent, as `muckrake import` has them."""
    if form is not None and form not in FORMATS:
        raise Problem(
            "invalid", f"there is no format {form[:40]!r}: there are {', '.join(FORMATS)}"
        )
    if strict and not audit:
        raise Problem("invalid", "strict is about what an audit finds: leave out audit=false")
    try:
        changes = named_values(settings or ())
        asked_rules({"game": game, "set": changes, "rake": rake})
    except (NoGame, Impossible) as reason:
        raise Problem("invalid", str(reason)) from None
    renamed: dict[str, str] = {}
    for pair in names or ():
        was, equals, now = (part.strip() for part in pair.partition("="))
        if not (was and equals and now) or renamed.setdefault(was, now) != now:
            raise Problem("invalid", f"{pair[:80]!r} renames nobody: write OLD=NEW")
    if match is not None:
        try:
            match_name(match)
        except click.UsageError as reason:
            raise Problem("invalid", reason.format_message()) from None
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


def asked_rules(request: dict[str, Any]) -> Rules:
    """What decides the hands of an import."""
    game, changes = request["game"], request.get("set", {})
    named = wanted(game, changes) if game else None
    return Rules(named, tuple(changes.items()), request.get("rake", "fitted"))


def _inside(bots: Path, name: str) -> Path:
    """A folder right in the one that the server may start bots from."""
    if not NAME.fullmatch(name):
        raise Problem("invalid", f"{name[:80]!r} is not the name of a folder")
    return bots / name
