"""Seat order, seats still in the hand, and the next seat to act in a betting round (G8)."""

from collections.abc import Sequence
from functools import lru_cache

from engine.policies import Policies
from events.evolve import add, put
from events.state import Hand, Round, Standing

# Every order there is, for up to 23 seats (G19); -1 is the seat right of the first: the last.
_FROM_LEFT = tuple(
    tuple((*range(after + 1, seats), *range(after + 1)) for after in range(seats))
    for seats in range(24)
)
_OTHERS = tuple(tuple(order[:-1] for order in orders) for orders in _FROM_LEFT)


def clockwise(hand: Hand, after: int) -> tuple[int, ...]:
    """All seats clockwise, from the one left of `after` to `after` itself."""
    return _FROM_LEFT[len(hand.stacks)][after]


def others(hand: Hand, seat: int) -> tuple[int, ...]:
    """All other seats clockwise, from the one left of this one."""
    return _OTHERS[len(hand.stacks)][seat]


def contenders(hand: Hand) -> tuple[int, ...]:
    """Seats that have not folded, all-in ones included."""
    return _still_in(hand.standing)


def is_alone(hand: Hand) -> bool:
    """Whether all but one have folded."""
    return hand.standing.count("folded") == len(hand.standing) - 1


def in_order(hand: Hand, seats: tuple[int, ...]) -> tuple[int, ...]:
    """These seats in order from the button: first the one left of it."""
    order = clockwise(hand, hand.start.button)
    if len(seats) == len(order):
        return order
    return tuple([seat for seat in order if seat in seats])


@lru_cache(maxsize=1 << 12)
def _still_in(table: tuple[Standing, ...]) -> tuple[int, ...]:
    """Asked at every turn, and few tables differ."""
    return tuple(seat for seat, standing in enumerate(table) if standing != "folded")


def first_to_act(game: Policies, hand: Hand, betting: Round) -> int | None:
    """The seat that opens the round; None, if nothing could change (G8)."""
    if is_alone(hand):
        return None
    order = _order(game, hand, betting)
    return owing(game, order, hand.standing, betting.bets, betting.matched, betting.bet)


def next_to_act(
    game: Policies, hand: Hand, betting: Round, seat: int, amount: int, bet: int, left: Standing
) -> int | None:
    """The next seat to act once this seat has put in `amount`, which makes the bet `bet`."""
    standing, bets = hand.standing, betting.bets
    if left != standing[seat]:
        standing = put(standing, seat, left)
        if left == "folded" and standing.count("folded") == len(standing) - 1:
            return None
    if amount:
        bets = add(bets, seat, amount)
    return owing(game, others(hand, seat), standing, bets, betting.matched, bet)


def owing(
    game: Policies,
    order: Sequence[int],
    standing: Sequence[Standing],
    bets: Sequence[int],
    matched: Sequence[int],
    bet: int,
) -> int | None:
    """The first seat in order that owes an answer; nobody is asked when nothing can change (G8)."""
    everybody = game.ask_when_closed and bet == 0
    for seat in order:
        if matched[seat] >= bet or standing[seat] == "folded":
            continue
        if everybody:
            return seat
        if standing[seat] == "live" and not _has_answered(game, bets[seat], bet):
            return seat if _matters(seat, standing, bets) else None
    return None


def _order(game: Policies, hand: Hand, betting: Round) -> tuple[int, ...]:
    """Left of the last blind; without one, left of the button or the button itself (U6)."""
    if betting.poster is not None:
        return clockwise(hand, betting.poster)
    button = hand.start.button
    return clockwise(hand, button - 1 if game.first_to_act == "button" else button)


def _has_answered(game: Policies, mine: int, bet: int) -> bool:
    """A blind that is the whole bet has a last option, except under URCS (U5)."""
    return not game.live_option and bet > 0 and mine == bet


def _matters(seat: int, standing: Sequence[Standing], bets: Sequence[int]) -> bool:
    """A seat that nobody could answer is asked only for chips another seat has really put in."""
    if standing.count("live") > 1:
        return True
    return bets[seat] < max(
        bet for other, bet in enumerate(bets) if other != seat and standing[other] != "folded"
    )
