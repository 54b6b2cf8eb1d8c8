"""One hand for programs that learn: chance and showdowns are answered, seats are asked."""

from dealer.bots.built_in import announced
from dealer.bots.seen import Histories, SeatTurn, Seen, look
from dealer.deck import Deck
from engine.game import Game
from engine.hand import begin, step, turn
from engine.turn import Command, IllegalCommand, Over, Show, ToDeal, ToDraw, ToShow, ToSwap
from events.state import Hand
from events.types import Event


def players(seats: int) -> tuple[str, ...]:
    """What the players of a learner's table are called."""
    return tuple(f"seat_{seat}" for seat in range(seats))


def seatable(game: Game, seats: int) -> int:
    """So many seats, if the game has them."""
    if not game.seats_min <= seats <= game.seats_max:
        allowed = f"{game.seats_min}..{game.seats_max}"
        raise IllegalCommand(f"{game.name} seats {allowed} players, not {seats}")
    return seats


class LearnersHand:
    """A hand from its blinds to its end, with the game's stacks; `asked` is None at the end."""

    def __init__(self, game: Game, seats: int, button: int, deck: Deck) -> None:
        self.game, self._deck = game, deck
        new, self.hand = begin(game, "learning/1", button, players(seats), (game.stack,) * seats)
        self.record: list[Event] = [*new]
        self._histories = Histories(self.record)
        self.asked: SeatTurn | None = None
        self._walk()

    def take(self, command: Command) -> None:
        """A seat's answer, and all that follows from it up to the next seat's question."""
        self._add(command)
        self._walk()

    def seen(self, seat: int) -> Seen:
        """What a seat sees now; one that is not asked is shown no question, and no bounds."""
        question = self.asked
        if question is None or question.seat != seat:
            question = ToShow(seat, may_muck=False)
        return look(self.game, self.hand, question, self._histories.of(seat))

    @property
    def nets(self) -> tuple[int, ...]:
        """What each seat has won or lost of what it brought."""
        return nets(self.hand)

    def _walk(self) -> None:
        while True:
            match turn(self.game, self.hand):
                case ToDeal() as question:
                    self._add(self._deck.deal(question))
                case ToSwap() as question:
                    self._add(self._deck.swap(question))
                case ToDraw() as question:
                    self._add(self._deck.draw(question))
                case ToShow() as question:
                    self._add(shown(self.game, self.hand, question))
                case Over():
                    self.asked = None
                    return
                case question:
                    self.asked = question
                    return

    def _add(self, command: Command) -> None:
        new, self.hand = step(self.game, self.hand, command)
        self.record += new


def shown(game: Game, hand: Hand, question: ToShow) -> Command:
    """Every hand is shown, the best five of it announced where that is asked."""
    return announced(look(game, hand, question, ())) if question.announce else Show(question.seat)


def nets(hand: Hand) -> tuple[int, ...]:
    """What each seat has won or lost of what it brought."""
    pairs = zip(hand.stacks, hand.start.stacks, strict=True)
    return tuple(now - before for now, before in pairs)
