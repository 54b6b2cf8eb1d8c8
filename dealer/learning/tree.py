"""What the engine answered, kept: the spots of a game that hands come to, as rows of arrays.

Until hands are compared, no rule looks at which cards were dealt. So the engine plays a hand whose
cards are places in the deck, and its answer to an action holds for every hand that comes to the
same spot. It is asked once; afterwards a batch of hands looks the answer up, all of them at once.
Where hands are compared, or money follows from their cards, the engine is given the real ones.
"""

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dealer.bots.seen import look
from dealer.deck import Deck
from dealer.learning.hand import Actions, Mask, nets, players, shown
from dealer.learning.observation import CARDS, EVENTS, Numbers, names, table
from engine.hand import begin, step, turn
from engine.parameters import first
from engine.steps import DealBoard, DrawBounties, Run
from engine.turn import Command, Deal, Over, Swap, ToDeal, ToDraw, ToShow, ToSwap
from events.cards import DECK, Cards
from events.state import Hand
from events.types import Events
from events.views import Seated, see

UNASKED = -1
"""Where an action leads that no hand has chosen yet, and a place of the deck that holds nothing."""
ASKED, SWAP, OVER, COMPARED = range(4)
"""What a spot is: a seat is asked, chance is, everybody is paid, or hands are to be compared."""

_PLACE = {card: place for place, card in enumerate(DECK)}


class Spot(Struct, frozen=True, gc=False):
    """What the engine said of a spot: for a comparison, the answer that leads to it.

    Of the record it keeps what the numbers of a seat are made from.
    """

    hand: Hand
    record: Events
    deck: Deck
    offered: tuple[tuple[int, Command], ...] = ()
    command: Command | None = None


class Tree:
    """Every spot that was come to, one row each; spots at which nobody is may be forgotten."""

    def __init__(self, actions: Actions, seats: int) -> None:
        self.actions, self.seats = actions, seats
        game, many = actions.game, len(actions.names)
        if first(game, Run) is not None:
            raise ValueError(
                f"who is asked in {game.name} depends on the cards: it is played hand by hand, "
                "not in batches"
            )
        if first(game, DrawBounties) is not None:
            raise ValueError(
                f"bounties of {game.name} are drawn for each hand: it is played hand by hand, not "
                "in batches"
            )
        self.count = 0
        self.spots: list[Spot] = []
        self.swapped: dict[tuple[int, tuple[bool, ...]], int] = {}
        numbers = len(names(game, seats)) - CARDS
        self.kind = np.zeros(0, np.int8)
        self.seat = np.zeros(0, np.int8)
        self.mask: Mask = np.zeros((0, many), np.bool_)
        self.leads = np.zeros((0, many), np.int32)
        self.table: Numbers = np.zeros((0, numbers), np.float32)
        self.hole = np.zeros((0, seats, 3), np.int8)
        most = max(step.total for step in game.script if isinstance(step, DealBoard))
        self.board = np.zeros((0, most), np.int8)
        self.nets = np.zeros((0, seats), np.int64)
        self.roots = np.array([self._begun(button) for button in range(seats)], np.int32)

    def lead(self, at: int, action: int) -> int:
        """The spot that an action leads to."""
        spot = self.spots[at]
        following = self._led(spot.hand, spot.record, spot.deck, dict(spot.offered)[action])
        self.leads[at, action] = following
        return following

    def question(self, at: int) -> ToSwap:
        """What chance is asked in a spot."""
        question = turn(self.actions.game, self.spots[at].hand)
        assert isinstance(question, ToSwap)
        return question

    def swap(self, at: int, changed: tuple[bool, ...]) -> int:
        """The spot after chance has replaced these of the cards at risk."""
        following = self.swapped.get((at, changed))
        if following is None:
            spot, question = self.spots[at], self.question(at)
            # A card whose number is below the chance is swapped.
            luck = tuple(question.chance - swapped for swapped in changed)
            deck = spot.deck.foreseeing(luck)
            following = self._led(spot.hand, spot.record, deck, deck.swap(question))
            self.swapped[at, changed] = following
        return following

    def paid(self, at: int, order: NDArray[np.int8]) -> tuple[int, ...]:
        """What each seat wins or loses where hands are compared, with the cards of this deck."""
        game, spot = self.actions.game, self.spots[at]
        real = [DECK[card] for card in order.tolist()]

        def named(cards: Cards) -> Cards:
            return tuple(real[_PLACE[card]] for card in cards)

        command = spot.command
        if isinstance(command, Deal):
            command = Deal(named(command.cards))
        elif isinstance(command, Swap):
            cards = (card and real[_PLACE[card]] for card in command.cards)
            command = Swap(tuple(cards))
        hole = tuple(named(cards) for cards in spot.hand.hole)
        board, dead = named(spot.hand.board), named(spot.hand.discards)
        hand = replace(spot.hand, hole=hole, board=board, discards=dead)
        assert command is not None
        _, hand = step(game, hand, command)
        while isinstance(question := turn(game, hand), ToShow):
            _, hand = step(game, hand, shown(game, hand, question))
        return nets(hand)

    def kept(self, at: NDArray[np.int32]) -> NDArray[np.int32]:
        """Forget every spot but these and the first ones; where these are now."""
        rows = np.unique(np.concatenate((self.roots, at)))
        now = np.full(self.count, UNASKED, np.int32)
        now[rows] = np.arange(len(rows), dtype=np.int32)
        self.spots = [self.spots[row] for row in rows.tolist()]
        self.count = len(rows)
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[rows])
        self.leads[:] = UNASKED
        self.swapped = {}
        self.roots = now[self.roots]
        return now[at]

    def _begun(self, button: int) -> int:
        game = self.actions.game
        stacks = (game.stack,) * self.seats
        record, hand = begin(game, "learning/1", button, players(self.seats), stacks)
        record = tuple(event for event in record if type(event) in EVENTS)
        return self._led(hand, record, Deck(DECK, lambda many: 0), None)

    def _led(self, hand: Hand, record: Events, deck: Deck, command: Command | None) -> int:
        """The next spot after an answer: what the engine says, and the deck where it is asked."""
        game = self.actions.game
        while True:
            if command is not None:
                new, after = step(game, hand, command)
                contenders = len(after.standing) - after.standing.count("folded")
                if contenders > 1 and (after.over or after.step == len(game.script) - 1):
                    return self._compared(Spot(hand, record, deck, command=command), after)
                hand = after
                record = (*record, *(event for event in new if type(event) in EVENTS))
            match turn(game, hand):
                case ToDeal() as question:
                    deck = deck.fork()
                    command = deck.deal(question)
                case ToSwap():
                    return self._add(SWAP, Spot(hand, record, deck))
                case Over():
                    at = self._add(OVER, Spot(hand, (), deck))
                    self.nets[at] = nets(hand)
                    return at
                case ToDraw() | ToShow():
                    raise AssertionError("hands are shown where they are compared")
                case question:
                    seen = look(game, hand, question, see(record, Seated(question.seat)))
                    offered = self.actions.offered(seen)
                    at = self._add(ASKED, Spot(hand, record, deck, tuple(offered.items())))
                    self.seat[at] = question.seat
                    self.mask[at, list(offered)] = True
                    self.table[at] = table(seen)
                    self._places(at, hand)
                    return at

    def _compared(self, spot: Spot, after: Hand) -> int:
        at = self._add(COMPARED, spot)
        self._places(at, after)
        self.hole[at, [standing == "folded" for standing in after.standing]] = UNASKED
        return at

    def _places(self, at: int, hand: Hand) -> None:
        """Where in the deck the cards of a hand lie."""
        self.board[at, : len(hand.board)] = [_PLACE[card] for card in hand.board]
        for seat, cards in enumerate(hand.hole):
            self.hole[at, seat, : len(cards)] = [_PLACE[card] for card in cards]

    def _add(self, kind: int, spot: Spot) -> int:
        at = self.count
        if at == len(self.kind):
            for name, empty in _COLUMNS.items():
                column = getattr(self, name)
                more = np.full((max(at, 256), *column.shape[1:]), empty, column.dtype)
                setattr(self, name, np.concatenate((column[:at], more)))
        self.spots.append(spot)
        self.kind[at] = kind
        self.count += 1
        return at


_COLUMNS = {
    "kind": 0,
    "seat": 0,
    "mask": False,
    "leads": UNASKED,
    "table": 0,
    "hole": UNASKED,
    "board": UNASKED,
    "nets": 0,
}
