"""How the middle of a hand was cut into pots and paid, with every number that decided it."""

from fractions import Fraction
from typing import NamedTuple

from engine.policies import Policies
from engine.pots import Award, Pot, pots, stakes
from engine.seats import contenders
from engine.settle import awards
from events.state import Hand


class Layer(NamedTuple):
    """What each seat put in from one amount up to another."""

    low: int
    high: int
    folded: int  # chips of seats that are out


class Cut(NamedTuple):
    """A pot: how much of it was nobody's stake, what the house took, who is paid the rest.

    Where pots are paid by weights, or counted together, nobody says who may win one (U13, G3).
    """

    dead: int
    rake: int
    award: Award
    eligible: tuple[int, ...] | None
    layer: Layer | None  # None where a pot is no layer of the stakes (T8)

    @property
    def amount(self) -> int:
        """All chips of the pot, the rake included."""
        return self.rake + self.award.amount

    def exact(self, place: int) -> Fraction:
        """The share of one who is paid, before any chip is rounded."""
        weights = self.award.weights
        return Fraction(self.award.amount * weights[place], sum(weights))

    def odd(self, place: int, unit: int) -> int:
        """What is paid beyond the even share: odd chips (G2, U18)."""
        return self.award.shares[place] - self.exact(place) // unit * unit


def cuts(game: Policies, hand: Hand) -> tuple[Cut, ...]:
    """Every pot of a hand that is to be paid, the first one first."""
    rakes, paid = awards(game, hand)
    rakes = rakes or (0,) * len(paid)
    amounts = [rake + award.amount for rake, award in zip(rakes, paid, strict=True)]
    found = pots(game, hand, contenders(hand))
    alike = [pot.amount for pot in found] == amounts
    none = (None,) * len(paid)
    layers = levels(game, hand, found) if alike else none
    seats = [pot.seats for pot in found] if alike else none
    each = enumerate(zip(rakes, paid, seats, layers, strict=True))
    return tuple(
        Cut(0 if number else dead_chips(game, hand), rake, award, eligible, layer)
        for number, (rake, award, eligible, layer) in each
    )


def levels(game: Policies, hand: Hand, found: tuple[Pot, ...]) -> tuple[Layer | None, ...]:
    """Side pots as layers (G5): each ends where the lowest stake of those in it does."""
    if game.split == "snapshot":
        return (None,) * len(found)
    own, low = stakes(game, hand), 0
    layers = []
    for number, (amount, seats) in enumerate(found):
        high = min(own[seat] for seat in seats)
        folded = amount - len(seats) * (high - low) - (0 if number else dead_chips(game, hand))
        layers.append(Layer(low, high, folded))
        low = high
    return tuple(layers)


def dead_chips(game: Policies, hand: Hand) -> int:
    """What is nobody's stake, all of it in the first pot (G6)."""
    return sum(hand.dead) if game.dead_chips == "first_pot" else 0
