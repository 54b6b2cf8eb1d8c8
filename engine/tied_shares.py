"""The URCS way to pay: tied hands share by what each could expect to win when it tapped out."""

from engine.policies import Policies
from engine.pots import Award, divided, expectations
from engine.ranking import Strength
from events.state import Hand


def by_expectation(
    game: Policies, hand: Hand, strengths: dict[int, Strength], order: tuple[int, ...]
) -> tuple[Award, ...]:
    """The best hands take what they covered, the next best what is left, and so on (U12-U16).

    `order` are the claimants from the left of the button; odd chips go in that order (U18).
    """
    left = hand.paid
    dead = sum(hand.dead)  # nobody's stake: it is won with the first group's share (G6)
    chips = sum(left) + dead
    awards: list[Award] = []
    for strength in sorted(set(strengths.values()), reverse=True):
        group = tuple(seat for seat in order if strengths[seat] == strength)
        reach = max(left[seat] for seat in group)
        covered = sum(min(paid, reach) for paid in left) + dead
        weights = _weights(game, hand, left, group)
        prize = _prize(game, hand, group, covered, chips, weights)
        if prize and sum(weights):
            awards.append(divided(game, prize, group, weights))
            chips, dead = chips - prize, 0
        left = tuple(max(paid - reach, 0) for paid in left)
    return tuple(awards)


def _weights(
    game: Policies, hand: Hand, left: tuple[int, ...], group: tuple[int, ...]
) -> tuple[int, ...]:
    """Each seat's expectation: what is left of every stake up to its own (U12, U16)."""
    if game.expectation == "snapshot":
        return tuple(_when_tapped(hand, seat) for seat in group)
    return expectations(hand.paid if game.next_group == "original" else left, group)


def _when_tapped(hand: Hand, seat: int) -> int:
    """The pot at the time the seat tapped out; the whole pot for who never did."""
    had = hand.tapped[seat]
    return min(sum(had) + sum(hand.dead), hand.pot) if had else hand.pot


def _prize(
    game: Policies,
    hand: Hand,
    group: tuple[int, ...],
    covered: int,
    chips: int,
    weights: tuple[int, ...],
) -> int:
    """What the group wins together: the most that one of it could expect (U13, U15)."""
    if game.tapped_prize == "whole_pot":
        return chips
    most = max(weights) if game.expectation == "snapshot" else covered
    return min(most, chips)
