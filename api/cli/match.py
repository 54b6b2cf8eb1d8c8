"""`muckrake match`: two bots that speak the MIT protocol, in processes of their own, on record."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, cast, get_args

import click
import msgspec

from api.cli.ledger import hand_of, json_option, ledger_option, reading, witness_option, writing
from api.cli.output import INTERRUPTED, NotFound, asked_to_stop, document, note, progress, say
from api.cli.parameters import rules_of, rules_options
from api.cli.play import summary
from api.jobs.plans import HANDS, dealing_of
from api.jobs.plans import named as match_name
from api.playing.gamelog import gamelog as logged
from api.playing.matches import SEEDED
from api.playing.over_the_wire import Meeting
from api.playing.recording import Played
from api.playing.wire_report import as_json, as_text
from dealer.deck import SeededDecks, drawn_seed
from dealer.wire.match_process import MatchJob
from dealer.wire.plan import WirePlan, plan
from dealer.wire.program import Limits, NoBot, Program, named
from dealer.wire.sandbox import Guard
from dealer.worker import Gone
from engine.game import Game, fingerprint, to_json
from events.ledger import Conflict
from events.types import Dealing, Disclosure, MatchStarted

if TYPE_CHECKING:
    from store.ledger import FileLedger

SPOKEN = ("auction-2024-mit", "swap-2022-mit")
TERMINATED = 128 + signal.SIGTERM

_folder = click.Path(file_okay=False, path_type=Path)
_file = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command()
@click.argument("bots", nargs=2, type=_folder, metavar="BOT_DIR BOT_DIR")
@click.option(
    "--game", type=click.Choice(SPOKEN), help=f"Which; {SPOKEN[0]} unless --ruleset says others."
)
@rules_options
@click.option(
    "--hands", type=click.IntRange(min=1), help=f"How many; else as the rules say, {HANDS}."
)
@click.option("--seed", help="Deals the decks of this seed: whoever knows it knows the cards.")
@click.option(
    "--dealing",
    type=click.Choice(["seeded", "committed"]),
    help="Decks that the dealer commits to before the first hand, or decks of a seed, drawn and "
    "told if not given; committed, unless there is a --seed.",
)
@click.option("--mirror", is_flag=True, help="Deal every deck twice, the seats exchanged.")
@click.option("--open-bids", is_flag=True, help="Show the first bid early, as the engine did.")
@click.option(
    "--clock",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds that a bot has for all its replies.",
)
@click.option("--gamelog", type=_file, metavar="FILE", help="Write the log of the MIT engine.")
@click.option("--logs", type=_folder, metavar="DIR", help="Write there what each bot printed.")
@click.option("--match", "name", help="The match's name; drawn, and told, if not given.")
@click.option(
    "--disclosure",
    type=click.Choice(get_args(Disclosure)),
    default="sealed",
    show_default=True,
    help="Who may see hidden cards afterwards: nobody, everybody after the match, everybody.",
)
@ledger_option
@witness_option
@json_option
def match(
    bots: tuple[Path, Path],
    game: str | None,
    rules: Path | None,
    settings: tuple[str, ...],
    hands: int | None,
    seed: str | None,
    dealing: str | None,
    mirror: bool,
    open_bids: bool,
    clock: float,
    gamelog: Path | None,
    logs: Path | None,
    name: str | None,
    disclosure: str,
    folder: Path,
    as_document: bool,
) -> None:
    """Play two MIT Pokerbots bots, as they are, against each other."""
    programs = _found(bots)
    played_by = rules_of(game if game or rules else SPOKEN[0], rules, settings)
    hands = hands or played_by.hands or HANDS
    match = _planned(played_by, match_name(name), programs, hands, mirror, open_bids)
    made = dealing_of(dealing, seed, "committed")
    seed = _seed(seed, made)
    decks = SeededDecks(seed or "", match.deals)
    guard = Guard((folder,), seed=seed)
    meeting = Meeting(MatchJob(match, programs, Limits(clock=clock), decks, guard))
    start = meeting.announced(seed, cast(Disclosure, disclosure), made)
    begun = time.monotonic()
    with _ended_by_sigterm(), writing(folder, f"match {start.match}") as ledger:
        ledger.keep_ruleset(fingerprint(match.game), to_json(match.game))
        played = _played(meeting, ledger, start, hands, folder)
    for seat, player in enumerate(match.players if logs else ()):
        _write(cast(Path, logs) / f"{player}.txt", meeting.log(seat))
    if made == "committed":
        _checkpoint(folder, match.match, logs)
    if gamelog:
        _log(gamelog, folder, match)
    parts, faults = meeting.parts(), meeting.faults
    if as_document:
        told = {"seed": seed, "disclosure": disclosure, "sealed_bids": not open_bids}
        about = {**told, "mirrored": mirror, **msgspec.to_builtins(played)}
        document("muckrake.match/1", **about, **as_json(parts, faults))
    else:
        say(summary(played, seed, made))
        say("")
        say(as_text(parts, faults))
    if made == "seeded":
        note(SEEDED)
    note(f"{played.reason}: {played.hands} in {folder}, {time.monotonic() - begun:.1f} s")
    if played.hands < hands:
        raise click.exceptions.Exit(INTERRUPTED)


def _found(bots: tuple[Path, Path]) -> tuple[Program, Program]:
    try:
        return named(*bots)
    except NoBot as why:
        raise NotFound(str(why)) from None


def _seed(said: str | None, dealing: Dealing) -> str | None:
    """What decides the decks, unless they are drawn and committed to."""
    if dealing == "seeded":
        return drawn_seed() if said is None else said
    if said is not None:
        raise click.UsageError("--seed decides no committed deck: leave it out")
    return None


def _planned(
    game: Game, name: str, programs: tuple[Program, Program], hands: int, mirror: bool, show: bool
) -> WirePlan:
    players = (programs[0].name, programs[1].name)
    try:
        return plan(game, name, players, hands, mirrored=mirror, open_bids=show)
    except ValueError as why:
        raise click.UsageError(str(why)) from None


def _played(
    meeting: Meeting, ledger: "FileLedger", start: MatchStarted, hands: int, folder: Path
) -> Played:
    """Ctrl-C ends it after the hand that is being played."""
    from store.proof.private import Private

    with asked_to_stop() as stop:
        try:
            return meeting.recorded(
                ledger,
                start,
                note,
                stop,
                lambda records: progress(records, f"playing {start.match}", hands),
                Private(folder),
            )
        except Gone as reason:
            raise click.ClickException(str(reason)) from None
        except Conflict:
            raise click.ClickException(
                f"there is a match {start.match} in {folder} already: give this one another name"
            ) from None


def _log(path: Path, folder: Path, match: WirePlan) -> None:
    """The log of what the ledger holds, in the order of the hands' numbers."""
    numbers = sorted(number for leg in match.legs for number in leg)
    with reading(folder) as ledger:
        kept = [n for n in numbers if ledger.read(f"{match.match}/{n}")]
        records = [hand_of(ledger, f"{match.match}/{number}") for number in kept]
    try:
        _write(path, logged(records).encode())
    except ValueError as why:
        note(f"no gamelog was written: {why}")


def _checkpoint(folder: Path, match: str, logs: Path | None) -> None:
    """Print what was signed before the first card, for the owners of bots, which cannot take it."""
    from store.folder.disk import RealDisk
    from store.proof.published import BEFORE, before

    for first, note_of_log in before(RealDisk(folder), match):
        note(f"signed before the first card of hand {first}: {folder / BEFORE}/{match}.{first}")
        if logs:
            _write(logs / f"checkpoint.{first}", note_of_log)


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as why:
        raise click.ClickException(f"{path} cannot be written: {why.strerror}") from None


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """End on SIGTERM in order: the bots are ended, every answered hand is on disk."""

    def go(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, go)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
