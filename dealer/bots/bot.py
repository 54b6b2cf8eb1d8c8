"""What a bot is, and the answers that built-in bots have in common."""

from abc import ABC, abstractmethod
from typing import Protocol

from dealer.bots.seen import Seen
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Fold,
    Raise,
    Show,
    Straddle,
    ToAct,
    ToBid,
    ToShow,
    ToStraddle,
)
from odds.rank import best_five


class Bot(Protocol):
    """A player that answers for a seat, from what that seat may see."""

    def choose(self, seen: Seen) -> Command: ...


class BuiltIn(ABC):
    """A bot of ours: how it bets is its own; it bids nothing, straddles, and shows its hand."""

    def choose(self, seen: Seen) -> Command:
        """The answer to what is asked."""
        match seen.asked:
            case ToAct() as asked:
                return self.act(seen, asked)
            case ToBid(seat=seat) as asked:
                return Bid(seat, self.bid(seen, asked))
            case ToShow() as asked:
                return self.show(seen, asked)
            case ToStraddle(seat=seat):
                return self.straddle(seat)

    @abstractmethod
    def act(self, seen: Seen, asked: ToAct) -> Command:
        """Fold, check, call or raise."""

    def bid(self, seen: Seen, asked: ToBid) -> int:
        """How much the card is worth to it."""
        return 0

    def show(self, seen: Seen, asked: ToShow) -> Command:
        """The hand, announced where that is asked."""
        return announced(seen) if asked.announce else Show(asked.seat)

    def straddle(self, seat: int) -> Command:
        """The straddle, or nothing at all."""
        return Straddle(seat)


def announced(seen: Seen) -> Announce:
    """The best five cards that the ruleset lets the seat name (U19)."""
    game = seen.game
    five = best_five(
        seen.hole,
        seen.board,
        straights=game.straights,
        ranking=game.ranking,
        hole_min=game.hole_min,
    )
    return Announce(seen.seat, five)


def stay(asked: ToAct) -> Command:
    """Check, or call what is owed."""
    return Check(asked.seat) if asked.check else Call(asked.seat)


def leave(asked: ToAct) -> Command:
    """Check if that is free, else fold."""
    return Check(asked.seat) if asked.check else Fold(asked.seat)


def raised(asked: ToAct, to: int) -> Command:
    """A raise as near to this as may be; who may not raise stays."""
    if asked.raise_min is None or asked.raise_max is None:
        return stay(asked)
    return Raise(asked.seat, min(max(to, asked.raise_min), asked.raise_max))


def pot_raise(seen: Seen, asked: ToAct, part: int, of: int) -> Command:
    """A raise by so much of the pot as it is after a call: 1, 2 is half of it."""
    return raised(asked, max(seen.bets) + (seen.pot + asked.call) * part // of)
