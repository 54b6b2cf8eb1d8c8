"""What the hands at a showdown are worth under a ruleset's ranking."""

from functools import lru_cache

from engine.policies import Policies
from events.cards import RANKS, UNKNOWN
from events.state import Hand
from events.values import Cards
from odds.rank import Flushes, HoleMin, Ranking, Straights, best_five, five, ranker

Strength = tuple[int, int]


def strength(game: Policies, hand: Hand, seat: int) -> Strength | None:
    """How a seat's claim compares: shown hands by value, then mucked ones, the last mucked first.

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
                return five(cards, straights=game.straights, ranking=game.ranking)
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
    """The five cards that make the seat's hand worth what it is."""
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
