"""Settle a hand: cut its pots, find the best hands, take the rake and split the chips.

What a hand at a showdown is worth, its ruleset says (its ranking, its kickers). Where seats have
bounties, what a hit is worth is settled between stacks when the pots are paid.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple

from engine.policies import Policies, Rake
from engine.pots import (
    Award,
    Layer,
    Pot,
    dead_chips,
    divided,
    expectations,
    layers_of,
    pots,
    split,
)
from engine.seats import contenders, in_order, is_alone
from engine.turn import IllegalCommand
from events.cards import RANKS, UNKNOWN, Cards
from events.state import Hand
from events.types import BountySettled, Event, Events, PotSplit, RakeTaken
from odds.rank import Flushes, HoleMin, Ranking, Straights, best_five, ranker, value_of_five

Strength = tuple[int, int]


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
    """The bounty that a winner's hit costs the other: half of his chips put in, and 10 more (B2).

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
    strengths = {}
    for seat in stay:
        value = strength(game, hand, seat)
        if value is None:
            raise Undecided(f"a card of seat {seat} or of the board was never recorded")
        strengths[seat] = value
    if game.showdown_tie == "no_change" and (back := _taken_back(hand, strengths)):
        return (0,), (back,)
    if game.split == "expectation":
        return (), by_expectation(game, hand, strengths, in_order(hand, stay))
    found = pots(game, hand, stay)
    taken = rakes(game, hand, tuple([pot.amount for pot in found]))
    won = []
    for pot, rake in zip(found, taken, strict=True):
        best = max([strengths[seat] for seat in pot.seats])
        winners = tuple([seat for seat in pot.seats if strengths[seat] == best])
        won.append(Pot(pot.amount - rake, in_order(hand, winners)))
    if game.odd_scope == "total":
        won = _merged(won)
    return taken, tuple([split(game, pot.amount, pot.seats) for pot in won])


def _taken_back(hand: Hand, strengths: dict[int, Strength]) -> Award | None:
    """Pay a tie of all seats: each takes back his own chips, so that no bankroll changes (A9)."""
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


def by_expectation(
    game: Policies, hand: Hand, strengths: dict[int, Strength], order: tuple[int, ...]
) -> tuple[Award, ...]:
    """The URCS way: tied hands share by what each could expect to win when it tapped out.

    The best hands take what they covered, the next best what is left, and so on (U12-U16). `order`
    are the claimants from the left of the button; odd chips go in that order (U18).
    """
    left = hand.paid
    dead = sum(hand.dead)  # nobody's stake: it is won with the first group's share (G6)
    chips = sum(left) + dead
    awards: list[Award] = []
    for tied in sorted(set(strengths.values()), reverse=True):
        group = tuple(seat for seat in order if strengths[seat] == tied)
        reach = max(left[seat] for seat in group)
        weights = _weights(game, hand, left, group)
        if game.tapped_prize == "whole_pot":
            prize = chips
        elif game.expectation == "snapshot":  # at most what one of the group could expect (U13)
            prize = min(max(weights), chips)
        else:
            prize = min(sum(min(paid, reach) for paid in left) + dead, chips)
        if prize and sum(weights):
            awards.append(divided(game, prize, group, weights))
            chips, dead = chips - prize, 0
        left = tuple(max(paid - reach, 0) for paid in left)
    return tuple(awards)


def _weights(
    game: Policies, hand: Hand, left: tuple[int, ...], group: tuple[int, ...]
) -> tuple[int, ...]:
    """Each seat's expectation: what is left of every stake up to its own (U12, U16).

    Or the pot at the time the seat tapped out; the whole pot for a seat that never did.
    """
    if game.expectation != "snapshot":
        return expectations(hand.paid if game.next_group == "original" else left, group)
    dead, tapped = sum(hand.dead), [hand.tapped[seat] for seat in group]
    return tuple(min(sum(paid) + dead, hand.pot) if paid else hand.pot for paid in tapped)


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
    taken, paid = awards(game, hand)
    taken = taken or (0,) * len(paid)
    amounts = [rake + award.amount for rake, award in zip(taken, paid, strict=True)]
    found = pots(game, hand, contenders(hand))
    alike = [pot.amount for pot in found] == amounts
    none = (None,) * len(paid)
    layers = layers_of(game, hand, found) if alike else none
    seats = [pot.seats for pot in found] if alike else none
    each = enumerate(zip(taken, paid, seats, layers, strict=True))
    return tuple(
        Cut(0 if number else dead_chips(game, hand), rake, award, eligible, layer)
        for number, (rake, award, eligible, layer) in each
    )


def rakes(game: Policies, hand: Hand, amounts: tuple[int, ...]) -> tuple[int, ...]:
    """The cut of the house: what it takes of each pot; nothing of a hand without a flop (R3)."""
    rule = game.rake
    if rule is None or (rule.no_flop_no_drop and len(hand.board) < 3):
        return (0,) * len(amounts)
    cap = _cap(rule, len(hand.stacks))
    if rule.scope == "pot":
        return tuple(taken_of(rule, pot, cap) for pot in amounts)
    if game.rake_pots == "proportional":
        return _proportional(taken_of(rule, sum(amounts), cap), amounts)
    return _outwards(rule, amounts, cap)


def taken_of(rule: Rake, pot: int, cap: int | None) -> int:
    """The rate of a pot, rounded and cut by the cap (R1, R2)."""
    if rule.rounding == "incremental":
        taken = pot // rule.increment * (rule.increment * rule.percent // rule.of)
    else:
        taken, rest = divmod(pot * rule.percent, rule.of)
        if rule.rounding == "ceil":
            taken += rest > 0
        elif rule.rounding != "floor":  # half to even
            taken += 2 * rest > rule.of or (2 * rest == rule.of and taken % 2 == 1)
    return taken if cap is None else min(taken, cap)


def _cap(rule: Rake, players: int) -> int | None:
    """By players dealt in, not by those who saw the flop (R2)."""
    reached = [cap for least, cap in sorted(rule.caps_by_players) if players >= least]
    return reached[-1] if reached else None


def _outwards(rule: Rake, amounts: tuple[int, ...], cap: int | None) -> tuple[int, ...]:
    """Pot k bears what the rule takes of the first k together, less what the former bore (R5)."""
    taken = [0]
    for count in range(1, len(amounts) + 1):
        taken.append(taken_of(rule, sum(amounts[:count]), cap))
    return tuple(after - before for before, after in pairwise(taken))


def _proportional(total: int, amounts: tuple[int, ...]) -> tuple[int, ...]:
    """In proportion to the pots, the largest remainder first (R5)."""
    whole = sum(amounts)
    shares = [total * pot // whole for pot in amounts]
    by_rest = sorted(range(len(amounts)), key=lambda pot: -(total * amounts[pot] % whole))
    for pot in by_rest[: total - sum(shares)]:
        shares[pot] += 1
    return tuple(shares)


def strength(game: Policies, hand: Hand, seat: int) -> Strength | None:
    """The rank of a seat's claim: shown hands by value, then mucked ones, the last mucked first.

    Who has mucked has given up every pot that somebody showed a hand for, and still wins one
    for which nobody else is left (U20). None where a card that counts was never recorded.
    """
    mucked = hand.showing.mucked
    if seat in mucked and (game.muck == "forfeits" or UNKNOWN in hand.hole[seat]):
        return (0, mucked.index(seat))
    value = worth(game, hand, seat)
    return None if value is None else (1, value)


def worth(game: Policies, hand: Hand, seat: int) -> int | None:
    """The seat's five cards as a number, or None where a card was never recorded."""
    if game.announce == "announced":
        for announcer, cards in hand.showing.announced:
            if announcer == seat:
                return value_of_five(cards, straights=game.straights, ranking=game.ranking)
    held = hand.hole[seat]
    if UNKNOWN in held or UNKNOWN in hand.board:
        return None
    value = _value(game.straights, game.ranking, game.hole_min, game.flushes, held, hand.board)
    return value if game.kickers == "five_cards" else _with_leftovers(game, value, held, hand.board)


@lru_cache(maxsize=64)
def _value(
    straights: Straights,
    ranking: Ranking,
    hole_min: HoleMin,
    flushes: Flushes,
    held: Cards,
    board: Cards,
) -> int:
    """Found once for all questions of a showdown: who must show, who leads, who is paid."""
    return ranker(straights, ranking, hole_min, flushes)(held, board)


def best_cards(game: Policies, hand: Hand, seat: int) -> Cards:
    """The five cards of a seat's best hand."""
    return best_five(
        hand.hole[seat],
        hand.board,
        straights=game.straights,
        ranking=game.ranking,
        hole_min=game.hole_min,
    )


def _with_leftovers(game: Policies, value: int, held: Cards, board: Cards) -> int:
    """A tie of five cards is broken by the highest card outside them (T11, `all_seven`)."""
    used = best_five(
        held, board, straights=game.straights, ranking=game.ranking, hole_min=game.hole_min
    )
    left = sorted((RANKS.index(c[0]) for c in (*held, *board) if c not in used), reverse=True)
    for rank in (*left, 0, 0, 0)[:3]:
        value = value * len(RANKS) + rank
    return value
