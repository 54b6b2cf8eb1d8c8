"""The answers of a seat as numbers: some sizes of a bet and a bid, or every one of them.

A size that is no other than a smaller action's is left out of the mask, so no two numbers that may
be chosen mean the same. Cards are swapped by chance in every game here: no number is for that.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dealer.bots.seen import Seen
from engine.game import Game
from engine.parameters import first
from engine.steps import Auction, DealHole, TossHole
from engine.turn import (
    Bid,
    Call,
    Check,
    Command,
    Fold,
    Raise,
    Straddle,
    ToAct,
    ToBid,
    Toss,
    ToStraddle,
    ToToss,
)

Sizes = Literal["some", "few", "exact"]
Mask = NDArray[np.bool_]

FOLD, STAY, FIRST = 0, 1, 2
RAISES = {"some": (Fraction(1, 2), Fraction(1), Fraction(2)), "few": (Fraction(1),)}
"""Of the pot as it is after a call: between the smallest raise and all that may be raised."""
BIDS = {"some": (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2)), "few": (Fraction(1),)}
"""Of the pot: between a bid of 0 and the largest."""


class Actions(Struct, frozen=True):
    """The numbers of a game's answers, and what each of them means in a spot."""

    game: Game
    sizes: Sizes = "some"

    @property
    def names(self) -> tuple[str, ...]:
        """What each number means: a straddle is posted by staying in."""
        bids = any(isinstance(step, Auction) for step in self.game.script)
        if self.sizes == "exact":
            raises = (f"raise to {to}" for to in range(1, self.game.stack + 1))
            exact = (f"bid {amount}" for amount in range(self.game.stack + 1))
            return ("fold", "check or call", *raises, *(exact if bids else ()), *self._tosses)
        middle = (f"raise {part} of the pot" for part in RAISES[self.sizes])
        parts = (f"bid {part} of the pot" for part in BIDS[self.sizes])
        some = ("raise as little as may be", *middle, "raise as much as may be")
        bidding = ("bid 0", *parts, "bid all") if bids else ()
        return ("fold", "check or call", *some, *bidding, *self._tosses)

    @property
    def _tosses(self) -> tuple[str, ...]:
        """The last numbers of a game that tosses a card: which of those that were dealt."""
        dealt = first(self.game, DealHole)
        if dealt is None or first(self.game, TossHole) is None:
            return ()
        return tuple(f"toss card {slot}" for slot in range(1, dealt.count + 1))

    def offered(self, seen: Seen) -> dict[int, Command]:
        """The numbers that may be chosen now, and the answer that each of them is."""
        seat = seen.seat
        match seen.asked:
            case ToAct() as question:
                offered: dict[int, Command] = {FOLD: Fold(seat)} if question.fold else {}
                offered[STAY] = Check(seat) if question.check else Call(seat)
                offered |= {number: Raise(seat, to) for number, to in self._raises(seen, question)}
                return offered
            case ToBid() as question:
                return {number: Bid(seat, amount) for number, amount in self._bids(seen, question)}
            case ToToss(slots=slots):
                last = len(self.names) - slots
                return {last + slot: Toss(seat, slot) for slot in range(slots)}
            case ToStraddle():
                return {FOLD: Fold(seat), STAY: Straddle(seat)}
        raise AssertionError("hands are shown without a question")

    def _raises(self, seen: Seen, question: ToAct) -> Iterator[tuple[int, int]]:
        low, high = question.raise_min, question.raise_max
        if low is None or high is None:
            return
        if self.sizes == "exact":
            yield from ((FIRST + to - 1, to) for to in range(low, high + 1))
            return
        after = seen.pot + question.call
        middle = (max(seen.bets) + int(part * after) for part in RAISES[self.sizes])
        yield from _amounts(FIRST, low, tuple(middle), high)

    def _bids(self, seen: Seen, question: ToBid) -> Iterator[tuple[int, int]]:
        if self.sizes == "exact":
            first = FIRST + self.game.stack
            yield from ((first + amount, amount) for amount in range(question.bid_max + 1))
            return
        middle = tuple(int(part * seen.pot) for part in BIDS[self.sizes])
        yield from _amounts(FIRST + len(RAISES[self.sizes]) + 2, 0, middle, question.bid_max)


def _amounts(first: int, low: int, middle: tuple[int, ...], high: int) -> Iterator[tuple[int, int]]:
    """The smallest amount, the largest, and those in between that are more than the one before."""
    yield first, low
    last = low
    for number, amount in enumerate(middle, first + 1):
        if last < amount < high:
            yield number, amount
            last = amount
    if high > low:
        yield first + len(middle) + 1, high
