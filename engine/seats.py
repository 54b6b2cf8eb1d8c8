"""Who sits where and who is still in: the geometry of a table, no chips and no cards."""

from functools import lru_cache

from events.state import Hand, Standing


def clockwise(hand: Hand, after: int) -> tuple[int, ...]:
    """Every seat, beginning with the one left of `after` and ending with `after` itself."""
    return _FROM_LEFT[len(hand.stacks)][after]


def others(hand: Hand, seat: int) -> tuple[int, ...]:
    """Every other seat, beginning with the one left of this one."""
    return _OTHERS[len(hand.stacks)][seat]


def contenders(hand: Hand) -> tuple[int, ...]:
    """Seats that have not folded, all-in ones included."""
    return _still_in(hand.standing)


def is_alone(hand: Hand) -> bool:
    """Whether all but one have folded."""
    return hand.standing.count("folded") == len(hand.standing) - 1


def in_order(hand: Hand, seats: tuple[int, ...]) -> tuple[int, ...]:
    """These seats as the button sees them: first the one left of it."""
    order = clockwise(hand, hand.start.button)
    if len(seats) == len(order):
        return order
    return tuple([seat for seat in order if seat in seats])


@lru_cache(maxsize=1 << 12)
def _still_in(table: tuple[Standing, ...]) -> tuple[int, ...]:
    """Asked at every turn, and few tables differ."""
    return tuple(seat for seat, standing in enumerate(table) if standing != "folded")


# Every order there is, for up to 23 seats (G19); -1 is the seat right of the first: the last.
_FROM_LEFT = tuple(
    tuple((*range(after + 1, seats), *range(after + 1)) for after in range(seats))
    for seats in range(24)
)
_OTHERS = tuple(tuple(order[:-1] for order in orders) for orders in _FROM_LEFT)
