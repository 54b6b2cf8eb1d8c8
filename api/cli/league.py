"""`muckrake league run|add`: play the missing matches of a league on all cores.

A match is played in memory, and written in one call once its last hand is over: the ledger keeps
such a call whole or not at all, so a league that was killed has left no half match.
"""

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from api.cli.ledger import json_option, ledger_errors, ledger_option, witness_option, writing
from api.cli.options import quiet_option, rules_of, tag_records, tags_option
from api.cli.output import (
    INTERRUPTED,
    errors_as,
    exit_on_sigterm,
    note,
    print_json,
    print_table,
    progress_bar,
    stop_flag,
)
from api.playing.league import (
    InvalidLeague,
    League,
    Pairing,
    Results,
    bot_programs,
    check_bot,
    match_name,
    matches_left,
    pairing_of,
    playable_pairings,
    read_league,
    standings,
    text_with_bot,
)
from api.playing.names import claim_names, tagged_records
from api.playing.recording import ALL_PLAYED
from api.playing.wire_match import BotMatch, BotRecord, ShowProgress
from dealer.deck import SeededDecks, random_seed
from dealer.wire.match import MatchJob, MatchProcesses
from dealer.wire.program import BotProgram, Limits, NoBotFolder
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import Isolation
from dealer.worker import WorkerGone
from engine.game import Game, fingerprint, to_json
from events.ledger import Append, Appended, Conflict
from events.match import MatchEnded, MatchStarted
from events.types import Events
from store.ledger import FileLedger
from store.proof.ledger_secrets import SecretFolder
from store.reader import Reader, Snapshot

STOP_S = 0.2  # so often it is looked whether somebody asked to stop


class PlayedPairing(NamedTuple):
    """The played match of a pairing."""

    pairing: Pairing
    name: str
    nets: dict[str, int]
    parts: tuple[BotRecord, ...]


class LeagueMatchBuilder:
    """Builds the matches of a league from its bots, ruleset and seed.

    In a round all deal the same decks, so that a bot's results can be compared with another's.
    `hidden` from the bots is where the cards are or the seed is.
    """

    def __init__(
        self,
        league: League,
        game: Game,
        bots: Mapping[str, BotProgram],
        seed: str,
        hidden: tuple[Path, ...],
    ) -> None:
        self._league, self._bots, self._seed, self._hidden = league, bots, seed, hidden
        self.rules = wire_plan(game, "", ("", ""), league.hands, mirrored=league.mirror).game

    def match_of(self, pairing: Pairing) -> tuple[BotMatch, MatchStarted]:
        """The match of a pairing, ready to be played, and its first record."""
        league, (one, two) = self._league, pairing.players
        name, players = match_name(league, pairing), pairing.players
        match = wire_plan(self.rules, name, players, league.hands, mirrored=league.mirror)
        seed = f"{self._seed}/{pairing.round}"
        decks, guard = SeededDecks(seed, match.deals), Isolation(self._hidden, seed=seed)
        both = self._bots[one], self._bots[two]
        tags = tagged_records(
            {bot: league.tags(bot) for bot in players}, {bot: bot for bot in players}
        )
        bot_match = BotMatch(MatchJob(match, both, Limits(clock=league.clock), decks, guard), tags)
        return bot_match, bot_match.match_start(seed, league.disclosure)


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
    _play_missing(file, _read_league(file), workers, folder, as_document)


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
    _read_league(file)
    values = {one.tag: one.value for one in tag_records(tags, {name: name})}
    try:
        check_bot(name, bot)
        place = os.path.relpath(bot.resolve(), file.resolve().parent)
        league = text_with_bot(file.read_text("utf-8"), name, place, values)
    except InvalidLeague as why:
        raise click.ClickException(f"{file}: {why}") from None
    with ledger_errors():
        new = file.with_name(f"{file.name}.new")
        new.write_text(league, "utf-8")
        new.replace(file)
    _play_missing(file, _read_league(file), workers, folder, as_document)


def _read_league(file: Path) -> League:
    with errors_as(click.ClickException, InvalidLeague):
        return read_league(file)


def _play_missing(
    file: Path, played: League, workers: int | None, folder: Path, as_document: bool
) -> None:
    """Play the missing matches, and print the standing that they lead to."""
    game = rules_of(played.game, None, tuple(f"{it}={value}" for it, value in played.set.items()))
    new: list[PlayedPairing] = []
    with errors_as(
        click.ClickException, InvalidLeague, NoBotFolder, WorkerGone, Conflict, ValueError
    ):
        bots = bot_programs(played, file.parent)
        with exit_on_sigterm(), writing(folder, f"league {played.name}") as ledger:
            snapshot = Reader(folder).snapshot()
            hidden = (folder,) if played.seed is None else (folder, file)
            matches = LeagueMatchBuilder(played, game, bots, league_seed(played, snapshot), hidden)
            nets = dict(league_results(played, snapshot, matches))
            claim_names(SecretFolder(folder), bots, given=bots)
            ledger.keep_ruleset(fingerprint(matches.rules), to_json(matches.rules))
            total = matches_left(played, nets)
            for match in _missing_matches(played, matches, ledger, nets, workers or played.workers):
                nets[match.pairing] = match.nets
                new.append(match)
                won = ", ".join(f"{bot} {chips:+,}" for bot, chips in match.nets.items())
                note(f"{match.name}: {won} ({len(new)} of {total})")
    rows = standings(played.bots, nets)
    if as_document:
        print_json(
            f"muckrake.league-{click.get_current_context().info_name}/1",
            league=played.name,
            missing=matches_left(played, nets),
            played=[msgspec.to_builtins({"match": one.name, "nets": one.nets}) for one in new],
            standing=msgspec.to_builtins(rows),
        )
    else:
        print_table(
            ["", "bot", "matches", "won", "drawn", "lost", "chips"],
            (
                [
                    *map(str, (place, row.bot, row.matches, row.won, row.drawn, row.lost)),
                    f"{row.chips:+,}",
                ]
                for place, row in enumerate(rows, 1)
            ),
        )
    if playable_pairings(played, nets):
        raise click.exceptions.Exit(INTERRUPTED)
    parts = (part for one in new for part in one.parts)
    if failed := sorted({f"{part.player} ({part.failed})" for part in parts if part.failed}):
        raise click.ClickException(f"failed: {', '.join(failed)}: what was played for it is kept")


def league_seed(league: League, snapshot: Snapshot) -> str:
    """The seed of the decks of a league: from its file, from its recorded matches, or random."""
    if league.seed is not None:
        return league.seed
    for _, start, _ in _recorded_matches(league, snapshot):
        return (start.seed or "").rpartition("/")[0]
    return random_seed()


def league_results(league: League, snapshot: Snapshot, matches: LeagueMatchBuilder) -> Results:
    """The results of a league in the ledger; a match that differs from its file is refused."""
    played = {}
    for pairing, start, end in _recorded_matches(league, snapshot):
        if matches.match_of(pairing)[1] != start:
            name = match_name(league, pairing)
            raise InvalidLeague(
                f"{name} was played by other rules or from another seed than the file says"
            )
        played[pairing] = dict(zip(start.players, end.nets, strict=True))
    return played


def _recorded_matches(
    league: League, snapshot: Snapshot
) -> Iterator[tuple[Pairing, MatchStarted, MatchEnded]]:
    """The matches of the league in the ledger, without those of bots that have left it."""
    for name in snapshot.matches():
        named, pairing = pairing_of(name) or ("", None)
        if pairing is None or named != league.name or not {*pairing.players} <= {*league.bots}:
            continue
        start, *_, end = (one.event for one in snapshot.read(name))
        if not (isinstance(start, MatchStarted) and isinstance(end, MatchEnded)):
            raise InvalidLeague(f"{name} has no end in the ledger: the league cannot go on with it")
        yield pairing, start, end


def _missing_matches(
    played: League,
    matches: LeagueMatchBuilder,
    ledger: FileLedger,
    results: Results,
    workers: int | None,
) -> Iterator[PlayedPairing]:
    """Play the missing matches; Ctrl-C lets running ones end, a second Ctrl-C ends them."""
    hands, once = matches_left(played, results) * played.hands, set[str]()

    def warn(sentence: str) -> None:
        """Every match says the same of a bot."""
        if sentence not in once:
            once.add(sentence)
            note(sentence)

    with stop_flag() as stop, progress_bar(f"playing {played.name}", hands) as done:

        def watch(durable: Iterable[Events]) -> Iterator[Events]:
            for record in durable:
                done(1)
                yield record

        at_once = workers or os.cpu_count() or 1
        while not stop() and (todo := playable_pairings(played, results)):
            with closing(play_matches(matches, todo, ledger, at_once, stop, watch, warn)) as every:
                yield from every


def play_matches(
    matches: LeagueMatchBuilder,
    todo: Sequence[Pairing],
    ledger: FileLedger,
    workers: int,
    stop: Callable[[], bool],
    watch: ShowProgress,
    note: Callable[[str], None],
) -> Generator[PlayedPairing, None, None]:
    """Each match once it is durable, so many at once; after `stop` no other is begun, and those at
    work are played to their ends. A caller who leaves early ends them, and none is kept."""
    leaving = threading.Event()

    def to_its_end(pairing: Pairing) -> PlayedPairing | None:
        bot_match, start = matches.match_of(pairing)
        pending = _BufferedAppends()
        played = bot_match.record(pending, start, note, leaving.is_set, watch, processes=processes)
        if played.reason != ALL_PLAYED:
            return None
        ledger.append(*pending.appends)
        nets = dict(zip(played.players, played.nets, strict=True))
        return PlayedPairing(pairing, played.match, nets, bot_match.parts())

    left, at_work = iter(todo), set[Future[PlayedPairing | None]]()
    with MatchProcesses() as processes, ThreadPoolExecutor(workers) as pool:
        try:
            while True:
                if not stop():
                    free = workers - len(at_work)
                    at_work |= {pool.submit(to_its_end, pairing) for pairing in islice(left, free)}
                if not at_work:
                    return
                if len(at_work) < workers and not stop():  # none is left: a processor has time
                    ledger.seal_if_worth()
                done, at_work = wait(at_work, STOP_S, FIRST_COMPLETED)
                yield from (match for job in done if (match := job.result()) is not None)
        finally:
            leaving.set()


class _BufferedAppends:
    """Buffers the appends of a match until it is over, for one append to the ledger."""

    def __init__(self) -> None:
        self.appends: list[Append] = []

    def append(self, *appends: Append) -> tuple[Appended, ...]:
        self.appends += appends
        return ()

    def attest(self, match: str, first: int) -> bytes | None:
        """Sign nothing, for nothing is written yet."""
        return None
