"""What a bot will probably reply, tried while it thinks: the next question is then at hand.

A guess is only ever a matter of time. `Referee.after` says what a reply leads to, before it has
come as well as afterwards, and a guess that was wrong is dropped.
"""

from collections.abc import Iterator

from dealer.wire.player import Reply
from dealer.wire.spot import Referee, Spot

Habits = dict[tuple[str, str], str]
"""A bot's last reply to each kind of question: on this street, told clauses of these kinds."""


class Ahead:
    """One question and the replies to it that were tried; bots repeat themselves."""

    def __init__(self, referee: Referee, habits: Habits, spot: Spot) -> None:
        self._referee, self._habits, self._spot = referee, habits, spot
        self._kind: tuple[str, str] | None = None
        self._tried: dict[str, Spot] = {}

    def pieces(self) -> Iterator[None]:
        """One likely reply after the other, each a piece of work."""
        spot = self._spot
        self._kind = spot.hand.street, "".join(clause[:1] for clause in spot.line.split(" "))
        for text in (self._habits.get(self._kind), _usual(spot)):
            if text is not None and text not in self._tried:
                self._tried[text] = self._referee.after(spot, Reply(text))
                yield

    def after(self, reply: Reply | None) -> Spot:
        """What the reply leads to, if it was not foreseen found now."""
        if reply is None or reply.fault:
            return self._referee.after(self._spot, reply)
        if self._kind is not None:
            self._habits[self._kind] = reply.text
        return self._tried.get(reply.text) or self._referee.after(self._spot, reply)


def _usual(spot: Spot) -> str | None:
    """Whatever the cards: check, or call; of bids one is as likely as another."""
    now = spot.hand.round
    if now is None or spot.seat is None:
        return None
    return "C" if now.bet > now.bets[spot.seat] else "K"
