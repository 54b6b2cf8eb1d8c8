"""Bots at a live table: they think, and a script makes them fall silent, drop out, come and go.

A real table has people for that. Here it is announced before, so that anybody can see a clock run
out, and what is written of it, without waiting for an accident.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from dealer.bots.built_in import BOTS, Bot
from dealer.live.clock import (
    SITE_TIMES,
    Answered,
    ConnectionBack,
    ConnectionLost,
    Leaves,
    LivePlayer,
    Question,
    Returns,
    SitsOut,
    TableEvent,
    TurnTimes,
)

Send = Callable[[TableEvent, int], None]


class ThinkingBot:
    """A bot with a name, who thinks about `think_ms` for each answer: from half to twice that.

    It plays as it does in `dealer/play.py`: what it chooses depends on seed, hand and name alone.
    """

    def __init__(self, kind: str, player: str, seed: str, think_ms: int, send: Send) -> None:
        self._kind, self._player, self._seed = kind, player, seed
        self._think_ms, self._send = think_ms, send
        self._pace = random.Random(f"{seed}/{player}/pace")
        self._hand = ""
        self._bot: Bot | None = None

    def asked(self, question: Question) -> None:
        """Send the answer to the clock, to arrive when the bot has thought."""
        hand = question.seen.hand
        if self._bot is None or hand != self._hand:
            number = hand.rpartition("/")[2]
            self._bot = BOTS[self._kind](f"{self._seed}/{number}/{self._player}")
            self._hand = hand
        answer = Answered(self._player, question.number, self._bot.choose(question.seen))
        self._send(answer, self._think_ms * self._pace.randint(50, 200) // 100)

    def committed(self, checkpoint: str) -> None:
        """A bot of ours believes its dealer."""

    def refused(self, sentence: str) -> None:
        """A bot of ours answers within its menu."""
        raise AssertionError(f"{self._player} was refused: {sentence}")


HappeningKind = Literal["silent", "lost", "back", "sits-out", "returns", "leaves", "joins"]


class ScriptedEvent(Struct, frozen=True):
    """One line of a script: what a player does before a hand or in it; `joins` names a bot."""

    what: HappeningKind
    player: str
    hand: int


class TableScript(Struct, frozen=True):
    """The turn times of a table, and the events that are scripted for its players."""

    times: TurnTimes = SITE_TIMES
    happenings: tuple[ScriptedEvent, ...] = ()


NO_SCRIPT = TableScript()


class ScriptedPlayer:
    """A player who by script is silent in some hands, and in some loses his connection when asked.

    If he is to be back in the same hand, he is so after `away_ms`, and is then asked again. What
    the table refuses is noted: a request, or an answer that came too late.
    """

    def __init__(
        self,
        player: str,
        who: LivePlayer,
        happenings: Iterable[ScriptedEvent],
        away_ms: int,
        send: Send,
        note: Callable[[str], None],
    ) -> None:
        self._player, self._who = player, who
        self._happens = {(one.what, one.hand) for one in happenings if one.player == player}
        self._away_ms, self._send, self._note = away_ms, send, note

    def asked(self, question: Question) -> None:
        number = int(question.seen.hand.rpartition("/")[2])
        if ("lost", number) in self._happens:
            self._happens.remove(("lost", number))
            self._send(ConnectionLost(self._player), 0)
            if ("back", number) in self._happens:
                self._send(ConnectionBack(self._player), self._away_ms)
        elif ("silent", number) not in self._happens:
            self._who.asked(question)

    def committed(self, checkpoint: str) -> None:
        self._who.committed(checkpoint)

    def refused(self, sentence: str) -> None:
        self._note(f"{self._player}: {sentence}")


def events_before(happenings: Iterable[ScriptedEvent], hand: int) -> Iterator[TableEvent]:
    """The scripted events before a hand, but for the return of a player who drops out in it."""
    coming = [event for event in happenings if event.hand == hand]
    lost = {ScriptedEvent("back", event.player, hand) for event in coming if event.what == "lost"}
    for event in coming:
        if event.what in _EVENTS and event not in lost:
            yield _EVENTS[event.what](event.player)


_EVENTS: dict[HappeningKind, type[ConnectionBack | SitsOut | Returns | Leaves]] = {
    "back": ConnectionBack,
    "sits-out": SitsOut,
    "returns": Returns,
    "leaves": Leaves,
}
