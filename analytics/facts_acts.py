"""What the players of a hand did, in order, and whether each could have raised instead.

Forced and default actions move chips and are passed on, marked: they count in no tendency.

The engine is the authority on menus, and folding a hand for it is what costs. So the hand is read
once with plain counters, and where nothing at all stands against a raise (chips left, somebody to
answer, no short raise in the round, no cap near) the engine is not asked; a test asks it always.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from engine.game import Game
from engine.steps.sizing import veto
from events import types as t
from events.evolve import evolve
from events.state import Hand, opened
from store.leaf import Leaf

Kind = Literal["fold", "check", "call", "bet", "raise"]
Row: TypeAlias = dict[str, bool | int | str | None]
STREETS = ("preflop", "flop", "turn", "river")
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


class Story(NamedTuple):
    """A hand as far as facts need it: the actions, and who was still in when a street came."""

    acts: list[Act]
    saw: dict[int, frozenset[int]]


def chance(row: Row, name: str, offered: bool | None, done: bool) -> None:
    """An opportunity that the menu offered: it was taken, or it was not (yet)."""
    if offered:
        row[name] = bool(row.get(name)) or done


def story(leaf: Leaf, start: t.HandStarted, game: Game | None, *, sure: bool = False) -> Story:
    """The hand read once; `sure` asks the engine about every menu."""
    hand = _Reading(leaf, start, game, sure)
    for place, one in enumerate(leaf.recorded):
        read = _READ.get(type(one.event))
        if read is not None:
            hand.place = place
            read(hand, one.event)
    return Story(hand.acts, hand.saw)


class _Reading:
    """The counters of one hand; those of a round begin anew with the next cards of the board."""

    def __init__(self, leaf: Leaf, start: t.HandStarted, game: Game | None, sure: bool) -> None:
        self.leaf, self.game = leaf, game
        self.free = -1 if sure else _free(game)
        self.stacks = list(start.stacks)
        self.out: set[int] = set()  # folded, or timed out
        self.folded: set[int] = set()
        self.acts: list[Act] = []
        self.saw: dict[int, frozenset[int]] = {}
        self.board = self.street = self.place = 0
        self.before: tuple[int, Hand] = (0, opened(start))
        self.begin()

    def begin(self) -> None:
        """A round of betting to come."""
        self.bets = [0] * len(self.stacks)
        self.bet = self.raised = 0
        self.opened, self.full = False, True
        self.acted: set[int] = set()

    def pay(self, seat: int, amount: int) -> None:
        """A stake of this round."""
        self.stacks[seat] -= amount
        self.bets[seat] += amount

    def offered(self, seat: int) -> bool | None:
        """Whether nothing stands against a raise, or else what the engine says."""
        bet, bets, stacks = self.bet, self.bets, self.stacks
        plain = self.raised < self.free and (self.full or seat not in self.acted)
        if plain and stacks[seat] > bet - bets[seat]:
            for other, stack in enumerate(stacks):
                could = stack and bets[other] + stack > bet
                if could and other != seat and other not in self.out:
                    return True
        return self.judged(seat)

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


def _free(game: Game | None) -> int:
    """How many raises of a round are surely below every cap; none where any is."""
    if game is None or game.short_raise == "forbidden" or not game.check_raise:
        return -1
    return 1_000 if game.raise_cap is None else game.raise_cap - 1


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
                True if raises else hand.offered(seat) if hand.opened else False,
                tuple(one for one, stack in enumerate(hand.stacks) if not stack or one in hand.out),
            )
        )
        hand.acted.add(seat)
        if kind == "fold":
            hand.folded.add(seat)
            hand.out.add(seat)
        elif kind != "check":
            hand.pay(seat, event.amount)
        if raises:
            hand.bet = hand.bets[seat]
            hand.raised += 1
            hand.full = hand.full and event.full

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


def _open(hand: _Reading, event: t.BettingOpened) -> None:
    hand.opened, hand.bet = True, event.bet


def _board(hand: _Reading, event: t.BoardDealt) -> None:
    """The next street, or several in a run-out: who has not folded sees them all."""
    still = frozenset(range(len(hand.stacks))) - hand.folded
    for size, street in _STREET_BY_BOARD.items():
        if hand.board < size <= hand.board + len(event.cards):
            hand.saw[street] = still
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
    t.BettingOpened: _open,
    t.BoardDealt: _board,
    t.AuctionSettled: _settle,
    t.UncalledReturned: _take_back,
    t.TimedOut: _time_out,
}
