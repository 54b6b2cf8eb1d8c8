"""Pure arithmetic on what each seat put in: layers, weights, shares, odd chips; no cards."""

from collections.abc import Callable
from typing import NamedTuple

from engine.policies import OddChips, Policies
from engine.turn import IllegalCommand
from events.state import Hand


class Pot(NamedTuple):
    """Chips, and the seats that may win them."""

    amount: int
    seats: tuple[int, ...]


class Layer(NamedTuple):
    """A slice of the pot: the chips that each seat put in from one amount up to another."""

    low: int
    high: int
    folded: int  # chips of seats that are out


class Award(NamedTuple):
    """Chips, who is paid, by which weights, and how much each."""

    amount: int
    seats: tuple[int, ...]
    weights: tuple[int, ...]
    shares: tuple[int, ...]

    def allows(self, seats: tuple[int, ...], shares: tuple[int, ...]) -> bool:
        """Whether each of the same seats got the floor or the ceiling of its exact share (U18)."""
        if sorted(seats) != sorted(self.seats) or sum(shares) != self.amount:
            return False
        weight, total = dict(zip(self.seats, self.weights, strict=True)), sum(self.weights)
        return all(
            abs(share * total - self.amount * weight[seat]) < total
            for seat, share in zip(seats, shares, strict=True)
        )


def layers(stakes: tuple[int, ...], claimants: tuple[int, ...]) -> tuple[Pot, ...]:
    """For every level that a claimant reached, what all seats put in up to it (G5).

    What somebody who folded put in beyond the highest of them belongs to the last layer: the
    rules never let that happen, a foreign record may.
    """
    pots = []
    below = 0  # chips in the layers so far
    levels = sorted({stakes[seat] for seat in claimants})
    for level in levels:
        last = level == levels[-1]
        chips = sum(stakes) if last else sum([min(stake, level) for stake in stakes])
        if chips > below:
            seats = tuple([seat for seat in claimants if stakes[seat] >= level])
            pots.append(Pot(chips - below, seats))
        below = chips
    return tuple(pots)


def snapshots(
    stakes: tuple[int, ...], tapped: tuple[tuple[int, ...], ...], claimants: tuple[int, ...]
) -> tuple[Pot, ...]:
    """Chips of each seat up to a claimant's stake, or put in before that claimant went all-in (T8).

    A larger bet that lay in the middle when he went all-in belongs to the main pot; of what came
    later only as much as calls his own wager. Where no larger bet lay there, these are the layers.
    """
    found: dict[tuple[int, ...], int] = {}
    for other, stake in enumerate(stakes):
        levels = {}
        for seat in claimants:
            lay = tapped[seat][other] if tapped[seat] else 0
            levels[seat] = min(max(stakes[seat], lay), stake)
        below = 0
        top = max(levels.values())
        for level in sorted(set(levels.values())):
            seats = tuple([seat for seat in claimants if levels[seat] >= level])
            found[seats] = found.get(seats, 0) + (stake if level == top else level) - below
            below = level
    every = sorted(found.items(), key=lambda pot: (-len(pot[0]), pot[0]))
    return tuple([Pot(chips, seats) for seats, chips in every if chips])


def pots(game: Policies, hand: Hand, claimants: tuple[int, ...]) -> tuple[Pot, ...]:
    """The pots of the stakes; dead chips are nobody's stake and go to the first pot (G6)."""
    own = stakes(game, hand)
    if game.split == "snapshot":
        found = snapshots(own, hand.tapped, claimants)
    else:
        found = layers(own, claimants)
    dead = dead_chips(game, hand)
    if not dead:
        return found
    if not found or len(found[0].seats) < len(claimants):  # all-in for a dead ante alone
        return (Pot(dead, claimants), *found)
    return (Pot(found[0].amount + dead, found[0].seats), *found[1:])


def layers_of(game: Policies, hand: Hand, found: tuple[Pot, ...]) -> tuple[Layer | None, ...]:
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
    """Chips that are nobody's stake, all of them in the first pot (G6)."""
    return sum(hand.dead) if game.dead_chips == "first_pot" else 0


def stakes(game: Policies, hand: Hand) -> tuple[int, ...]:
    """The chips that count as each seat's own stake; an auction price only under `stake` (G6)."""
    if game.dead_chips == "first_pot":
        return hand.paid
    return tuple(paid + dead for paid, dead in zip(hand.paid, hand.dead, strict=True))


def expectations(paid: tuple[int, ...], seats: tuple[int, ...]) -> tuple[int, ...]:
    """The most that each seat can win: from every seat as much as it put in itself (U12)."""
    return tuple(sum(min(other, paid[seat]) for other in paid) for seat in seats)


def split(game: Policies, amount: int, seats: tuple[int, ...]) -> Award:
    """A pot divided evenly between seats, given in order from the left of the button (G2)."""
    even = (1,) * len(seats)
    if len(seats) == 1:
        return Award(amount, seats, even, (amount,))
    return Award(amount, seats, even, _ODD_CHIPS[game.odd_chips](amount, seats, game.split_unit))


def divided(game: Policies, amount: int, seats: tuple[int, ...], weights: tuple[int, ...]) -> Award:
    """A pot divided by weights: floors, then the missing chips one each in order (U14, U18)."""
    total = sum(weights)
    shares = [amount * weight // total for weight in weights]
    inexact = [place for place, weight in enumerate(weights) if amount * weight % total]
    for place in inexact[: amount - sum(shares)]:
        shares[place] += 1
    return Award(amount, seats, weights, tuple(shares))


def _clockwise_each(amount: int, seats: tuple[int, ...], unit: int) -> tuple[int, ...]:
    """One unit each, starting left of the button; nobody gets two (WSOP-T 73)."""
    even, odd = divmod(amount // unit, len(seats))
    crumbs = amount % unit  # less than the smallest chip: nowhere better to go than to the first
    return (
        (even + (odd > 0)) * unit + crumbs,
        *((even + (place < odd)) * unit for place in range(1, len(seats))),
    )


def _first_left_all(amount: int, seats: tuple[int, ...], unit: int) -> tuple[int, ...]:
    """The whole remainder to the first winner left of the button (P6)."""
    return _all_to(0, amount, len(seats), unit)


def _first_seat(amount: int, seats: tuple[int, ...], unit: int) -> tuple[int, ...]:
    """The whole remainder to the lowest seat number, as some engines do (G2)."""
    return _all_to(seats.index(min(seats)), amount, len(seats), unit)


def _all_to(place: int, amount: int, winners: int, unit: int) -> tuple[int, ...]:
    even = amount // unit // winners * unit
    rest = amount - even * winners
    return tuple(even + (rest if winner == place else 0) for winner in range(winners))


def _dropped(amount: int, seats: tuple[int, ...], unit: int) -> tuple[int, ...]:
    """The remainder is lost, as in an engine that breaks the first law (G2)."""
    return (amount // unit // len(seats) * unit,) * len(seats)


def _fractional(amount: int, seats: tuple[int, ...], unit: int) -> tuple[int, ...]:
    """No rounding: the unit must be small enough (G1)."""
    if amount % len(seats):
        raise IllegalCommand(
            f"a pot of {amount} does not divide between {len(seats)} seats: declare a smaller unit"
        )
    return (amount // len(seats),) * len(seats)


_ODD_CHIPS: dict[OddChips, Callable[[int, tuple[int, ...], int], tuple[int, ...]]] = {
    "clockwise_each": _clockwise_each,
    "first_left_all": _first_left_all,
    "dealer": _clockwise_each,
    "non_dealer": _clockwise_each,
    "fractional": _fractional,
    "first_seat": _first_seat,
    "random": _clockwise_each,
    "dropped": _dropped,
}
