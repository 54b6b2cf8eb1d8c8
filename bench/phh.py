"""Our no-limit hands as PHH text, just enough for a peer to load and replay them.

Seats are numbered from the left of the button, so the button is the last one.
"""

from events.types import (
    Bet,
    BlindPosted,
    BoardDealt,
    Called,
    Checked,
    Event,
    Events,
    Folded,
    HandStarted,
    HoleDealt,
    Mucked,
    Raised,
    Shown,
)


def phh(record: Events) -> str:
    """The hand as one PHH document."""
    start = record[0]
    assert isinstance(start, HandStarted)
    blinds = [event.to for event in record if isinstance(event, BlindPosted)]
    seats = len(start.stacks)
    order = [(start.button + 1 + place) % seats for place in range(seats)]
    actions = [said for event in record if (said := _said(event, order))]
    lines = [
        "variant = 'NT'",
        f"antes = {[0] * seats}",
        f"blinds_or_straddles = {blinds + [0] * (seats - 2)}",
        f"min_bet = {blinds[1]}",
        f"starting_stacks = {[start.stacks[seat] for seat in order]}",
        f"actions = {actions}",
        f"hand = '{start.hand}'",
        f"players = {[start.players[seat] for seat in order]}",
    ]
    return "\n".join(lines) + "\n"


def _said(event: Event, order: list[int]) -> str | None:
    """An event as a PHH action; what follows from the others has none."""

    def who(seat: int) -> str:
        return f"p{order.index(seat) + 1}"

    match event:
        case HoleDealt(seat=seat, cards=cards):
            return f"d dh {who(seat)} {''.join(cards)}"
        case BoardDealt(cards=cards):
            return f"d db {''.join(cards)}"
        case Folded(seat=seat):
            return f"{who(seat)} f"
        case Checked(seat=seat) | Called(seat=seat):
            return f"{who(seat)} cc"
        case Bet(seat=seat, amount=to) | Raised(seat=seat, to=to):
            return f"{who(seat)} cbr {to}"
        case Shown(seat=seat, cards=cards):
            return f"{who(seat)} sm {''.join(cards)}"
        case Mucked(seat=seat):
            return f"{who(seat)} sm"
    return None
