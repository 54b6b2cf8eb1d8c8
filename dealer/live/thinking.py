"""Built-in bots at a live table: they answer as ever, but not before they have thought."""

import random
from collections.abc import Callable

from dealer.bots import BOTS, Bot
from dealer.live.news import Answered, News, Question

Tell = Callable[[News, int], None]


class ThinkingBot:
    """A bot with a name, who thinks about `think_ms` for each answer: from half to twice that.

    It plays as it does in `dealer/play.py`: what it chooses depends on seed, hand and name alone.
    """

    def __init__(self, kind: str, player: str, seed: str, think_ms: int, tell: Tell) -> None:
        self._kind, self._player, self._seed = kind, player, seed
        self._think_ms, self._tell = think_ms, tell
        self._pace = random.Random(f"{seed}/{player}/pace")
        self._hand = ""
        self._bot: Bot | None = None

    def asked(self, question: Question) -> None:
        """The answer is told to the clock, for later."""
        hand = question.seen.hand
        if self._bot is None or hand != self._hand:
            number = hand.rpartition("/")[2]
            self._bot = BOTS[self._kind](f"{self._seed}/{number}/{self._player}")
            self._hand = hand
        answer = Answered(self._player, question.number, self._bot.choose(question.seen))
        self._tell(answer, self._pause())

    def committed(self, checkpoint: str) -> None:
        """A bot of ours believes its dealer."""

    def refused(self, sentence: str) -> None:
        """A bot of ours answers within its menu."""
        raise AssertionError(f"{self._player} was refused: {sentence}")

    def _pause(self) -> int:
        return self._think_ms * self._pace.randint(50, 200) // 100
