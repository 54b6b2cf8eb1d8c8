"""A hand for programs that learn: chance and showdowns are answered, and a seat chooses by number.

Its numbers are some sizes of a bet and a bid, or every one of them. A size that is no other than a
smaller action's is left out of the mask, so no two numbers that may be chosen mean the same. Cards
are swapped by chance in every game here: no number is for that.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dealer.bots.built_in import best_announcement
from dealer.bots.seat_view import SeatHistories, SeatTurn, Seen, seat_view
from dealer.deck import Deck
from dealer.learning.observation import Numbers, observation
from engine.game import Game
from engine.hand import begin, step, turn
from engine.parameters import first
from engine.steps import Auction, DealHole, TossHole
from engine.turn import (
    Bid,
    Call,
    Check,
    Command,
    Fold,
    IllegalCommand,
    Over,
    Raise,
    Show,
    Straddle,
    ToAct,
    ToBid,
    ToDeal,
    ToDraw,
    ToShow,
    Toss,
    ToStraddle,
    ToSwap,
    ToToss,
)
from events.state import Hand
from events.types import Event

Sizes = Literal["some", "few", "exact"]
Mask = NDArray[np.bool_]

FOLD, STAY, FIRST = 0, 1, 2
RAISES = {"some": (Fraction(1, 2), Fraction(1), Fraction(2)), "few": (Fraction(1),)}
"""Of the pot as it is after a call: between the smallest raise and all that may be raised."""
BIDS = {"some": (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2)), "few": (Fraction(1),)}
"""Of the pot: between a bid of 0 and the largest."""


def player_names(seats: int) -> tuple[str, ...]:
    """The names of the players at a learner's table."""
    return tuple(f"seat_{seat}" for seat in range(seats))


def checked_seats(game: Game, seats: int) -> int:
    """Check a number of seats against the game, and return it."""
    if not game.seats_min <= seats <= game.seats_max:
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise IllegalCommand(f"{game.name} seats {allowed} players, not {seats}")
    return seats


class LearnersHand:
    """A hand from its blinds to its end, with the game's stacks; `asked` is None at the end."""

    def __init__(self, game: Game, seats: int, button: int, deck: Deck) -> None:
        self.game, self._deck = game, deck
        new, self.hand = begin(
            game, "learning/1", button, player_names(seats), (game.stack,) * seats
        )
        self.record: list[Event] = [*new]
        self._histories = SeatHistories(self.record)
        self.asked: SeatTurn | None = None
        self._walk()

    def take(self, command: Command) -> None:
        """Play a seat's answer, and all that follows up to the next seat's question."""
        self._add(command)
        self._walk()

    def seen(self, seat: int) -> Seen:
        """A seat's view now; a seat that is not asked gets no question and no bounds."""
        question = self.asked
        if question is None or question.seat != seat:
            question = ToShow(seat, may_muck=False)
        return seat_view(self.game, self.hand, question, self._histories.of(seat))

    @property
    def nets(self) -> tuple[int, ...]:
        """What each seat has won or lost of what it brought."""
        return nets(self.hand)

    def _walk(self) -> None:
        while True:
            match turn(self.game, self.hand):
                case (ToDeal() | ToSwap() | ToDraw()) as question:
                    self._add(self._deck.answer(question))
                case ToShow() as question:
                    self._add(best_show(self.game, self.hand, question))
                case Over():
                    self.asked = None
                    return
                case question:
                    self.asked = question
                    return

    def _add(self, command: Command) -> None:
        new, self.hand = step(self.game, self.hand, command)
        self.record += new


def best_show(game: Game, hand: Hand, question: ToShow) -> Command:
    """Show the hand, with the best five announced where the question asks it."""
    return (
        best_announcement(seat_view(game, hand, question, ()))
        if question.announce
        else Show(question.seat)
    )


def nets(hand: Hand) -> tuple[int, ...]:
    """What each seat has won or lost of what it brought."""
    pairs = zip(hand.stacks, hand.start.stacks, strict=True)
    return tuple(now - before for now, before in pairs)


class Actions(Struct, frozen=True):
    """The numbers of a game's answers, and what each of them means in a spot."""

    game: Game
    sizes: Sizes = "some"

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each action number; staying in posts a straddle."""
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


Policy = Callable[[Numbers, Mask], Any]
"""A row of numbers for each hand, and of what may be chosen; returns an action for each."""


def learned(policy: Policy, sizes: Sizes = "some") -> Callable[[Seen], Command]:
    """A bot for `play` that asks a policy, made for a `Batch`, about one hand at a time."""

    def choose(seen: Seen) -> Command:
        if isinstance(seen.asked, ToShow):
            return best_announcement(seen) if seen.asked.announce else Show(seen.seat)
        actions = Actions(seen.game, sizes)
        offered = actions.offered(seen)
        mask = np.zeros((1, len(actions.names)), np.bool_)
        mask[0, list(offered)] = True
        return offered[int(policy(observation(seen)[None], mask)[0])]

    return choose
