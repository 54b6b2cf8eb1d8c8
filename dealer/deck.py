"""A shuffled deck that answers what the engine asks of chance, and where decks come from."""

import random
import secrets
from collections.abc import Callable
from copy import copy
from typing import Protocol

from engine.turn import Deal, Swap, ToDeal, ToSwap
from events.cards import DECK
from events.deck import Luck, Pile, deck_number, shuffled
from events.types import Cards


class Deck:
    """Fifty-two cards in one order, and the luck of the cards at risk."""

    def __init__(self, order: Cards, below: Callable[[int], int]) -> None:
        self._pile = Pile(order)
        self._below = below
        self._draws: list[int] = []  # all that were ever drawn, in this deck or a fork of it
        self._drawn = 0

    def fork(self) -> "Deck":
        """A copy of the deck at the same place: both will deal the same cards."""
        other = copy(self)
        other._pile = self._pile.fork()
        return other

    def foreseeing(self, draws: tuple[int, ...]) -> "Deck":
        """A fork of it with this luck next."""
        other = self.fork()
        other._draws = [*self._draws[: self._drawn], *draws]
        return other

    def deal(self, asked: ToDeal) -> Deal:
        """The next cards from the top, after the burn; or the last; or those of fixed slots."""
        if asked.slots:
            return Deal(self._pile.at(asked.slots))
        return Deal(self._pile.take(asked.count, asked.place, asked.burn))

    def swap(self, asked: ToSwap) -> Swap:
        """A draw of luck for each card at risk, and a new card for those that lose it."""
        new: list[str | None] = []
        for place in range(len(asked.at_risk)):
            slots = asked.slots[place : place + 1]
            if self._draw(asked.of) >= asked.chance:
                new.append(None)
            else:
                new.append((self._pile.at(slots) if slots else self._pile.take(1))[0])
        return Swap(tuple(new))

    def _draw(self, many: int) -> int:
        """The next draw of luck; a game draws of one number, so a fork may have drawn it before."""
        if self._drawn == len(self._draws):
            self._draws.append(self._below(many))
        self._drawn += 1
        return self._draws[self._drawn - 1]


class Decks(Protocol):
    """The decks of a match, one for each hand."""

    def deck(self, number: int) -> Deck:
        """The deck of the hand of this number; hands are dealt in order."""
        ...


SEED_BYTES = 16  # of a drawn seed: nobody finds 128 bits by trying


def drawn_seed() -> str:
    """A seed that nobody can guess, in hex."""
    return secrets.token_hex(SEED_BYTES)


class SeededDecks:
    """Decks that a seed decides, each for `deals` hands in a row; for simulations.

    Whoever knows the seed knows every card.
    """

    def __init__(self, seed: str, deals: int = 1) -> None:
        self._seed = seed
        self._deals = deals

    def deck(self, number: int) -> Deck:
        return seeded(f"{self._seed}/{deck_number(number, self._deals)}")


def seeded(seed: str) -> Deck:
    """A deck that a word decides, the same on every machine; not for money."""
    # As `random.shuffle` does it, draw by draw, in half its time: a bulk of hands is shuffled.
    draw = random.Random(seed).getrandbits
    order = list(DECK)
    for last, bits in _PLACES:
        chosen = draw(bits)
        while chosen > last:
            chosen = draw(bits)
        order[last], order[chosen] = order[chosen], order[last]
    return Deck(tuple(order), _Luck(f"{seed}/swaps").below)


_PLACES = tuple((last, (last + 1).bit_length()) for last in range(len(DECK) - 1, 0, -1))


class _Luck:
    """What chance draws beside a seeded deck; few games ask, so it begins when asked."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._source: random.Random | None = None

    def below(self, many: int) -> int:
        self._source = self._source or random.Random(self._seed)
        return self._source.randrange(many)


def of_key(key: bytes) -> Deck:
    """The deck of a committed hand."""
    return Deck(shuffled(key), Luck(key).below)
