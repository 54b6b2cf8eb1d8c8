"""Play matches between our own bots into a ledger, here or in many processes at once.

At a live table every answer is durable before the next.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from api.playing.recording import (
    ALL_PLAYED,
    STOPPED,
    TOO_FEW,
    MatchResult,
    Recording,
    finished_hand,
    freeze_out_reason,
)
from dealer.bots.python_bots import BotFailed, BotMaker
from dealer.deck import CHAIN_HANDS, CommittedDecks, Committer, Decks, SecretChain, SeededDecks
from dealer.live.bots import NO_SCRIPT, ScriptedPlayer, TableScript, ThinkingBot, events_before
from dealer.live.clock import Joins, WallClock
from dealer.live.seats import free_chair
from dealer.live.table import LiveTable
from dealer.play import DealJob, Plan, deal_matches, finished_hands, last_standing, player_name
from engine.game import fingerprint, to_json
from engine.table import is_freeze_out
from events.ledger import DeckSecrets, Ledger
from events.match import Dealing, Disclosure, MatchStarted, Tagged
from events.state import Finished
from events.types import Events
from store.ledger import FileLedger

SEEDED_BOTS = "what the bots choose is what the seed says: everybody who knows it knows their bids"
SEEDED_DECKS = "the decks are those of a seed: everybody who knows the seed knows the cards"


class MatchTerms(Struct, frozen=True):
    """The terms of a match: how decks are made, who may see what later, and the players' tags."""

    dealing: Dealing
    disclosure: Disclosure
    tags: tuple[Tagged, ...] = ()


class OpenMatch:
    """A match on its way into the ledger: its recording and its decks; why it `ended` early, and in
    what its bot `failed`, if one did."""

    def __init__(self, ledger: Ledger, kept: DeckSecrets, plan: Plan, terms: MatchTerms) -> None:
        self.plan = plan
        self.ended: str | None = None
        self.failed: str | None = None
        self.recording = Recording(ledger, match_start(plan, terms), plan.game, terms.tags)
        self.decks: Decks = SeededDecks(plan.seed, plan.deals)
        if terms.dealing == "committed":
            decks = committed_decks(self.recording, kept, plan.hands)
            self.recording.opens = lambda number, over: decks.opened(number, over=over)
            self.decks = decks

    def job(self) -> DealJob:
        """The match for another process: all its decks are committed to before it begins."""
        if isinstance(self.decks, CommittedDecks):
            return DealJob(self.plan, self.decks.committed(self.plan.hands))
        return DealJob(self.plan, self.decks)

    def end(self) -> MatchResult:
        """End the recording of the match with its reason."""
        return self.recording.end(self._reason())

    def _reason(self) -> str:
        hand = self.recording.last
        if is_freeze_out(self.plan.game) and hand is not None and (winner := last_standing(hand)):
            return freeze_out_reason(winner)
        return ALL_PLAYED if self.recording.hands == self.plan.hands else self.ended or STOPPED


def committed_decks(recording: Recording, kept: DeckSecrets, hands: int) -> CommittedDecks:
    """Decks for a match that has just begun, to which the dealer is bound chain by chain.

    Neither bots of ours nor the wire protocol have nonces: the dealer draws them, docs/deals.md
    says so.
    """
    start = recording.start

    def nonces(commitment: str) -> Iterable[tuple[str, str | None]]:
        return ((player, None) for player in start.players)

    committer = Committer(start.match, kept, recording.publish, nonces)

    def attested(first: int, many: int) -> SecretChain:
        chain = committer.chain(first, many)
        recording.attest(first)
        return chain

    return CommittedDecks(start.match, attested, min(hands, CHAIN_HANDS), start.deals)


def match_start(plan: Plan, terms: MatchTerms) -> MatchStarted:
    """The record that a match begins with."""
    return MatchStarted(
        match=plan.match,
        game=plan.game.name,
        ruleset=fingerprint(plan.game),
        players=plan.players,
        dealing=terms.dealing,
        disclosure=terms.disclosure,
        sealed_bids=True,
        seed=plan.seed,
        deals=plan.deals,
    )


def begin_match(ledger: FileLedger, kept: DeckSecrets, plan: Plan, terms: MatchTerms) -> OpenMatch:
    """Begin a match durably, its ruleset first. `Conflict`: the name is taken."""
    ledger.keep_ruleset(fingerprint(plan.game), to_json(plan.game))
    return OpenMatch(ledger, kept, plan, terms)


def play_here(
    match: OpenMatch, stop: Callable[[], bool], makers: Sequence[BotMaker] = ()
) -> Iterator[Events]:
    """Play a match and yield each hand once it is durable; end before one in which a bot fails."""

    def until_failed() -> Iterator[Finished]:
        try:
            yield from finished_hands(match.plan, match.decks, makers=makers)
        except BotFailed as why:
            match.failed = str(why)

    return match.recording.keep(until_failed(), stop)


def play_in_processes(
    begin: Callable[[Plan], OpenMatch],
    plans: Sequence[Plan],
    processes: int,
    stop: Callable[[], bool],
) -> Iterator[tuple[int, MatchResult | None]]:
    """Play matches in other processes: yield how many hands became durable, and each result."""
    matches: dict[str, OpenMatch] = {}

    def jobs() -> Iterator[DealJob]:
        for plan in plans:
            matches[plan.match] = begin(plan)
            yield matches[plan.match].job()

    for batch in deal_matches(jobs(), processes, stop):
        match = matches[batch.match]
        match.recording.keep_all(batch.hands)
        yield len(batch.hands), match.end() if batch.over else None


def taken_match(ledger: Ledger, plans: Iterable[Plan]) -> str | None:
    """The first of these plans whose match name the ledger has already."""
    return next((plan.match for plan in plans if ledger.read(plan.match)), None)


Note = Callable[[str], None]


def play_live(
    match: OpenMatch,
    ledger: Ledger,
    think_ms: int,
    stop: Callable[[], bool],
    stage: TableScript = NO_SCRIPT,
    note: Note = lambda refusal: None,
) -> Iterator[Events]:
    """Play a match at a live table and yield each hand once its last answer is durable."""
    plan = match.plan
    played = _LiveMatch(match, ledger, think_ms, stage, note)
    match.recording.gives = lambda checkpoint: played.table.committed(checkpoint.decode())
    for chair, kind in enumerate(plan.bots):
        played.seat(kind, chair)
    while played.table.hands < plan.hands:
        if not played.prepared():
            match.ended = TOO_FEW
            break
        record = tuple(chain.from_iterable(played.table.hand()))
        match.recording.played(finished_hand(record))
        yield record
        if stop():
            break


class _LiveMatch:
    """A table, its clock, and the bots who sit there or come later."""

    def __init__(
        self, match: OpenMatch, ledger: Ledger, think_ms: int, stage: TableScript, note: Note
    ) -> None:
        plan, self._clock = match.plan, WallClock()
        self._plan, self._think_ms, self._stage, self._note = plan, think_ms, stage, note
        self.table = LiveTable(
            plan.game,
            plan.match,
            len(plan.bots),
            ledger,
            match.decks,
            self._clock,
            times=stage.times,
        )

    def seat(self, kind: str, chair: int) -> None:
        """A bot of this kind wants this chair, and brings as much as everybody."""
        plan, stage, tell = self._plan, self._stage, self._clock.send
        player = player_name(kind, chair)
        bot = ThinkingBot(kind, player, plan.seed, self._think_ms, tell)
        away_ms = (stage.times.silent + stage.times.countdown) // 2
        self.table.meet(
            player, ScriptedPlayer(player, bot, stage.happenings, away_ms, tell, self._note)
        )
        tell(Joins(player, chair, plan.game.stack))

    def prepared(self) -> bool:
        """Whether the next hand can begin, after all that is to happen before it."""
        number = self.table.hands + 1
        for event in events_before(self._stage.happenings, number):
            self._clock.send(event)
        for one in self._stage.happenings:
            if (one.what, one.hand) == ("joins", number):
                self.table.ready()  # who leaves has left his chair
                chair = free_chair(self.table.seats)
                if chair is None:
                    self._note(f"{one.player} may not join: no chair is free")
                else:
                    self.seat(one.player, chair)
        return self.table.ready()
