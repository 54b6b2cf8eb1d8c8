"""A match as it is written into a ledger: its start, its hands as they are played, its end."""

import time
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from events.evolve import replay
from events.ledger import Append, Ledger
from events.types import Disclosure, Events, HandStarted, MatchEnded, MatchStarted

FLUSH_S = 0.08  # hands wait no longer than this for their commit: a hand takes a few milliseconds
FLUSH_HANDS = 1_000  # ... and no more than so many wait together


class Played(Struct, frozen=True):
    """What a match came to."""

    match: str
    game: str
    ruleset: str
    players: tuple[str, ...]
    hands: int
    events: int
    nets: tuple[int, ...]
    reason: str


def announced(match: str, first: Events, seed: str, disclosure: Disclosure) -> MatchStarted:
    """The record that a seeded match begins with; its players are those of its first hand."""
    start = _start(first)
    return MatchStarted(
        match, start.game, start.ruleset, start.players, "seeded", disclosure, True, seed
    )


class Recording:
    """A match being written: hands are gathered, appended together and counted when durable."""

    def __init__(self, ledger: Ledger, start: MatchStarted) -> None:
        self._ledger = ledger
        self._start = start
        self._nets = dict.fromkeys(start.players, 0)
        self._events = 1
        self.hands = 0
        ledger.append(Append(start.match, 0, (start,), now_ms()))

    def keep(self, hands: Iterable[Events], stop: Callable[[], bool]) -> Iterator[Events]:
        """Each hand again once it is durable; after `stop` no other is begun."""
        gathered: list[tuple[int, Events]] = []
        flushed = time.monotonic()
        for hand in hands:
            gathered.append((now_ms(), hand))
            if time.monotonic() - flushed >= FLUSH_S or len(gathered) >= FLUSH_HANDS:
                yield from self._flush(gathered)
                gathered, flushed = [], time.monotonic()
            if stop():
                break
        yield from self._flush(gathered)

    def end(self, reason: str) -> Played:
        """No more hands: what each player won or lost in all."""
        nets = tuple(self._nets[player] for player in self._start.players)
        match = self._start.match
        self._ledger.append(Append(match, 1, (MatchEnded(nets, reason),), now_ms()))
        return Played(
            match,
            self._start.game,
            self._start.ruleset,
            self._start.players,
            self.hands,
            self._events + 1,
            nets,
            reason,
        )

    def _flush(self, gathered: list[tuple[int, Events]]) -> tuple[Events, ...]:
        """One call for all of them; nothing is counted before it is durable."""
        if not gathered:
            return ()
        self._ledger.append(*(Append(_start(hand).hand, 0, hand, at) for at, hand in gathered))
        for _, hand in gathered:
            self._count(hand)
        return tuple(hand for _, hand in gathered)

    def _count(self, record: Events) -> None:
        hand = replay(record)
        self.hands += 1
        self._events += len(record)
        for player, brought, left in zip(
            hand.start.players, hand.start.stacks, hand.stacks, strict=True
        ):
            self._nets[player] += left - brought


def now_ms() -> int:
    """The time of day, as the envelope keeps it."""
    return time.time_ns() // 1_000_000


def _start(hand: Events) -> HandStarted:
    start = hand[0]
    assert isinstance(start, HandStarted)
    return start
