"""Record a match in a ledger: its start, its hands as they are played, its end."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from api.auditing.record import start_of
from engine.game import Game
from engine.table import Last, standing
from events.evolve import replay
from events.ledger import Append, Writable
from events.match import Dealing, DeckOpened, Disclosure, Match, MatchEnded, MatchStarted, Tagged
from events.state import Finished
from events.types import Events
from store.folder.disk import RealDisk, now_ms

if TYPE_CHECKING:
    from store.tables.projection import Projection

FLUSH_S = 0.08  # hands wait no longer than this for their commit: a hand takes a few milliseconds
FLUSH_HANDS = 1_000  # ... and no more than so many wait together
ALL_PLAYED = "every hand was played"
STOPPED = "interrupted"
TOO_FEW = "fewer than two were left to be dealt in"
CUT_SHORT = (STOPPED, TOO_FEW)  # why a match ended before it was decided


class MatchResult(Struct, frozen=True):
    """The result of a match; who won or leads, and the places, as an engine `Standing` has them."""

    match: str
    game: str
    ruleset: str
    players: tuple[str, ...]
    hands: int
    events: int
    nets: tuple[int, ...]
    reason: str
    winner: str | None
    leader: str | None
    draw: bool
    places: tuple[int, ...]


def freeze_out_reason(player: str) -> str:
    """The reason that a freeze-out ends with when a player has all chips."""
    return f"{player} has it all"


def result_in_words(
    winner: str | None, leader: str | None, draw: bool, places: Sequence[int] | None
) -> str:
    """The winner or the leader of a match in words; nothing before its first hand."""
    if places is None:
        return ""
    if winner is not None or draw:
        return f"{winner} won" if winner is not None else "a draw"
    return f"{leader} is ahead" if leader is not None else "nobody is ahead"


def match_summary(played: MatchResult, seed: str | None, dealing: Dealing) -> str:
    """The line of a match: scrim  swap-2022  1000 hands  21022 events  ann +15, bob -15  ann won
    seed 7"""
    made = [] if dealing == "seeded" else ["decks committed"]
    decided = ", ".join(made + ([] if seed is None else [f"seed {seed}"]))
    nets = zip(played.players, played.nets, strict=True)
    winnings = ", ".join(f"{player} {net:+d}" if net else f"{player} 0" for player, net in nets)
    counts = f"{played.hands} hand{'s' * (played.hands != 1)}  {played.events} events"
    result = [result_in_words(played.winner, played.leader, played.draw, played.places)]
    if played.winner is not None and len(played.players) > 2:
        order = sorted(zip(played.places, played.players, strict=True))
        result += [f"{place}. {player}" for place, player in order[1:]]
    return f"{played.match}  {played.game}  {counts}  {winnings}  {', '.join(result)}  {decided}"


DeckOpener = Callable[[int, bool], tuple[DeckOpened, ...]]
"""What opens the decks up to a hand; and whether it was the last."""


def seeded_start(match: str, first: Events, seed: str, disclosure: Disclosure) -> MatchStarted:
    """The record that a seeded match begins with; its players are those of its first hand."""
    start = start_of(first)
    return MatchStarted(
        match, start.game, start.ruleset, start.players, "seeded", disclosure, True, seed
    )


def finished_hand(record: Events) -> Finished:
    """A finished hand from its record, with the stacks that it leaves."""
    return Finished(record, replay(record).stacks)


class Recording:
    """A match being written: hands wait, are appended together and counted when durable.

    Decks are opened as the match's disclosure says: never, when it ends, or with every append.
    """

    def __init__(
        self, ledger: Writable, start: MatchStarted, game: Game, tags: tuple[Tagged, ...] = ()
    ) -> None:
        self._ledger = ledger
        self.start = start
        self._game = game
        self._nets = dict.fromkeys(start.players, 0)
        self._lasts: dict[str, Last] = {}
        self._records = 0
        self._events = 0
        self.hands = 0
        self.last: Finished | None = None
        self.opens: DeckOpener = lambda number, over: ()
        self.gives: Callable[[bytes], None] = lambda checkpoint: None
        self.publish((start, *tags))

    def publish(self, records: tuple[Match, ...]) -> None:
        """Match records, durable on return."""
        self._ledger.append(self._of_match(records))
        self._add_records(records)

    def attest(self, first: int) -> None:
        """Sign for the commitment to the decks from this hand on, and for the nonces.

        The players are given the checkpoint before the first card.
        """
        if checkpoint := self._ledger.attest(self.start.match, first):
            self.gives(checkpoint)

    def keep(self, hands: Iterable[Finished | None], stop: Callable[[], bool]) -> Iterator[Events]:
        """Each hand again once it is durable; after `stop` no other is begun.

        None among the hands says that the next one is not there yet: what waits is written
        at once instead of waiting for company.
        """
        waiting: list[tuple[int, Finished]] = []
        flushed = time.monotonic()
        for hand in hands:
            if hand is not None:
                waiting.append((now_ms(), hand))
            late = hand is None or time.monotonic() - flushed >= FLUSH_S
            if late or len(waiting) >= FLUSH_HANDS:
                yield from self._flush(waiting)
                waiting, flushed = [], time.monotonic()
            if stop():
                break
        yield from self._flush(waiting)

    def keep_all(self, hands: Sequence[Finished]) -> None:
        """Hands that were dealt elsewhere, durable on return."""
        now = now_ms()
        self._flush([(now, hand) for hand in hands])

    def played(self, hand: Finished) -> None:
        """A hand that is durable already, as a live one is: counted, and its deck opened."""
        self._count(hand)
        if self.start.disclosure == "open" and (opened := self.opens(self.hands, False)):
            self.publish(opened)

    def end(self, reason: str) -> MatchResult:
        """No more hands: what each player won or lost in all, and who has won."""
        players = self.start.players
        nets = tuple(self._nets[player] for player in players)
        decided = reason not in CUT_SHORT
        place = standing(self._game, players, nets, self._lasts, whole=decided)
        disclosed = self.start.disclosure != "sealed"
        opened = self.opens(self.hands, True) if disclosed else ()
        self.publish((*opened, MatchEnded(nets, reason)))
        return MatchResult(
            self.start.match,
            self.start.game,
            self.start.ruleset,
            players,
            self.hands,
            self._events,
            nets,
            reason,
            place.winner,
            place.leader,
            place.draw,
            place.places,
        )

    def _flush(self, waiting: list[tuple[int, Finished]]) -> tuple[Events, ...]:
        """Append all waiting hands in one call; nothing is counted before it is durable."""
        if not waiting:
            return ()
        appends = [Append(start_of(hand.record).hand, 0, hand.record, at) for at, hand in waiting]
        open_now = self.start.disclosure == "open"
        opened = self.opens(self.hands + len(waiting), False) if open_now else ()
        if opened:
            appends.append(self._of_match(opened))
        self._ledger.append(*appends)
        self._add_records(opened)
        for _, hand in waiting:
            self._count(hand)
        return tuple(hand.record for _, hand in waiting)

    def _of_match(self, records: tuple[Match, ...]) -> Append:
        return Append(self.start.match, self._records, records, now_ms())

    def _add_records(self, records: tuple[Match, ...]) -> None:
        self._records += len(records)
        self._events += len(records)

    def _count(self, hand: Finished) -> None:
        start = start_of(hand.record)
        self.hands += 1
        self._events += len(hand.record)
        self.last = hand
        for player, brought, left in zip(start.players, start.stacks, hand.stacks, strict=True):
            if player in self._nets:  # who joined later has no part in the match's own nets
                self._nets[player] += left - brought
                self._lasts[player] = Last(self.hands, brought, left)


# Rulesets of hands on their way in, by fingerprint: facts are made of such hands before the ledger
# keeps their texts.
INCOMING_RULESETS: dict[str, bytes] = {}


def ledger_projections(folder: Path) -> "tuple[Projection, ...]":
    """The projections that a ledger's writer fills: the store's own, and those that need rules. A
    ruleset's text is read when a hand names it."""
    from analytics.projections.facts import ruleset_projections
    from store.tables.projection import STANDARD

    return *STANDARD, *ruleset_projections(partial(_ruleset_text, folder))


def _ruleset_text(folder: Path, mark: str) -> bytes | None:
    from store.folder.manifest import ruleset

    return INCOMING_RULESETS.get(mark) or ruleset(RealDisk(folder), mark)
