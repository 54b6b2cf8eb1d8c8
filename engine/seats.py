"""Who sits where and who is still in: the geometry of a table, no chips and no cards."""

from events.state import Hand


def clockwise(hand: Hand, after: int) -> tuple[int, ...]:
    """Every seat, beginning with the one left of `after` and ending with `after` itself."""
    seats = len(hand.stacks)
    return (*range(after + 1, seats), *range(min(after + 1, seats)))


def contenders(hand: Hand) -> tuple[int, ...]:
    """Seats that have not folded, all-in ones included."""
    return tuple(seat for seat, standing in enumerate(hand.standing) if standing != "folded")


def in_order(hand: Hand, seats: tuple[int, ...]) -> tuple[int, ...]:
    """These seats as the button sees them: first the one left of it."""
    return tuple(seat for seat in clockwise(hand, hand.start.button) if seat in seats)
