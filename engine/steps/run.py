"""A board that grows on while its last card is red: a card, a round of betting, and again."""

from msgspec import Struct

from engine.policies import Policies
from engine.seats import is_alone
from engine.steps.betting import Betting
from engine.steps.deal import DealBoard
from engine.turn import Command, ToAct, ToDeal
from events.evolve import evolved
from events.state import Hand
from events.types import Events, StepEntered

STREET = "run"
_RED = ("d", "h")


class Run(Struct, frozen=True, tag=True):
    """Streets of one card each, until a black one has come and been bet on (V1)."""

    size: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return (StepEntered(at, STREET),) if _goes_on(hand) else ()

    def done(self, game: Policies, hand: Hand) -> bool:
        return not _goes_on(hand) and self._betting.done(game, hand)

    def turn(self, game: Policies, hand: Hand) -> ToAct | ToDeal:
        """The card of a street that has been entered, then the seat that has to act on it."""
        if hand.round is None:
            return _card(hand).turn(game, hand)
        return self._betting.turn(game, hand)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """A card opens its round; the last answer of a round enters the next street."""
        at = hand.step
        if hand.round is None:
            events = _card(hand).decide(game, hand, command)
            hand = evolved(hand, events)
            opened = self._betting.enter(game, hand, at)
            events, hand = (*events, *opened), evolved(hand, opened)
        else:
            events = self._betting.decide(game, hand, command)
            hand = evolved(hand, events)
        if not self._betting.done(game, hand) or is_alone(hand) or not _goes_on(hand):
            return events
        return (*events, *self._betting.leave(game, hand), StepEntered(at, STREET))

    def leave(self, game: Policies, hand: Hand) -> Events:
        return self._betting.leave(game, hand) if hand.street == STREET else ()

    @property
    def _betting(self) -> Betting:
        return Betting(STREET, self.size)


def _goes_on(hand: Hand) -> bool:
    """Whether the last card of the board is red; one that nobody recorded is taken to be none."""
    return any(card[1] in _RED for card in hand.board[-1:])


def _card(hand: Hand) -> DealBoard:
    return DealBoard(len(hand.board) + 1)
