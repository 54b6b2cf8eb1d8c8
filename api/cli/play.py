"""`muckrake play`: a match of seeded hands between random bots, written into the ledger."""

import re
import secrets
import time
from itertools import chain
from pathlib import Path
from typing import cast, get_args

import click
import msgspec

from api.cli.games import game_of
from api.cli.ledger import json_option, ledger_option, writing
from api.cli.output import INTERRUPTED, asked_to_stop, document, note, progress
from api.recording import Played, Recording, announced
from dealer.play import play as play_hands
from engine.game import Game, fingerprint, to_json
from engine.games import GAMES
from events.ledger import Conflict, Ledger
from events.notation import say_all
from events.types import Disclosure, MatchStarted

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
WHOLE = "every hand was played"
STOPPED = "interrupted"


@click.command()
@click.argument("game")
@click.option("--hands", type=click.IntRange(min=1), default=1, show_default=True, help="How many.")
@click.option("--seed", help="Decides every card and choice; drawn, and told, if not given.")
@click.option("--seats", type=int, help="How many players; as many as the game seats, up to six.")
@click.option("--match", help="The match's name; drawn, and told, if not given.")
@click.option(
    "--disclosure",
    type=click.Choice(get_args(Disclosure)),
    default="sealed",
    show_default=True,
    help="Who may see hidden cards afterwards: nobody, everybody after the match, everybody.",
)
@click.option("--print", "printing", is_flag=True, help="Print every hand in notation.")
@ledger_option
@json_option
def play(
    game: str,
    hands: int,
    seed: str | None,
    seats: int | None,
    match: str | None,
    disclosure: str,
    printing: bool,
    folder: Path,
    as_document: bool,
) -> None:
    """Deal seeded hands of GAME to random bots and write them into the ledger."""
    rules = game_of(game)
    _playable(rules, seats)
    name = _named(match)
    seed = secrets.token_hex(4) if seed is None else seed
    dealt = play_hands(rules, name, hands, seed, seats)
    first = next(dealt)
    start = announced(name, first, seed, cast(Disclosure, disclosure))
    shown = []
    begun = time.monotonic()
    with writing(folder, f"play {name}") as ledger, asked_to_stop() as stop:
        ledger.keep_ruleset(fingerprint(rules), to_json(rules))
        recording = _begun(ledger, start, folder)
        durable = recording.keep(chain((first,), dealt), stop)
        for number, hand in enumerate(progress(durable, f"playing {name}", hands)):
            if printing and as_document:
                shown.append(msgspec.to_builtins(hand))
            elif printing:
                click.echo(("\n" if number else "") + say_all(hand), nl=False)
        whole = recording.hands == hands
        played = recording.end(WHOLE if whole else STOPPED)
    if as_document:
        told = {"seed": seed, "disclosure": disclosure, **msgspec.to_builtins(played)}
        document("muckrake.play/1", **told, **({"records": shown} if printing else {}))
    else:
        click.echo(summary(played, seed), err=printing)
    note(f"{played.reason}: {played.hands} in {folder}, {time.monotonic() - begun:.1f} s")
    if not whole:
        raise click.exceptions.Exit(INTERRUPTED)


def summary(played: Played, seed: str) -> str:
    """scrim  probability  1000 hands  21022 events  random-0 +15, random-1 -15  seed 7"""
    nets = zip(played.players, played.nets, strict=True)
    told = ", ".join(f"{player} {net:+d}" if net else f"{player} 0" for player, net in nets)
    counts = f"{played.hands} hand{'s' * (played.hands != 1)}  {played.events} events"
    return f"{played.match}  {played.game}  {counts}  {told}  seed {seed}"


def _begun(ledger: Ledger, start: MatchStarted, folder: Path) -> Recording:
    """The match's first record; a name is given once."""
    try:
        return Recording(ledger, start)
    except Conflict:
        raise click.ClickException(
            f"there is a match {start.match} in {folder} already: give this one another name"
        ) from None


def _named(match: str | None) -> str:
    """A name that can stand in a hand's id, in a line of notation and in a path."""
    if match is None:
        return secrets.token_hex(6)
    if not NAME.fullmatch(match):
        raise click.UsageError(f"{match!r} cannot name a match: letters, digits, '.', '_' and '-'")
    return match


def _playable(game: Game, seats: int | None) -> None:
    if game.name not in GAMES:
        raise click.UsageError(
            f"{game.name} is for foreign records and is not dealt: there are {', '.join(GAMES)}"
        )
    if seats is not None and not game.seats_min <= seats <= game.seats_max:
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise click.UsageError(f"{game.name} seats {allowed} players, not {seats}")
