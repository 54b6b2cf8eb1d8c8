"""`muckrake league run|add`: every match of a league that the ledger has not yet, on all cores."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from api.cli.ledger import json_option, ledger_option, plainly, witness_option, writing
from api.cli.match import ended_by_sigterm
from api.cli.options import given_tags, quiet_option, rules_of, tags_option
from api.cli.output import INTERRUPTED, document, note, stopping, table, watched
from api.playing.league import (
    League,
    Results,
    Unfit,
    added,
    is_bot,
    missing,
    programs,
    read,
    standing,
    to_play,
)
from api.playing.league_matches import Match, Matches, play, results, seed_of
from api.playing.names import claim
from dealer.wire.program import NoBot
from dealer.worker import Gone
from engine.game import fingerprint, to_json
from events.ledger import Conflict
from events.types import Events

if TYPE_CHECKING:
    from store.ledger import FileLedger

_file = click.Path(dir_okay=False, path_type=Path)
_workers = click.option(
    "--workers", metavar="N", type=click.IntRange(1, 256), help="Matches at once; else one a core."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def league() -> None:
    """Play leagues of bots that speak the MIT protocol: run one, or add a bot to it.

    FILE says who plays whom, and the ledger what has been played of it: a league that was stopped
    goes on, and one that got another bot plays only his matches.
    """


@league.command()
@click.argument("file", type=_file, metavar="FILE.toml")
@_workers
@ledger_option
@witness_option
@json_option
@quiet_option
def run(file: Path, workers: int | None, folder: Path, as_document: bool) -> None:
    """Play what the ledger does not have yet of the league in FILE.toml."""
    _run(file, _read(file), workers, folder, as_document)


@league.command()
@click.argument("file", type=_file, metavar="FILE.toml")
@click.argument("bot", type=click.Path(file_okay=False, path_type=Path), metavar="BOT_DIR")
@click.option("--name", metavar="NAME", help="The bot's name; else its folder's.")
@tags_option("the bot, by its name")
@_workers
@ledger_option
@witness_option
@json_option
@quiet_option
def add(
    file: Path,
    bot: Path,
    name: str | None,
    tags: tuple[str, ...],
    workers: int | None,
    folder: Path,
    as_document: bool,
) -> None:
    """Write a bot into the file of a league, and play the matches that it lacks."""
    name = name or bot.resolve().name
    _read(file)
    values = {one.tag: one.value for one in given_tags(tags, {name: name})}
    try:
        is_bot(name, bot)
        place = os.path.relpath(bot.resolve(), file.resolve().parent)
        league = added(file.read_text("utf-8"), name, place, values)
    except Unfit as why:
        raise click.ClickException(f"{file}: {why}") from None
    with plainly():
        new = file.with_name(f"{file.name}.new")
        new.write_text(league, "utf-8")
        new.replace(file)
    _run(file, _read(file), workers, folder, as_document)


def _read(file: Path) -> League:
    try:
        return read(file)
    except Unfit as why:
        raise click.ClickException(str(why)) from None


def _run(file: Path, played: League, workers: int | None, folder: Path, as_document: bool) -> None:
    """The matches that are missing, and the standing they lead to."""
    from store.proof.private import Private
    from store.reader import Reader

    game = rules_of(played.game, None, tuple(f"{it}={value}" for it, value in played.set.items()))
    new: list[Match] = []
    try:
        bots = programs(played, file.parent)
        with ended_by_sigterm(), writing(folder, f"league {played.name}") as ledger:
            snapshot = Reader(folder).snapshot()
            hidden = (folder,) if played.seed is None else (folder, file)
            matches = Matches(played, game, bots, seed_of(played, snapshot), hidden)
            nets = dict(results(played, snapshot, matches))
            claim(Private(folder), bots, given=bots)
            ledger.keep_ruleset(fingerprint(matches.rules), to_json(matches.rules))
            total = to_play(played, nets)
            for match in _matches(played, matches, ledger, nets, workers or played.workers):
                nets[match.pairing] = match.nets
                new.append(match)
                won = ", ".join(f"{bot} {chips:+,}" for bot, chips in match.nets.items())
                note(f"{match.name}: {won} ({len(new)} of {total})")
    except (Unfit, NoBot, Gone, Conflict, ValueError) as why:
        raise click.ClickException(str(why)) from None
    _tell(played, nets, new, as_document)
    if missing(played, nets):
        raise click.exceptions.Exit(INTERRUPTED)
    parts = (part for one in new for part in one.parts)
    if failed := sorted({f"{part.player} ({part.failed})" for part in parts if part.failed}):
        raise click.ClickException(f"failed: {', '.join(failed)}: what was played for it is kept")


def _matches(
    played: League, matches: Matches, ledger: "FileLedger", results: Results, workers: int | None
) -> Iterator[Match]:
    """Every match that is missing; Ctrl-C lets those at work end, a second one ends them."""
    hands, once = to_play(played, results) * played.hands, set[str]()

    def warn(sentence: str) -> None:
        """Every match says the same of a bot."""
        if sentence not in once:
            once.add(sentence)
            note(sentence)

    with stopping() as stop, watched(f"playing {played.name}", hands) as done:

        def watch(durable: Iterable[Events]) -> Iterator[Events]:
            for record in durable:
                done(1)
                yield record

        at_once = workers or os.cpu_count() or 1
        while not stop() and (todo := missing(played, results)):
            with closing(play(matches, todo, ledger, at_once, stop, watch, warn)) as every:
                yield from every


def _tell(played: League, results: Results, new: Sequence[Match], as_document: bool) -> None:
    """Who stands where; `muckrake ratings` says how sure that is."""
    rows = standing(played.bots, results)
    if as_document:
        document(
            f"muckrake.league-{click.get_current_context().info_name}/1",
            league=played.name,
            missing=to_play(played, results),
            played=[msgspec.to_builtins({"match": one.name, "nets": one.nets}) for one in new],
            standing=msgspec.to_builtins(rows),
        )
        return
    table(
        ["", "bot", "matches", "won", "drawn", "lost", "chips"],
        (
            [
                *map(str, (place, row.bot, row.matches, row.won, row.drawn, row.lost)),
                f"{row.chips:+,}",
            ]
            for place, row in enumerate(rows, 1)
        ),
    )
