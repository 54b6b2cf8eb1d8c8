"""A leaf: what closed at once, a hand or one append of match records; nothing ever divides it."""

from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from events.evolve import evolve
from events.ledger import Recorded, is_match
from events.state import Hand, opened
from events.types import HandStarted


class Leaf(Struct, frozen=True, dict=True):
    """Everything of a hand, or of one append to a match, in order."""

    hand_seq: int
    recorded: tuple[Recorded, ...]

    @property
    def stream(self) -> str:
        return self.recorded[0].stream

    @cached_property
    def states(self) -> tuple[Hand, ...]:
        """A hand after each of its events, folded once for all who ask; nothing for records.

        A record that does not even add up (a seat that is not there) has no states either: the
        ledger keeps what it was given, and whoever audits it says what is wrong.
        """
        first, *rest = (one.event for one in self.recorded)
        if is_match(self.stream) or not isinstance(first, HandStarted):
            return ()
        try:
            return tuple(accumulate(rest, evolve, initial=opened(first)))  # type: ignore[arg-type]
        except (LookupError, TypeError, ValueError):
            return ()

    @property
    def hand(self) -> Hand | None:
        """What a hand adds up to, if it does."""
        return self.states[-1] if self.states else None


def split(stream: str) -> tuple[str, int | None]:
    """A stream as its match and its number; a match's own stream has none."""
    match, slash, number = stream.partition("/")
    return match, int(number) if slash else None
