"""`muckrake match`: two bots that speak the MIT protocol, in processes of their own, on record."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
import msgspec

from api.cli.ledger import json_option, ledger_option, witness_option, writing
from api.cli.options import (
    dialect_option,
    disclosure_option,
    names_option,
    quiet_option,
    renames,
    rules_of,
    rules_options,
    tag_records,
    tags_option,
)
from api.cli.output import (
    INTERRUPTED,
    NotFound,
    errors_as,
    exit_on_sigterm,
    note,
    print_json,
    progress,
    say,
    stop_flag,
)
from api.jobs.requests import HANDS, dealing_of
from api.jobs.requests import valid_match_name as match_name
from api.playing.matches import SEEDED_DECKS
from api.playing.names import InvalidName, claim_names
from api.playing.recording import MatchResult, match_summary
from api.playing.wire_match import BotMatch, as_json, as_text
from dealer.deck import SeededDecks, random_seed
from dealer.wire.match import MatchJob
from dealer.wire.program import Limits, NoBotFolder, named_programs
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import Isolation
from dealer.worker import WorkerGone
from engine.game import fingerprint, to_json
from events.ledger import Conflict
from events.match import Disclosure, MatchStarted
from events.types import Events
from formats.mit.dialects import own_dialect
from formats.mit.write import ordered_rounds, write
from store.folder.disk import RealDisk
from store.proof.ledger_secrets import SecretFolder
from store.proof.witness_policy import BEFORE, checkpoints_before

if TYPE_CHECKING:
    from store.ledger import FileLedger

DEFAULT_RULESET = "auction-2024-mit"

_folder = click.Path(file_okay=False, path_type=Path)
_file = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command()
@click.argument("bots", nargs=2, type=_folder, metavar="BOT_DIR BOT_DIR")
@rules_options("--game")
@click.option(
    "--hands",
    metavar="N",
    type=click.IntRange(min=1),
    help=f"How many; else as the rules say, {HANDS}.",
)
@click.option(
    "--seed",
    metavar="SEED",
    help="Deals the decks of this seed: anybody who knows it knows the cards.",
)
@click.option(
    "--dealing",
    type=click.Choice(["seeded", "committed"]),
    help="Decks that the dealer commits to before the first hand, or decks of a seed, drawn and "
    "printed if not given; committed, unless there is a --seed.",
)
@click.option("--mirror", is_flag=True, help="Deal every deck twice, the seats exchanged.")
@click.option("--open-bids", is_flag=True, help="Show the first bid early, as the engine did.")
@click.option(
    "--clock",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds that a bot has for all its replies.",
)
@click.option("--gamelog", type=_file, metavar="FILE", help="Write the log of the MIT engine.")
@dialect_option
@click.option("--logs", type=_folder, metavar="DIR", help="Write there what each bot printed.")
@click.option(
    "--match", "name", metavar="MATCH", help="The match's name; drawn, and printed, if not given."
)
@names_option("The bots' names, A the first's and B the second's; else their folders'.")
@tags_option("one bot at a time")
@disclosure_option
@ledger_option
@witness_option
@json_option
@quiet_option
def match(
    bots: tuple[Path, Path],
    rules: str | None,
    settings: tuple[str, ...],
    hands: int | None,
    seed: str | None,
    dealing: str | None,
    mirror: bool,
    open_bids: bool,
    clock: float,
    gamelog: Path | None,
    dialect: str | None,
    logs: Path | None,
    name: str | None,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    disclosure: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Play two MIT Pokerbots bots, as they are, against each other.

    The game is auction-2024-mit, unless --ruleset says another that such bots can speak of.
    """
    bot_names = renames(names)
    with errors_as(click.UsageError, ValueError), errors_as(NotFound, NoBotFolder):
        programs = named_programs(*bots, bot_names)
    tags_of = tag_records(tags, {"A": programs[0].name, "B": programs[1].name})
    played_by = rules_of(None if rules else DEFAULT_RULESET, rules, settings)
    hands = hands or played_by.hands or HANDS
    players = (programs[0].name, programs[1].name)
    how = {"mirrored": mirror, "open_bids": open_bids}
    with errors_as(click.UsageError, ValueError):
        match = wire_plan(played_by, match_name(name), players, hands, **how)
        if dialect and not gamelog:
            raise click.UsageError("--dialect is of a log: say --gamelog FILE, too")
        if gamelog:
            own_dialect(match.game.name, dialect)
    kind_of_dealing = dealing_of(dealing, seed, "committed")
    if kind_of_dealing == "seeded":
        seed = random_seed() if seed is None else seed
    elif seed is not None:
        raise click.UsageError("--seed decides no committed deck: leave it out")
    decks = SeededDecks(seed or "", match.deals)
    guard = Isolation((folder,), seed=seed)
    meeting = BotMatch(MatchJob(match, programs, Limits(clock=clock), decks, guard), tags_of)
    start = meeting.match_start(seed, cast(Disclosure, disclosure), kind_of_dealing)
    begun = time.monotonic()
    records: list[Events] | None = [] if gamelog else None
    with exit_on_sigterm(), writing(folder, f"match {start.match}") as ledger:
        # Both names are these bots' in this ledger, or nothing is played.
        with errors_as(click.ClickException, InvalidName):
            claim_names(SecretFolder(folder), dict(zip("AB", programs, strict=True)), bot_names)
        ledger.keep_ruleset(fingerprint(match.game), to_json(match.game))
        played = _play_match(meeting, ledger, start, hands, folder, records)
    for seat, player in enumerate(match.players if logs else ()):
        _write_file(cast(Path, logs) / f"{player}.txt", meeting.log(seat))
    if kind_of_dealing == "committed":  # signed for the owners of bots, which cannot take it
        for first, signed in checkpoints_before(RealDisk(folder), match.match):
            file = f"{folder / BEFORE}/{match.match}.{first}"
            note(f"signed before the first card of hand {first}: {file}")
            if logs:
                _write_file(logs / f"checkpoint.{first}", signed)
    if gamelog and records is not None:
        try:
            log = write(ordered_rounds(records, mirrored=match.mirrored), None, dialect).encode()
        except ValueError as why:
            note(f"no gamelog was written: {why}")
        else:
            _write_file(gamelog, log)
    parts, faults = meeting.parts(), meeting.faults
    if as_document:
        terms = {"seed": seed, "disclosure": disclosure, "sealed_bids": not open_bids}
        about = {**terms, "mirrored": mirror, **msgspec.to_builtins(played)}
        print_json("muckrake.match/1", **about, **as_json(parts, faults))
    else:
        say(match_summary(played, seed, kind_of_dealing))
        say("")
        say(as_text(parts, faults))
    if kind_of_dealing == "seeded":
        note(SEEDED_DECKS)
    note(f"{played.reason}: {played.hands} in {folder}, {time.monotonic() - begun:.1f} s")
    if played.hands < hands:
        raise click.exceptions.Exit(INTERRUPTED)
    if failed := [f"{part.player} failed ({part.failed})" for part in parts if part.failed]:
        raise click.ClickException(f"{' and '.join(failed)}: what was played for it is kept")


def _play_match(
    meeting: BotMatch,
    ledger: "FileLedger",
    start: MatchStarted,
    hands: int,
    folder: Path,
    records: list[Events] | None,
) -> MatchResult:
    """Play the match; Ctrl-C ends it after the current hand, and durable hands stay recorded."""

    def watch(durable: Iterable[Events]) -> Iterator[Events]:
        for record in progress(durable, f"playing {start.match}", hands):
            if records is not None:
                records.append(record)
            yield record

    with stop_flag() as stop:
        try:
            return meeting.record(ledger, start, note, stop, watch, SecretFolder(folder))
        except WorkerGone as reason:
            raise click.ClickException(str(reason)) from None
        except Conflict:
            raise click.ClickException(
                f"there is a match {start.match} in {folder} already: give this one another name"
            ) from None


def _write_file(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as why:
        raise click.ClickException(f"{path} cannot be written: {why.strerror}") from None
