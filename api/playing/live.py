"""Live matches between our own bots into a ledger: every answer is durable before the next."""

from collections.abc import Callable, Iterator
from itertools import chain

from api.playing.matches import Playing
from api.playing.recording import TOO_FEW, finished
from dealer.live.bots import (
    STAGE,
    Stage,
    Staged,
    ThinkingBot,
    before,
    free_chair,
)
from dealer.live.clock import WallClock
from dealer.live.events import Joins
from dealer.live.table import LiveTable
from dealer.play import player_name
from events.ledger import Ledger
from events.types import Events

Note = Callable[[str], None]


def _nobody(sentence: str) -> None:
    """Drop what the table refuses."""


def live(
    match: Playing,
    ledger: Ledger,
    think_ms: int,
    stop: Callable[[], bool],
    stage: Stage = STAGE,
    note: Note = _nobody,
) -> Iterator[Events]:
    """Every hand of a match, once its last answer is durable; after `stop` no other is begun."""
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
        match.recording.played(finished(record))
        yield record
        if stop():
            break


class _LiveMatch:
    """A table, its clock, and the bots who sit there or come later."""

    def __init__(
        self, match: Playing, ledger: Ledger, think_ms: int, stage: Stage, note: Note
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
        self.table.meet(player, Staged(player, bot, stage.happenings, away_ms, tell, self._note))
        tell(Joins(player, chair, plan.game.stack))

    def prepared(self) -> bool:
        """Whether the next hand can begin, after all that is to happen before it."""
        number = self.table.hands + 1
        for event in before(self._stage.happenings, number):
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
