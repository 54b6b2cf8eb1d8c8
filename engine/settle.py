"""Who is paid at the end of a hand: pots, the best hands in them, the rake and the splits.

Where seats have bounties, what a hit is worth is settled between stacks when the pots are paid.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from engine.policies import Policies
from engine.pots import Award, Pot, pots, split
from engine.rake import rakes
from engine.ranking import Strength, strength
from engine.seats import contenders, in_order, is_alone
from engine.tied_shares import by_expectation
from engine.turn import IllegalCommand
from events.cards import UNKNOWN
from events.state import Hand
from events.types import BountySettled, Event, Events, PotSplit, RakeTaken


class Undecided(IllegalCommand):
    """A card that nobody recorded could change who is paid."""


def settle(game: Policies, hand: Hand) -> Events:
    """The events that pay out everything in the middle: the rake of each pot, then its split."""
    taken, paid = awards(game, hand)
    events: list[Event] = [RakeTaken(pot, rake) for pot, rake in enumerate(taken) if rake]
    events.extend(PotSplit(pot, award.seats, award.shares) for pot, award in enumerate(paid))
    if hand.bounties and game.bounty != "none":
        events.extend(_bounties(hand, paid[0].seats))
    return tuple(events)


def _bounties(hand: Hand, won: tuple[int, ...]) -> Iterator[BountySettled]:
    """What a winner's hit costs the other: half of what that one put in, and 10 chips (B2).

    In a tie it is a quarter, and only if the other did not hit (B3). A broken chip follows where
    that engine's count of actions happens to stand (B4).
    """
    hits = {seat: _hit(hand, seat) for seat in won}
    for seat, hit in hits.items():
        payer = 1 - seat
        due = Fraction(hand.paid[payer], 2 * len(won)) + 10
        if not hit or hits.get(payer):
            due = Fraction(0)
        yield BountySettled(seat, payer, hit, ceil(due) if _rounds_up(hand, seat) else floor(due))


def _hit(hand: Hand, seat: int) -> bool:
    """Whether a card of that rank is in his hand or on the board as far as it was dealt (B2)."""
    cards, rank = (*hand.hole[seat], *hand.board), dict(hand.bounties)[seat]
    if any(card[0] == rank for card in cards):
        return True
    if UNKNOWN in cards:
        raise Undecided(f"a card of seat {seat} or of the board was never recorded")
    return False


def _rounds_up(hand: Hand, seat: int) -> bool:
    """After a fold to the winner; else against who bet last on the river, or the button (B4)."""
    if is_alone(hand):
        return True
    last = hand.start.button if hand.aggressor is None else hand.aggressor
    return seat != last


def awards(game: Policies, hand: Hand) -> tuple[tuple[int, ...], tuple[Award, ...]]:
    """The rake of each pot, and who is paid how much of what is left of it."""
    stay = contenders(hand)
    if is_alone(hand):
        taken = rakes(game, hand, (hand.pot,))
        return taken, (split(game, hand.pot - taken[0], stay),)
    strengths = _strengths(game, hand, stay)
    if game.showdown_tie == "no_change" and (back := _taken_back(hand, strengths)):
        return (0,), (back,)
    if game.split == "expectation":
        return (), by_expectation(game, hand, strengths, in_order(hand, stay))
    found = pots(game, hand, stay)
    taken = rakes(game, hand, tuple([pot.amount for pot in found]))
    won = [
        Pot(pot.amount - rake, in_order(hand, _best(strengths, pot.seats)))
        for pot, rake in zip(found, taken, strict=True)
    ]
    if game.odd_scope == "total":
        won = _merged(won)
    return taken, tuple([split(game, pot.amount, pot.seats) for pot in won])


def _strengths(game: Policies, hand: Hand, stay: tuple[int, ...]) -> dict[int, Strength]:
    """How strong each claim is; unless a card that counts was never recorded."""
    found = {}
    for seat in stay:
        value = strength(game, hand, seat)
        if value is None:
            raise Undecided(f"a card of seat {seat} or of the board was never recorded")
        found[seat] = value
    return found


def _best(strengths: dict[int, Strength], seats: tuple[int, ...]) -> tuple[int, ...]:
    best = max([strengths[seat] for seat in seats])
    return tuple([seat for seat in seats if strengths[seat] == best])


def _taken_back(hand: Hand, strengths: dict[int, Strength]) -> Award | None:
    """In a tie of all, bankrolls do not change: each takes back what he put in (A9)."""
    if len(set(strengths.values())) > 1:
        return None
    seats = tuple(strengths)
    put_in = tuple(hand.paid[seat] + hand.dead[seat] for seat in seats)
    if sum(put_in) != hand.pot:
        return None  # somebody who folded has put in chips too: they must go somewhere
    return Award(hand.pot, seats, put_in, put_in)


def _merged(won: list[Pot]) -> list[Pot]:
    """Pots with the same winners, counted together before odd chips are given out (G3)."""
    total: dict[tuple[int, ...], int] = {}
    for amount, seats in won:
        total[seats] = total.get(seats, 0) + amount
    return [Pot(amount, seats) for seats, amount in total.items()]
