"""Hole cards that leave their hand: chance replaces some, or each player lays one on the board."""

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise, contenders, in_order
from engine.steps.deal import unused
from engine.turn import Command, Fold, IllegalCommand, Swap, Toss, ToSwap, ToToss
from events.cards import UNKNOWN
from events.state import Hand
from events.types import CardSwapped, Events, Folded, StepEntered, Tossed


class SwapHole(Struct, frozen=True, tag=True):
    """Every hole card is replaced with a chance of `chance` in `of`; never a float (S6)."""

    chance: int
    of: int = 100

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return () if self._skipped(game, hand) else (StepEntered(at, "swap"),)

    def done(self, game: Policies, hand: Hand) -> bool:
        return self._skipped(game, hand) or hand.swaps > 0

    def turn(self, game: Policies, hand: Hand) -> ToSwap:
        """Each card at risk has a place in the deck for what takes its place (G21)."""
        at_risk = _at_risk(hand)
        fixed = game.deck_slots == "fixed"
        slots = tuple(_deck_slot(game, hand, *risk) for risk in at_risk) if fixed else ()
        return ToSwap(at_risk, self.chance, self.of, slots)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """One event for every card at risk, changed or not, so that its presence tells nothing."""
        at_risk = _at_risk(hand)
        if not isinstance(command, Swap):
            raise IllegalCommand(
                f"chance owes {len(at_risk)} swaps: {type(command).__name__} does not answer that"
            )
        if len(command.cards) != len(at_risk):
            raise IllegalCommand(f"{len(at_risk)} cards are at risk, not {len(command.cards)}")
        unused(game, hand, tuple(card for card in command.cards if card is not None))
        both_told = game.swap_seen == "both_told"
        return tuple(
            CardSwapped(seat, slot, hand.hole[seat][slot], new or hand.hole[seat][slot], both_told)
            for (seat, slot), new in zip(at_risk, command.cards, strict=True)
        )

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()

    def _skipped(self, game: Policies, hand: Hand) -> bool:
        """Cards are swapped in an all-in run-out too (S4), unless the ruleset stops it."""
        return not game.swap_runout and hand.standing.count("live") < 2


def _at_risk(hand: Hand) -> tuple[tuple[int, int], ...]:
    """The dealer's first card, his second, then the next seat's (S3)."""
    stay = contenders(hand)
    order = [seat for seat in clockwise(hand, hand.start.button - 1) if seat in stay]
    return tuple((seat, slot) for seat in order for slot in range(len(hand.hole[seat])))


def _deck_slot(game: Policies, hand: Hand, seat: int, slot: int) -> int:
    """Four cards of the deck's end for the flop, the four before them for the turn (G21)."""
    seats = len(hand.stacks)
    place = 2 * ((seat - hand.start.button) % seats) + slot
    later = len(hand.board) > (3 if game.swap_order == "after_board" else 0)
    return 51 - place - (2 * seats if later else 0)


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
