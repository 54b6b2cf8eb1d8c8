"""Live matches between our own bots into a ledger: every answer is durable before the next."""

from collections.abc import Callable, Iterator
from itertools import chain

from api.playing import Playing
from dealer.live.news import Joins, Returns, TopsUp
from dealer.live.table import LiveTable
from dealer.live.thinking import ThinkingBot
from dealer.live.wall import WallClock
from events.ledger import Ledger
from events.types import Events


def live(
    match: Playing, ledger: Ledger, think_ms: int, stop: Callable[[], bool]
) -> Iterator[Events]:
    """Every hand of a match, once its last answer is durable; after `stop` no other is begun."""
    plan, clock = match.plan, WallClock()
    table = LiveTable(
        plan.game,
        plan.match,
        len(plan.bots),
        ledger,
        match.decks,
        clock,
        freeze_out=plan.freeze_out,
    )
    for chair, (kind, player) in enumerate(zip(plan.bots, plan.players, strict=True)):
        table.meet(player, ThinkingBot(kind, player, plan.seed, think_ms, clock.tell))
        clock.tell(Joins(player, chair, plan.game.stack))
    while table.hands < plan.hands and table.ready():
        record = tuple(chain.from_iterable(table.hand()))
        match.recording.played(record)
        yield record
        if stop():
            break
        _buy_in_again(table, clock, plan.game.stack)


def _buy_in_again(table: LiveTable, clock: WallClock, stack: int) -> None:
    """Who has lost all brings as much again, and waits for the big blind."""
    for away in table.room.away:
        clock.tell(TopsUp(away.player, stack))
        clock.tell(Returns(away.player))
