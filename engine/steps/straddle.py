"""A blind by the button and a straddle by the next seat: a choice under the URCS rules."""

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise, others
from engine.steps.betting import has_contributed
from engine.steps.forced import Unasked, posted
from engine.turn import Command, Fold, IllegalCommand, TimeOut, ToStraddle
from engine.turn import Straddle as PutStraddle
from events.state import Hand
from events.types import BlindPosted, Events, Folded, StepEntered, TimedOut


class Blind(Unasked, frozen=True, tag=True):
    """The button, or the next seat that can, makes a blind bet."""

    amount: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """Nothing is posted where nothing could follow (G8), or for a seat that is gone (U3)."""
        able = _able(hand)
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
            case TimeOut(seat=seat) if seat == question.seat and _is_timed(game):
                return _late(game, hand, seat)
        raise IllegalCommand(
            f"seat {question.seat} may straddle {question.amount} or fold: "
            f"{type(command).__name__} does not answer that"
        )

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


def _is_timed(game: Policies) -> bool:
    return game.time_out not in ("none", "bot_default")


def _late(game: Policies, hand: Hand, seat: int) -> Events:
    """Where a table runs a clock: all-in for the ante, and the next seat straddles (C1, C6, U3)."""
    if game.time_out == "all_in_if_paid" and has_contributed(game, hand, seat):
        return (TimedOut(seat, True, None),)
    return TimedOut(seat, False, seat), Folded(seat, None, "default")


def _straddler(game: Policies, hand: Hand) -> int | None:
    """Who owes the straddle now: the first able seat after the blind.

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


def _able(hand: Hand) -> tuple[int, ...]:
    """Seats that can still bet, the button first."""
    order = clockwise(hand, hand.start.button - 1)
    return tuple(seat for seat in order if hand.standing[seat] == "live")
