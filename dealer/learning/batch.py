"""Many hands of a game in lock step: arrays of what seats see in, arrays of actions out.

The rules are the engine's. Until hands are compared, no rule looks at which cards were dealt. So
the engine plays a hand whose cards are places in the deck, and its answer to an action holds for
every hand that comes to the same spot. It is asked once; afterwards a batch of hands looks the
answer up, all of them at once. Where hands are compared, or money follows from their cards, the
engine is given the real ones. A hand that is over begins anew at once, with the next button.
"""

from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dealer.bots.seat_view import seat_view
from dealer.deck import Deck
from dealer.learning.hand import Actions, Mask, Sizes, best_show, checked_seats, nets, player_names
from dealer.learning.observation import CARDS, EVENTS, Numbers, names, table_numbers
from dealer.play import usual_seats
from engine.game import Game
from engine.hand import begin, step, turn
from engine.parameters import first
from engine.steps import DealBoard, DrawBounties, Run
from engine.turn import Command, Deal, Over, Swap, ToDeal, ToDraw, ToShow, ToSwap
from events.cards import DECK, Cards
from events.state import Hand
from events.types import Events
from events.views import Seated, see
from odds.batch import Showdown, showdown
from odds.rank import mask as mask_of

SPOTS_BYTES = 1 << 29  # of kept answers, before those that nobody needs now are forgotten

UNASKED = -1
"""Where an action leads that no hand has chosen yet, and a place of the deck that holds nothing."""
ASKED, SWAP, OVER, COMPARED = range(4)
"""What a spot is: a seat is asked, chance is, everybody is paid, or hands are to be compared."""

_PLACE = {card: place for place, card in enumerate(DECK)}
_BITS = np.array([mask_of((card,)) for card in DECK], np.int64)
DeckArray = NDArray[np.int8]


class StepResult(NamedTuple):
    """The result of a step: chips by seat where a hand is over, and whether it is."""

    rewards: NDArray[np.int64]
    over: NDArray[np.bool_]


class Batch:
    """Many hands played in lock step; `seat` is the acting seat of each.

    Two batches of one seed that are given the same actions are the same.
    """

    def __init__(
        self, game: Game, hands: int, seats: int | None = None, seed: int = 0, sizes: Sizes = "some"
    ) -> None:
        if hands < 1:
            raise ValueError(f"a batch has one hand at least, not {hands}")
        self.game = game
        self.seats = checked_seats(game, usual_seats(game) if seats is None else seats)
        self.actions = Actions(game, sizes)
        self._tree = SpotTree(self.actions, self.seats)
        self._random = np.random.default_rng(seed)
        self._rows = np.arange(hands)
        self._width = len(names(game, self.seats))
        a_spot = 5 * len(self.actions.names) + 4 * self._width + 2_000
        self._most = max(SPOTS_BYTES // a_spot, 4 * hands)
        self._known: dict[tuple[int, bytes], tuple[int, ...]] = {}
        self._ordered = game.kickers == "five_cards" and game.split != "expectation"
        self._begun = 0
        self._decks = self._shuffled(hands)
        self._at = np.zeros(hands, np.int32)
        self._begin(self._rows)

    @property
    def seat(self) -> NDArray[np.int8]:
        """The acting seat of each hand."""
        return self._tree.seat[self._at]

    @property
    def mask(self) -> Mask:
        """The mask of legal actions: a row for each hand."""
        return self._tree.mask[self._at]

    @property
    def observation(self) -> Numbers:
        """The acting seats' observations: a row of numbers for each hand."""
        tree, rows = self._tree, self._rows
        seen = np.zeros((len(rows), self._width), np.float32)
        seen[:, CARDS:] = tree.table[self._at]
        own = tree.hole[self._at, self.seat]
        for begins, places in ((0, own), (len(DECK), tree.board[self._at])):
            for place in places.T:
                dealt = np.flatnonzero(place != UNASKED)
                seen[dealt, begins + self._decks[dealt, place[dealt]]] = 1
        return seen

    def step(self, actions: NDArray[np.integer]) -> StepResult:
        """Play one action in each hand, and chance after it, up to the next questions."""
        tree, chosen = self._tree, np.asarray(actions)
        if chosen.shape != self._rows.shape:
            raise ValueError(f"{len(self._rows)} hands need as many actions, not {chosen.shape}")
        known = (chosen >= 0) & (chosen < tree.mask.shape[1])
        allowed = known & tree.mask[self._at, np.where(known, chosen, 0)]
        if not allowed.all():
            row = int(np.flatnonzero(~allowed)[0])
            offered = ", ".join(map(str, np.flatnonzero(self.mask[row]).tolist()))
            raise ValueError(f"in hand {row} there are the actions {offered}, not {chosen[row]}")
        at = tree.leads[self._at, chosen]
        for row in np.flatnonzero(at == UNASKED).tolist():
            spot, action = int(self._at[row]), int(chosen[row])
            following = int(tree.leads[spot, action])
            at[row] = tree.lead(spot, action) if following == UNASKED else following
        at = self._swapped(at)
        rewards = np.zeros((len(at), self.seats), np.int64)
        kind = tree.kind[at]
        rewards[kind == OVER] = tree.nets[at[kind == OVER]]
        self._compared(at, np.flatnonzero(kind == COMPARED), rewards)
        over = kind != ASKED
        self._at = at
        self._begin(np.flatnonzero(over))
        if tree.count > self._most:
            self._at = tree.kept(self._at)
            self._known = {}
        return StepResult(rewards, over)

    def _swapped(self, at: NDArray[np.int32]) -> NDArray[np.int32]:
        """Chance draws for every card at risk, until no hand waits for it."""
        tree = self._tree
        while len(rows := np.flatnonzero(tree.kind[at] == SWAP)):
            for row in rows.tolist():
                question = tree.question(int(at[row]))
                draws = (
                    self._random.integers(question.of, size=len(question.at_risk)) < question.chance
                )
                at[row] = tree.swap(int(at[row]), tuple(draws.tolist()))
        return at

    def _compared(
        self, at: NDArray[np.int32], rows: NDArray[np.intp], rewards: NDArray[np.int64]
    ) -> None:
        """Pay hands at the showdown; the engine settles each order of the hands once."""
        if not self._ordered:
            for row in rows.tolist():
                rewards[row] = self._tree.paid(int(at[row]), self._decks[row])
            return
        for row, order in zip(rows.tolist(), self._orders(at[rows], rows), strict=True):
            key = int(at[row]), order.tobytes()
            paid = self._known.get(key)
            if paid is None:
                paid = self._known[key] = self._tree.paid(int(at[row]), self._decks[row])
            rewards[row] = paid

    def _orders(self, at: NDArray[np.int32], rows: NDArray[np.intp]) -> NDArray[np.int8]:
        """The number of hands that each seat's hand beats or ties; -1 for a folded seat."""
        tree, decks = self._tree, self._decks[rows]
        game = self.game
        rules = Showdown(game.straights, game.ranking, game.hole_min)
        board = _masks(decks, tree.board[at])
        worth = np.full((len(rows), self.seats), -1, np.int64)
        for seat in range(self.seats):
            places = tree.hole[at, seat]
            count = (places != UNASKED).sum(axis=1)
            for held in np.unique(count[count > 0]).tolist():
                these = np.flatnonzero(count == held)
                hole = _masks(decks[these], places[these])
                worth[these, seat] = showdown(hole, board[these], rules)
        beaten: NDArray[np.int8] = (worth[:, :, None] >= worth[:, None, :]).sum(2, np.int8)
        return beaten

    def _begin(self, rows: NDArray[np.intp]) -> None:
        """The next hands in these rows, each with a deck and the button of its own."""
        while len(rows):
            self._decks[rows] = self._shuffled(len(rows))
            buttons = (self._begun + np.arange(len(rows))) % self.seats
            self._begun += len(rows)
            self._at[rows] = self._tree.roots[buttons]
            rows = rows[self._tree.kind[self._at[rows]] != ASKED]

    def _shuffled(self, many: int) -> DeckArray:
        order: DeckArray = self._random.random((many, len(DECK))).argsort(axis=1).astype(np.int8)
        return order


def _masks(decks: DeckArray, places: NDArray[np.int8]) -> NDArray[np.int64]:
    """The cards at these places of decks, as masks."""
    masks = np.zeros(len(decks), np.int64)
    for place in places.T:
        dealt = np.flatnonzero(place != UNASKED)
        masks[dealt] |= _BITS[decks[dealt, place[dealt]]]
    return masks


# The spots of a game that hands come to.


class EngineSpot(Struct, frozen=True, gc=False):
    """What the engine said of a spot: for a comparison, the answer that leads to it.

    Of the record it keeps what the numbers of a seat are made from.
    """

    hand: Hand
    record: Events
    deck: Deck
    offered: tuple[tuple[int, Command], ...] = ()
    command: Command | None = None


class SpotTree:
    """The spots that were reached, one row each; spots at which no hand is may be forgotten."""

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
        self.spots: list[EngineSpot] = []
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
        """The swap that chance must answer in a spot."""
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
            deck = spot.deck.fork_with_draws(luck)
            following = self._led(spot.hand, spot.record, deck, deck.swap(question))
            self.swapped[at, changed] = following
        return following

    def paid(self, at: int, order: NDArray[np.int8]) -> tuple[int, ...]:
        """Each seat's net at the showdown of a spot, for hands in this order."""
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
            _, hand = step(game, hand, best_show(game, hand, question))
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
        record, hand = begin(game, "learning/1", button, player_names(self.seats), stacks)
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
                    return self._compared(EngineSpot(hand, record, deck, command=command), after)
                hand = after
                record = (*record, *(event for event in new if type(event) in EVENTS))
            match turn(game, hand):
                case ToDeal() as question:
                    deck = deck.fork()
                    command = deck.deal(question)
                case ToSwap():
                    return self._add(SWAP, EngineSpot(hand, record, deck))
                case Over():
                    at = self._add(OVER, EngineSpot(hand, (), deck))
                    self.nets[at] = nets(hand)
                    return at
                case ToDraw() | ToShow():
                    raise AssertionError("hands are shown where they are compared")
                case question:
                    seen = seat_view(game, hand, question, see(record, Seated(question.seat)))
                    offered = self.actions.offered(seen)
                    at = self._add(ASKED, EngineSpot(hand, record, deck, tuple(offered.items())))
                    self.seat[at] = question.seat
                    self.mask[at, list(offered)] = True
                    self.table[at] = table_numbers(seen)
                    self._places(at, hand)
                    return at

    def _compared(self, spot: EngineSpot, after: Hand) -> int:
        at = self._add(COMPARED, spot)
        self._places(at, after)
        self.hole[at, [standing == "folded" for standing in after.standing]] = UNASKED
        return at

    def _places(self, at: int, hand: Hand) -> None:
        """Note the deck places of a hand's cards."""
        self.board[at, : len(hand.board)] = [_PLACE[card] for card in hand.board]
        for seat, cards in enumerate(hand.hole):
            self.hole[at, seat, : len(cards)] = [_PLACE[card] for card in cards]

    def _add(self, kind: int, spot: EngineSpot) -> int:
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
