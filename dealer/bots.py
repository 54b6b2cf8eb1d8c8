"""Players made of a few lines: they see a turn and answer it legally."""

import random
from typing import Protocol

from engine.game import Game
from engine.ranking import best_cards
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Fold,
    Muck,
    Raise,
    Show,
    Straddle,
    ToAct,
    ToBid,
    ToShow,
    ToStraddle,
)
from events.state import Hand

Asked = ToAct | ToBid | ToShow | ToStraddle


class Bot(Protocol):
    """Whoever answers a turn that is not chance's."""

    def answer(self, turn: Asked, game: Game, hand: Hand) -> Command: ...


class RandomBot:
    """Chooses among everything that is offered; folds seldom, bids and bets of every size."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def answer(self, turn: Asked, game: Game, hand: Hand) -> Command:
        match turn:
            case ToAct():
                return self._act(turn)
            case ToBid(seat=seat, bid_max=top):
                return Bid(seat, self._size(0, top))
            case ToShow(seat=seat, may_muck=True) if self._random.random() < 0.4:
                return Muck(seat)
            case ToShow(seat=seat, announce=True):
                return Announce(seat, best_cards(game, hand, seat))
            case ToShow(seat=seat):
                return Show(seat)
            case ToStraddle(seat=seat):
                return Fold(seat) if self._random.random() < 0.1 else Straddle(seat)

    def _act(self, turn: ToAct) -> Command:
        roll = self._random.random()
        if roll < 0.12 and turn.fold:
            return Fold(turn.seat)
        if roll > 0.7 and turn.raise_min is not None and turn.raise_max is not None:
            return Raise(turn.seat, self._size(turn.raise_min, turn.raise_max))
        return Check(turn.seat) if turn.check else Call(turn.seat)

    def _size(self, low: int, high: int) -> int:
        """Mostly small, sometimes everything: half of the range is halved again and again."""
        if self._random.random() < 0.06:
            return high
        while high > low and self._random.random() < 0.7:
            high = low + (high - low) // 2
        return self._random.randint(low, high)
