"""How good a seat's cards are, exactly, as far as the seat can know; what was counted is kept."""

from fractions import Fraction
from functools import lru_cache

from dealer.bots.seen import Seen
from events.cards import is_known
from events.types import Cards
from events.views import CardSwappedSeen, HoleDealtSeen
from odds.batch import Showdown
from odds.counting import canonical
from odds.preflop import before_flop
from odds.rank import mask
from odds.third_card import ThirdCard, third_card
from odds.unseen import counted

EVEN = Fraction(1, 2)


def against_one(seen: Seen) -> Fraction:
    """The part of the pot that the cards are worth against one rival who may hold anything.

    Exact; but swaps and auctions still to come are left out.
    """
    hole = tuple(sorted(seen.hole))
    return _against_one(hole, seen.board, _rival_cards(seen), _dead(seen), _rules(seen))


def against_all(seen: Seen) -> Fraction:
    """Against more than one rival a rule of thumb, as if each were met alone."""
    return against_one(seen) ** len(seen.rivals)


def third(seen: Seen) -> ThirdCard:
    """The odds with and without the card of the auction."""
    return third_card(seen.hole, seen.board, _rules(seen))


def _rules(seen: Seen) -> Showdown:
    """How hands compare here; that all seven cards may break a tie is left out."""
    return Showdown(seen.game.straights, seen.game.ranking, seen.game.hole_min)


def _rival_cards(seen: Seen) -> int:
    """How many hole cards a rival holds: three for who has won an auction."""
    dealt = [0] * len(seen.players)
    for event in seen.history:
        if isinstance(event, HoleDealtSeen):
            dealt[event.seat] += len(event.cards)
    return max((dealt[seat] for seat in seen.rivals), default=0) or len(seen.hole)


def _dead(seen: Seen) -> Cards:
    """What the seat itself has had swapped away, unless that went back into the deck (S2)."""
    if seen.game.swap_discard != "dead":
        return ()
    return tuple(
        event.old
        for event in seen.history
        if isinstance(event, CardSwappedSeen)
        and event.seat == seen.seat
        and event.changed is True
        and isinstance(event.old, str)
    )


@lru_cache(maxsize=1 << 14)
def _against_one(hole: Cards, board: Cards, dealt: int, dead: Cards, rules: Showdown) -> Fraction:
    if not is_known((*hole, *board)):
        return EVEN
    if not board:
        return before_flop(hole, rules).share
    return _alike(*canonical(mask(hole), mask(board), mask(dead)), dealt, rules)


@lru_cache(maxsize=1 << 16)
def _alike(hole: int, board: int, dead: int, dealt: int, rules: Showdown) -> Fraction:
    """Spots that differ in suits alone are one."""
    return counted(hole, board, dealt=dealt, dead=dead, rules=rules).share
