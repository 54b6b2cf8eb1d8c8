"""Who sits where and who is still in: the geometry of a table, no chips and no cards."""

from events.state import Hand


def clockwise(hand: Hand, after: int) -> tuple[int, ...]:
    """Every seat, beginning with the one left of `after` and ending with `after` itself."""
    return _FROM_LEFT[len(hand.stacks)][after]


def contenders(hand: Hand) -> tuple[int, ...]:
    """Seats that have not folded, all-in ones included."""
    return tuple([seat for seat, standing in enumerate(hand.standing) if standing != "folded"])


def is_alone(hand: Hand) -> bool:
    """Whether all but one have folded."""
    return hand.standing.count("folded") == len(hand.standing) - 1


def in_order(hand: Hand, seats: tuple[int, ...]) -> tuple[int, ...]:
    """These seats as the button sees them: first the one left of it."""
    return tuple(seat for seat in clockwise(hand, hand.start.button) if seat in seats)


# Every order there is, for up to 23 seats (G19); -1 is the seat right of the first: the last.
_FROM_LEFT = tuple(
    tuple((*range(after + 1, seats), *range(after + 1)) for after in range(seats))
    for seats in range(24)
)
