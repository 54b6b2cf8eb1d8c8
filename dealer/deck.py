"""A shuffled deck that answers what the engine asks of chance."""

import random

from engine.turn import Deal, Swap, ToDeal, ToSwap
from events.cards import DECK


class Deck:
    """Fifty-two cards in an order that a seed decides; for simulations, not for money."""

    def __init__(self, seed: str) -> None:
        self._order = list(DECK)
        random.Random(seed).shuffle(self._order)  # a word as seed: the same on every machine
        self._left = list(self._order)
        self._luck = random.Random(f"{seed}/swaps")

    def deal(self, asked: ToDeal) -> Deal:
        """The next cards from the top, after the burn; or the last; or those of fixed slots."""
        if asked.slots:
            return Deal(tuple(self._order[slot] for slot in asked.slots))
        if asked.place == "bottom":
            return Deal(tuple(self._left.pop() for _ in range(asked.count)))
        del self._left[: asked.burn]
        cards = tuple(self._left[: asked.count])
        del self._left[: asked.count]
        return Deal(cards)

    def swap(self, asked: ToSwap) -> Swap:
        """A draw of luck for each card at risk, and a new card for those that lose it."""
        return Swap(tuple(self._new(asked, place) for place in range(len(asked.at_risk))))

    def _new(self, asked: ToSwap, place: int) -> str | None:
        if self._luck.randrange(asked.of) >= asked.chance:
            return None
        return self._order[asked.slots[place]] if asked.slots else self._left.pop(0)
