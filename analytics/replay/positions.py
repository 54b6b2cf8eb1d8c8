"""Where everybody sits: positions counted backwards from the button, and blinds from who posted."""

from collections.abc import Sequence

from events.state import Hand
from events.types import BlindPosted, Event

BLINDS = ("SB", "BB")
BACKWARDS = ("BTN", "CO", "HJ", "MP")
STEALING = frozenset({"CO", "BTN", "SB"})
POSITIONS = ("UTG", *(f"MP{number}" for number in range(17, 1, -1)), *reversed(BACKWARDS), *BLINDS)


def dealt_in(hand: Hand) -> tuple[int, ...]:
    """Seats with hole cards; all of them, where a hand ended before any were dealt."""
    held = tuple(seat for seat, cards in enumerate(hand.hole) if cards)
    return held or tuple(range(len(hand.hole)))


def positions(hand: Hand, events: Sequence[Event]) -> dict[int, str]:
    """Every seat that was dealt in, and the name of its place."""
    posted = {event.kind: event.seat for event in events if isinstance(event, BlindPosted)}
    last = posted.get("straddle", posted.get("big"))
    chairs, button = len(hand.hole), hand.start.button
    return names(chairs, button, dealt_in(hand), posted.get("small"), last)


def names(
    chairs: int, button: int, seats: Sequence[int], small: int | None, last: int | None
) -> dict[int, str]:
    """The names of these seats' places, by who posted the small and who the last blind.

    The last blind, a straddle included, is BB. The URCS button posts a blind and stays the BTN;
    heads-up the button is the SB, unless the blinds were posted the other way round.
    """
    named = {} if small is None else {small: "SB"}
    if len(seats) > 2 and button in named:
        named.pop(button)
    if last is not None:
        named[last] = "BB"
    if len(seats) == 2 and not named:
        named = {seat: "SB" if seat == button else "BB" for seat in seats}
    if len(seats) == 2 and len(named) == 1:
        ((seat, place),) = named.items()
        named[sum(seats) - seat] = "SB" if place == "BB" else "BB"
    return named | _others([seat for seat in seats if seat not in named], button, chairs)


def _others(seats: Sequence[int], button: int, chairs: int) -> dict[int, str]:
    """BTN, CO, HJ, MP and further MPs backwards from the button; the first to act is UTG."""
    backwards = sorted(seats, key=lambda seat: (button - seat) % chairs)
    named = {
        seat: BACKWARDS[place] if place < len(BACKWARDS) else f"MP{place - 2}"
        for place, seat in enumerate(backwards)
    }
    if len(backwards) > 2:
        named[backwards[-1]] = "UTG"
    return named
