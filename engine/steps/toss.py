"""Each player lays one hole card face up on the board, one after the other."""

from msgspec import Struct

from engine.policies import Policies
from engine.seats import contenders, in_order
from engine.steps.deal import unused
from engine.turn import Command, Fold, IllegalCommand, Toss, ToToss
from events.cards import UNKNOWN
from events.state import Hand
from events.types import Events, Folded, StepEntered, Tossed


class TossHole(Struct, frozen=True, tag=True):
    """The left of the button first, the button last, until each holds `left` cards (H1)."""

    left: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return (StepEntered(at, "toss"),)

    def done(self, game: Policies, hand: Hand) -> bool:
        return not self._owing(hand)

    def turn(self, game: Policies, hand: Hand) -> ToToss:
        """All-in players are asked too: their cards still count (H1)."""
        seat = self._owing(hand)[0]
        return ToToss(seat, len(hand.hole[seat]))

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """A card he holds; only a default folds, and it does so even all-in (H2)."""
        question = self.turn(game, hand)
        seat, top = question.seat, question.slots - 1
        if isinstance(command, Fold) and command.origin == "default" and command.seat == seat:
            return (Folded(seat, None, "default"),)
        if not isinstance(command, Toss):
            raise IllegalCommand(
                f"seat {seat} must toss a card: {type(command).__name__} does not answer that"
            )
        if command.seat != seat:
            raise IllegalCommand(f"it is seat {seat}'s turn to toss, not seat {command.seat}'s")
        if not 0 <= command.slot <= top:
            raise IllegalCommand(f"seat {seat} may toss slot 0..{top}, not {command.slot}")
        held = hand.hole[seat][command.slot]
        if held == UNKNOWN:  # a record that shows no hands shows what lies on the board
            (held,) = unused(game, hand, (command.card,))
        elif command.card not in (UNKNOWN, held):
            raise IllegalCommand(
                f"slot {command.slot} of seat {seat} is {held}, not {command.card}"
            )
        return (Tossed(seat, command.slot, (held,), command.origin),)

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()

    def _owing(self, hand: Hand) -> tuple[int, ...]:
        stay = in_order(hand, contenders(hand))
        return tuple(seat for seat in stay if len(hand.hole[seat]) > self.left)
