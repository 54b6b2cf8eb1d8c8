"""The missing matches of a league are played, several at once, and written by one writer.

A match is played in memory, and written in one call once its last hand is over: the ledger keeps
such a call whole or not at all, so a league that was killed has left no half match.
"""

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from api.playing.league import League, Pairing, Results, Unfit, match_name, pairing_of
from api.playing.names import tagged
from api.playing.over_the_wire import BotRecord, Meeting, ShowProgress
from api.playing.recording import WHOLE
from dealer.deck import SeededDecks, drawn_seed
from dealer.wire.match import MatchJob, Processes
from dealer.wire.program import Limits, Program
from dealer.wire.sandbox import Guard
from dealer.wire.words import plan
from engine.game import Game
from events.ledger import Append, Appended
from events.match import MatchEnded, MatchStarted
from store.ledger import FileLedger
from store.reader import Snapshot

STOP_S = 0.2  # so often it is looked whether somebody asked to stop


class Match(NamedTuple):
    """What came of a pairing."""

    pairing: Pairing
    name: str
    nets: dict[str, int]
    parts: tuple[BotRecord, ...]


class Matches:
    """The matches of a league as they are dealt: by whom, by which rules, from which seed.

    In a round all deal the same decks, so that a bot's results can be compared with another's.
    `hidden` from the bots is where the cards are or the seed is.
    """

    def __init__(
        self,
        league: League,
        game: Game,
        bots: Mapping[str, Program],
        seed: str,
        hidden: tuple[Path, ...],
    ) -> None:
        self._league, self._bots, self._seed, self._hidden = league, bots, seed, hidden
        self.rules = plan(game, "", ("", ""), league.hands, mirrored=league.mirror).game

    def meeting(self, pairing: Pairing) -> tuple[Meeting, MatchStarted]:
        """A match that could be played, and the record it begins with."""
        league, (one, two) = self._league, pairing.players
        name, players = match_name(league, pairing), pairing.players
        match = plan(self.rules, name, players, league.hands, mirrored=league.mirror)
        seed = f"{self._seed}/{pairing.round}"
        decks, guard = SeededDecks(seed, match.deals), Guard(self._hidden, seed=seed)
        both = self._bots[one], self._bots[two]
        tags = tagged({bot: league.tags(bot) for bot in players}, {bot: bot for bot in players})
        meeting = Meeting(MatchJob(match, both, Limits(clock=league.clock), decks, guard), tags)
        return meeting, meeting.announced(seed, league.disclosure)


def seed_of(league: League, snapshot: Snapshot) -> str:
    """What decides the decks of a league: as its file says, as its matches say, or drawn."""
    if league.seed is not None:
        return league.seed
    for _, start, _ in _recorded(league, snapshot):
        return (start.seed or "").rpartition("/")[0]
    return drawn_seed()


def results(league: League, snapshot: Snapshot, matches: Matches) -> Results:
    """What the ledger has of a league; a match that is not as the file says is refused."""
    played = {}
    for pairing, start, end in _recorded(league, snapshot):
        if matches.meeting(pairing)[1] != start:
            name = match_name(league, pairing)
            raise Unfit(f"{name} was played by other rules or from another seed than the file says")
        played[pairing] = dict(zip(start.players, end.nets, strict=True))
    return played


def _recorded(
    league: League, snapshot: Snapshot
) -> Iterator[tuple[Pairing, MatchStarted, MatchEnded]]:
    """Every match that the league has in the ledger, but those of bots that have left it."""
    for name in snapshot.matches():
        named, pairing = pairing_of(name) or ("", None)
        if pairing is None or named != league.name or not {*pairing.players} <= {*league.bots}:
            continue
        start, *_, end = (one.event for one in snapshot.read(name))
        if not (isinstance(start, MatchStarted) and isinstance(end, MatchEnded)):
            raise Unfit(f"{name} has no end in the ledger: the league cannot go on with it")
        yield pairing, start, end


def play(
    matches: Matches,
    todo: Sequence[Pairing],
    ledger: FileLedger,
    workers: int,
    stop: Callable[[], bool],
    watch: ShowProgress,
    note: Callable[[str], None],
) -> Generator[Match, None, None]:
    """Each match once it is durable, so many at once; after `stop` no other is begun, and those at
    work are played to their ends. A caller who leaves early ends them, and none is kept."""
    leaving = threading.Event()

    def to_its_end(pairing: Pairing) -> Match | None:
        meeting, start = matches.meeting(pairing)
        pending = _Pending()
        played = meeting.recorded(pending, start, note, leaving.is_set, watch, processes=processes)
        if played.reason != WHOLE:
            return None
        ledger.append(*pending.appends)
        nets = dict(zip(played.players, played.nets, strict=True))
        return Match(pairing, played.match, nets, meeting.parts())

    left, at_work = iter(todo), set[Future[Match | None]]()
    with Processes() as processes, ThreadPoolExecutor(workers) as pool:
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


class _Pending:
    """The appends of a match, until it is over and the ledger takes them in one call."""

    def __init__(self) -> None:
        self.appends: list[Append] = []

    def append(self, *appends: Append) -> tuple[Appended, ...]:
        self.appends += appends
        return ()

    def attest(self, match: str, first: int) -> bytes | None:
        """Nobody signs for what is not written."""
        return None
