"""What seats must put in before they may bet: antes and blinds, and the straddle.

The straddle of the seat after the blind is a choice under the URCS rules.
"""

from collections.abc import Iterator

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise, others
from engine.steps.betting import has_contributed
from engine.turn import Command, Fold, IllegalCommand, TimeOut, ToStraddle, Turn
from engine.turn import Straddle as PutStraddle
from events.state import Hand
from events.types import (
    AntePosted,
    BlindKind,
    BlindPosted,
    Event,
    Events,
    Folded,
    StepEntered,
    TimedOut,
)


class AutomaticStep(Struct, frozen=True):
    """A step that happens by itself, on entering: nobody is asked, so nobody can answer."""

    def done(self, game: Policies, hand: Hand) -> bool:
        return True

    def turn(self, game: Policies, hand: Hand) -> Turn:
        raise AssertionError("this step asks nobody")

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        raise IllegalCommand("nobody is asked here: what is forced is put in by itself")

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


class Antes(AutomaticStep, frozen=True, tag=True):
    """Every seat puts in its ante, or what it has (U7)."""

    amount: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return _antes(hand, self.amount)


class Blinds(AutomaticStep, frozen=True, tag=True):
    """Antes of every seat, then a small and a big blind; a short seat posts what it has."""

    small: int
    big: int
    ante: int = 0

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """Antes from the left of the button, then the two blinds."""
        antes = _antes(hand, self.ante) if self.ante else ()
        left = list(hand.stacks)
        for ante in antes:
            left[ante.seat] -= ante.amount
        small, big = _posters(game, hand)
        blinds = []
        if small is not None and self.small and left[small]:
            blinds.append(posted(game, small, self.small, left[small], "small"))
        if self.big and (left[big] or game.short_blind == "full"):  # owed even to an empty seat
            blinds.append(posted(game, big, self.big, left[big], "big"))
        return (*antes, *blinds)


class Posts(AutomaticStep, frozen=True, tag=True):
    """What a foreign file lists for each position, first the seat left of the button.

    Antes, then blinds, then straddles; below nothing: a newcomer's post. Dead antes are nobody's
    stake: a big blind that antes for the whole table gets none of it back (G6).
    """

    antes: tuple[int, ...]
    blinds: tuple[int, ...]
    dead: bool

    @property
    def small(self) -> int:
        """The smaller of the two blinds; nothing, if only one is posted."""
        return max((0, *sorted(blind for blind in self.blinds if blind > 0)[:2][:-1]))

    @property
    def big(self) -> int:
        """The larger of the two blinds, not the straddles above it."""
        return max((0, *sorted(blind for blind in self.blinds if blind > 0)[:2]))

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """Emit `StepEntered` and then the posts; `StepEntered` marks them as listed by the file."""
        seats = clockwise(hand, hand.start.button)
        for listed in (self.antes, self.blinds):
            if len(listed) != len(seats):
                raise IllegalCommand(f"forced bets of {len(listed)} seats, and {len(seats)} play")
        left = list(hand.stacks)
        events: list[Event] = [StepEntered(at, "posts")]
        for seat, amount, kind in self._owed(seats):
            owed = game.short_blind == "full" and kind in ("big", "straddle")
            if amount and (left[seat] or owed):
                event = self._event(game, seat, amount, left[seat], kind)
                left[seat] -= event.amount
                events.append(event)
        return tuple(events)

    def _event(
        self, game: Policies, seat: int, amount: int, stack: int, kind: BlindKind | None
    ) -> AntePosted | BlindPosted:
        if kind is not None:
            return posted(game, seat, amount, stack, kind)
        paid = min(amount, stack)
        return BlindPosted(seat, paid, paid, "dead") if self.dead else AntePosted(seat, paid)

    def _owed(self, seats: tuple[int, ...]) -> Iterator[tuple[int, int, BlindKind | None]]:
        """The forced bets that seats owe, in order; an ante has no kind."""
        for seat, ante in zip(seats, self.antes, strict=True):
            yield seat, ante, None
        blinds = sorted((b, at) for at, b in enumerate(self.blinds) if b > 0)
        kinds: tuple[BlindKind, ...] = ("small", "big") if len(blinds) > 1 else ("big",)
        for place, (blind, at) in enumerate(blinds):
            yield seats[at], blind, kinds[place] if place < len(kinds) else "straddle"
        for at, blind in enumerate(self.blinds):
            if blind < 0:
                yield seats[at], -blind, "post"


def posted(game: Policies, seat: int, blind: int, stack: int, kind: BlindKind) -> BlindPosted:
    """A blind cut by the stack; the others owe it in full, or what was really posted (G13)."""
    amount = min(blind, stack)
    return BlindPosted(seat, amount, blind if game.short_blind == "full" else amount, kind)


def _antes(hand: Hand, ante: int) -> tuple[AntePosted, ...]:
    """From the left of the button, each as much of the ante as it has."""
    order = clockwise(hand, hand.start.button)
    return tuple(AntePosted(seat, min(ante, hand.stacks[seat])) for seat in order)


def _posters(game: Policies, hand: Hand) -> tuple[int | None, int]:
    """Left of the button and the next; of two players the button posts the small one (G14)."""
    order = clockwise(hand, hand.start.button)
    if hand.start.dead_small:
        return None, order[0]
    if len(order) == 2 and game.heads_up_blinds == "button_small":
        return order[1], order[0]
    return order[0], order[1]


class Blind(AutomaticStep, frozen=True, tag=True):
    """The button, or the next seat that can, makes a blind bet."""

    amount: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """Nothing is posted where nothing could follow (G8), or for a seat that is gone (U3)."""
        order = clockwise(hand, hand.start.button - 1)
        able = [seat for seat in order if hand.standing[seat] == "live"]
        if len(able) < 2 or (game.missing_poster == "skip" and able[0] != hand.start.button):
            return ()
        return (posted(game, able[0], self.amount, hand.stacks[able[0]], "small"),)


class Straddle(Struct, frozen=True, tag=True):
    """The seat after the blind puts in the low limit, or taps out for it, or folds (U4)."""

    amount: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        seat = _straddler(game, hand)
        if seat is None:
            return ()
        if game.straddle == "choice":
            return (StepEntered(at, "straddle"),)
        return (posted(game, seat, self.amount, hand.stacks[seat], "straddle"),)

    def done(self, game: Policies, hand: Hand) -> bool:
        return _straddler(game, hand) is None

    def turn(self, game: Policies, hand: Hand) -> ToStraddle:
        seat = _straddler(game, hand)
        assert seat is not None
        return ToStraddle(seat, min(self.amount, hand.stacks[seat]))

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        question = self.turn(game, hand)
        match command:
            case PutStraddle() | Fold() if command.seat != question.seat:
                raise IllegalCommand(
                    f"it is seat {question.seat}'s turn to straddle, not seat {command.seat}'s"
                )
            case Fold(seat=seat, origin=origin):
                return (Folded(seat, None, origin),)
            case PutStraddle(seat=seat, origin=origin):
                post = posted(game, seat, self.amount, hand.stacks[seat], "straddle")
                return (BlindPosted(seat, post.amount, post.to, post.kind, origin),)
            case TimeOut(seat=seat) if seat == question.seat:
                if game.time_out not in ("none", "bot_default"):
                    return _late(game, hand, seat)
        raise IllegalCommand(
            f"seat {question.seat} may straddle {question.amount} or fold: "
            f"{type(command).__name__} does not answer that"
        )

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


def _late(game: Policies, hand: Hand, seat: int) -> Events:
    """At a table with a clock: all-in for the ante, and the next seat straddles (C1, C6, U3)."""
    if game.time_out == "all_in_if_paid" and has_contributed(game, hand, seat):
        return (TimedOut(seat, True, None),)
    return TimedOut(seat, False, seat), Folded(seat, None, "default")


def _straddler(game: Policies, hand: Hand) -> int | None:
    """The seat that owes the straddle: the first able one after the blind.

    If he folds, the round opens at the blind, or the duty passes on (U4). Where nobody posts
    for a missing seat (U3), the seat right after the blind straddles or nobody does.
    """
    betting = hand.round
    if betting is None or betting.poster is None or betting.straddled:
        return None
    if betting.folds and game.straddle_folds == "opens_at_blind":
        return None
    order = others(hand, betting.poster)
    able = [seat for seat in order if hand.standing[seat] == "live"]
    if not able or (game.missing_poster == "skip" and able[0] != order[0]):
        return None
    return able[0]
