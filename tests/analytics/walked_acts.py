"""What the players of a hand did, in order, and whether each could have raised instead.

Forced and default actions move chips and are passed on, marked: they count in no tendency.

The engine is asked about every menu, over the hand as it was before each action.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from engine.game import Game
from engine.steps.sizing import veto
from events import types as t
from events.evolve import evolve
from events.state import Hand, opened
from store.log.streams import Leaf

Kind = Literal["fold", "check", "call", "bet", "raise"]
_STREET_BY_BOARD = {3: 1, 4: 2, 5: 3}


class Act(NamedTuple):
    """One action. `counts`: unless forced or default. `owed`: there was something to call.

    `asked` is false for a seat that folded instead of straddling: an action (U4), but outside
    every round of betting. `offered`: a bet or raise was on the menu; None where nobody has the
    rules. `all_in`: who had no more to say at that moment.
    """

    seat: int
    kind: Kind
    street: int
    counts: bool
    asked: bool
    owed: bool
    offered: bool | None
    all_in: tuple[int, ...]

    @property
    def raises(self) -> bool:
        """A bet or a raise."""
        return self.kind == "raise" or self.kind == "bet"


def story(leaf: Leaf, start: t.HandStarted, game: Game | None) -> list[Act]:
    """The hand read once."""
    hand = _Reading(leaf, start, game)
    for place, one in enumerate(leaf.recorded):
        read = _READ.get(type(one.event))
        if read is not None:
            hand.place = place
            read(hand, one.event)
    return hand.acts


def tossing(leaf: Leaf) -> bool:
    """Whether a card is tossed in this hand."""
    return any(
        isinstance(one.event, t.StepEntered) and one.event.name == "toss" for one in leaf.recorded
    )


class _Reading:
    """The counters of one hand; those of a round begin anew with the next cards of the board."""

    def __init__(self, leaf: Leaf, start: t.HandStarted, game: Game | None) -> None:
        self.leaf, self.game = leaf, game
        self.stacks = list(start.stacks)
        self.out: set[int] = set()  # folded, or timed out
        self.acts: list[Act] = []
        self.board = self.street = self.place = 0
        self.before: tuple[int, Hand] = (0, opened(start))
        self.begin()

    def begin(self) -> None:
        """A round of betting to come."""
        self.bets = [0] * len(self.stacks)
        self.bet = 0
        self.opened = False

    def pay(self, seat: int, amount: int) -> None:
        """A stake of this round."""
        self.stacks[seat] -= amount
        self.bets[seat] += amount

    def judged(self, seat: int) -> bool | None:
        """The engine, over the hand as it was before this action."""
        if self.game is None:
            return None
        place, hand = self.before
        for one in self.leaf.recorded[place + 1 : self.place]:
            hand = evolve(hand, one.event)  # type: ignore[arg-type]
        self.before = self.place - 1, hand
        now = hand.round
        return now is not None and veto(self.game, hand, now, seat) is None


def _act(kind: Kind) -> Callable[[_Reading, Any], None]:
    """Note the action with what it faced, then count it."""
    raises = kind in ("bet", "raise")

    def read(hand: _Reading, event: Any) -> None:
        seat = event.seat
        hand.acts.append(
            Act(
                seat,
                kind,
                hand.street,
                event.origin not in ("forced", "default"),
                hand.opened,
                hand.bet > hand.bets[seat],
                True if raises else hand.judged(seat) if hand.opened else False,
                tuple(one for one, stack in enumerate(hand.stacks) if not stack or one in hand.out),
            )
        )
        if kind == "fold":
            hand.out.add(seat)
        elif kind != "check":
            hand.pay(seat, event.amount)
        if raises:
            hand.bet = hand.bets[seat]

    return read


def _ante(hand: _Reading, event: t.AntePosted) -> None:
    hand.stacks[event.seat] -= event.amount


def _blind(hand: _Reading, event: t.BlindPosted) -> None:
    """A blind is a bet of the round to come; a dead one is nobody's stake (G6)."""
    if event.kind == "dead":
        hand.stacks[event.seat] -= event.amount
        return
    hand.pay(event.seat, event.amount)
    hand.bet = max(hand.bet, event.to)


def _step(hand: _Reading, event: t.StepEntered) -> None:
    """A round of betting is over; who folds before the next answers to none."""
    hand.opened = False


def _open(hand: _Reading, event: t.BettingOpened) -> None:
    hand.opened, hand.bet = True, event.bet


def _board(hand: _Reading, event: t.BoardDealt) -> None:
    """The next street, or several in a run-out; with a flop of two comes a card that is tossed."""
    hand.board += tossing(hand.leaf) and hand.board == 0
    for size, street in _STREET_BY_BOARD.items():
        if hand.board < size <= hand.board + len(event.cards):
            hand.street = street
    hand.board += len(event.cards)
    hand.begin()


def _settle(hand: _Reading, event: t.AuctionSettled) -> None:
    for seat in event.seats:
        hand.stacks[seat] -= event.price


def _take_back(hand: _Reading, event: t.UncalledReturned) -> None:
    hand.stacks[event.seat] += event.amount


def _time_out(hand: _Reading, event: t.TimedOut) -> None:
    if event.all_in:
        hand.out.add(event.seat)


_READ: dict[type, Callable[[_Reading, Any], None]] = {
    t.Folded: _act("fold"),
    t.Checked: _act("check"),
    t.Called: _act("call"),
    t.Bet: _act("bet"),
    t.Raised: _act("raise"),
    t.AntePosted: _ante,
    t.BlindPosted: _blind,
    t.StepEntered: _step,
    t.BettingOpened: _open,
    t.BoardDealt: _board,
    t.AuctionSettled: _settle,
    t.UncalledReturned: _take_back,
    t.TimedOut: _time_out,
}
