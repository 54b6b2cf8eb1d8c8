"""One hand played by two engines at once: same cards, same answers, and every menu compared.

Ours asks first; where the peer asks another seat, or offers other amounts, the difference must be
a known kind, recognised by the narrowest test that fits it, or it is an `Unexplained` failure that
prints the hand in notation. After a known difference the play goes on with what both allow.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from random import Random
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from engine.game import Game
from engine.hand import begin, step, turn
from engine.settle import awards
from engine.turn import Call, Check, Command, Deal, Fold, Over, Raise, ToAct, ToDeal
from events.evolve import replay
from events.notation import say_all
from events.state import Hand, opened
from events.types import (
    Bet,
    BettingOpened,
    BlindPosted,
    Event,
    HandEnded,
    PotSplit,
    Raised,
    RakeTaken,
)
from tests.differential.tables import Table

FOLD, PASS = -1, 0  # any other move is the total of a bet or raise
NAMES = ("ann", "ben", "cat", "dan", "eve", "fox", "gus", "hal", "ivy")


class Menu(NamedTuple):
    """What the seat to act may do; `call` is what it costs to stay, `low`..`high` a raise to."""

    seat: int
    fold: bool
    check: bool
    call: int
    low: int | None
    high: int | None

    def __str__(self) -> str:
        raising = "no raise" if self.low is None else f"raise to {self.low}..{self.high}"
        fold = "fold, " if self.fold else ""
        stay = "check" if self.check else f"call {self.call}"
        return f"seat {self.seat}: {fold}{stay}, {raising}"


class Rules(NamedTuple):
    """Our ruleset with a peer's habits, and the same with each single habit taken back."""

    game: Game
    without: tuple[tuple[str, Game], ...]

    @classmethod
    def of(cls, game: Game, ours: Game, habits: Iterable[str]) -> "Rules":
        """Every habit is a policy by name, so it can be taken back alone."""
        return cls(
            game,
            tuple(
                (f"{name}={getattr(game, name)}", replace(game, **{name: getattr(ours, name)}))
                for name in habits
            ),
        )


class Peer(Protocol):
    """Another engine at the same table, with hole cards dealt."""

    def menu(self) -> Menu | None: ...
    def stacks(self) -> tuple[int, ...]: ...
    def act(self, move: int) -> None: ...
    def deal(self, cards: tuple[str, ...]) -> None: ...
    def finals(self) -> tuple[Fraction, ...]: ...


class Spot(NamedTuple):
    """A decision at which the two engines differ; no menu where an engine asks nobody."""

    game: Game
    hand: Hand
    record: tuple[Event, ...]
    ours: Menu | None
    theirs: Menu | None


class Kind(NamedTuple):
    """A known difference of menus: its name in docs/differences.md, and how to recognise it."""

    name: str
    explains: Callable[[Spot], bool]


class Unexplained(AssertionError):
    """A disagreement that no named policy and no known kind accounts for."""


class Tally:
    """What was compared, how often each policy mattered, and how often each kind was met."""

    def __init__(self) -> None:
        self.hands = 0
        self.decisions = 0
        self.policies: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    def __str__(self) -> str:
        counts = (*sorted(self.policies.items()), *sorted(self.kinds.items()))
        lines = "".join(f"\n  {count:7,} {name}" for name, count in counts)
        return f"{self.hands:,} hands, {self.decisions:,} decisions{lines}"


class Lockstep:
    """A hand in both engines; our amounts are `scale` times the peer's, to make splits exact."""

    def __init__(
        self, rules: Rules, table: Table, peer: Peer, kinds: tuple[Kind, ...], scale: int = 1
    ) -> None:
        self.rules, self.game, self.table, self.peer = rules, rules.game, table, peer
        self.kinds, self.scale = kinds, scale
        stacks = tuple(stack * scale for stack in table.stacks)
        seats = len(stacks)
        events, self.hand = begin(self.game, "lockstep/1", seats - 1, NAMES[:seats], stacks)
        self.record: list[Event] = list(events)

    def play(self, chances: Random, tally: Tally) -> None:
        """To the last chip."""
        self._deal_holes()
        while not isinstance(asked := turn(self.game, self.hand), Over):
            if isinstance(asked, ToAct):
                self._decision(asked, chances, tally)
            else:
                self._peer_is_idle(tally)
                assert isinstance(asked, ToDeal)
                self._deal_board(asked)
        self._peer_is_idle(tally)
        self._same_stacks()
        self._count_policies(tally)

    def _deal_holes(self) -> None:
        """Every seat's cards, in whichever order they are asked for."""
        left = [list(cards) for cards in self.table.holes]
        while isinstance(asked := turn(self.game, self.hand), ToDeal) and asked.kind == "hole":
            self._step(Deal(tuple(left[seat].pop(0) for seat in asked.to)))

    def _deal_board(self, asked: ToDeal) -> None:
        at = len(self.hand.board)
        cards = self.table.board[at : at + asked.count]
        self._step(Deal(cards))
        self.peer.deal(cards)

    def _decision(self, asked: ToAct, chances: Random, tally: Tally) -> None:
        """Compare what is offered, then answer both alike."""
        ours, theirs = self._ours(asked), self.peer.menu()
        tally.decisions += 1
        for name, other in self.rules.without:
            tally.policies[name] += turn(other, self.hand) != asked
        if ours != theirs:
            self._explain(ours, theirs, tally)
        if theirs is None or theirs.seat != ours.seat:
            raise self._unexplained("only one engine asks this seat", ours, theirs)
        self._same_chips(ours, theirs)
        move = choose(shared(ours, theirs), self._behind(ours.seat), self.table.big, chances)
        self._step(self._command(asked, move))
        self.peer.act(move)

    def _peer_is_idle(self, tally: Tally) -> None:
        """Where we ask nobody, whoever the peer asks may only check."""
        while (theirs := self.peer.menu()) is not None:
            self._explain(None, theirs, tally)
            self.peer.act(PASS)

    def _explain(self, ours: Menu | None, theirs: Menu | None, tally: Tally) -> None:
        spot = Spot(self.game, self.hand, tuple(self.record), ours, theirs)
        for kind in self.kinds:
            if kind.explains(spot):
                tally.kinds[kind.name] += 1
                return
        raise self._unexplained("the menus differ", ours, theirs)

    def _same_chips(self, ours: Menu, theirs: Menu) -> None:
        """In mid-hand both count the same chips behind."""
        behind = self.peer.stacks()
        mine = tuple(Fraction(stack, self.scale) for stack in self.hand.stacks)
        if mine != behind:
            raise self._unexplained(f"stacks {mine} and {behind}", ours, theirs)

    def _same_stacks(self) -> None:
        """At the end everybody has the same, to the chip and to the part of a chip."""
        mine = tuple(Fraction(stack, self.scale) for stack in self.hand.stacks)
        finals = self.peer.finals()
        if mine != finals:
            said = " ".join(map(str, mine)), " ".join(map(str, finals))
            raise self._unexplained(f"ours ends with {said[0]}, theirs with {said[1]}", None, None)

    def _count_policies(self, tally: Tally) -> None:
        """Whether this hand's blinds or awards would have been others without each policy."""
        tally.hands += 1
        paid_out = (PotSplit, RakeTaken, HandEnded)
        before = replay(event for event in self.record if not isinstance(event, paid_out))
        blinds = [event for event in self.record if isinstance(event, BlindPosted)]
        if self.scale > 1:
            tally.policies["odd_chips=fractional"] += any(
                stack % self.scale for stack in self.hand.stacks
            )
        for name, other in self.rules.without:
            posted = other.script[0].enter(other, opened(before.start), 0)
            tally.policies[name] += any(event not in posted for event in blinds)
            if other.odd_chips != self.game.odd_chips or other.odd_scope != self.game.odd_scope:
                tally.policies[name] += won(other, before) != won(self.game, before)

    def _ours(self, asked: ToAct) -> Menu:
        """Our menu in the peer's unit; the least raise may be "one more", in ours."""
        low = None if asked.raise_min is None else -(-asked.raise_min // self.scale)
        high = None if asked.raise_max is None else asked.raise_max // self.scale
        return Menu(asked.seat, asked.fold, asked.check, asked.call // self.scale, low, high)

    def _behind(self, seat: int) -> int:
        return self.hand.stacks[seat] // self.scale

    def _command(self, asked: ToAct, move: int) -> Command:
        if move == FOLD:
            return Fold(asked.seat)
        if move == PASS:
            return Check(asked.seat) if asked.check else Call(asked.seat)
        return Raise(asked.seat, move * self.scale)

    def _step(self, command: Command) -> None:
        events, self.hand = step(self.game, self.hand, command)
        self.record.extend(events)

    def _unexplained(self, why: str, ours: Menu | None, theirs: Menu | None) -> Unexplained:
        return Unexplained(
            f"{why}\n{self.table}\nours:   {ours}\ntheirs: {theirs}\n{say_all(self.record)}"
        )


def won(game: Game, hand: Hand) -> Counter[int]:
    """What each seat is paid."""
    paid: Counter[int] = Counter()
    for award in awards(game, hand)[1]:
        paid.update(dict(zip(award.seats, award.shares, strict=True)))
    return paid


def shared(ours: Menu, theirs: Menu) -> Menu:
    """What both engines allow."""
    fold = ours.fold and theirs.fold
    if ours.low is None or theirs.low is None or ours.high is None or theirs.high is None:
        return ours._replace(fold=fold, low=None, high=None)
    low, high = max(ours.low, theirs.low), min(ours.high, theirs.high)
    if low > high:
        return ours._replace(fold=fold, low=None, high=None)
    return ours._replace(fold=fold, low=low, high=high)


def choose(menu: Menu, behind: int, big: int, chances: Random) -> int:
    """What breaks engines: short stacks go all-in, others raise by the least and call much."""
    short = behind < 5 * big
    if menu.low is None or menu.high is None or chances.random() < (0.35 if short else 0.52):
        return FOLD if menu.fold and chances.random() < 0.2 else PASS
    if short and chances.random() < 0.6:
        return menu.high
    least = menu.low
    to = chances.choice((least, least, least, least, min(least + 1, menu.high), 0, 0, menu.high))
    return to or chances.randint(least, least + (menu.high - least) // 4)


def raises(record: tuple[Event, ...]) -> tuple[tuple[int, Bet | Raised], ...]:
    """The bets and raises of the latest round, each with how much it added to the bet."""
    made: list[tuple[int, Bet | Raised]] = []
    bet = 0
    for event in record:
        if isinstance(event, BettingOpened):
            made, bet = [], event.bet
        elif isinstance(event, Bet):
            made.append((event.amount, event))
            bet = event.amount
        elif isinstance(event, Raised):
            made.append((event.to - bet, event))
            bet = event.to
    return tuple(made)
