"""Many hands of a game in lock step: arrays of what seats see in, arrays of actions out.

What a program has learned there plays one hand at a time by `learned`.

The rules are the engine's, each of its answers kept (`dealer/learning/tree.py`). A hand that is
over begins anew at once, with the next button.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dealer.bots.built_in import announced
from dealer.bots.seen import Seen
from dealer.learning.hand import Actions, Mask, Sizes, seatable
from dealer.learning.observation import CARDS, Numbers, names, observation
from dealer.learning.tree import ASKED, COMPARED, OVER, SWAP, UNASKED, Tree
from dealer.play import usual_seats
from engine.game import Game
from engine.turn import Command, Show, ToShow
from events.cards import DECK
from odds.batch import Showdown, showdown
from odds.rank import mask as mask_of

SPOTS_BYTES = 1 << 29  # of kept answers, before those that nobody needs now are forgotten

_BITS = np.array([mask_of((card,)) for card in DECK], np.int64)
Decks = NDArray[np.int8]
Policy = Callable[[Numbers, Mask], Any]
"""A row of numbers for each hand, and of what may be chosen; returns an action for each."""


class Stepped(NamedTuple):
    """What a step came to: chips by seat where a hand is over, and whether it is."""

    rewards: NDArray[np.int64]
    over: NDArray[np.bool_]


class Batch:
    """So many hands at once; `seat` is who is asked in each.

    Two batches of one seed that are given the same actions are the same.
    """

    def __init__(
        self,
        game: Game,
        hands: int,
        seats: int | None = None,
        seed: int = 0,
        sizes: Sizes = "some",
    ) -> None:
        if hands < 1:
            raise ValueError(f"a batch has one hand at least, not {hands}")
        self.game = game
        self.seats = seatable(game, usual_seats(game) if seats is None else seats)
        self.actions = Actions(game, sizes)
        self._tree = Tree(self.actions, self.seats)
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
        """Who is asked, hand by hand."""
        return self._tree.seat[self._at]

    @property
    def mask(self) -> Mask:
        """Which actions may be chosen: a row for each hand."""
        return self._tree.mask[self._at]

    @property
    def observation(self) -> Numbers:
        """What the seat that is asked sees: a row of numbers for each hand."""
        tree, rows = self._tree, self._rows
        seen = np.zeros((len(rows), self._width), np.float32)
        seen[:, CARDS:] = tree.table[self._at]
        own = tree.hole[self._at, self.seat]
        for first, places in ((0, own), (len(DECK), tree.board[self._at])):
            for place in places.T:
                dealt = np.flatnonzero(place != UNASKED)
                seen[dealt, first + self._decks[dealt, place[dealt]]] = 1
        return seen

    def step(self, actions: NDArray[np.integer]) -> Stepped:
        """One action for each hand; chance, and what follows, up to the next questions."""
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
        return Stepped(rewards, over)

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
        """What hands that are compared win: the engine says it once for each order of them."""
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
        """How many hands each seat's hand beats or ties, and -1 for who has folded."""
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

    def _shuffled(self, many: int) -> Decks:
        order: Decks = self._random.random((many, len(DECK))).argsort(axis=1).astype(np.int8)
        return order


def _masks(decks: Decks, places: NDArray[np.int8]) -> NDArray[np.int64]:
    """The cards at these places of decks, as masks."""
    masks = np.zeros(len(decks), np.int64)
    for place in places.T:
        dealt = np.flatnonzero(place != UNASKED)
        masks[dealt] |= _BITS[decks[dealt, place[dealt]]]
    return masks


def learned(policy: Policy, sizes: Sizes = "some") -> Callable[[Seen], Command]:
    """A bot for `play` that asks a policy, made for a `Batch`, about one hand at a time."""

    def choose(seen: Seen) -> Command:
        if isinstance(seen.asked, ToShow):
            return announced(seen) if seen.asked.announce else Show(seen.seat)
        actions = Actions(seen.game, sizes)
        offered = actions.offered(seen)
        mask = np.zeros((1, len(actions.names)), np.bool_)
        mask[0, list(offered)] = True
        return offered[int(policy(observation(seen)[None], mask)[0])]

    return choose
